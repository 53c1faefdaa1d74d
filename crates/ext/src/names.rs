//! The names of extensions: each is the noun of the extension's actions and events.

use paned_kernel::RESERVED_NOUNS;
use paned_model::Refusal;

/// An action's name has 64 bytes, of which this leaves half for the verb.
const LONGEST: usize = 32;

/// Refuses what cannot be the name of an extension.
///
/// # Errors
/// With the rule that the name breaks.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let shown: String = name.chars().take(2 * LONGEST).collect();
    let shown = shown.escape_debug();
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = |c: char| is_letter(c) || c == '-';
    if name.len() > LONGEST || !name.starts_with(is_letter) || !name.chars().all(fits) {
        return Err(Refusal::invalid(format!(
            "invalid extension name `{shown}`: use a-z, 0-9 and `-`, at most {LONGEST} characters, \
            and start with a letter or a digit"
        )));
    }
    if RESERVED_NOUNS.contains(&name) {
        return Err(Refusal::invalid(format!(
            "the name `{shown}` is reserved for paned; call the extension otherwise"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<&str>) {
        match (check_name(name), expect) {
            (Ok(()), None) => {}
            (Err(refusal), Some(part)) => assert!(refusal.sentence.contains(part), "{refusal}"),
            (result, _) => panic!("{name}: {result:?}"),
        }
    }

    #[test]
    fn a_name_is_a_plain_word() {
        for name in ["logger", "auto-answer", "7z", "a", "a--b"] {
            check(name, None);
        }
        for name in ["", "-x", "Logger", "a.b", "..", "a/b", "a b", "ä", "a\n", &"x".repeat(33)] {
            check(name, Some("invalid extension name"));
        }
    }

    #[test]
    fn names_that_paned_uses_are_reserved() {
        for name in RESERVED_NOUNS {
            check(name, Some("reserved"));
        }
        check("panes", None);
    }

    #[test]
    fn the_host_and_the_page_of_the_protocol_have_the_same_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let host = text("extensions/host/src/load.ts");
        let list = host.split_once("const RESERVED = new Set(").unwrap().1;
        let list = list.split_once(".split").unwrap().0.replace(['(', ')', '"', '+'], " ");
        assert_eq!(list.split_whitespace().collect::<Vec<_>>(), RESERVED_NOUNS);
        let page = text("docs/extensions-protocol.md");
        let list = page.split_once("Reserved names: ").unwrap().1.split_once(".\n").unwrap().0;
        let list: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        assert_eq!(list, RESERVED_NOUNS);
    }
}
