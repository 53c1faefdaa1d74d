//! The machine that builds decides where packages come from. A host name in the repository would
//! send every other machine to one machine's mirror, or past its own.

use super::Finding;
use crate::tree::{File, Tree};

/// Written in two halves, so that this file passes its own rule.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
];

/// The one name that cargo itself writes, whatever mirror was used.
const DEFAULT_SOURCE: &str =
    concat!("\"registry+https://github.com/rust-lang/crates", ".io-index\"");

/// No file names the host of a registry.
pub(super) fn hosts_are_not_named(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().flat_map(hosts).collect()
}

/// Lock files name the default source or none.
pub(super) fn locks_name_no_mirror(tree: &Tree) -> Vec<Finding> {
    let message = "a lock file does not say which machine a package came from";
    let mut findings = Vec::new();
    for file in tree.files() {
        let mirrored = lines(file).filter(|(_, line)| is_mirrored(file.name(), line));
        findings.extend(mirrored.map(|(number, _)| Finding::at(file, number, message)));
    }
    findings
}

fn hosts(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in lines(file) {
        let line = line.replace(DEFAULT_SOURCE, "");
        for host in HOSTS.iter().filter(|host| line.contains(**host)) {
            let message =
                format!("`{host}` is a registry; which one is asked, the machine decides");
            findings.push(Finding::at(file, number, message));
        }
    }
    findings
}

fn is_mirrored(lock: &str, line: &str) -> bool {
    match lock {
        "Cargo.lock" => {
            let source = line.strip_prefix("source = ");
            source.is_some_and(|source| !source.starts_with("\"git+") && source != DEFAULT_SOURCE)
        }
        "package-lock.json" => line.trim_start().starts_with("\"resolved\": \"http"),
        _ => false,
    }
}

fn lines(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_host_is_found() {
        let text = format!("hello\nsee https://{}/x\n", HOSTS[0]);
        check(hosts_are_not_named, &[("README.md", &text)], &["README.md:2: `crates"]);
    }

    #[test]
    fn the_default_source_of_cargo_is_fine() {
        let text = format!("source = {DEFAULT_SOURCE}\n");
        check(hosts_are_not_named, &[("Cargo.lock", &text), ("README.md", "docs.rs\n")], &[]);
        check(locks_name_no_mirror, &[("Cargo.lock", &text)], &[]);
    }

    #[test]
    fn a_mirror_in_a_lock_is_found() {
        let files = [
            ("Cargo.lock", "name = \"a\"\nsource = \"sparse+http://mirror/\"\n"),
            ("web/package-lock.json", "{\n  \"resolved\": \"http://mirror/a.tgz\"\n}\n"),
        ];
        let expect = ["Cargo.lock:2: a lock file", "web/package-lock.json:2: a lock file"];
        check(locks_name_no_mirror, &files, &expect);
    }
}
