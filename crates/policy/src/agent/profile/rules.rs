//! What a profile describes of an agent: regions of its screen and other signals, and what they
//! mean.

use paned_model::{AgentState, BlockKind};

use super::ProfilePattern;

/// Time-outs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long the screen must look ready after it looked busy, if there is no exact evidence.
    pub settle: u64,
    /// How long nothing may change before a turn without an end mark is over.
    pub quiet: u64,
    /// How long after Enter, and after the last output, it counts as busy without a sign of work.
    pub expect: u64,
    /// How long it needs to settle after a key interrupted its turn.
    pub rest: u64,
    /// How long a state is kept without any evidence.
    pub lost: u64,
    /// How long it may take to start.
    pub starting: u64,
    /// How long an animated sign may stay unchanged.
    pub stale: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            settle: 200,
            quiet: 0,
            expect: 2000,
            rest: 250,
            lost: 1500,
            starting: 120_000,
            stale: 3000,
        }
    }
}

/// How the composer is found on the screen.
#[derive(Clone, Debug, Default)]
pub struct ComposerShape {
    /// Whether it is found by the cursor, as in programs without a profile.
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
    pub above: usize,
    /// How many of its last rows never hold text.
    pub below: usize,
    /// How many rows may be below it.
    pub reach: usize,
    /// Whether a blank row separates it from the rows below it.
    pub footer: bool,
    /// What it shows while it is empty.
    pub placeholders: Vec<ProfilePattern>,
    /// A first row like this accepts no prompt (it takes a shell command, say): it counts as a
    /// draft, so nothing is typed into it.
    pub mode: Option<ProfilePattern>,
    /// The conditions for it.
    pub needs: Vec<ScreenCondition>,
    /// Whether a visible composer means that the program waits for a line.
    pub exact: bool,
    /// The state that a missing composer means.
    pub absent: Option<AgentState>,
    /// The weight of a visible composer, 0 to 1.
    pub weight: f32,
}

/// A condition beside the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenCondition {
    /// Bracketed paste is on.
    Paste,
    /// Bracketed paste is off.
    NoPaste,
    /// The cursor is in it.
    Cursor,
    /// The cursor is in it, on its one line however often that wraps.
    Line,
    /// The cursor is shown.
    Shown,
    /// The cursor is hidden.
    Hidden,
}

impl ScreenCondition {
    pub(super) const WORDS: [(&'static str, Self); 6] = [
        ("paste", Self::Paste),
        ("no-paste", Self::NoPaste),
        ("cursor", Self::Cursor),
        ("cursor-line", Self::Line),
        ("cursor-shown", Self::Shown),
        ("cursor-hidden", Self::Hidden),
    ];
}

/// What the questions of a program look like.
#[derive(Clone, Debug)]
pub struct DialogShape {
    /// How options are written.
    pub styles: Vec<OptionStyle>,
    /// A row that must be below the options, or on their row.
    pub hint: Option<ProfilePattern>,
    /// The conditions beside the text.
    pub needs: Vec<ScreenCondition>,
    /// Which keys choose an option.
    pub choosing: ChoiceMethod,
    /// The kind if no other matches.
    pub kind: BlockKind,
    /// The kinds, by text in the question; the first match counts.
    pub kinds: Vec<QuestionRule>,
    /// Whether one of the kinds must match.
    pub known: bool,
    /// Whether its options have no background of their own. If so, rows which begin like a message
    /// of the user and have a background are such a message.
    pub plain: bool,
    /// Its first row.
    pub begins: Option<ProfilePattern>,
    /// How many rows with text may be below the options.
    pub reach: usize,
}

/// A kind of question, and how it is recognised.
#[derive(Clone, Debug)]
pub struct QuestionRule {
    /// Its name.
    pub name: String,
    /// Matches the question or its options.
    pub pattern: ProfilePattern,
    /// The kind.
    pub kind: BlockKind,
    /// The option that may be chosen at the start without asking a person.
    pub answer: Option<ProfilePattern>,
}

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl OptionStyle {
    pub(super) const WORDS: [(&'static str, Self); 8] = [
        ("numbered", Self::Numbered),
        ("radio", Self::Radio),
        ("arrow", Self::Arrow),
        ("letters", Self::Letters),
        ("buttons", Self::Buttons),
        ("keys", Self::Keys),
        ("yes-no", Self::YesNo),
        ("enter", Self::Enter),
    ];
}

/// Which keys choose an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoiceMethod {
    /// Arrows to it, then Enter.
    #[default]
    Move,
    /// Its number.
    Digit,
    /// The key in parentheses at its end, or else arrows and Enter.
    Shortcut,
}

impl ChoiceMethod {
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("move", Self::Move), ("digit", Self::Digit), ("shortcut", Self::Shortcut)];
}

