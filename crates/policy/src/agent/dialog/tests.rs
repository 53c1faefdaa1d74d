//! Questions as programs draw them, and prose that only sounds like one.

use paned_model::{Dialog, Size};
use paned_term::Screen;

use super::super::{Composer, Library, Look};

/// What a program with this profile shows. `\x1b` sequences may stand in the text.
fn look(rows: u16, text: &str) -> Look {
    let mut screen = Screen::new(Size { cols: 80, rows });
    screen.feed(text.replace('\n', "\r\n").as_bytes());
    Look::of(&screen)
}

fn dialog(profile: &str, text: &str) -> Option<Dialog> {
    look(24, text).dialog(Library::embedded().get(profile).unwrap())
}

/// The options as `label=key key`, the selected one with a star.
#[track_caller]
fn check(profile: &str, text: &str, kind: &str, question: &str, options: &[&str]) {
    let dialog = dialog(profile, text).unwrap_or_else(|| panic!("no question in\n{text}"));
    let shown: Vec<String> = dialog
        .options
        .iter()
        .map(|option| {
            let star = if option.selected { "*" } else { "" };
            format!("{star}{}={}", option.label, option.keys.join(" "))
        })
        .collect();
    assert_eq!(shown, options);
    assert_eq!(dialog.kind.word(), kind);
    assert!(dialog.text.contains(question), "{:?}", dialog.text);
}

const CODEX: &str = "› FAKE tool\n\n• Running touch made.txt\n\n\n  Would you like to run the following \
command?\n\n  Reason: it wants to\n\n  $ touch made.txt\n\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask \
again for commands that start\n     with `touch made.txt` (p)\n  3. No, and tell Codex what to do \
differently (esc)\n\n  Press enter to confirm or esc to cancel\x1b[?25l";

#[test]
fn a_numbered_list_with_its_own_keys() {
    let options = [
        "*Yes, proceed (y)=y",
        "Yes, and don't ask again for commands that start with `touch made.txt` (p)=p",
        "No, and tell Codex what to do differently (esc)=esc",
    ];
    check("codex", CODEX, "permission", "Would you like to run the following command?", &options);
    let allows: Vec<_> =
        dialog("codex", CODEX).unwrap().options.iter().map(|it| it.allows).collect();
    assert_eq!(allows, [Some(true), Some(true), Some(false)]);
}

#[test]
fn another_selected_option_is_the_same_question() {
    let moved = CODEX.replace("› 1. Yes", "  1. Yes").replace("  3. No", "› 3. No");
    let (one, other) = (dialog("codex", CODEX).unwrap(), dialog("codex", &moved).unwrap());
    assert_eq!(one.id, other.id);
    assert!(other.options[2].selected);
    let next = CODEX.replace("made.txt", "other.txt");
    assert_ne!(one.id, dialog("codex", &next).unwrap().id);
}

#[test]
fn a_question_at_the_start_and_what_may_be_answered() {
    let text = "\n  Folder access\n  /tmp/demo\n\n  Trust this folder? Codex can read files.\n\n\
        › 1. Trust and continue\n  2. Quit\n\n  enter continue · esc quit";
    check(
        "codex",
        text,
        "trust",
        "Trust this folder?",
        &["*Trust and continue=enter", "Quit=down enter"],
    );
    let profile = Library::embedded().get("codex").unwrap().clone();
    assert_eq!(profile.startup_answer(&dialog("codex", text).unwrap()), Some(0));
    assert_eq!(profile.startup_answer(&dialog("codex", CODEX).unwrap()), None);
}

#[test]
fn a_box_with_numbers() {
    let text = "╭──────────╮\n│ ? Shell  touch made.txt  │\n│ Allow execution of [Shell]?  │\n│   │\n\
        │ ● 1. Allow once       │\n│   2. Allow for this session │\n│   3. No, suggest changes (esc) │\n\
        ╰──────────╯\x1b[?25l";
    let options = ["*Allow once=1", "Allow for this session=2", "No, suggest changes (esc)=3"];
    check("gemini", text, "permission", "Allow execution of [Shell]?", &options);
}

#[test]
fn letters_in_one_row() {
    let text = "\x1b[?2004hdiff> do it\n\ntouch made.txt\nRun shell command? (Y)es/(N)o/(D)on't ask again [Yes]: ";
    let options = ["*Yes=y enter", "No=n enter", "Don't ask again=d enter"];
    check("aider", text, "permission", "Run shell command?", &options);
    // It is asked only while a line is read.
    assert_eq!(dialog("aider", &text.replace("\x1b[?2004h", "")), None);
}

#[test]
fn bullets_and_arrows() {
    let goose = "  ▸ shell\n    command: touch made.txt\n\n◆  Goose would like to call the above tool, do \
        you allow?\n│  ● Allow (Allow the tool call once)\n│  ○ Always Allow\n│  ○ Deny\n└\x1b[?25l";
    let options = [
        "*Allow (Allow the tool call once)=enter",
        "Always Allow=down enter",
        "Deny=down down enter",
    ];
    check("goose", goose, "permission", "do you allow?", &options);
    let moved = goose.replace("● Allow (Allow the tool call once)", "○ Allow");
    let moved = moved.replace("○ Deny", "● Deny (Deny the tool call)");
    assert_eq!(dialog("goose", goose).unwrap().id, dialog("goose", &moved).unwrap().id);
    let rule = "─".repeat(80);
    let pi = format!(
        " ⠸ Working...\n\n{rule}\n Run this command?\n touch made.txt\n\n   Yes\n → No\n\n \
         ↑↓ navigate  enter select\n\n{rule}\n/tmp (main)\n0.0%/128k"
    );
    check("pi", &pi, "permission", "Run this command?", &["Yes=up enter", "*No=enter"]);
}

#[test]
fn buttons_side_by_side() {
    let text = "\x1b[?25l  ┃\n  ┃  △ Permission required\n  ┃  $ touch made.txt\n  ┃\n  ┃  \x1b[48;2;245;167;66m \
        Allow once \x1b[0m  Allow always   Reject  ctrl+f fullscreen  ⇆ select  enter con\n  ┃";
    let options = ["*Allow once=enter", "Allow always=right enter", "Reject=right right enter"];
    check("opencode", text, "permission", "Permission required", &options);
}

#[test]
fn prose_is_no_question() {
    let prose = "› tell me\n\n• Would you like to run the following command?\n\n  › 1. Yes, proceed (y)\n    \
        2. No (esc)\n\n  Press enter to confirm or esc to cancel\n\n\n› Ask Codex to do anything\n\n  fake · /tmp";
    let shown = look(24, &format!("{prose}\x1b[11;3H"));
    let codex = Library::embedded().get("codex").unwrap().clone();
    assert_eq!(shown.dialog(&codex), None);
    assert_eq!(shown.composer(&codex), Composer::Empty);
    // A list without a mark, and a question without options, are none either.
    assert_eq!(dialog("gemini", "Allow execution of [Shell]?\n 1. Yes\n 2. No\n"), None);
    assert_eq!(dialog("opencode", "  ┃  △ Permission required\n  ┃\x1b[?25l"), None);
    assert_eq!(dialog("aider", "\x1b[?2004hShall I? (Y)es or no\n> "), None);
}
