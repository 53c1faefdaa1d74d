//! What is known of real agent programs: [`record`] makes recordings of them, with the truth beside
//! the screen, and [`accuracy`] counts how often the agent engine agrees with that.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a recording that cannot go on has failed"
)]

pub mod accuracy;
pub mod picture;
pub mod record;
