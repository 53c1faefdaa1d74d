//! Dependency checks: licences, sources, banned crates, duplicates and advisories.
//!
//! `cargo deny` checks more, and takes longer to build than everything else that a fresh clone
//! needs; so this reads the same `deny.toml` and asks cargo itself what the packages are.

mod licence;
mod metadata;
mod policy;
mod version;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use metadata::Package;
pub(crate) use policy::Policy;

/// What was checked, and what is wrong with it.
pub(crate) struct Report {
    pub(crate) packages: usize,
    pub(crate) duplicates: Vec<String>,
    pub(crate) findings: Vec<String>,
}

/// Reads the policy and the packages of the workspace at a folder, and compares them.
pub(crate) fn run(root: &Path) -> Result<Report> {
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name)).with_context(|| format!("{name} cannot be read"))
    };
    let policy = Policy::parse(&read("deny.toml")?, &read("xtask/pinned.toml")?)?;
    Ok(check(&policy, &metadata::packages(root, &policy.targets)?))
}

/// Compares packages with a policy.
pub(crate) fn check(policy: &Policy, packages: &[Package]) -> Report {
    let duplicates = duplicates(packages);
    let mut findings: Vec<String> =
        packages.iter().flat_map(|package| findings(policy, package)).collect();
    if policy.duplicates < duplicates.len() {
        findings.push(format!(
            "{} crates are there in more than one version, {} are allowed (xtask/pinned.toml): {}",
            duplicates.len(),
            policy.duplicates,
            duplicates.join(", ")
        ));
    }
    findings.sort();
    Report { packages: packages.len(), duplicates, findings }
}

fn findings(policy: &Policy, package: &Package) -> Vec<String> {
    let Package { name, version, .. } = package;
    let mut found = Vec::new();
    if !package.is_from_registry() {
        let from = package.source.as_deref().unwrap_or("a folder");
        found.push(format!("{name} {version} comes from {from}, not from the registry"));
    }
    if let Some(reason) = policy.banned.get(name) {
        found.push(format!("{name} {version} is banned: {reason}"));
    }
    match &package.licence {
        None => found.push(format!("{name} {version} names no licence")),
        Some(licence) if !licence::is_allowed(licence, &policy.licences) => {
            found.push(format!("{name} {version}: the licence `{licence}` is not allowed"));
        }
        Some(_) => {}
    }
    for advisory in policy.advisories.iter().filter(|it| it.concerns(name, version)) {
        found.push(format!("{name} {version}: {} ({})", advisory.id, advisory.about));
    }
    found
}

/// The crates with more than one version, and these versions.
fn duplicates(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    let several = versions.iter().filter(|(_, versions)| 1 < versions.len());
    several.map(|(name, versions)| format!("{name} {}", versions.join(" and "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "\
        [graph]\ntargets = []\n[licenses]\nallow = ['MIT', 'Unicode-3.0']\n\
        [bans]\ndeny = [{ crate = 'ttf-parser', reason = 'unmaintained' }]\n\
        [sources]\nunknown-registry = 'deny'\nunknown-git = 'deny'\n";
    const PINNED: &str = "duplicates = 0\n[[advisory]]\nid = 'A-1'\ncrate = 'bytes'\nfixed = '1.11.1'\n\
        about = 'overflow'\n[[advisory]]\nid = 'A-2'\ncrate = 'slab'\nsince = '0.4.10'\nfixed = '0.4.11'\n\
        about = 'bounds'\n[[advisory]]\nid = 'A-3'\ncrate = 'paste'\nabout = 'unmaintained'\n\
        accepted = 'it is done'\n";

    fn package(name: &str, version: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: Some("MIT".to_owned()),
            source: Some("registry+https://example/index".to_owned()),
        }
    }

    /// What is found in these packages begins with these words.
    #[track_caller]
    fn finds(packages: &[Package], expect: &[&str]) {
        let policy = Policy::parse(POLICY, PINNED).unwrap();
        let found = check(&policy, packages).findings;
        let same = found.len() == expect.len()
            && found.iter().zip(expect).all(|(found, expect)| found.starts_with(expect));
        assert!(same, "found {found:#?}\nexpected {expect:#?}");
    }

    #[test]
    fn packages_that_are_well_are_passed() {
        finds(&[package("serde", "1.0.0"), package("bytes", "1.12.0")], &[]);
    }

    #[test]
    fn a_banned_crate_is_refused() {
        finds(&[package("ttf-parser", "0.25.1")], &["ttf-parser 0.25.1 is banned: unmaintained"]);
    }

    #[test]
    fn a_package_from_elsewhere_is_refused() {
        let git = Package { source: Some("git+https://example/x".into()), ..package("x", "1.0.0") };
        let folder = Package { source: None, ..package("y", "1.0.0") };
        finds(&[git, folder], &["x 1.0.0 comes from git+", "y 1.0.0 comes from a folder"]);
    }

    #[test]
    fn a_licence_that_is_not_on_the_list_is_refused() {
        let odd = Package { licence: Some("GPL-3.0".into()), ..package("x", "1.0.0") };
        let none = Package { licence: None, ..package("y", "1.0.0") };
        finds(&[odd, none], &["x 1.0.0: the licence `GPL-3.0`", "y 1.0.0 names no licence"]);
    }

    #[test]
    fn an_advisory_concerns_the_versions_that_it_names() {
        finds(&[package("bytes", "1.11.0")], &["bytes 1.11.0: A-1 (overflow)"]);
        finds(&[package("slab", "0.4.10")], &["slab 0.4.10: A-2"]);
        finds(&[package("slab", "0.4.9")], &[]);
        finds(&[package("slab", "0.4.11")], &[]);
        // This advisory was accepted.
        finds(&[package("paste", "1.0.15")], &[]);
    }

    #[test]
    fn more_duplicates_than_were_decided_on_are_refused() {
        let expect = "1 crates are there in more than one version, 0 are allowed";
        finds(&[package("x", "1.0.0"), package("x", "2.0.0")], &[expect]);
    }

    #[test]
    fn our_own_policy_can_be_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        let policy = Policy::parse(&read("deny.toml"), &read("xtask/pinned.toml")).unwrap();
        assert!(policy.banned.contains_key("native-tls") && !policy.targets.is_empty());
        assert!(policy.advisories.iter().any(|advisory| advisory.concerns("bytes", "1.11.0")));
    }
}
