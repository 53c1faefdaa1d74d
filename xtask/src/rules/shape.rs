//! The shape of a file: one idea, a module doc, no open tasks. Clippy checks the length of
//! functions.

use super::Finding;
use crate::source::{find_word, line_at};
use crate::tree::{File, Tree};

const MOST_LINES: usize = 500;

/// A file has at most 500 lines, `#[cfg(test)]` items and files called `tests.rs` not counted.
pub(super) fn files_are_one_idea(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| file.name() != "tests.rs") {
        let all = file.text.lines().count();
        let lines = all.saturating_sub(file.source.test_lines());
        if lines > MOST_LINES {
            let message = format!("{lines} lines without tests; split a file of over {MOST_LINES}");
            findings.push(Finding::at(file, 1, message));
        }
    }
    findings
}

/// A module opens with `//!`.
pub(super) fn modules_say_what_they_are(tree: &Tree) -> Vec<Finding> {
    let silent = tree.rust().filter(|file| !file.text.starts_with("//!"));
    let message = "a module opens with `//!`: what it is, what it never does";
    silent.map(|file| Finding::at(file, 1, message)).collect()
}

/// No comment says `TODO` or `FIXME`. In backquotes the words are free, as here.
pub(super) fn nothing_is_left_to_do(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let comments = comments(file);
        for word in ["TODO", "FIXME"] {
            let found = find_word(&comments, word).filter(|at| !comments[..*at].ends_with('`'));
            let message = format!("`{word}` is an issue, not a comment");
            findings.extend(found.map(|at| Finding::at(file, line_at(&comments, at), &message)));
        }
    }
    findings
}

/// The comments of a file, line for line.
fn comments(file: &File) -> String {
    let from: &[&str] = match file.extension() {
        Some("rs") => return file.source.comments.clone(),
        Some("toml" | "sh") | None => &["#"],
        Some("ts" | "tsx" | "css") => &["//", "/*", " * "],
        Some(_) => return String::new(),
    };
    let comment = |line: &str| {
        let start = from.iter().filter_map(|mark| line.find(mark)).min();
        start.map_or(String::new(), |start| line[start..].to_owned())
    };
    file.text.lines().map(|line| comment(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_found() {
        let (most, more) = ("//\n".repeat(500), "//\n".repeat(501));
        let tested = format!("{most}#[cfg(test)]\nmod tests {{\n{more}}}\n");
        let files =
            [("a.rs", most.as_str()), ("b.rs", &more), ("c.rs", &tested), ("tests.rs", &more)];
        check(files_are_one_idea, &files, &["b.rs:1: 501 lines without tests"]);
    }

    #[test]
    fn a_module_without_a_sentence_is_found() {
        let files = [("a.rs", "//! The tape.\n"), ("b.rs", "mod c;\n//! Late.\n"), ("d.ts", "")];
        check(modules_say_what_they_are, &files, &["b.rs:1: a module opens with `//!`"]);
    }

    #[test]
    fn what_is_left_to_do_is_found() {
        let files = [
            ("a.rs", "fn f() {} // ok\n/* FIXME: later */\n"),
            ("b.toml", "a = 1 # TODO\n"),
            ("Makefile", "# TODO\n"),
            ("c.ts", "let a; // TODO\n"),
        ];
        let expect =
            ["a.rs:2: `FIXME`", "b.toml:1: `TODO`", "Makefile:1: `TODO`", "c.ts:1: `TODO`"];
        check(nothing_is_left_to_do, &files, &expect);
    }

    #[test]
    fn the_words_are_free_in_code_and_in_quotes() {
        let text = "//! A `TODO` is an issue.\nconst A: &str = \"TODO\";\nconst TODOS: u8 = 1;\n";
        check(nothing_is_left_to_do, &[("a.rs", text), ("b.md", "TODO\n")], &[]);
    }
}
