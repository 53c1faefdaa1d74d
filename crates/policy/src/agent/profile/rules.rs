//! What can be read from an agent: places on its screen, and what they mean.

use paned_model::{AgentState, BlockKind};

use super::ProfilePattern;

/// How long things take, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long the screen must look ready after it looked busy, where nothing says it exactly.
    pub settle: u64,
    /// How long nothing may move before a turn without any mark of its end is over.
    pub quiet: u64,
    /// How long after Enter, and after the last output, it is busy without a sign of it.
    pub expect: u64,
    /// How long it needs to come to rest after its turn was broken off by a key.
    pub rest: u64,
    /// How long a state is kept when nothing speaks for any.
    pub lost: u64,
    /// How long it may take to come up.
    pub starting: u64,
    /// How long a sign that should move may stand still.
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

/// Where one types, and how it is told from the rest.
#[derive(Clone, Debug, Default)]
pub struct ComposerShape {
    /// Whether it is found by the cursor, as in programs that no profile describes.
    pub by_cursor: bool,
    /// What its first row begins with; the text comes after it.
    pub prompt: Option<ProfilePattern>,
    /// The row above it.
    pub top: Option<ProfilePattern>,
    /// The row below it.
    pub bottom: Option<ProfilePattern>,
    /// What each of its rows begins with.
    pub inside: Option<ProfilePattern>,
    /// What each of its rows ends with.
    pub end: Option<ProfilePattern>,
    /// How many of its first rows never hold text.
    pub above: usize,
    /// How many of its last rows never hold text.
    pub below: usize,
    /// How many rows may be below it.
    pub reach: usize,
    /// Whether a blank row parts it from the rows below it.
    pub footer: bool,
    /// What stands in it while nothing was typed.
    pub placeholders: Vec<ProfilePattern>,
    /// A first row like this takes no prompt (a shell command, say): it counts as a draft, so nothing is typed into it.
    pub mode: Option<ProfilePattern>,
    /// What must hold for it to be there.
    pub needs: Vec<ScreenCondition>,
    /// Whether its being there means that the program waits for a line.
    pub exact: bool,
    /// What it means when it is not there.
    pub absent: Option<AgentState>,
    /// How much its being there counts, 0 to 1.
    pub weight: f32,
}

/// What must hold beside the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenCondition {
    /// Pastes are marked.
    Paste,
    /// Pastes are not marked.
    NoPaste,
    /// The cursor stands in it.
    Cursor,
    /// The cursor stands in it, on its one line however often that wraps.
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
    /// What must hold beside the words.
    pub needs: Vec<ScreenCondition>,
    /// Which keys choose an option.
    pub choosing: ChoiceMethod,
    /// What kind it is when no other is found.
    pub kind: BlockKind,
    /// The kinds, told by words in it; the first that fits counts.
    pub kinds: Vec<QuestionRule>,
    /// Whether one of the kinds must fit.
    pub known: bool,
    /// Whether its options have no background of their own, so that rows which begin like a message of the user and have one
    /// are such a message.
    pub plain: bool,
    /// Where its text begins, at the latest.
    pub begins: Option<ProfilePattern>,
    /// How many rows with text may be below the options.
    pub reach: usize,
}

/// A kind of question, and how it is known.
#[derive(Clone, Debug)]
pub struct QuestionRule {
    /// What it is called.
    pub name: String,
    /// Words in the question or its options.
    pub pattern: ProfilePattern,
    /// What kind it is.
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
    /// `Allow once   Reject` in one row, the selected one on a colour.
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
    /// The key that stands in parentheses at its end, or else arrows and Enter.
    Shortcut,
}

impl ChoiceMethod {
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("move", Self::Move), ("digit", Self::Digit), ("shortcut", Self::Shortcut)];
}

/// Something on the screen that means something.
#[derive(Clone, Debug)]
pub struct ScreenRule {
    /// What it is called.
    pub name: String,
    /// What it speaks for.
    pub supports: AgentState,
    /// The kind of block it speaks for.
    pub kind: Option<BlockKind>,
    /// Where it is looked for.
    pub region: ScreenRegion,
    /// How many rows of the region are looked at, those nearest to the composer.
    pub rows: usize,
    /// What is looked for, in one row. Without it, the needs are all.
    pub pattern: Option<ProfilePattern>,
    /// What must be in none of these rows.
    pub unless: Option<ProfilePattern>,
    /// What must hold beside the words.
    pub needs: Vec<ScreenCondition>,
    /// The colour that what was found must have.
    pub hue: Option<Hue>,
    /// Whether it moves while it is true.
    pub moves: bool,
    /// Whether it says so exactly.
    pub exact: bool,
    /// How much it counts, 0 to 1.
    pub weight: f32,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenRegion {
    /// Below the composer, or the last rows where there is none.
    Footer,
    /// The rows with anything on them above the composer, nearest first.
    Above,
    /// The composer itself.
    Composer,
    /// Everything from the rows above the composer on down.
    Live,
    /// What came after the user's last message, above the composer.
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

    /// How it is called in a sentence.
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

/// What titles mean. The first that fits counts, in this order.
#[derive(Clone, Debug, Default)]
pub struct TitleMeaning {
    /// It asks.
    pub blocked: Option<ProfilePattern>,
    /// It works.
    pub busy: Option<ProfilePattern>,
    /// It waits for a prompt.
    pub ready: Option<ProfilePattern>,
    /// Whether a title that says nothing means ready, once one has said busy.
    pub silence: bool,
}

/// What signals beside titles mean.
#[derive(Clone, Debug, Default)]
pub struct OscMeaning {
    /// Whether progress (OSC 9;4) means busy, and its end ready.
    pub progress: bool,
    /// Whether prompt marks (OSC 133) mean ready and busy.
    pub marks: bool,
    /// Notifications (OSC 9, 777, 99) that say it asks.
    pub blocked: Option<ProfilePattern>,
    /// Notifications that say it waits for a prompt.
    pub ready: Option<ProfilePattern>,
}

/// What a report of a hook means.
#[derive(Clone, Debug)]
pub struct HookRule {
    /// What it is called.
    pub name: String,
    /// The event, whatever the case of its letters.
    pub event: Option<String>,
    /// What its fields must hold.
    pub fields: Vec<(String, String)>,
    /// What it speaks for; nothing where it only ends what a hook said before.
    pub supports: Option<AgentState>,
    /// The kind of block it speaks for.
    pub kind: Option<BlockKind>,
    /// How much it counts, 0 to 1.
    pub weight: f32,
}