/// Evidence on the screen for a state.
#[derive(Clone, Debug)]
pub struct ScreenRule {
    /// Its name.
    pub name: String,
    /// The state that it supports.
    pub supports: AgentState,
    /// The kind of block that it supports.
    pub kind: Option<BlockKind>,
    /// The region that is searched.
    pub region: ScreenRegion,
    /// How many rows of the region are searched, those nearest to the composer.
    pub rows: usize,
    /// The pattern, matched row by row. Without it, only the conditions count.
    pub pattern: Option<ProfilePattern>,
    /// A pattern that must match none of these rows.
    pub unless: Option<ProfilePattern>,
    /// The conditions beside the text.
    pub needs: Vec<ScreenCondition>,
    /// The colour that the match must have.
    pub hue: Option<Hue>,
    /// Whether it changes while the state lasts.
    pub moves: bool,
    /// Whether it is exact evidence.
    pub exact: bool,
    /// Its weight, 0 to 1.
    pub weight: f32,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenRegion {
    /// Below the composer, or the last rows if there is none.
    Footer,
    /// The non-blank rows above the composer, nearest first.
    Above,
    /// The composer itself.
    Composer,
    /// Everything from the rows right above the composer downwards.
    Live,
    /// The rows after the user's last message, above the composer.
    Turn,
    /// The cursor's row.
    Cursor,
}

impl ScreenRegion {
    pub(super) const WORDS: [(&'static str, Self); 6] = [
        ("footer", Self::Footer),
        ("above-composer", Self::Above),
        ("composer", Self::Composer),
        ("live", Self::Live),
        ("turn", Self::Turn),
        ("cursor-row", Self::Cursor),
    ];

    /// Its name in a sentence.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Footer => "the footer",
            Self::Above => "the line above the composer",
            Self::Composer => "the composer",
            Self::Live => "the bottom of the screen",
            Self::Turn => "the last answer",
            Self::Cursor => "the cursor's row",
        }
    }
}

/// A colour, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Red.
    Red,
    /// Yellow or orange.
    Yellow,
}

impl Hue {
    pub(super) const WORDS: [(&'static str, Self); 2] =
        [("red", Self::Red), ("yellow", Self::Yellow)];
}

/// What titles mean. The first match counts, in this order.
#[derive(Clone, Debug, Default)]
pub struct TitleMeaning {
    /// It asks a question.
    pub blocked: Option<ProfilePattern>,
    /// It works.
    pub busy: Option<ProfilePattern>,
    /// It waits for a prompt.
    pub ready: Option<ProfilePattern>,
    /// Whether a title without a match means ready, once a title has meant busy.
    pub silence: bool,
}

/// What signals other than titles mean.
#[derive(Clone, Debug, Default)]
pub struct OscMeaning {
    /// Whether progress (OSC 9;4) means busy, and its end ready.
    pub progress: bool,
    /// Whether prompt marks (OSC 133) mean ready and busy.
    pub marks: bool,
    /// Notifications (OSC 9, 777, 99) that mean that it asks a question.
    pub blocked: Option<ProfilePattern>,
    /// Notifications that mean that it waits for a prompt.
    pub ready: Option<ProfilePattern>,
}

/// What a report of a hook means.
#[derive(Clone, Debug)]
pub struct HookRule {
    /// Its name.
    pub name: String,
    /// The event, compared without regard to case.
    pub event: Option<String>,
    /// The values that its fields must have.
    pub fields: Vec<(String, String)>,
    /// The state that it supports; `None` if it only clears an earlier report.
    pub supports: Option<AgentState>,
    /// The kind of block that it supports.
    pub kind: Option<BlockKind>,
    /// Its weight, 0 to 1.
    pub weight: f32,
}
