//! Every promise in docs/promises.md names tests that exist.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

/// The tests that a page names, as file and name: everything between backquotes that looks like
/// `folder/file.rs::name`.
fn named(page: &str) -> Vec<(&str, &str)> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|words| words.split_once(".rs::").map(|_| words.split_once("::").unwrap()))
        .collect()
}

/// Whether a source has a test of this name.
fn has_test(source: &str, name: &str) -> bool {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let is_attribute = line.starts_with("#[");
        is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
        let begins =
            line.split("fn ").nth(1).is_some_and(|rest| rest.starts_with(&format!("{name}(")));
        if is_test && begins {
            return true;
        }
        is_test &= is_attribute || line.starts_with("//");
    }
    false
}

#[test]
fn every_promise_has_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let named = named(&page);
    assert!(20 < named.len(), "only {} tests are named", named.len());
    for (file, name) in named {
        let source = std::fs::read_to_string(root.join(file));
        let source = source.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(has_test(&source, name), "{file} has no test `{name}`");
    }
    // A row without a test is no promise.
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let is_head = row.starts_with("| promise");
        assert!(is_head || row.contains(".rs::"), "no test holds this: {row}");
    }
}

#[test]
fn only_tests_count() {
    let source = "#[test]\n#[ignore]\nfn first() {\n}\nfn second() {}\n// #[test]\nfn third() {}\n";
    assert!(has_test(source, "first"));
    assert!(!has_test(source, "second") && !has_test(source, "third") && !has_test(source, "fir"));
}
