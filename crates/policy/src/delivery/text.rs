//! Which texts can be sent, and in which pieces.

use paned_term::paste::paste;

use super::InputAction;
use crate::agent::profile::{Submit, TypingMode};

/// The longest text that can be sent.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// The longest text that is typed and not pasted.
const LONGEST_TYPED: usize = 64 << 10;
/// How much is typed at once; a program takes more than that for a paste.
const PIECE: usize = 400;

/// A text that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedText {
    /// The text to type.
    pub text: String,
    /// What was changed about it, in sentences.
    pub changes: Vec<String>,
}

impl PreparedText {
    /// Checks whether a text can be sent. `escape` turns it into what the program accepts as a
    /// prompt, or returns why that is impossible.
    ///
    /// # Errors
    /// Why it cannot be sent, as a sentence.
    pub fn new(
        text: &str,
        escape: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        if MAX_MESSAGE_BYTES < text.len() {
            return Err(format!(
                "the text has {} bytes, more than the limit of {MAX_MESSAGE_BYTES}; put it in a \
                file and send its path",
                text.len()
            ));
        }
        if text.trim().is_empty() {
            return Err("the text is empty".to_owned());
        }
        paste(text, true).map_err(|refused| format!("{refused}; send plain text"))?;
        let mut changes = Vec::new();
        let kept = text.trim_end_matches(['\n', '\r']);
        if kept.len() < text.len() {
            changes.push("line ends at the end of the text were removed".to_owned());
        }
        let text = escape(kept)?;
        if text != kept {
            let what = "a prefix or suffix was added to the text";
            changes.push(format!("{what}, so that the program does not treat it as a command"));
        }
        Ok(Self { text, changes })
    }

    /// The actions that type it, in order.
    ///
    /// # Errors
    /// Why the text cannot be typed into a program without bracketed paste, as a sentence.
    pub(super) fn acts(&self, marked: bool, submit: &Submit) -> Result<Vec<InputAction>, String> {
        if marked && submit.typing == TypingMode::Paste {
            return Ok(vec![InputAction::Paste(self.text.clone())]);
        }
        const NO_PASTES: &str = "the program does not support bracketed paste";
        if LONGEST_TYPED < self.text.len() {
            let length = self.text.len();
            return Err(format!("{NO_PASTES}, and {length} bytes are too many to type"));
        }
        if self.text.contains('\t') {
            return Err(format!("{NO_PASTES}, so the tab in the text would act as a key"));
        }
        let lines: Vec<&str> =
            self.text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
        if lines.iter().any(|line| line.contains('\r')) {
            return Err(format!(
                "{NO_PASTES}, so the carriage return in the text would act as \
                               Enter"
            ));
        }
        match lines[..] {
            [line] => Ok(pieces(line).map(|piece| InputAction::Type(piece.to_owned())).collect()),
            _ => Err(format!("{NO_PASTES}, so each line of the text would be a prompt of its own")),
        }
    }
}

/// A line in pieces that end between characters.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let at = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|at| *at <= PIECE);
        let (piece, left) = rest.split_at(at.last().unwrap_or(rest.len()));
        rest = left;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    fn prepare(text: &str) -> Result<PreparedText, String> {
        PreparedText::new(text, |text| match text.chars().next() {
            Some('/') => Ok(format!(" {text}")),
            Some('!') => Err("`!` runs a shell".to_owned()),
            _ => Ok(text.to_owned()),
        })
    }

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let got = prepare(text).map(|prepared| prepared.text);
        assert_eq!(got.as_deref().map_err(String::as_str), expect);
    }

    #[test]
    fn text_is_kept_as_it_is() {
        for text in ["-x; y;", "tab\there", "a!b ?", "日本語 🎉", "one\n\n  two", " leading"] {
            check(text, Ok(text));
        }
    }

    #[test]
    fn what_a_program_would_take_for_a_command_is_taken_care_of() {
        check("/help me", Ok(" /help me"));
        check("!ls", Err("`!` runs a shell"));
        assert_eq!(prepare("/x").unwrap().changes.len(), 1);
    }

    #[test]
    fn what_cannot_be_typed_is_refused() {
        check("", Err("the text is empty"));
        check(" \n", Err("the text is empty"));
        check(
            "a\u{3}",
            Err("the text contains the control character U+0003 at character 2; send plain text"),
        );
        check(
            "a\u{1b}[201~b",
            Err("the text contains the end marker of a bracketed paste at character 2; send \
                plain text"),
        );
        let long = prepare(&"x".repeat(MAX_MESSAGE_BYTES + 1)).unwrap_err();
        assert!(long.contains("1048577 bytes"), "{long}");
        assert!(prepare(&"x".repeat(MAX_MESSAGE_BYTES)).is_ok());
    }

    #[test]
    fn line_ends_at_the_end_are_left_out_and_told() {
        let prepared = prepare("a\nb\n\n").unwrap();
        assert_eq!((prepared.text.as_str(), prepared.changes.len()), ("a\nb", 1));
    }

    #[test]
    fn without_marks_some_texts_cannot_be_typed() {
        let prepared = prepare("a\r\nb").unwrap();
        assert!(prepared.acts(false, &profile().submit).unwrap_err().contains("each line"));
        let returned = prepare("a\rb").unwrap();
        assert!(returned.acts(false, &profile().submit).unwrap_err().contains("carriage return"));
        let tabbed = prepare("a\tb").unwrap();
        assert!(tabbed.acts(false, &profile().submit).unwrap_err().contains("tab"));
        let long = prepare(&"ä".repeat(1000)).unwrap();
        assert_eq!(long.acts(false, &profile().submit).unwrap().len(), 5);
    }
}
