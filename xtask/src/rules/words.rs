//! Plain sentences: what `tools/words` counts, kept by a rule.

use super::Finding;
use super::names::production;
use crate::source::{find_word, line_at};
use crate::tree::{File, Tree};

/// The widest line that a comment may have.
const WIDEST_COMMENT: usize = 100;

/// Words that hide who does something. In a comment, name the client, the caller, the user.
const PRONOUNS: &[&str] =
    &["somebody", "someone", "whoever", "whom", "nobody", "anybody", "everybody"];

/// How many of them there may be in a million words of comments.
const MOST_PER_MILLION: usize = 500;

/// `let (a, b) = (x, y)` saves a line and costs the reader two.
pub(super) fn lets_bind_one_value(tree: &Tree) -> Vec<Finding> {
    let says = "a `let` of several values by a tuple; write one `let` for each";
    let mut findings = Vec::new();
    for file in production(tree) {
        let code = file.source.outside_tests();
        let found =
            code.match_indices("let (").filter(|(at, _)| binds_tuple_by_tuple(&code[*at..]));
        findings.extend(found.map(|(at, _)| Finding::at(file, line_at(&code, at), says)));
    }
    findings
}

/// Comments name who acts; a few pronouns are allowed in all crates together.
pub(super) fn comments_name_who_acts(tree: &Tree) -> Vec<Finding> {
    let mut words = 0;
    let mut findings = Vec::new();
    for file in production(tree) {
        let comments = file.source.comments.to_lowercase();
        words += comments.split_whitespace().count();
        for pronoun in PRONOUNS {
            let says = format!("`{pronoun}`: name the client, the caller or the user");
            let found = find_word(&comments, pronoun);
            findings.extend(found.map(|at| Finding::at(file, line_at(&comments, at), &says)));
        }
    }
    if findings.len() * 1_000_000 > words * MOST_PER_MILLION { findings } else { Vec::new() }
}

/// A comment fits beside another file on a screen.
pub(super) fn comments_fit_the_page(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (index, line) in file.text.lines().enumerate() {
            if is_wide_comment(file, line) {
                let says = format!("a comment wider than {WIDEST_COMMENT} columns");
                findings.push(Finding::at(file, index + 1, says));
            }
        }
    }
    findings
}

/// A line that is only a comment and has a blank at which it can be broken.
fn is_wide_comment(file: &File, line: &str) -> bool {
    let text = line.trim_start();
    let is_comment = text.starts_with("//") && !file.path.contains("/data/");
    is_comment && line.chars().count() > WIDEST_COMMENT && text.split_whitespace().count() > 2
}

/// Whether a text that begins with `let (` goes on `a, b) = (`.
fn binds_tuple_by_tuple(text: &str) -> bool {
    let Some((pattern, rest)) = text["let (".len()..].split_once(')') else {
        return false;
    };
    let is_names = pattern.contains(',')
        && pattern.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ',' | ' ' | '\n'));
    let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
    is_names && value.is_some_and(|value| value.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    const PATH: &str = "crates/a/src/b.rs";

    #[test]
    fn a_tuple_let_is_found() {
        let text = "let (a, mut b) = (1, 2);\nlet (c, d) = pair();\nlet (e, _) =\n    (3, 4);\n";
        let expect = ["crates/a/src/b.rs:1: a `let`", "crates/a/src/b.rs:3: a `let`"];
        check(lets_bind_one_value, &[(PATH, text), ("tests/c.rs", text)], &expect);
    }

    #[test]
    fn pronouns_over_the_budget_are_found() {
        let few = format!("// Somebody asks.\n{}", "// one two three four\n".repeat(500));
        check(comments_name_who_acts, &[(PATH, &few)], &[]);
        let many = "// Somebody asks whoever listens.\nlet nobody = 1;\n";
        let expect = ["crates/a/src/b.rs:1: `somebody`", "crates/a/src/b.rs:1: `whoever`"];
        check(comments_name_who_acts, &[(PATH, many)], &expect);
    }

    #[test]
    fn a_wide_comment_is_found() {
        let wide = format!("// {}\n// {}\n", "word ".repeat(20), "x".repeat(120));
        check(comments_fit_the_page, &[(PATH, &wide)], &["crates/a/src/b.rs:1: a comment wider"]);
    }
}
