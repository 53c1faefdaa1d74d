//! The agent engine is right over every recording we have, and never says ready while an agent
//! works or asks.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use paned_e2e::binary;
use paned_policy::agent::{ComposerSign, ProfileLibrary};
use paned_recorder::accuracy::{Tally, all};
use serde_json::Value;

/// The share of labelled time that must be right, with grace.
const ENOUGH: f64 = 0.98;

/// The same for programs that no profile describes, strictly.
const GENERIC_ENOUGH: f64 = 0.92;

/// How long a change may take to be seen then, for 95 of 100.
const GENERIC_DELAY: u64 = 500;

#[test]
fn the_engine_is_right_and_never_ready_too_soon() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/recordings");
    let library = ProfileLibrary::embedded();
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

#[test]
fn without_its_profile_a_program_is_judged_right_most_of_the_time_and_never_ready_too_soon() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/recordings");
    let library = ProfileLibrary::embedded();
    let mut sum = Tally::default();
    for mut recording in all(&folder) {
        recording.judge_as("generic");
        let tally = Tally::of(&recording, &recording.judge(&library));
        let (program, case) = (&recording.program, &recording.case);
        assert_eq!(tally.false_ready_graced, 0, "{program}/{case} was called ready too soon");
        sum += &tally;
    }
    let (strict, graced) = sum.shares();
    assert!(GENERIC_ENOUGH <= strict, "right for {strict:.4} of the time, {graced:.4} with grace");
    let (delay, _) = sum.delay(95);
    assert!(delay <= GENERIC_DELAY, "seen after {delay} ms");
}

#[test]
fn what_was_learned_of_a_program_makes_it_ready_sooner_and_never_too_soon() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/recordings");
    let library = ProfileLibrary::embedded();
    let mut known: BTreeMap<String, Vec<ComposerSign>> = BTreeMap::new();
    let mut anew = Tally::default();
    let mut again = Tally::default();
    for mut recording in all(&folder) {
        recording.judge_as("generic");
        let (samples, learned) = recording.judge_knowing(&library, Vec::new());
        // What was learned in the recordings before this one.
        let before = known.entry(recording.program.clone()).or_default();
        if !before.is_empty() {
            anew += &Tally::of(&recording, &samples);
            let (samples, _) = recording.judge_knowing(&library, before.clone());
            let tally = Tally::of(&recording, &samples);
            let (program, case) = (&recording.program, &recording.case);
            assert_eq!(tally.false_ready_graced, 0, "{program}/{case} was called ready too soon");
            again += &tally;
        }
        let new: Vec<_> = learned.into_iter().filter(|sign| !before.contains(sign)).collect();
        before.extend(new);
    }
    assert!(anew.strict < again.strict, "{} ms of {} ms", again.strict, anew.strict);
}

fn replay(args: &[&str]) -> (String, Option<i32>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/recordings");
    let mut command = Command::new(binary());
    let output = command.args(["agent", "replay"]).args(args).current_dir(folder).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_recording_can_be_replayed_by_hand() {
    let file = "codex/hooks.80x24.cast";
    let reports = ["--reports", "codex/hooks.80x24.reports.jsonl"];
    let (out, code) = replay(&[&["--profile", "codex", file, "--json"], &reports[..]].concat());
    assert_eq!(code, Some(0));
    let samples: Value = serde_json::from_str(&out).unwrap();
    let states = samples.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap());
    let states: Vec<_> = states.collect();
    let expect = "starting ready busy ready busy blocked busy ready busy error busy ready";
    assert_eq!(states.join(" "), expect);
    let blocked = &samples[5];
    assert_eq!(blocked["kind"], "permission");
    assert!(blocked["t"].is_f64() && blocked["confidence"].is_f64(), "{blocked}");
    // For people it is a table.
    let (out, _) = replay(&["--profile", "codex", file]);
    assert!(out.contains("blocked") && out.contains("permission"), "{out}");
    assert_eq!(replay(&["--profile", "nobody", file]).1, Some(3));
    assert_eq!(replay(&["--profile", "codex", "codex/hooks.80x24.states.json"]).1, Some(2));
}
