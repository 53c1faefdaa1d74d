//! Arrows point one way: which crate may depend on which.

use super::Finding;
use crate::manifest::{Dependency, Kind, Manifest};
use crate::tree::Tree;

/// For each crate those it may depend on. Server, compat, MCP and extensions reach panes only
/// through the kernel's public entry points, so they see neither `keeper` nor `backend`.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("term", &["model"]),
    ("policy", &["model", "term"]),
    ("keeper", &["model"]),
    ("backend", &["model", "term", "keeper"]),
    ("substrate", &["model", "term", "keeper", "backend"]),
    ("kernel", &["model", "term", "policy", "keeper", "backend"]),
    ("ext", &["model", "term", "policy", "kernel"]),
    ("notify", &["model", "policy", "kernel"]),
    ("server", &["model", "policy", "kernel"]),
    ("compat", &["model", "term", "kernel", "server"]),
    ("mcp", &["model", "kernel", "server"]),
    (
        "cli",
        &[
            "model", "term", "policy", "keeper", "backend", "kernel", "ext", "notify", "server",
            "compat", "mcp",
        ],
    ),
];

/// A crate names only crates below it, and only those the table gives it. Tests of a crate may
/// name anything below it.
pub(super) fn arrows_point_one_way(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let mut findings = Vec::new();
    for manifest in manifests.iter().filter(|it| it.path.starts_with("crates/")) {
        let name = manifest.crate_name();
        let Some(may_name) = may_name(name) else {
            findings.push(Finding::new(&manifest.path, 1, unknown_crate(name)));
            continue;
        };
        for dependency in &manifest.dependencies {
            let Some(other) = crate_of(&manifests, dependency) else {
                continue;
            };
            let in_tests = dependency.kind == Kind::Tests && is_below(other, name);
            if !may_name.contains(&other) && !in_tests {
                let message = format!("`{name}` may not name `{other}`: arrows point one way");
                findings.push(Finding::new(&manifest.path, dependency.line, message));
            }
        }
    }
    findings
}

fn unknown_crate(name: &str) -> String {
    format!("`{name}` is not in the table of crates: add it in xtask/src/rules/direction.rs")
}

fn may_name(name: &str) -> Option<&'static [&'static str]> {
    MAY_NAME.iter().find(|(known, _)| *known == name).map(|(_, may_name)| *may_name)
}

/// The crate of the workspace behind a dependency; none where it comes from outside.
fn crate_of<'a>(manifests: &'a [Manifest], dependency: &Dependency) -> Option<&'a str> {
    manifests.iter().find(|it| it.package == dependency.package).map(Manifest::crate_name)
}

fn is_below(other: &str, name: &str) -> bool {
    let below = may_name(name).unwrap_or_default();
    below.iter().any(|next| *next == other || is_below(other, next))
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    /// Runs the rule over a workspace in which the crate `name` has these lines after its name.
    #[track_caller]
    fn check(name: &str, lines: &str, expect: &[&str]) {
        let path = format!("crates/{name}/Cargo.toml");
        let text = format!("[package]\nname = 'paned-{name}'\n{lines}");
        let files = [
            ("crates/model/Cargo.toml", "[package]\nname = 'paned-model'\n"),
            ("crates/backend/Cargo.toml", "[package]\nname = 'paned-backend'\n"),
            ("crates/kernel/Cargo.toml", "[package]\nname = 'paned-kernel'\n"),
            ("bench/Cargo.toml", "[package]\nname = 'paned-bench'\n"),
            (&path, &text),
        ];
        testing::check(arrows_point_one_way, &files, expect);
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        let lines = "[dependencies]\nserde = '1'\npaned-kernel.workspace = true\n";
        check("term", lines, &["crates/term/Cargo.toml:5: `term` may not name `kernel`"]);
    }

    #[test]
    fn an_arrow_downwards_is_fine() {
        check("term", "[dependencies]\nserde = '1'\npaned-model.workspace = true\n", &[]);
    }

    #[test]
    fn the_server_sees_the_backend_in_tests_only() {
        let message = "crates/server/Cargo.toml:4: `server` may not name `backend`";
        check("server", "[dependencies]\npaned-backend = {}\n", &[message]);
        check("server", "[dev-dependencies]\npaned-backend = {}\n", &[]);
    }

    #[test]
    fn another_name_for_a_package_does_not_hide_it() {
        let lines = "[build-dependencies]\nx = { package = 'paned-kernel' }\n";
        check("term", lines, &["crates/term/Cargo.toml:4: `term` may not name `kernel`"]);
    }

    #[test]
    fn no_crate_names_what_is_outside_the_table() {
        let lines = "[dev-dependencies]\npaned-bench = {}\n";
        check("server", lines, &["crates/server/Cargo.toml:4: `server` may not name `bench`"]);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        check("util", "", &["crates/util/Cargo.toml:1: `util` is not in the table of crates"]);
    }
}
