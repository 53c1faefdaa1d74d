//! The paths that code names, with nested `use` trees expanded: `use std::{fs, io::Read}` names
//! `std::fs` and `std::io::Read`. Imports are not resolved.

use crate::source::{is_word, line_at};

/// A path such as `std::fs::read`; a single name is a path too.
pub(crate) struct NamedPath<'a> {
    pub(crate) line: usize,
    pub(crate) segments: Vec<&'a str>,
}

impl NamedPath<'_> {
    /// Whether the segments of `path` follow each other somewhere in this one.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let wanted: Vec<&str> = path.split("::").collect();
        self.segments.windows(wanted.len()).any(|window| window == wanted)
    }
}

/// Every path in a text that is code only.
pub(crate) fn paths(code: &str) -> Vec<NamedPath<'_>> {
    let mut reader = Reader { code, at: 0, found: Vec::new() };
    while reader.at < code.len() {
        if !reader.path(&[]) {
            reader.skip();
        }
    }
    reader.found
}

struct Reader<'a> {
    code: &'a str,
    at: usize,
    found: Vec<NamedPath<'a>>,
}

impl<'a> Reader<'a> {
    /// Reads a path below `prefix`, or a whole tree of them. False when none begins here.
    fn path(&mut self, prefix: &[&'a str]) -> bool {
        let start = self.at;
        let mut segments = prefix.to_vec();
        while let Some(name) = self.name() {
            segments.push(name);
            if !self.take("::") {
                break;
            }
            if self.take("{") {
                self.group(&segments);
                return true;
            }
        }
        let found = segments.len() > prefix.len();
        if found {
            self.found.push(NamedPath { line: line_at(self.code, start), segments });
        }
        found
    }

    /// Reads the inside of `prefix::{…}` and its closing brace.
    fn group(&mut self, prefix: &[&'a str]) {
        while self.at < self.code.len() && !self.take("}") {
            self.blank();
            if self.path(prefix) {
                self.rename();
            } else {
                self.skip();
            }
        }
    }

    /// The new name in `fs as files` is ours and is not below the prefix.
    fn rename(&mut self) {
        let start = self.at;
        self.blank();
        if self.name() == Some("as") {
            self.blank();
            self.name();
        } else {
            self.at = start;
        }
    }

    fn name(&mut self) -> Option<&'a str> {
        let rest = &self.code[self.at..];
        let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        self.at += name.len();
        (!name.is_empty()).then_some(name)
    }

    /// Steps over `token`, and over the space around it, when it comes next.
    fn take(&mut self, token: &str) -> bool {
        let start = self.at;
        self.blank();
        if self.code[self.at..].starts_with(token) {
            self.at += token.len();
            self.blank();
            return true;
        }
        self.at = start;
        false
    }

    fn blank(&mut self) {
        let rest = &self.code[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn skip(&mut self) {
        self.at += self.code[self.at..].chars().next().map_or(0, char::len_utf8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expect: &[&str]) {
        let found = paths(code);
        let found: Vec<_> = found
            .iter()
            .map(|path| format!("{} {}", path.line, path.segments.join("::")))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_path_is_named_whole() {
        check("a::b(c)\n + d :: e", &["1 a::b", "1 c", "2 d::e"]);
    }

    #[test]
    fn a_tree_is_written_out() {
        check(
            "use a::{self, b::{c, d as e},\n    f::*};",
            &["1 use", "1 a::self", "1 a::b::c", "1 a::b::d", "2 a::f"],
        );
    }

    #[test]
    fn generic_arguments_end_a_path() {
        check("a::b::<c>::d", &["1 a::b", "1 c", "1 d"]);
    }

    #[test]
    fn a_path_is_found_in_a_longer_one() {
        let named = NamedPath { line: 1, segments: vec!["std", "fs", "read"] };
        assert!(named.holds("std::fs"));
        assert!(named.holds("fs::read"));
        assert!(!named.holds("std::read"));
    }
}
