//! What a run prints: its seed at the start; figures, counts and one closing line at the end.
#![expect(clippy::print_stdout, reason = "it is for the person who runs it")]

use std::io;
use std::path::Path;
use std::time::Duration;

use super::ledger::{Invariant, Ledger};
use super::options::{Options, USAGE};

/// How many failures of a run are printed; the log has all of them.
const SHOWN: usize = 8;

/// How much of one.
const LONGEST: usize = 1200;

pub(super) fn usage() {
    println!("{USAGE}");
}

pub(super) fn begin(options: &Options) {
    let Options { minutes, seed, panes, .. } = options;
    println!("chaos: seed {seed}, {minutes} minutes, {panes} panes");
    println!("chaos: to repeat: {}", options.command());
}

/// The run could not be made.
pub(super) fn broken(options: &Options, error: &io::Error) {
    println!("chaos: seed {}: {error}", options.seed);
    println!("chaos: 0 passed, 1 failed");
}

pub(super) fn interrupted() {
    println!("chaos: interrupted; everything that ran is ended");
}

pub(super) fn skipped(what: &str) {
    println!("chaos: skipped: {what}");
}

pub(super) fn end(ledger: &Ledger, options: &Options, took: Duration) {
    let figures = ledger.figures();
    let figures = figures.iter().map(|(name, count)| format!("{count} {name}"));
    println!("chaos: {}", figures.collect::<Vec<_>>().join(", "));
    println!("chaos: it took {:.0} s", took.as_secs_f64());
    let failures = ledger.failures();
    for invariant in Invariant::ALL {
        let (promise, unit) = invariant.words();
        let has_failed = failures.iter().any(|(failed, _)| *failed == invariant);
        let verdict = match (has_failed, ledger.count(invariant)) {
            (true, _) => "FAILED",
            (false, 0) => "-",
            (false, _) => "ok",
        };
        println!("  {verdict:6} {promise:56} {:>10} {unit}", ledger.count(invariant));
    }
    for (invariant, text) in failures.iter().take(SHOWN) {
        let shown: String = text.chars().take(LONGEST).collect();
        println!("chaos: {invariant:?}: {shown}");
    }
    let failed = Invariant::ALL
        .iter()
        .filter(|invariant| failures.iter().any(|(failed, _)| failed == *invariant));
    let failed = failed.count();
    if 0 < failed {
        println!("chaos: seed {}; to repeat: {}", options.seed, options.command());
    }
    // What was never looked at has not passed.
    let unseen = Invariant::ALL.iter().filter(|invariant| ledger.count(**invariant) == 0);
    let unseen = unseen.filter(|unseen| !failures.iter().any(|(failed, _)| failed == *unseen));
    let passed = Invariant::ALL.len() - failed - unseen.count();
    println!("chaos: {passed} passed, {failed} failed");
}

pub(super) fn kept(folder: &Path) {
    println!("chaos: the log of operations and the state are kept in {}", folder.display());
}
