//! The examples in the documentation work when they are pasted into bash and into zsh.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use paned_e2e::UserShell;
use paned_model::Size;

/// As wide as a terminal is when it is opened.
const SIZE: Size = Size { cols: 80, rows: 24 };
/// Without anything that a user has set up, so that what works here works everywhere.
const SHELLS: [&[&str]; 2] = [&["bash", "--norc", "--noprofile", "-i"], &["zsh", "-f", "-i"]];
/// What a shell or paned prints when something is wrong.
const COMPLAINTS: [&str; 5] =
    ["command not found", "parse error", "syntax error", "no matches found", "paned: "];

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// The blocks of a page that are marked `sh`.
fn blocks(page: &str) -> Vec<&str> {
    let begins = page.split("```sh\n").skip(1);
    begins.map(|rest| rest.split("```").next().unwrap().trim_end()).collect()
}

/// Pastes every block of a page into each shell; answers what the terminals showed.
#[track_caller]
fn pasted(name: &str) -> Vec<String> {
    let page = page(name);
    let blocks = blocks(&page);
    assert!(!blocks.is_empty(), "{name} has no block to paste");
    SHELLS.iter().map(|shell| pasted_into(shell, &blocks)).collect()
}

#[track_caller]
fn pasted_into(shell: &[&str], blocks: &[&str]) -> String {
    let shell = UserShell::start(shell, SIZE, &[("PS1", "ready> ")]);
    shell.wait("^ready> ", 0);
    for block in blocks {
        let since = shell.end();
        shell.paste(block);
        // The shell has executed the block when it executes this.
        shell.write("echo end:$?\r");
        shell.wait("^end:[0-9]+", since);
        let text = shell.text();
        assert!(text.contains("\nend:0"), "{block}\n\n{text}");
        for complaint in COMPLAINTS {
            let complains = text.lines().any(|line| line.contains(complaint));
            assert!(!complains, "{complaint}: {block}\n\n{text}");
        }
    }
    shell.text()
}

#[test]
fn the_quick_start_works_when_pasted() {
    for text in pasted("README.md") {
        for line in ["clock", "tick 1", "tick 2", "tick 3"] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.contains("clock killed"), "{text}");
    }
}

#[test]
fn the_quick_start_has_six_lines_without_comments() {
    let readme = page("README.md");
    let start = blocks(&readme)[0];
    assert_eq!(start.lines().count(), 6, "{start}");
    assert!(!start.contains(" # "), "zsh takes no comments: {start}");
}

#[test]
fn the_http_examples_work_when_pasted() {
    for text in pasted("docs/http.md") {
        for piece in [r#""id":"greeter""#, r#""exitCode":3"#, r#""text":"hello""#, "dashboard"] {
            assert!(text.replace('\n', "").contains(piece), "{piece}: {text}");
        }
    }
}

#[test]
fn the_steps_for_agents_work_when_pasted() {
    for text in pasted("docs/agents-snippet.md") {
        assert!(text.lines().any(|line| line == "42"), "{text}");
        assert!(text.contains("Serving HTTP on 127.0.0.1 port"), "{text}");
    }
}

#[test]
fn the_loop_of_a_script_works_when_pasted() {
    for text in pasted("docs/panes.md") {
        assert!(text.contains("Beautiful is better than ugly."), "{text}");
    }
}
