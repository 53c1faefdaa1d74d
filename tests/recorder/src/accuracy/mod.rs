//! How often the agent engine is right: every recording in `tests/data/recordings`, judged and
//! compared with what is known to be true.
//!
//! Beside `<case>.cast` lies `<case>.states.json`, the truth: what state began when. A label is set
//! at the key that was pressed or at the end of the model's reply, so the screen cannot show it
//! earlier. Hence two counts: the strict one, and one that takes either label within [`GRACE`] of a
//! change.

mod recording;
mod score;
mod table;

pub use recording::{ExpectedState, Label, Recording, all};
pub use score::{Share, Tally};
pub use table::{summary, table};

/// How far from a change of label either label counts as right, in milliseconds.
pub const GRACE: u64 = 250;

/// How long after a screen showed something the label was set, at most: labels are set by polling.
pub const LABEL_DELAY: u64 = 50;
