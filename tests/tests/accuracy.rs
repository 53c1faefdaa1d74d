//! The agent engine is right over every recording we have, and never says ready while an agent works or asks.
#![forbid(unsafe_code)]

use std::path::Path;

use paned_e2e::accuracy::{Tally, all};
use paned_policy::agent::Library;

/// The share of labelled time that must be right, with grace.
const ENOUGH: f64 = 0.98;

#[test]
fn the_engine_is_right_and_never_ready_too_soon() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/recordings");
    let library = Library::embedded();
    let mut sum = Tally::default();
    let mut wrong = Vec::new();
    for recording in all(&folder) {
        let tally = Tally::of(&recording, &recording.judge(&library));
        if 0 < tally.false_ready_graced {
            let (program, case) = (&recording.program, &recording.case);
            wrong.push(format!("{program}/{case}: {} ms", tally.false_ready_graced));
        }
        sum += &tally;
    }
    let (strict, graced) = sum.shares();
    assert!(wrong.is_empty(), "ready was said while busy or blocked: {}", wrong.join(", "));
    assert!(ENOUGH <= graced, "right for {graced:.4} of the time, {strict:.4} strictly");
    assert!(600_000 < sum.labelled, "there are recordings: {} ms", sum.labelled);
}
