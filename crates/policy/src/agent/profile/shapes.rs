//! Where a program accepts input, and what its questions look like.

use paned_model::{AgentState, BlockKind};
use serde::{Deserialize, Deserializer};

use super::ProfilePattern;
use super::fields::{self, ProfileTable, refuse};

/// How the composer is found on the screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComposerShape {
    /// Whether it is found by the cursor, as in programs without a profile.
    #[serde(rename = "by", deserialize_with = "by_cursor")]
    pub by_cursor: bool,
    /// The beginning of its first row; the text follows.
    pub prompt: Option<ProfilePattern>,
    /// The row above it.
    pub top: Option<ProfilePattern>,
    /// The row below it.
    pub bottom: Option<ProfilePattern>,
    /// The beginning of each of its rows.
    pub inside: Option<ProfilePattern>,
    /// The end of each of its rows.
    pub end: Option<ProfilePattern>,
    /// How many of its first rows never hold text.
    #[serde(deserialize_with = "fields::count::<0, 10, _>")]
    pub above: usize,
    /// How many of its last rows never hold text.
    #[serde(deserialize_with = "fields::count::<0, 10, _>")]
    pub below: usize,
    /// How many rows may be below it.
    #[serde(default = "fields::usual::<255>", deserialize_with = "fields::count::<0, 255, _>")]
    pub reach: usize,
    /// Whether a blank row separates it from the rows below it.
    pub footer: bool,
    /// What it shows while it is empty.
    #[serde(deserialize_with = "fields::list")]
    pub placeholders: Vec<ProfilePattern>,
    /// A first row like this accepts no prompt (it takes a shell command, say): it counts as a
    /// draft, so nothing is typed into it.
    pub mode: Option<ProfilePattern>,
    /// The conditions for it.
    #[serde(deserialize_with = "fields::list")]
    pub needs: Vec<ScreenCondition>,
    /// Whether a visible composer means that the program waits for a line.
    pub exact: bool,
    /// The state that a missing composer means.
    #[serde(deserialize_with = "fields::state")]
    pub absent: Option<AgentState>,
    /// The weight of a visible composer, 0 to 1, if it is not the usual one.
    #[serde(deserialize_with = "fields::weight")]
    pub weight: Option<f32>,
}

/// A condition beside the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenCondition {
    /// Bracketed paste is on.
    Paste,
    /// Bracketed paste is off.
    NoPaste,
    /// The cursor is in it.
    Cursor,
    /// The cursor is in it, on its one line however often that wraps.
    #[serde(rename = "cursor-line")]
    Line,
    /// The cursor is shown.
    #[serde(rename = "cursor-shown")]
    Shown,
    /// The cursor is hidden.
    #[serde(rename = "cursor-hidden")]
    Hidden,
}

/// What the questions of a program look like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogShape {
    /// How options are written.
    #[serde(rename = "options", deserialize_with = "fields::list")]
    pub styles: Vec<OptionStyle>,
    /// A row that must be below the options, or on their row.
    pub hint: Option<ProfilePattern>,
    /// The conditions beside the text.
    #[serde(default, deserialize_with = "fields::list")]
    pub needs: Vec<ScreenCondition>,
    /// Which keys choose an option.
    #[serde(default, rename = "choose")]
    pub choosing: ChoiceMethod,
    /// The kind if no other matches; `None` for a question.
    pub kind: Option<BlockKind>,
    /// The kinds, by text in the question; the first match counts.
    #[serde(default, deserialize_with = "fields::tables")]
    pub kinds: Vec<QuestionRule>,
    /// Whether one of the kinds must match.
    #[serde(default)]
    pub known: bool,
    /// Whether its options have no background of their own. If so, rows which begin like a message
    /// of the user and have a background are such a message.
    #[serde(default)]
    pub plain: bool,
    /// Its first row.
    pub begins: Option<ProfilePattern>,
    /// How many rows with text may be below the options.
    #[serde(default = "fields::usual::<10>", deserialize_with = "fields::count::<1, 255, _>")]
    pub reach: usize,
}

/// A kind of question, and how it is recognised.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionRule {
    /// Matches the question or its options.
    #[serde(rename = "match")]
    pub pattern: ProfilePattern,
    /// The kind.
    pub kind: BlockKind,
    /// The option that may be chosen at the start without asking a person.
    pub answer: Option<ProfilePattern>,
}

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionStyle {
    /// `› 1. Yes` over `  2. No`.
    Numbered,
    /// `● Allow` over `○ Deny`.
    Radio,
    /// `→ Yes` over `  No`.
    Arrow,
    /// `(Y)es/(N)o [Yes]:` in one row.
    Letters,
    /// `Allow once   Reject` in one row, the selected one with a background.
    Buttons,
    /// `[y] Approve   [n] Deny` in one row: each with the key that chooses it.
    Keys,
    /// `Run it? [Y/n]` at the cursor, or right above its empty row: `y` or `n`, then Enter.
    YesNo,
    /// `Press Enter to continue`: nothing to choose from.
    Enter,
}

/// Which keys choose an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceMethod {
    /// Arrows to it, then Enter.
    #[default]
    Move,
    /// Its number.
    Digit,
    /// The key in parentheses at its end, or else arrows and Enter.
    Shortcut,
}

impl ComposerShape {
    /// The weight of a visible composer, 0 to 1.
    #[must_use]
    pub fn weight(&self) -> f32 {
        self.weight.unwrap_or(if self.exact { 0.95 } else { 0.7 })
    }
}

impl ProfileTable for Option<ComposerShape> {
    fn complete(&mut self) -> Result<(), String> {
        let has_edge = |shape: &ComposerShape| shape.prompt.is_some() || shape.bottom.is_some();
        let sentence = "[composer] requires `prompt` or `bottom`";
        refuse([(!self.as_ref().is_none_or(has_edge), sentence)])
    }
}

impl ProfileTable for QuestionRule {}

fn by_cursor<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Search {
        Shape,
        Cursor,
    }
    Ok(matches!(Search::deserialize(from)?, Search::Cursor))
}
