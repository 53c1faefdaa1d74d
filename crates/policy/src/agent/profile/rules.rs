//! What a profile describes of an agent: regions of its screen and other signals, and what they
//! mean.

use paned_model::{AgentState, BlockKind};
use serde::Deserialize;

use super::fields::{self, ProfileTable, refuse};
use super::{ProfilePattern, ScreenCondition};

/// Time-outs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// How long the screen must look ready after it looked busy, if there is no exact evidence.
    #[serde(deserialize_with = "fields::millis")]
    pub settle: u64,
    /// How long nothing may change before a turn without an end mark is over.
    #[serde(deserialize_with = "fields::millis")]
    pub quiet: u64,
    /// How long after Enter, and after the last output, it counts as busy without a sign of work.
    #[serde(deserialize_with = "fields::millis")]
    pub expect: u64,
    /// How long it needs to settle after a key interrupted its turn.
    #[serde(deserialize_with = "fields::millis")]
    pub rest: u64,
    /// How long a state is kept without any evidence.
    #[serde(deserialize_with = "fields::millis")]
    pub lost: u64,
    /// How long it may take to start.
    #[serde(deserialize_with = "fields::millis")]
    pub starting: u64,
    /// How long an animated sign may stay unchanged.
    #[serde(deserialize_with = "fields::millis")]
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

/// Evidence on the screen for a state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenRule {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The state that it supports.
    #[serde(rename = "says", deserialize_with = "fields::state")]
    pub supports: AgentState,
    /// The kind of block that it supports.
    pub kind: Option<BlockKind>,
    /// The region that is searched.
    #[serde(default, rename = "in")]
    pub region: ScreenRegion,
    /// How many rows of the region are searched, those nearest to the composer.
    #[serde(default = "fields::usual::<255>", deserialize_with = "fields::count::<1, 255, _>")]
    pub rows: usize,
    /// The pattern, matched row by row. Without it, only the conditions count.
    #[serde(rename = "match")]
    pub pattern: Option<ProfilePattern>,
    /// A pattern that must match none of these rows.
    pub unless: Option<ProfilePattern>,
    /// The conditions beside the text.
    #[serde(default, deserialize_with = "fields::list")]
    pub needs: Vec<ScreenCondition>,
    /// The colour that the match must have.
    #[serde(rename = "colour")]
    pub hue: Option<Hue>,
    /// Whether it changes while the state lasts.
    #[serde(default)]
    pub moves: bool,
    /// Whether it is exact evidence.
    #[serde(default)]
    pub exact: bool,
    /// Its weight, 0 to 1.
    #[serde(default = "fields::percent::<90>", deserialize_with = "fields::weight")]
    pub weight: f32,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenRegion {
    /// Below the composer, or the last rows if there is none.
    Footer,
    /// The non-blank rows above the composer, nearest first.
    #[serde(rename = "above-composer")]
    Above,
    /// The composer itself.
    Composer,
    /// Everything from the rows right above the composer downwards.
    #[default]
    Live,
    /// The rows after the user's last message, above the composer.
    Turn,
    /// The cursor's row.
    #[serde(rename = "cursor-row")]
    Cursor,
}

impl ScreenRegion {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hue {
    /// Red.
    Red,
    /// Yellow or orange.
    Yellow,
}

/// What titles mean. The first match counts, in this order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookRule {
    /// The event, compared without regard to case.
    pub event: Option<String>,
    /// The values that its fields must have.
    #[serde(default, rename = "where", deserialize_with = "fields::pairs")]
    pub fields: Vec<(String, String)>,
    /// Whether it only clears an earlier report.
    #[serde(default)]
    pub clears: bool,
    /// The state that it supports, if it does not clear.
    #[serde(default, rename = "says", deserialize_with = "fields::state")]
    pub supports: Option<AgentState>,
    /// The kind of block that it supports.
    pub kind: Option<BlockKind>,
    /// Its weight, 0 to 1.
    #[serde(default = "fields::percent::<93>", deserialize_with = "fields::weight")]
    pub weight: f32,
}

impl ProfileTable for ScreenRule {
    fn set_name(&mut self, name: String) {
        self.name = name;
    }

    fn complete(&mut self) -> Result<(), String> {
        let sentence = "`match` or `needs` is required";
        refuse([(self.pattern.is_none() && self.needs.is_empty(), sentence)])
    }
}

impl ProfileTable for HookRule {
    fn complete(&mut self) -> Result<(), String> {
        refuse([
            (self.event.is_none() && self.fields.is_empty(), "`event` or `where` is required"),
            (
                self.clears == self.supports.is_some(),
                "exactly one of `says` and `clears = true` is required",
            ),
        ])
    }
}
