//! The single rule for the content of a title, used by every reader of the output.

/// The longest title, in characters.
const MAX: usize = 256;

/// The title without control characters, cut at [`MAX`] characters. Cleaning twice changes nothing.
pub(crate) fn clean(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !c.is_control()).collect();
    let cut: String = visible.trim().chars().take(MAX).collect();
    cut.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(clean(text), expect);
        assert_eq!(clean(expect), expect);
    }

    #[test]
    fn controls_and_outer_blanks_go() {
        check(" a\u{7f} b\u{85}\t", "a b");
        check("\u{7f} ", "");
    }

    #[test]
    fn a_title_is_cut_between_characters() {
        check(&"é".repeat(300), &"é".repeat(256));
        check(&format!("{} tail", "x".repeat(255)), &"x".repeat(255));
    }
}
