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
    fn a_crate_without_lints_is_found() {
        let with = "[package]\nname = 'a'\n[lints]\nworkspace = true\n";
        let files = [("a/Cargo.toml", with), ("b/Cargo.toml", "[package]\nname = 'b'\n")];
        check(lints_hold_everywhere, &files, &["b/Cargo.toml:1: a crate takes the lints"]);
    }
}
