//! Handing a message to an agent: what to type, when, and what became of it.
//!
//! A [`Handover`] is one message on its way. It is told what is seen ([`Sight`]) and how the last write went, and says
//! what to do next: write this behind this guard, wait, or finish with an outcome and its evidence. It never types over
//! somebody's draft, never types twice, and never presses Enter while a question may be on the screen. [`Answering`]
//! answers such a question, and [`Interrupt`] breaks off a turn, by the same rules.

mod answer;
mod handover;
mod interrupt;
mod recipe;
mod recognise;
mod sight;
mod step;
mod text;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use answer::{Answering, Choice, NoSuchOption, Progress, choose};
pub use handover::{Begun, Handover, Leftover};
pub use interrupt::{Broken, Interrupt};
pub use recipe::{Interrupting, Recipe};
pub use sight::Sight;
pub use step::{Act, Outcome, Standing, Step, WhenBusy, Wrote};
pub use text::{LONGEST, Prepared};
