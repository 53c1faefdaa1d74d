//! Documents in, profiles and mistakes out.

use super::Library;

#[test]
fn ours_have_no_mistakes() {
    let (library, mistakes) = Library::with(&[("x.toml".into(), "command = \"x\"".into())]);
    assert_eq!(mistakes, []);
    assert!(library.get("codex").is_some());
}
