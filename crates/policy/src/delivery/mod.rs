//! Delivers a message to an agent: what to type, when, and what the outcome is.
//!
//! An [`Attempt`] delivers one message. It takes observations ([`Observation`]) and the result of
//! the last write, and returns the next step: write this with this guard, wait, or finish with an
//! [`Outcome`] and its evidence. It never types over a user's draft, never types twice, and never
//! presses Enter while a question may be on the screen. [`AnswerAttempt`] answers such a question,
//! and [`InterruptAttempt`] interrupts a turn, by the same rules.
//!
//! [`Observation`]: crate::agent::Observation

mod answer;
mod attempt;
mod interrupt;
mod step;
mod text;
pub(crate) mod text_match;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use answer::{AnswerAttempt, AnswerOutcome, NoSuchOption, OptionChoice, choose};
pub use attempt::{Attempt, AttemptStart, Leftover};
pub use interrupt::{InterruptAttempt, InterruptOutcome};
pub use step::{DeliveryStep, InputAction, Outcome, Step, WhenBusy, WriteResult};
pub use text::{MAX_MESSAGE_BYTES, PreparedText};
