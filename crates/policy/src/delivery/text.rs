//! Which texts can be handed over, and in which pieces.

use paned_term::paste::paste;

use super::recipe::{How, Place};
use super::{Act, Recipe};

/// The longest text that is handed over.
pub const LONGEST: usize = 1 << 20;
/// The longest text that is typed as if by hand.
const LONGEST_TYPED: usize = 64 << 10;
/// How much is typed at once; a program takes more than that for a paste.
const PIECE: usize = 400;

/// A text that can be handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// As it is typed.
    pub text: String,
    /// What was changed about it, in sentences.
    pub changes: Vec<String>,
}

impl Prepared {
    /// Looks whether a text can be handed over to a program that takes prompts so.
    ///
    /// # Errors
    /// A sentence when it cannot.
    pub fn new(text: &str, recipe: &Recipe) -> Result<Self, String> {
        if LONGEST < text.len() {
            return Err(format!(
                "the text has {} bytes; the longest is {LONGEST}; put it in a file and name that",
                text.len()
            ));
        }
        if text.trim().is_empty() {
            return Err("the text is empty; an agent would not take it".to_owned());
        }
        paste(text, true).map_err(|refused| format!("{refused}; send plain text"))?;
        let mut changes = Vec::new();
        let kept = text.trim_end_matches(['\n', '\r']);
        if kept.len() < text.len() {
            changes.push("line ends at the end of the text were left out".to_owned());
        }
        let mut text = kept.to_owned();
        for care in recipe.care.iter().filter(|care| applies(&care.place, kept)) {
            match &care.how {
                How::Before(before) => text.insert_str(0, before),
                How::After(after) => text.push_str(after),
                How::Refuse(sentence) => return Err(sentence.clone()),
            }
            changes.push(change(&care.how));
        }
        Ok(Self { text, changes })
    }

    /// What to type for it, one after the other.
    ///
    /// # Errors
    /// A sentence when a program that does not ask to be told of pastes cannot be given it.
    pub(super) fn acts(&self, marked: bool, recipe: &Recipe) -> Result<Vec<Act>, String> {
        if marked {
            return Ok(vec![Act::Paste(self.text.clone())]);
        }
        const NO_PASTES: &str = "the program has not asked to be told of pastes";
        if LONGEST_TYPED < self.text.len() {
            let length = self.text.len();
            return Err(format!("{NO_PASTES}, and {length} bytes are too many to be typed"));
        }
        if self.text.contains('\t') {
            return Err(format!("{NO_PASTES}, and would take the tab in the text for a key"));
        }
        let lines: Vec<&str> =
            self.text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
        if 1 < lines.len() && recipe.newline.is_empty() {
            return Err(format!("{NO_PASTES}, and would take each line of the text for a prompt"));
        }
        let mut acts = Vec::new();
        for (n, line) in lines.into_iter().enumerate() {
            if 0 < n {
                acts.push(Act::Press(recipe.newline.clone()));
            }
            acts.extend(pieces(line).map(|piece| Act::Type(piece.to_owned())));
        }
        Ok(acts)
    }
}

fn applies(place: &Place, text: &str) -> bool {
    match place {
        Place::Start(start) => text.starts_with(start.as_str()),
        Place::LastWord(start) => {
            text.split_whitespace().next_back().is_some_and(|word| word.starts_with(start.as_str()))
        }
    }
}

fn change(how: &How) -> String {
    let (what, side) = match how {
        How::Before(what) => (what, "before"),
        How::After(what) => (what, "after"),
        How::Refuse(_) => return String::new(),
    };
    let what = if what.trim().is_empty() { "a blank".to_owned() } else { format!("`{what}`") };
    format!("{what} was put {side} the text, which the program would have taken for a command")
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
    use super::super::Care;
    use super::*;

    fn recipe() -> Recipe {
        let care = |place, how| Care { place, how };
        Recipe {
            care: vec![
                care(Place::Start("/".into()), How::Before(" ".into())),
                care(Place::Start("!".into()), How::Refuse("`!` runs a shell".into())),
                care(Place::LastWord("@".into()), How::After(" ".into())),
            ],
            ..Recipe::default()
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let got = Prepared::new(text, &recipe()).map(|prepared| prepared.text);
        assert_eq!(got.as_deref().map_err(String::as_str), expect);
    }

    #[test]
    fn text_is_kept_as_it_is() {
        for text in ["-x; y;", "tab\there", "a!b ?", "日本語 🎉", "one\n\n  two", "@x is not last"]
        {
            check(text, Ok(text));
        }
    }

    #[test]
    fn what_a_program_would_take_for_a_command_is_taken_care_of() {
        check("/help me", Ok(" /help me"));
        check("!ls", Err("`!` runs a shell"));
        check("look at @main.rs", Ok("look at @main.rs "));
        check("/x @y", Ok(" /x @y "));
    }

    #[test]
    fn what_cannot_be_typed_is_refused() {
        check("", Err("the text is empty; an agent would not take it"));
        check(" \n", Err("the text is empty; an agent would not take it"));
        check(
            "a\u{3}",
            Err("character 2 of the text is the control character U+0003; send plain text"),
        );
        check(
            "a\u{1b}[201~b",
            Err("character 2 of the text begins the end marker of a paste; send plain text"),
        );
        let long = Prepared::new(&"x".repeat(LONGEST + 1), &Recipe::default()).unwrap_err();
        assert!(long.contains("1048577 bytes"), "{long}");
        assert!(Prepared::new(&"x".repeat(LONGEST), &Recipe::default()).is_ok());
    }

    #[test]
    fn line_ends_at_the_end_are_left_out_and_told() {
        let prepared = Prepared::new("a\nb\n\n", &Recipe::default()).unwrap();
        assert_eq!((prepared.text.as_str(), prepared.changes.len()), ("a\nb", 1));
    }

    #[test]
    fn without_marks_lines_need_a_key_of_their_own() {
        let prepared = Prepared::new("a\r\nb", &Recipe::default()).unwrap();
        assert!(prepared.acts(false, &Recipe::default()).unwrap_err().contains("each line"));
        let recipe = Recipe { newline: vec!["ctrl+j".into()], ..Recipe::default() };
        let (a, b) = (Act::Type("a".into()), Act::Type("b".into()));
        let acts = [a, Act::Press(recipe.newline.clone()), b];
        assert_eq!(prepared.acts(false, &recipe).unwrap(), acts);
        let tabbed = Prepared::new("a\tb", &recipe).unwrap();
        assert!(tabbed.acts(false, &recipe).unwrap_err().contains("tab"));
        let long = Prepared::new(&"ä".repeat(1000), &recipe).unwrap();
        assert_eq!(long.acts(false, &recipe).unwrap().len(), 5);
    }
}
