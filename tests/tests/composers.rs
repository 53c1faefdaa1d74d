//! The content of real programs' composers, read from recordings: nothing, a placeholder, the
//! user's words.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use paned_model::Size;
use paned_policy::agent::{Composer, ProfileLibrary, ScreenSnapshot};
use paned_term::Screen;
use serde_json::Value;

/// The screen of a recording at a moment.
fn look(recording: &str, seconds: f64) -> ScreenSnapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/recordings");
    let cast = std::fs::read_to_string(folder.join(format!("{recording}.cast"))).unwrap();
    let mut lines = cast.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    let side = |key: &str| u16::try_from(header[key].as_u64().unwrap()).unwrap();
    let mut screen = Screen::new(Size { cols: side("width"), rows: side("height") });
    for event in lines.filter(|event| event[0].as_f64().unwrap() <= seconds) {
        if event[1] == "o" {
            screen.feed(event[2].as_str().unwrap().as_bytes());
        }
    }
    screen.flush_update();
    ScreenSnapshot::of(&screen)
}

#[track_caller]
fn check(recording: &str, seconds: f64, expect: &Composer) {
    let library = ProfileLibrary::embedded();
    let name = recording.split('/').next().unwrap();
    let profile = library.get(if name == "repl-bash" { "shell" } else { name }).unwrap();
    let look = look(recording, seconds);
    assert_eq!(look.composer(profile), *expect, "{recording} at {seconds}: {:#?}", look.view.rows);
}

fn draft(text: &str) -> Composer {
    Composer::Draft(text.to_owned())
}

#[test]
fn a_placeholder_is_no_draft() {
    check("codex/answer.80x24", 1.0, &Composer::Empty);
    check("opencode/answer.80x24", 7.0, &Composer::Empty);
    check("gemini/answer.80x24", 3.0, &Composer::Empty);
    check("goose/answer.80x24", 1.5, &Composer::Empty);
    check("goose/interrupt.80x24", 7.0, &Composer::Empty);
}

#[test]
fn an_empty_composer_is_empty() {
    check("opencode/answer.80x24", 16.5, &Composer::Empty);
    check("aider/answer.80x24", 4.5, &Composer::Empty);
    check("pi/answer.80x24", 2.0, &Composer::Empty);
    check("repl-bash/session.80x24", 0.5, &Composer::Empty);
}

#[test]
fn a_persons_words_are_read() {
    check("codex/answer.80x24", 1.75, &draft("FAKE say delay=3 words=40 rate=20"));
    check("opencode/answer.80x24", 7.69, &draft("FAKE say delay=3 words=40 rate=20"));
    check("gemini/answer.80x24", 3.8, &draft("FAKE say delay=1.5 words=16 rate=16"));
    check("goose/answer.80x24", 1.82, &draft("FAKE say delay=3 words=40 rate=20"));
    check("aider/answer.80x24", 5.24, &draft("FAKE say delay=3 words=40 rate=20"));
    check("pi/answer.80x24", 2.73, &draft("FAKE say delay=3 words=40 rate=20"));
    check("repl-bash/session.80x24", 1.1, &draft("sleep 2"));
}

#[test]
fn a_draft_of_several_lines_is_read_whole() {
    let library = ProfileLibrary::embedded();
    for (recording, seconds) in
        [("codex/multi-line.120x40", 4.56), ("aider/multi-line.120x40", 7.94)]
    {
        let profile = library.get(recording.split('/').next().unwrap()).unwrap();
        let Composer::Draft(draft) = look(recording, seconds).composer(profile) else {
            panic!("{recording} has no draft");
        };
        assert_eq!(draft.lines().count(), 12, "{recording}: {draft}");
    }
}

#[test]
fn while_a_question_is_open_there_is_none() {
    check("codex/permission-allow.80x24", 4.0, &Composer::Hidden);
    check("opencode/permission-allow.80x24", 11.0, &Composer::Hidden);
    check("gemini/permission-allow.80x24", 5.0, &Composer::Hidden);
    check("goose/permission-allow.80x24", 3.0, &Composer::Hidden);
    check("aider/permission-allow.80x24", 7.0, &Composer::Hidden);
    check("pi/permission-allow.80x24", 4.0, &Composer::Hidden);
}

#[test]
fn a_line_editor_that_does_not_read_has_none() {
    check("aider/answer.80x24", 7.0, &Composer::Hidden);
    check("goose/answer.80x24", 3.0, &Composer::Hidden);
    check("repl-bash/session.80x24", 2.0, &Composer::Hidden);
}

/// Every question in the recordings has its options, one of them selected, and keys for each.
#[test]
fn the_questions_of_real_programs_can_be_answered() {
    let cases = [
        ("codex/permission-allow.80x24", 4.0, "y|p|esc"),
        ("codex/first-run.80x24", 1.5, "enter|down enter"),
        ("opencode/permission-allow.80x24", 11.0, "enter|right enter|right right enter"),
        ("gemini/permission-allow.80x24", 5.0, "1|2|3"),
        ("gemini/first-run.80x24", 4.0, "1|2|3"),
        (
            "goose/permission-allow.80x24",
            3.0,
            "enter|down enter|down down enter|down down down enter",
        ),
        ("aider/permission-allow.80x24", 7.0, "y enter|n enter|d enter"),
        ("aider/first-run.80x24", 2.0, "y enter|n enter"),
        ("pi/permission-allow.80x24", 4.0, "enter|down enter"),
    ];
    let library = ProfileLibrary::embedded();
    for (recording, seconds, keys) in cases {
        let profile = library.get(recording.split('/').next().unwrap()).unwrap();
        let dialog = look(recording, seconds).dialog(profile).unwrap();
        let pressed: Vec<_> = dialog.options.iter().map(|option| option.keys.join(" ")).collect();
        assert_eq!(pressed.join("|"), keys, "{recording}: {dialog:#?}");
        assert_eq!(dialog.options[0].allows, Some(true), "{recording}");
        let is_permission = dialog.kind.as_str() == "permission";
        assert_eq!(is_permission, recording.contains("permission"), "{recording}: {}", dialog.kind);
    }
}
