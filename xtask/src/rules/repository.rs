//! Documents that the repository must have, and lints that every crate must use.

use super::Finding;
use crate::tree::Tree;

const DOCUMENTS: &[&str] =
    &["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"];

/// The documents that a newcomer looks for exist.
pub(super) fn documents_exist(tree: &Tree) -> Vec<Finding> {
    let missing = DOCUMENTS.iter().filter(|path| tree.get(path).is_none());
    missing.map(|path| Finding::new(path, 1, "this document is missing")).collect()
}

/// Every file that the map names exists.
pub(super) fn the_map_names_files_that_exist(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.get("ARCHITECTURE.md") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (index, line) in map.text.lines().enumerate() {
        for path in line.split('`').filter(|word| word.starts_with("crates/")) {
            if path.ends_with(".rs") && tree.get(path).is_none() {
                let message = format!("`{path}` does not exist");
                findings.push(Finding::at(map, index + 1, message));
            }
        }
    }
    findings
}

/// Every crate has lints; cargo gives a new one none, and then its functions may be of any length.
pub(super) fn lints_hold_everywhere(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests();
    let without = manifests.iter().filter(|manifest| !manifest.has_lints);
    let message = "a crate takes the lints of the workspace: `[lints] workspace = true`";
    without.map(|manifest| Finding::new(&manifest.path, 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_missing_document_is_found() {
        let mut files: Vec<(&str, &str)> = DOCUMENTS.iter().map(|path| (*path, "")).collect();
        check(documents_exist, &files, &[]);
        files.pop();
        check(documents_exist, &files, &["README.md:1: this document is missing"]);
    }

    #[test]
    fn a_file_that_is_gone_from_the_map_is_found() {
        let map = "`crates/a/src/b.rs` calls\n`crates/a/src/c.rs`, see `crates/a`.\n";
        let files = [("ARCHITECTURE.md", map), ("crates/a/src/b.rs", "")];
        let expect = ["ARCHITECTURE.md:2: `crates/a/src/c.rs` does not exist"];
        check(the_map_names_files_that_exist, &files, &expect);
    }

    #[test]
    fn a_crate_without_lints_is_found() {
        let with = "[package]\nname = 'a'\n[lints]\nworkspace = true\n";
        let files = [("a/Cargo.toml", with), ("b/Cargo.toml", "[package]\nname = 'b'\n")];
        check(lints_hold_everywhere, &files, &["b/Cargo.toml:1: a crate takes the lints"]);
    }
}
