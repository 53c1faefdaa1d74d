//! What is recorded: one short story a case.

use std::path::Path;
use std::time::{Duration, Instant};

use paned_model::Size;
use serde_json::json;

use super::files;
use super::session::{Composer, RecordSession};
use paned_e2e::Cli;

type RecordCase = fn(&mut RecordSession);

const CASES: [(&str, RecordCase); 12] = [
    ("answer", answer),
    ("permission-allow", allow),
    ("permission-deny", deny),
    ("interrupt", interrupt),
    ("error-429", error),
    ("draft", draft),
    ("multi-line", multi_line),
    ("long", long),
    ("prose", prose),
    ("busy-draft", busy_draft),
    ("two-turns-queue", queue),
    ("resize", resize),
];

/// The names of the cases.
#[must_use]
pub fn cases() -> Vec<&'static str> {
    CASES.iter().map(|(name, _)| *name).collect()
}

/// Records a case of a program into a folder.
///
/// # Errors
/// With a sentence, when there is no such case.
pub fn record(cli: Cli, case: &str, size: Size, folder: &Path) -> Result<(), String> {
    let story = CASES.iter().find(|(name, _)| *name == case).map(|(_, story)| story);
    let story =
        story.ok_or_else(|| format!("no case `{case}`; there are {}", cases().join(", ")))?;
    let mut drive = RecordSession::begin(cli, size);
    drive.pause(0.5);
    story(&mut drive);
    drive.pause(1.0);
    drive.quits();
    files::write(&drive, case, folder);
    Ok(())
}

fn answer(drive: &mut RecordSession) {
    drive.prompts("FAKE say delay=3 words=20 rate=10");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    drive.pastes("Say something short, please.");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

fn allow(drive: &mut RecordSession) {
    drive.prompts("FAKE tool cmd=touch+made.txt");
    drive.asks();
    let at = drive.presses(drive.marks.allow, "approve");
    drive.label(at, "busy", "key");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    assert!(drive.real.cwd().join("made.txt").exists(), "what was allowed was not done");
}

fn deny(drive: &mut RecordSession) {
    drive.prompts("FAKE tool cmd=touch+made.txt");
    drive.asks();
    let at = drive.presses(drive.marks.deny, "deny");
    drive.label(at, "busy", "key");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    assert!(!drive.real.cwd().join("made.txt").exists(), "what was refused was done");
    drive.prompts("FAKE say delay=1 words=6");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

fn interrupt(drive: &mut RecordSession) {
    drive.prompts("FAKE say delay=2 words=200 rate=8");
    drive.pause(3.5);
    stop(drive);
    drive.prompts("FAKE say delay=1 words=6");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

/// Interrupts, and empties the composer where the old prompt comes back.
fn stop(drive: &mut RecordSession) {
    let at = drive.presses(drive.marks.interrupt, "interrupt");
    drive.label(at, "busy", "key");
    let composer = if drive.marks.clear.is_empty() { Composer::Empty } else { Composer::Drafted };
    drive.wait_until_idle("ready", "screen", composer);
    drive.presses(drive.marks.clear, "clear");
    drive.pause(1.0);
}

fn error(drive: &mut RecordSession) {
    drive.prompts("FAKE error status=429");
    let within = Duration::from_secs(14);
    if drive.is_idle_within(within, "error", "screen", Composer::Empty) {
        let label = drive.labels.last_mut().unwrap();
        label.more.insert("input_accepted".to_owned(), json!(true));
        drive.pause(1.0);
    } else {
        drive.note("m", "gave up waiting: the CLI keeps retrying; interrupting");
        let label = drive.labels.last_mut().unwrap();
        label.more.insert("note".to_owned(), json!("keeps retrying"));
        stop(drive);
    }
    drive.prompts("FAKE say delay=1 words=6 rate=20");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

const DRAFT: &str = "please look at the first";

fn draft(drive: &mut RecordSession) {
    drive.types_slowly(DRAFT, "draft");
    drive.pause(2.5);
    drive.types_slowly(&"\u{7f}".repeat(DRAFT.len()), "delete the draft");
    drive.pause(1.5);
    drive.prompts("FAKE say delay=1 words=12 rate=10");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    drive.types_slowly("1. yes", "draft");
    drive.pause(1.5);
    drive.types_slowly(&"\u{7f}".repeat(6), "delete the draft");
}

fn multi_line(drive: &mut RecordSession) {
    let lines = (1..12).map(|n| format!("line {n} of a note that somebody wrote down"));
    let text: Vec<_> = lines.chain(["FAKE say delay=2 words=12 rate=10".to_owned()]).collect();
    drive.pastes(&text.join("\n"));
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    let got = drive.model.prompts().pop().map(|prompt| prompt.text).unwrap_or_default();
    drive.note("m", if got == text.join("\n") { "received verbatim" } else { "received changed" });
}

fn long(drive: &mut RecordSession) {
    drive.prompts("FAKE say delay=1 words=300 rate=100");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

fn prose(drive: &mut RecordSession) {
    let name = drive.real.cli().name();
    drive.prompts(&format!("FAKE prose cli={name} rate=25"));
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    drive.pause(2.0);
    drive.prompts("FAKE say delay=2 words=6");
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
}

fn busy_draft(drive: &mut RecordSession) {
    drive.prompts("FAKE say delay=2 words=40 rate=10");
    drive.pause(1.0);
    drive.types_slowly("and then do", "draft while busy");
    drive.wait_until_idle("ready", "reply+screen", Composer::Drafted);
    drive.pause(1.5);
    drive.types_slowly(&"\u{7f}".repeat(11), "delete the draft");
    drive.pause(1.0);
}

fn queue(drive: &mut RecordSession) {
    drive.prompts("FAKE say delay=2 words=20 rate=10");
    drive.pause(1.0);
    let second = "FAKE say delay=2 words=12 rate=10";
    drive.types(second, "type prompt while busy");
    drive.pause(0.4);
    drive.types("\r", "enter while busy");
    let end = Instant::now() + Duration::from_secs(15);
    // Whether it is sent on its own is the program's affair; the recording says what it did.
    while drive.model.prompts().len() < 2 && Instant::now() < end {
        drive.pause(0.02);
    }
    let sent = drive.model.prompts().iter().any(|prompt| prompt.text == second);
    drive.note(
        "m",
        if sent { "the second prompt was sent" } else { "the second prompt was not sent" },
    );
    drive.wait_until_idle(
        "ready",
        "reply+screen",
        if sent { Composer::Empty } else { Composer::Drafted },
    );
    if !sent {
        drive.pause(1.0);
        drive.types_slowly(&"\u{7f}".repeat(second.len()), "delete the draft");
    }
}

fn resize(drive: &mut RecordSession) {
    let (cols, rows) = (drive.size.cols, drive.size.rows);
    drive.resizes(cols + 20, rows + 6);
    drive.pause(2.0);
    drive.prompts("FAKE say delay=3 words=30 rate=10");
    drive.pause(1.5);
    drive.resizes(cols, rows);
    drive.wait_until_idle("ready", "reply+screen", Composer::Empty);
    drive.resizes(cols.saturating_sub(20).max(40), rows);
    drive.pause(2.0);
}
