//! Handing a message to an agent: what to type, when, and what became of it.
//!
//! A [`DeliveryAttempt`] is one message on its way. It is told what is seen ([`AgentObservation`]) and how the last write went, and says
//! what to do next: write this behind this guard, wait, or finish with an outcome and its evidence. It never types over
//! somebody's draft, never types twice, and never presses Enter while a question may be on the screen. [`AnswerAttempt`]
//! answers such a question, and [`InterruptAttempt`] breaks off a turn, by the same rules.

mod answer;
mod attempt;
mod interrupt;
mod observation;
mod recipe;
mod step;
mod text;
mod text_match;

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
