//! Sentences that people read: errors, help, descriptions of actions and parameters.
//!
//! They are found as string literals of the program, and as the comments that become help texts and
//! schemas. The list has the phrases that were once everywhere and that no engineer would write.

use super::Finding;
use super::names::production;
use crate::source::{find_word, is_word, line_at};
use crate::tree::{File, Tree};

/// A phrase, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("is no", "\u{201c}invalid …\u{201d} or \u{201c}is not a …\u{201d}"),
    ("are no", "\u{201c}invalid …\u{201d} or \u{201c}are not …\u{201d}"),
    ("so many", "a number or N"),
    ("so long", "\u{201c}time limit\u{201d}"),
    ("so often", "\u{201c}N times\u{201d}"),
    ("somebody", "the user or the client"),
    ("someone", "the user or the client"),
    ("whoever", "the user or the client"),
    ("nobody", "the user or the client"),
    ("live on", "\u{201c}keep running\u{201d}"),
    ("lives on", "\u{201c}keeps running\u{201d}"),
    ("goes on", "\u{201c}continues\u{201d} or \u{201c}keeps running\u{201d}"),
    ("go on", "\u{201c}continue\u{201d}"),
    ("is told", "\u{201c}is reported\u{201d}"),
    ("are told", "\u{201c}are reported\u{201d}"),
    ("was told", "\u{201c}was reported\u{201d}"),
    ("says so", "the value or the reason"),
    ("what became of", "\u{201c}the outcome of\u{201d}"),
    ("no more", "\u{201c}no longer\u{201d}"),
    ("any more", "\u{201c}no longer\u{201d}"),
    ("not good", "\u{201c}invalid\u{201d}"),
    ("when left out", "\u{201c}defaults to …\u{201d}"),
    ("in vain", "\u{201c}without a match\u{201d}"),
];

/// Files whose sentences are still being rewritten.
const LATER: &[&str] = &[];

/// Sentences that people read are in the words of the field.
pub(super) fn sentences_are_plain(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in production(tree).filter(|file| !LATER.contains(&file.path.as_str())) {
        let literals = file.source.literals_outside_tests();
        findings.extend(phrases(file, &literals));
        if becomes_help(file) {
            findings.extend(phrases(file, &doc_comments(file)));
        }
    }
    findings
}

fn phrases<'a>(file: &'a File, text: &'a str) -> impl Iterator<Item = Finding> + 'a {
    let lower = text.to_ascii_lowercase();
    // A sentence that is broken over two lines is one sentence.
    let joined = lower.replace("\\\n", "  ").replace('\n', " ");
    let is_aligned = joined.len() == text.len();
    PHRASES.iter().filter(move |_| is_aligned).flat_map(move |(phrase, instead)| {
        let found: Vec<usize> = find_phrase(&joined, phrase).collect();
        found.into_iter().map(move |at| {
            let says =
                format!("\u{201c}{phrase}\u{201d} in a sentence for people: write {instead}");
            Finding::at(file, line_at(text, at), says)
        })
    })
}

/// Where the words of a phrase follow each other, with any blanks between them.
fn find_phrase<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let (first, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
    find_word(text, first).filter(move |at| {
        // \u{201c}there is no …\u{201d} and \u{201c}is no longer\u{201d} are plain.
        let is_plain = rest == "no"
            && (text[..*at].trim_end().ends_with("there")
                || is_followed_by_longer(&text[at + first.len()..]));
        if is_plain {
            return false;
        }
        let mut after = &text[at + first.len()..];
        for word in rest.split(' ').filter(|word| !word.is_empty()) {
            let trimmed = after.trim_start();
            let Some(tail) = trimmed.strip_prefix(word).filter(|_| trimmed.len() < after.len())
            else {
                return false;
            };
            if tail.starts_with(is_word) {
                return false;
            }
            after = tail;
        }
        true
    })
}

fn is_followed_by_longer(after: &str) -> bool {
    let rest = after.trim_start().strip_prefix("no").unwrap_or_default();
    rest.trim_start().starts_with("longer")
}

/// Whether comments of this file become help texts or schemas.
fn becomes_help(file: &File) -> bool {
    let code = &file.source.code;
    code.contains("JsonSchema") || code.contains("Args") || code.contains("Subcommand")
}

/// The comments of fields, variants and commands; everything else is blank.
fn doc_comments(file: &File) -> String {
    let lines: Vec<&str> = file.text.split_inclusive('\n').collect();
    let mut text = String::with_capacity(file.text.len());
    for (index, line) in lines.iter().enumerate() {
        let is_help = is_doc(line)
            && lines[index..].iter().find(|line| !is_doc(line) && !is_attribute(line)).is_some_and(
                |item| {
                    is_field_or_variant(item)
                        || file.path.starts_with("crates/cli/") && is_type(item)
                },
            );
        match is_help {
            true => text.push_str(&line.replacen("///", "   ", 1)),
            false => text.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
        }
    }
    text
}

fn is_doc(line: &str) -> bool {
    line.trim_start().starts_with("///")
}

fn is_attribute(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[") || line.starts_with(')') || line.starts_with('"')
}

fn is_type(line: &str) -> bool {
    line.contains("struct ") || line.contains("enum ")
}

fn is_field_or_variant(line: &str) -> bool {
    let item = line.trim_start();
    if item.len() == line.len() {
        return false;
    }
    let name = item.strip_prefix("pub(crate) ").unwrap_or(item);
    let name = name.strip_prefix("pub ").unwrap_or(name);
    let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
    let is_field = name[end..].starts_with(": ");
    let is_variant = name.starts_with(|c: char| c.is_ascii_uppercase())
        && (name[end..].trim_end().is_empty() || name[end..].starts_with([',', '(', ' ']));
    is_field || is_variant
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    const PATH: &str = "crates/a/src/b.rs";

    #[test]
    fn a_riddle_in_an_error_is_found_and_plain_words_are_not() {
        let text = "fn f() {\n    g(\"`x` is no size\");\n    g(\"x lives \\\n       on\");\n}\n";
        let expect = [
            "crates/a/src/b.rs:2: \u{201c}is no\u{201d} in a sentence",
            "crates/a/src/b.rs:3: \u{201c}lives on\u{201d} in a sentence",
        ];
        check(sentences_are_plain, &[(PATH, text), ("tests/c.rs", text)], &expect);
        let plain = "// This is no size.\nfn f() { g(\"this is not a size\"); is_no(); }\n\
                     #[cfg(test)]\nmod tests { const X: &str = \"it is no size\"; }\n";
        check(sentences_are_plain, &[(PATH, plain)], &[]);
    }

    #[test]
    fn a_comment_that_becomes_help_is_a_sentence_for_people() {
        let text = "#[derive(Args)]\nstruct A {\n    /// At most so many.\n    n: u8,\n}\n";
        let expect = ["crates/a/src/b.rs:3: \u{201c}so many\u{201d} in a sentence"];
        check(sentences_are_plain, &[(PATH, text)], &expect);
        check(sentences_are_plain, &[(PATH, &text.replace("derive(Args)", "derive(Debug)"))], &[]);
    }
}
