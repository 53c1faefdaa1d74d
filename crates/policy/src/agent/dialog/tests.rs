//! Questions as programs draw them, and prose that only sounds like one.

use paned_model::{Dialog, Size};
use paned_term::Screen;

use super::super::{Composer, ProfileLibrary, ScreenSnapshot};

/// The screen of a program with this profile. The text may contain `\x1b` sequences.
fn look(rows: u16, text: &str) -> ScreenSnapshot {
    let mut screen = Screen::new(Size { cols: 80, rows });
    screen.feed(text.replace('\n', "\r\n").as_bytes());
    ScreenSnapshot::of(&screen)
}

fn dialog(profile: &str, text: &str) -> Option<Dialog> {
    look(24, text).dialog(ProfileLibrary::embedded().get(profile).unwrap())
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
    assert_eq!(dialog.kind.as_str(), kind);
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
fn a_selected_option_may_have_a_background_and_begin_like_a_message() {
    let tinted =
        CODEX.replace("› 1. Yes", "\x1b[48;2;40;40;40m› 1. Yes").replace("(y)", "(y)\x1b[0m");
    assert_eq!(dialog("codex", &tinted), dialog("codex", CODEX));
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
    let profile = ProfileLibrary::embedded().get("codex").unwrap().clone();
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
fn the_first_run_of_claude_and_what_may_be_answered() {
    let profile = ProfileLibrary::embedded().get("claude").unwrap().clone();
    let startup = |text: &str| profile.startup_answer(&dialog("claude", text).unwrap());
    // The theme's options are more than ten rows above the end of the screen.
    let sample = "  1  function greet() {\n  2 -  a\n  2 +  b\n  3  }\n".repeat(2);
    let theme = format!(
        " Choose the text style that looks best with your terminal\n\n ❯ ✔ Auto (match terminal)\n     \
         Dark mode\n     Light mode\n\n ╌╌╌╌\n{sample} ╌╌╌╌\n  Syntax theme: Monokai"
    );
    let options =
        ["*Auto (match terminal)=enter", "Dark mode=down enter", "Light mode=down down enter"];
    check("claude", &theme, "trust", "Choose the text style", &options);
    assert_eq!(startup(&theme), Some(0));
    let notes = " Security notes:\n\n 1. Claude can make mistakes.\n\n Press Enter to continue…";
    check("claude", notes, "trust", "Security notes", &["*Continue=enter"]);
    assert_eq!(startup(notes), Some(0));
    let trust = " Is this a project you created or one you trust?\n\n ❯ No, exit\n   Yes, I trust this \
        folder\n\n Enter to confirm · Esc to cancel";
    let options = ["*No, exit=enter", "Yes, I trust this folder=down enter"];
    check("claude", trust, "trust", "Is this a project", &options);
    assert_eq!(startup(trust), Some(1));
    let bypass = " WARNING: Claude Code running in Bypass Permissions mode\n\n ❯ No, exit\n   Yes, I \
        accept\n\n Enter to confirm · Esc to cancel";
    assert_eq!(startup(bypass), None, "only a person accepts that");
}

#[test]
fn a_rule_between_options_is_in_no_label() {
    let rule = "─".repeat(80);
    let text = format!(
        "❯ FAKE tool\n{rule}\n ☐ Colour\n\nWhich colour?\n\n❯ 1. Green\n     Like grass\n  2. Type \
         something.\n{rule}\n  3. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel"
    );
    let options = ["*Green Like grass=1", "Type something.=2", "Chat about this=3"];
    check("claude", &text, "question", "Which colour?", &options);
}

#[test]
fn ticking_an_option_does_not_make_another_question() {
    let rule = "─".repeat(80);
    let text = format!(
        "{rule}\nWhich parts?\n\n❯ 1. [ ] Header\n         At the top\n  2. [ ] Footer\n     Submit\n{rule}\n  \
         3. Chat about this\n\nEnter to select · Esc to cancel"
    );
    let options =
        ["*[ ] Header At the top=1", "[ ] Footer=2", "Submit=down down enter", "Chat about this=3"];
    check("claude", &text, "question", "Which parts?", &options);
    let at_submit = text.replace("❯ 1.", "  1.").replace("     Submit", "❯    Submit");
    let options = ["[ ] Header At the top=1", "[ ] Footer=2", "*Submit=enter", "Chat about this=3"];
    check("claude", &at_submit, "question", "Which parts?", &options);
    assert_eq!(dialog("claude", &text).unwrap().id, dialog("claude", &at_submit).unwrap().id);
    let ticked = text.replace("1. [ ] Header", "1. [✔] Header");
    assert_eq!(dialog("claude", &text).unwrap().id, dialog("claude", &ticked).unwrap().id);
}

#[test]
fn the_users_last_message_without_a_composer_below_is_no_question() {
    let said = "\x1b[48;2;55;55;55m\x1b[38;2;153;153;153m❯ \x1b[38;2;255;255;255m";
    for lines in [["prompt 57, line 0: word", "prompt 57, line 1"], ["1. do this", "2. do that"]] {
        let [first, second] = lines;
        let text = format!("● An answer.\n\n{said}{first}\x1b[K\n  {second}\x1b[K\x1b[0m\x1b[?25l");
        assert_eq!(dialog("claude", &text), None, "{first}");
        // Without a background the same lines are a question, so the background is what decides
        // here.
        assert!(dialog("claude", &text.replace(said, "❯ ")).is_some(), "{first}");
    }
}

/// Claude's composer with this row in it.
fn claude_composer(row: &str) -> Composer {
    let rule = "─".repeat(80);
    let text = format!("{rule}\n{row}\n{rule}\n  ? for shortcuts\x1b[?25l");
    look(24, &text).composer(ProfileLibrary::embedded().get("claude").unwrap())
}

#[test]
fn any_blank_follows_a_prompt_sign() {
    assert_eq!(claude_composer("❯\u{a0}"), Composer::Empty);
    assert_eq!(claude_composer("❯\u{a0}hello"), Composer::Draft("hello".into()));
}

#[test]
fn a_drawn_cursor_before_faint_words_is_no_draft() {
    assert_eq!(claude_composer("❯ \x1b[7mW\x1b[27;2mhat next?\x1b[22m"), Composer::Empty);
    assert_eq!(claude_composer("❯ \x1b[7mW\x1b[27mhat"), Composer::Draft("What".into()));
}

#[test]
fn a_composer_that_runs_shell_commands_is_not_typed_into() {
    assert_eq!(claude_composer("! "), Composer::Draft("!".into()));
    assert_eq!(claude_composer("! ls"), Composer::Draft("! ls".into()));
}

#[test]
fn the_words_of_a_question_are_read_though_they_look_like_the_users() {
    let behind = "\x1b[48;2;30;30;30m";
    let text = format!(
        "\x1b[?25l  ┃\n  ┃{behind}  △ Permission required\x1b[0m\n  ┃{behind}    # Shell command\x1b[0m\n  ┃\n  \
         ┃{behind}  $ touch made.txt\x1b[0m\n  ┃\n  ┃  \x1b[48;2;245;167;66m Allow once \x1b[0m  Allow always   Reject  \
         ctrl+f fullscreen  ⇆ select  enter con\n  ┃"
    );
    let asked = dialog("opencode", &text).unwrap();
    assert!(asked.text.contains("$ touch made.txt"), "{:?}", asked.text);
    // An approval is bound to what was shown.
    assert_ne!(asked.id, dialog("opencode", &text.replace("made", "other")).unwrap().id);
}

#[test]
fn prose_is_no_question() {
    let prose = "› tell me\n\n• Would you like to run the following command?\n\n  › 1. Yes, proceed (y)\n    \
        2. No (esc)\n\n  Press enter to confirm or esc to cancel\n\n\n› Ask Codex to do anything\n\n  fake · /tmp";
    let shown = look(24, &format!("{prose}\x1b[11;3H"));
    let codex = ProfileLibrary::embedded().get("codex").unwrap().clone();
    assert_eq!(shown.dialog(&codex), None);
    assert_eq!(shown.composer(&codex), Composer::Empty);
    // A list without a mark is not a question, nor is a question without options.
    assert_eq!(dialog("gemini", "Allow execution of [Shell]?\n 1. Yes\n 2. No\n"), None);
    assert_eq!(dialog("opencode", "  ┃  △ Permission required\n  ┃\x1b[?25l"), None);
    assert_eq!(dialog("aider", "\x1b[?2004hShall I? (Y)es or no\n> "), None);
}

const KEYS: &str = "❯ FAKE tool\n\n ⠧ Thinking... (esc to cancel)\n\n Approve tool call?\n run_commands\n\n   $ touch made.txt\n  \
[y] Approve   [n] Deny\n\n\n fake (100) $0.00       ○ Plan ● Act (Tab)\n demo (main)\x1b[?25l";

#[test]
fn options_in_one_row_are_chosen_by_their_keys() {
    check("generic", KEYS, "permission", "Approve tool call?", &["Approve=y", "Deny=n"]);
    let allows: Vec<_> =
        dialog("generic", KEYS).unwrap().options.iter().map(|it| it.allows).collect();
    assert_eq!(allows, [Some(true), Some(false)]);
    let glued = "Run it? [Y]es / [N]o / [A]lways\nfooter\x1b[?25l";
    check("generic", glued, "permission", "Run it?", &["Yes=y", "No=n", "Always=a"]);
    let parens = "May I?\n(y) Allow once  (esc) Cancel\nfooter\x1b[?25l";
    check("generic", parens, "permission", "May I?", &["Allow once=y", "Cancel=esc"]);
    // If the cursor waits behind them, a line is read.
    let line = "Apply the edit? [y]es [n]o: ";
    check("generic", line, "permission", "Apply the edit?", &["yes=y enter", "no=n enter"]);
}

#[test]
fn yes_or_no_in_one_pair_of_brackets_is_answered_by_a_line() {
    let usual = ["*Yes=y enter", "No=n enter"];
    check("generic", "Execute shell? [Y/n/c/e/a/?] ", "permission", "Execute shell?", &usual);
    let neither = ["Yes=y enter", "No=n enter"];
    let above = "  Would you like to run this code? (y/n)\n\n  ";
    check("generic", above, "permission", "Would you like to run this code?", &neither);
    let no = ["Yes=y enter", "*No=n enter"];
    check("llm", "Approve tool call? [y/N]: ", "permission", "Approve tool call?", &no);
    check("gptme", "\x1b[?2004h Execute shell? [Y/n/c/e/a/?] ", "permission", "Execute", &usual);
    check("interpreter", above, "permission", "Would you like to run", &neither);
    // What is typed is not entered yet.
    check("llm", "Approve tool call? [y/N]: y", "permission", "Approve tool call?", &no);
    check("interpreter", &format!("{above}y"), "permission", "Would you like", &neither);
    assert_eq!(dialog("llm", "Approve tool call? [y/N]: y\n"), None);
    assert_eq!(dialog("interpreter", &format!("{above}y\n\n  ")), None);
    assert_eq!(dialog("generic", "It asked: run it? (y/n)\n\n> "), None);
    assert_eq!(dialog("generic", "Which? [y/y] "), None);
    assert_eq!(dialog("generic", "Run it? [Y/n] \x1b[?25l"), None);
}

#[test]
fn one_row_of_keys_in_an_answer_is_no_question() {
    let rule = "─".repeat(40);
    let quoted = format!("{KEYS}\n{rule}\n❯ \n{rule}\x1b[?25h\x1b[15;3H");
    assert_eq!(dialog("generic", &quoted), None);
    assert_eq!(dialog("generic", "It shows:\n[y] Approve  [n] Deny\n\n> "), None);
    assert_eq!(dialog("generic", "It shows [y] Approve  [n] Deny and waits\n"), None);
    assert_eq!(dialog("generic", "[y] Approve\n"), None);
    assert_eq!(dialog("generic", "[x] Approve  [x] Deny\n"), None);
    assert_eq!(dialog("generic", "see [1] one thing [2] another\n"), None);
    assert_eq!(dialog("generic", "[1] cheese  [2] bread\n"), None);
}

#[test]
fn a_menu_above_the_line_in_which_its_answer_is_typed() {
    let delete = "Delete all files?\n  1. Yes\n  2. No\n> ";
    check("generic", delete, "question", "Delete all", &["Yes=1 enter", "No=2 enter"]);
    let files = "Which files to delete?\n  1. all\n  2. none\nChoose [1-2]> ";
    check("generic", files, "question", "Which files", &["all=1 enter", "none=2 enter"]);
    for prompt in ["Choose [1-2]:", "Your choice: ", "Enter a number (1-2): ", "Select> "] {
        let text = format!("Files\n1) all\n2) none\n\n{prompt}");
        check("generic", &text, "question", "Files", &["all=1 enter", "none=2 enter"]);
    }
    let typed = dialog("generic", &format!("{delete}1")).unwrap();
    assert_eq!(typed.id, dialog("generic", delete).unwrap().id, "a key of the answer");
    let keys = "Run rm?\n[y] Approve  [n] Deny\n> ";
    check("generic", keys, "permission", "Run rm?", &["Approve=y enter", "Deny=n enter"]);
}

#[test]
fn answers_above_or_before_the_line_in_which_one_is_typed() {
    let words = "Do you want to run it?\n  Yes\n  No\n> ";
    let options = ["Yes=y e s enter", "No=n o enter"];
    check("generic", words, "permission", "Do you want", &options);
    let row = "Allow this? (a)llow (d)eny > ";
    check("generic", row, "permission", "Allow this?", &["allow=a enter", "deny=d enter"]);
    for text in [words, row] {
        let typed = dialog("generic", &format!("{text}d")).unwrap();
        assert_eq!(typed.id, dialog("generic", text).unwrap().id, "a key of the answer");
    }
    let keys = "Run it?\n[y] Approve  [n] Deny ";
    let typed = dialog("generic", &format!("{keys}n")).unwrap();
    assert_eq!(typed.id, dialog("generic", keys).unwrap().id);
    assert_eq!(dialog("generic", "Is it so?\nYes\nNo\n\n> "), None);
}

#[test]
fn a_list_at_the_end_of_an_answer_is_no_menu() {
    for text in [
        "Do this:\n1. open it\n2. read it\n> ",
        "Say yes?\n1. Yes\n2. No\n\n> ",
        "Delete all files?\n  1. Yes\n  2. No\n> and what I type",
        "2. Yes\n3. No\n> ",
    ] {
        assert_eq!(dialog("generic", text), None, "{text}");
    }
}

#[test]
fn an_answer_in_words_is_typed_whole() {
    let text = "Continue? (yes/no) ";
    check("generic", text, "question", "Continue?", &["Yes=y e s enter", "No=n o enter"]);
    let text = "Run it? [Y/n] (default Y): ";
    check("generic", text, "permission", "Run it?", &["*Yes=y enter", "No=n enter"]);
}

#[test]
fn another_command_is_another_question_wherever_it_is_shown() {
    let rows = "Do you want to proceed?\n❯ 1. Yes\n  2. No\n\nEnter to select\n";
    let shown: [&dyn Fn(&str) -> String; 5] = [
        &|it| format!("Run this?\n❯ 1. Yes ({it})\n  2. No (skip)\n\nEnter to select\n"),
        &|it| format!("Bash: {it}\n\n\n\n{rows}"),
        &|it| format!("Bash: {it}\n────────────────────\n{rows}"),
        &|it| format!("{rows}Command: {it}\n"),
        &|it| format!("Run this: {it}\n{rows}"),
    ];
    for shown in shown {
        let id = |command: &str| dialog("generic", &shown(command)).unwrap().id;
        assert_ne!(id("ls"), id("rm -rf /"), "{}", shown("ls"));
        assert_ne!(id("rm a b"), id("rm ab"), "{}", shown("ls"));
        assert_eq!(id("ls"), id("ls"));
    }
    // A clock beside it changes by itself.
    let clock = |time: &str| dialog("generic", &format!("{time}\n\n\n{rows}")).unwrap().id;
    assert_eq!(clock("⠋ 12:01"), clock("⠙ 12:02"));
}
