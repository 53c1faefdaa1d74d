//! Tallies as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Tally;

/// Two tables as Markdown: each program with one line for all, then each state of each program.
#[must_use]
pub fn table(tallies: &BTreeMap<String, Tally>) -> String {
    let mut out = summary(tallies);
    out.push_str("\n| program | state | precision | recall | seconds |\n|---|---|---|---|---|\n");
    for (program, tally) in tallies {
        for (truth, share) in &tally.states {
            let (precision, recall) = (share.precision(), share.recall());
            #[expect(clippy::cast_precision_loss, reason = "recordings are short")]
            let seconds = share.true_for as f64 / 1000.0;
            let word = truth.word();
            let _ = writeln!(
                out,
                "| {program} | {word} | {precision:.4} | {recall:.4} | {seconds:.1} |"
            );
        }
    }
    out
}

/// How often the engine is right: a line for each program, and one for all.
#[must_use]
pub fn summary(tallies: &BTreeMap<String, Tally>) -> String {
    let mut out = String::from(
        "| program | strict | 250 ms grace | false ready (strict) | delay p50 | p95 | never seen |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let mut sum = Tally::default();
    for (program, tally) in tallies {
        row(&mut out, program, tally);
        sum += tally;
    }
    row(&mut out, "all", &sum);
    out
}

fn row(out: &mut String, name: &str, tally: &Tally) {
    let (strict, graced) = tally.shares();
    let (p50, never) = tally.delay(50);
    let (p95, _) = tally.delay(95);
    let (false_ready, strictly) = (tally.false_ready_graced, tally.false_ready);
    let _ = writeln!(
        out,
        "| {name} | {strict:.4} | {graced:.4} | {false_ready} ms ({strictly} ms) | {p50} ms | {p95} ms | {never} |"
    );
}
