//! `unsafe` is allowed in `keeper` only; every other crate forbids it, so that no attribute can
//! allow it.

use super::Finding;
use crate::manifest::Manifest;
use crate::source::{find_word, line_at};
use crate::tree::{File, Tree};

const KEEPER: &str = "crates/keeper";

/// The keyword is used in `keeper` only.
pub(super) fn lives_in_keeper(tree: &Tree) -> Vec<Finding> {
    let others = tree.rust().filter(|file| !file.path.starts_with(&format!("{KEEPER}/")));
    others.flat_map(uses).collect()
}

/// Every library and program of every other crate opens with `#![forbid(unsafe_code)]`.
pub(super) fn is_forbidden_elsewhere(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let others = manifests.iter().filter(|it| it.folder() != KEEPER);
    others
        .flat_map(|manifest| roots(tree, manifest))
        .filter(|file| !file.source.code.contains("#![forbid(unsafe_code)]"))
        .map(|file| Finding::at(file, 1, "a crate outside keeper says `#![forbid(unsafe_code)]`"))
        .collect()
}

fn uses(file: &File) -> Vec<Finding> {
    let code = &file.source.code;
    let message = format!("`unsafe` lives in {KEEPER} and nowhere else");
    find_word(code, "unsafe").map(|at| Finding::at(file, line_at(code, at), &message)).collect()
}

fn roots<'a>(tree: &'a Tree, manifest: &Manifest) -> Vec<&'a File> {
    let src = format!("{}/src/", manifest.folder());
    let is_root = |path: &str| {
        let Some(inner) = path.strip_prefix(&src) else {
            return false;
        };
        let program = inner.strip_prefix("bin/").is_some_and(|name| !name.contains('/'));
        inner == "lib.rs" || inner == "main.rs" || program
    };
    tree.rust().filter(|file| is_root(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn the_keyword_is_found_abroad() {
        let text = "fn f() {\n    unsafe { g() }\n}\n";
        let message = "crates/server/src/ws.rs:2: `unsafe` lives in crates/keeper";
        check(lives_in_keeper, &[("crates/server/src/ws.rs", text)], &[message]);
        check(lives_in_keeper, &[("crates/keeper/src/tape.rs", text)], &[]);
    }

    #[test]
    fn the_word_is_free() {
        let text = "#![forbid(unsafe_code)]\n// No unsafe here.\nconst A: &str = \"unsafe\";\n";
        check(lives_in_keeper, &[("crates/server/src/lib.rs", text)], &[]);
    }

    #[test]
    fn a_crate_that_does_not_forbid_it_is_found() {
        let manifest = "[package]\nname = 'a'\n";
        let files = [
            ("crates/keeper/Cargo.toml", manifest),
            ("crates/keeper/src/lib.rs", ""),
            ("crates/server/Cargo.toml", manifest),
            ("crates/server/src/lib.rs", "//! HTTP.\n\n#![forbid(unsafe_code)]\n"),
            ("crates/server/src/http.rs", ""),
            ("tests/Cargo.toml", manifest),
            ("tests/src/lib.rs", "// #![forbid(unsafe_code)]\n"),
            ("tests/src/bin/agent.rs", ""),
        ];
        let expect = ["tests/src/lib.rs:1: a crate outside", "tests/src/bin/agent.rs:1: a crate"];
        check(is_forbidden_elsewhere, &files, &expect);
    }
}
