//! `model`, `term` and `policy` are values in, values out; `keeper` has no runtime.

use super::Finding;
use crate::manifest::Manifest;
use crate::paths;
use crate::tree::{File, Tree};

const PURE: &[&str] = &["model", "term", "policy"];

/// What pure code must not name, and what to call it in a finding.
const OUTSIDE: &[(&str, &str)] = &[
    ("tokio", "a runtime"),
    ("std::env", "the environment"),
    ("std::fs", "files"),
    ("std::net", "sockets"),
    ("std::os", "the operating system"),
    ("std::process", "processes"),
    ("std::thread", "threads"),
    ("io::stderr", "standard error"),
    ("io::stdin", "standard input"),
    ("io::stdout", "standard output"),
    ("Instant::now", "the clock"),
    ("SystemTime", "the clock"),
    ("Timestamp::now", "the clock"),
    ("Zoned::now", "the clock"),
];

/// Crates that pure code could only need in order to touch the outside.
const OUTSIDE_CRATES: &[&str] =
    &["axum", "hyper", "libc", "mio", "nix", "rusqlite", "rustix", "tokio"];

const RUNTIMES: &[&str] = &["async-std", "mio", "smol", "tokio"];

/// Sources of pure crates, tests not counted, name nothing of the outside.
pub(super) fn sources_stay_pure(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|file| is_pure_source(file)).flat_map(outside_names).collect()
}

/// Pure crates depend on nothing that is there for the outside.
pub(super) fn dependencies_stay_pure(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let pure = manifests.iter().filter(|it| PURE.iter().any(|name| is_crate(it, name)));
    pure.flat_map(|manifest| {
        let message = "is there for the outside, and this crate is pure";
        named(manifest, OUTSIDE_CRATES, message)
    })
    .collect()
}

/// A keeper is small and outlives the server: it has no runtime, not even in its tests.
pub(super) fn keepers_have_no_runtime(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let keepers = manifests.iter().filter(|it| is_crate(it, "keeper"));
    keepers.flat_map(|it| named(it, RUNTIMES, "is a runtime, and keeper has none")).collect()
}

fn is_crate(manifest: &Manifest, name: &str) -> bool {
    manifest.folder().strip_prefix("crates/") == Some(name)
}

fn is_pure_source(file: &File) -> bool {
    let pure = PURE.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/")));
    pure && file.name() != "tests.rs" && !file.is_in_tests()
}

fn outside_names(file: &File) -> Vec<Finding> {
    let code = file.source.outside_tests();
    let mut findings = Vec::new();
    for named in paths::paths(&code) {
        for (path, word) in OUTSIDE.iter().filter(|(path, _)| named.holds(path)) {
            let message = format!("`{path}` reaches for {word}, and this crate is pure");
            findings.push(Finding::at(file, named.line, message));
        }
    }
    findings
}

fn named(manifest: &Manifest, refused: &[&str], message: &str) -> Vec<Finding> {
    let found = manifest.dependencies.iter().filter(|it| refused.contains(&it.package.as_str()));
    found
        .map(|it| Finding::new(&manifest.path, it.line, format!("`{}` {message}", it.package)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn the_outside_is_found_however_it_is_named() {
        let text = "use std::{fmt, fs::File};\nuse std::io;\nfn f() { io::stdin(); }\n\
            fn g() -> u64 {\n    tokio::spawn(jiff::Timestamp::now())\n}\n";
        check(
            sources_stay_pure,
            &[("crates/term/src/screen.rs", text)],
            &[
                "crates/term/src/screen.rs:1: `std::fs` reaches for files",
                "crates/term/src/screen.rs:3: `io::stdin` reaches for standard input",
                "crates/term/src/screen.rs:5: `tokio` reaches for a runtime",
                "crates/term/src/screen.rs:5: `Timestamp::now` reaches for the clock",
            ],
        );
    }

    #[test]
    fn tests_comments_and_other_crates_may_name_it() {
        let tested = "//! No `std::fs`.\nuse std::io::Read;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let files = [
            ("crates/model/src/id.rs", tested),
            ("crates/model/src/id/tests.rs", "use std::fs;\n"),
            ("crates/model/tests/laws.rs", "use std::fs;\n"),
            ("crates/kernel/src/lib.rs", "use std::fs;\n"),
        ];
        check(sources_stay_pure, &files, &[]);
    }

    #[test]
    fn time_may_be_an_argument() {
        let text = "use std::time::Instant;\nfn tick(now: Instant) {}\n";
        check(sources_stay_pure, &[("crates/policy/src/idle.rs", text)], &[]);
    }

    #[test]
    fn a_pure_crate_has_no_dependency_on_the_outside() {
        let text = "[package]\nname = 'a'\n[dependencies]\nserde = '1'\nlibc = '1'\n";
        let message = "crates/model/Cargo.toml:5: `libc` is there for the outside";
        check(dependencies_stay_pure, &[("crates/model/Cargo.toml", text)], &[message]);
        check(dependencies_stay_pure, &[("crates/keeper/Cargo.toml", text)], &[]);
    }

    #[test]
    fn a_keeper_has_no_runtime() {
        let text = "[package]\nname = 'a'\n[dev-dependencies]\nlibc = '1'\ntokio = '1'\n";
        let message = "crates/keeper/Cargo.toml:5: `tokio` is a runtime";
        check(keepers_have_no_runtime, &[("crates/keeper/Cargo.toml", text)], &[message]);
        check(keepers_have_no_runtime, &[("crates/server/Cargo.toml", text)], &[]);
    }
}
