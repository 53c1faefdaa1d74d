//! Delivers a message to an agent: what to type, when, and what the outcome is.
//!
//! A [`DeliveryAttempt`] delivers one message. It takes observations ([`AgentObservation`]) and the
//! result of the last write, and returns the next step: write this with this guard, wait, or finish
//! with an outcome and its evidence. It never types over a user's draft, never types twice, and
//! never presses Enter while a question may be on the screen. [`AnswerAttempt`] answers such a
//! question, and [`InterruptAttempt`] interrupts a turn, by the same rules.

mod answer;
mod attempt;
mod interrupt;
mod observation;
mod recipe;
mod step;
mod text;
pub(crate) mod text_match;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use answer::{AnswerAttempt, AnswerProgress, NoSuchOption, OptionChoice, choose};
pub use attempt::{AttemptStart, DeliveryAttempt, Leftover};
pub use interrupt::{InterruptAttempt, InterruptProgress};
pub use observation::AgentObservation;
pub use recipe::{InterruptRecipe, Recipe};
pub use step::{DeliveryOutcome, DeliveryStep, DeliveryWait, InputAction, WhenBusy, WriteResult};
pub use text::{MAX_MESSAGE_BYTES, PreparedText};
