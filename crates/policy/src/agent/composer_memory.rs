//! What is learned of a program without a profile: how its composer looks where it accepted input.
//!
//! A screen may be hostile and a file may be damaged: signs are short, have no control characters,
//! and their number is limited. A sign alone never proves a state.

use paned_model::Time;
use serde::{Deserialize, Serialize};

use super::facts::AgentFacts;

/// How many composers of one program are remembered.
pub const MAX_SIGNS: usize = 8;
/// The longest text of a sign, in characters.
const LONGEST: usize = 64;

/// How a composer looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposerSign {
    /// Where the cursor is in it.
    pub shape: SignShape,
    /// The prompt before the cursor with its digits masked; for a box also the character of its
    /// border.
    pub text: String,
}

/// Where the cursor is in a composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignShape {
    /// After a prompt, with nothing below.
    Line,
    /// Between two rules.
    Frame,
    /// Behind a bar.
    Bar,
}

impl ComposerSign {
    /// A sign as a screen shows it; `None` if it is too long to be one.
    pub(super) fn new(shape: SignShape, text: &str) -> Option<Self> {
        let text = text.trim_end().replace(|c: char| c.is_ascii_digit(), "0");
        let sign = Self { shape, text };
        sign.is_sound().then_some(sign)
    }

    /// Whether it is short enough and has no control characters, whatever its source.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let count = self.text.chars().count();
        0 < count && count <= LONGEST && !self.text.chars().any(char::is_control)
    }
}

/// What is known of one program's composer.
#[derive(Clone, Debug, Default)]
pub(super) struct ComposerMemory {
    /// The signs that were on the screen when input was typed in this pane.
    typed: Vec<ComposerSign>,
    /// Of those, the signs that came back after a turn: here the program accepted input.
    accepted: Vec<ComposerSign>,
    /// The signs of an earlier run of the program.
    earlier: Vec<ComposerSign>,
    /// When that was.
    earlier_at: Time,
}

impl ComposerMemory {
    /// Adds the signs of an earlier run of the program.
    pub(super) fn restore(&mut self, signs: Vec<ComposerSign>, at: Time) {
        self.earlier = signs.into_iter().filter(ComposerSign::is_sound).take(MAX_SIGNS).collect();
        self.earlier_at = at;
    }

    /// A user or a client types while this sign is on the screen.
    pub(super) fn note_typed(&mut self, sign: &ComposerSign) {
        if self.typed.contains(sign) {
            return;
        }
        if self.typed.len() == MAX_SIGNS {
            self.typed.remove(0);
        }
        self.typed.push(sign.clone());
    }

    /// A turn is over, and this is on the screen.
    pub(super) fn note_accepted(&mut self, sign: &ComposerSign) {
        let is_new = self.typed.contains(sign) && !self.accepted.contains(sign);
        if is_new && self.accepted.len() < MAX_SIGNS {
            self.accepted.push(sign.clone());
        }
    }

    /// The signs where the program accepted input in this pane.
    pub(super) fn accepted(&self) -> &[ComposerSign] {
        &self.accepted
    }

    /// Whether it is a prompt after which input was typed, in this pane or before.
    pub(super) fn is_prompt(&self, sign: &ComposerSign) -> bool {
        sign.shape == SignShape::Line && (self.typed.contains(sign) || self.earlier.contains(sign))
    }

    /// When it was learned, if that was before this pane.
    pub(super) fn known_since(&self, sign: &ComposerSign) -> Option<Time> {
        self.earlier.contains(sign).then_some(self.earlier_at)
    }
}

impl AgentFacts {
    /// Learns how the composer looks when input arrives.
    pub(super) fn learn_composer(&mut self) {
        let sign = self.findings.as_ref().and_then(|findings| findings.sign.as_ref());
        if let Some(sign) = sign.filter(|_| !self.turn) {
            self.learned.note_typed(sign);
        }
    }

    /// Whether a row ends with what was typed since the last Enter: then it is a draft, not a
    /// question.
    pub(super) fn is_typed(&self, row: &str) -> bool {
        let typed: Vec<&str> = self.line.split_whitespace().collect();
        let row: Vec<&str> = row.split_whitespace().collect();
        // The end of a long line is in the next row; an answer of one word is not a draft.
        let count = typed.len().min(row.len().saturating_sub(1)).min(4);
        1 < count && typed[typed.len() - count..] == row[row.len() - count..]
    }

    /// The sign of the composer that is on the screen.
    pub(super) fn sign(&self) -> Option<&ComposerSign> {
        self.findings.as_ref().and_then(|findings| findings.sign.as_ref())
    }

    /// Whether a prompt is back at which input was accepted before.
    pub(super) fn is_prompted(&self) -> bool {
        self.sign().is_some_and(|sign| self.learned.is_prompt(sign))
    }

    /// When the composer on the screen was learned, if that was in an earlier run of the program.
    pub(super) fn known_since(&self) -> Option<Time> {
        self.learned.known_since(self.sign()?)
    }

    /// A turn is over: the composer that is back has accepted its input.
    pub(super) fn learn_turn(&mut self) {
        let sign = self.findings.as_ref().and_then(|findings| findings.sign.as_ref());
        if let Some(sign) = sign.filter(|_| self.turn) {
            self.learned.note_accepted(sign);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(text: &str) -> ComposerSign {
        ComposerSign::new(SignShape::Line, text).unwrap()
    }

    #[test]
    fn what_is_too_long_or_has_control_characters_is_no_sign() {
        assert_eq!(ComposerSign::new(SignShape::Line, &"x".repeat(65)), None);
        assert_eq!(ComposerSign::new(SignShape::Line, "a\x1bb>"), None);
        assert_eq!(ComposerSign::new(SignShape::Frame, " "), None);
        assert_eq!(sign("In [12]: ").text, "In [00]:");
    }

    #[test]
    fn only_what_was_typed_at_and_came_back_is_taken() {
        let mut learned = ComposerMemory::default();
        learned.note_accepted(&sign(">"));
        assert!(learned.accepted().is_empty());
        learned.note_typed(&sign(">"));
        learned.note_accepted(&sign("$"));
        learned.note_accepted(&sign(">"));
        learned.note_accepted(&sign(">"));
        assert_eq!(learned.accepted(), [sign(">")]);
    }

    #[test]
    fn few_signs_are_remembered_and_unsound_ones_are_not_recalled() {
        let mut learned = ComposerMemory::default();
        for letter in 'a'..='z' {
            let sign = sign(&format!("{letter}>"));
            learned.note_typed(&sign);
            learned.note_accepted(&sign);
        }
        assert_eq!(learned.accepted().len(), MAX_SIGNS);
        let bad = ComposerSign { shape: SignShape::Line, text: "\x1b]0;x\x07".into() };
        learned.restore(vec![bad.clone(), sign(">")], Time(7));
        assert_eq!(learned.known_since(&bad), None);
        assert_eq!(learned.known_since(&sign(">")), Some(Time(7)));
        assert_eq!(learned.known_since(&sign("$")), None);
    }
}
