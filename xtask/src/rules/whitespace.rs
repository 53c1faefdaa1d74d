//! White space that an editor hides and every diff shows.

use super::Finding;
use crate::tree::Tree;

/// No line of Rust, Markdown or TOML ends in white space or holds a tab.
pub(super) fn is_clean(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if !matches!(file.extension(), Some("rs" | "md" | "toml")) {
            continue;
        }
        // Not `lines`: that would treat the carriage return as part of the line's end.
        for (index, line) in file.text.split('\n').enumerate() {
            let message = complaint(line);
            findings.extend(message.map(|message| Finding::at(file, index + 1, message)));
        }
    }
    findings
}

fn complaint(line: &str) -> Option<&'static str> {
    if line.contains('\t') {
        Some("a tab; we indent with spaces")
    } else if line.ends_with(char::is_whitespace) {
        Some("white space at the end of the line")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn unseen_blanks_are_found() {
        let files = [("a.rs", "a\nb \n"), ("b.md", "a\r\n"), ("c.toml", "\ta = 1\n")];
        let expect = ["a.rs:2: white space", "b.md:1: white space", "c.toml:1: a tab"];
        check(is_clean, &files, &expect);
    }

    #[test]
    fn other_files_and_clean_ones_are_fine() {
        check(is_clean, &[("a.rs", "a\n\n    b\n"), ("Makefile", "a:\n\tb \n")], &[]);
    }
}
