//! Encodes text as a paste into a program's terminal.
//!
//! A paste is text: what could end it early or act as a key is refused, never silently repaired.

use std::error::Error;
use std::fmt;

/// The end marker of a bracketed paste, in 7-bit and 8-bit form.
const END_MARKERS: [&str; 2] = ["\x1b[201~", "\u{9b}201~"];

/// The bytes of a paste, bracketed if the program asked for that.
///
/// Line ends become carriage returns, as the enter key and every common terminal send them.
///
/// # Errors
/// When the text holds the end marker or a control character other than tab and line ends.
pub fn paste(text: &str, bracketed: bool) -> Result<Vec<u8>, PasteError> {
    check(text)?;
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    Ok(if bracketed { format!("\x1b[200~{text}\x1b[201~") } else { text }.into_bytes())
}

/// Why a text cannot be pasted. Positions count characters from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasteError {
    /// It would end the paste in the middle, and the rest would act as keys.
    EndMarker(usize),
    /// This character is a key or a command, not text.
    Control(char, usize),
}

impl fmt::Display for PasteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndMarker(at) => {
                write!(
                    f,
                    "the text contains the end marker of a bracketed paste at character \
                          {at}"
                )
            }
            Self::Control(c, at) => {
                write!(
                    f,
                    "the text contains the control character U+{:04X} at character {at}",
                    *c as u32
                )
            }
        }
    }
}

impl Error for PasteError {}

fn check(text: &str) -> Result<(), PasteError> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    let Some((at, c)) = text.char_indices().find(|&(_, c)| is_bad(c)) else {
        return Ok(());
    };
    let position = |byte: usize| text[..byte].chars().count() + 1;
    let end = END_MARKERS.iter().filter_map(|end| text.find(end)).min();
    Err(end
        .map_or(PasteError::Control(c, position(at)), |end| PasteError::EndMarker(position(end))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(paste(text, false), Ok(expect.as_bytes().to_vec()));
        let bracketed = format!("\x1b[200~{expect}\x1b[201~");
        assert_eq!(paste(text, true), Ok(bracketed.into_bytes()));
    }

    #[track_caller]
    fn check_refused(text: &str, expect: &str) {
        for bracketed in [false, true] {
            assert_eq!(paste(text, bracketed).unwrap_err().to_string(), expect);
        }
    }

    #[test]
    fn text_stays_as_it_is() {
        check("", "");
        check("a\tb ä 日\u{301} [201~", "a\tb ä 日\u{301} [201~");
    }

    #[test]
    fn every_line_end_is_one_return() {
        check("a\nb\r\nc\rd\n\n", "a\rb\rc\rd\r\r");
    }

    #[test]
    fn the_end_marker_is_refused() {
        check_refused(
            "äb\x1b[201~",
            "the text contains the end marker of a bracketed paste at character 3",
        );
        check_refused(
            "\u{9b}201~",
            "the text contains the end marker of a bracketed paste at character 1",
        );
        check_refused(
            "\x03\x1b[201~",
            "the text contains the end marker of a bracketed paste at character 2",
        );
    }

    #[test]
    fn control_characters_are_refused() {
        check_refused("ä\x1b[A", "the text contains the control character U+001B at character 2");
        check_refused("\n\x03", "the text contains the control character U+0003 at character 2");
        check_refused("a\x7f", "the text contains the control character U+007F at character 2");
        check_refused("\u{9b}A", "the text contains the control character U+009B at character 1");
    }
}
