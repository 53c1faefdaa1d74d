//! Patterns that users send: regular expressions in linear time, of bounded size, that match within a line.

use memchr::memchr2;
use paned_model::Refusal;
use regex_automata::meta::{self, BuildError};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, Span};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

use super::needs::{self, Need};

const LONGEST: usize = 1000;
const LARGEST: usize = 1 << 20;

/// A pattern for lines. It matches neither `\n` nor `\r`, and the ends of a line are to it what the ends of
/// a text are to others: so it finds in many lines at once what it finds in each of them.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: meta::Regex,
    needs: Vec<Need>,
    /// Finds what every line that matches holds, where that is rarer than what the regex looks for first.
    finder: Option<Prefilter>,
}

impl Pattern {
    /// Whether it matches a line, which is without its end.
    pub(crate) fn is_match(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// How much memory it takes, in bytes, before it is used.
    pub(crate) fn size(&self) -> usize {
        self.regex.memory_usage()
    }

    /// What every line that matches holds.
    pub(crate) fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// A place in the first line, from a line's start on, that may match: no line before it does.
    ///
    /// It may be a false alarm: now and then because between `\r` and `\n` is a place that no line has, and more
    /// often by `guess`, which looks only for what every line that matches holds.
    pub(crate) fn find(&self, lines: &[u8], from: usize, guess: bool) -> Option<usize> {
        if let Some(finder) = self.finder.as_ref().filter(|_| guess) {
            let found = finder.find(lines, Span::from(from..lines.len()));
            return found.map(|span| span.start);
        }
        // Where it ends is as good as where it begins, and found sooner.
        let input = Input::new(lines).range(from..).earliest(true);
        self.regex.search_half(&input).map(|half| half.offset())
    }
}

/// Reads a pattern.
pub(crate) fn pattern(field: &str, text: &str, ignore_case: bool) -> Result<Pattern, Refusal> {
    if LONGEST < text.chars().count() {
        let sentence = format!("`{field}` is longer than {LONGEST} characters");
        return Err(Refusal::invalid(sentence));
    }
    build(text, ignore_case)
        .map_err(|reason| Refusal::invalid(format!("`{field}` is no pattern we can use: {reason}")))
}

fn build(text: &str, ignore_case: bool) -> Result<Pattern, String> {
    let mut parser = ParserBuilder::new();
    let parsed = parser.case_insensitive(ignore_case).build().parse(text);
    let hir = parsed.map_err(|error| last_line(&error.to_string()))?;
    let limits = meta::Config::new()
        .nfa_size_limit(Some(LARGEST))
        .onepass_size_limit(Some(LARGEST))
        .hybrid_cache_capacity(LARGEST)
        // Only plain text is looked at, where no place is within a character.
        .utf8_empty(false);
    let hir = within_line(&hir);
    let regex = meta::Builder::new().configure(limits).build_from_hir(&hir);
    let regex = regex.map_err(|error: BuildError| match error.size_limit() {
        Some(_) => "it is too large once compiled".to_owned(),
        None => last_line(&error.to_string()),
    })?;
    let needs = needs::needs(&hir);
    let finder = finder(&needs);
    Ok(Pattern { regex, needs, finder })
}

/// Of what a match begins with, a regex makes a finder of its own.
fn finder(needs: &[Need]) -> Option<Prefilter> {
    let rarest = needs::rarest(needs).filter(|need| need.is_exact && !need.leads)?;
    Prefilter::new(MatchKind::LeftmostFirst, &rarest.texts).filter(Prefilter::is_fast)
}

/// The line of an error that says what it is; those before it draw the place.
fn last_line(error: &str) -> String {
    error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
}

/// The same for each line of a text that it is for a line by itself. Groups go: nobody asks for them.
///
/// The parser bounds how deep this goes.
fn within_line(hir: &Hir) -> Hir {
    let all = |hirs: &[Hir]| hirs.iter().map(within_line).collect();
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if memchr2(b'\n', b'\r', &literal.0).is_some() => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(without_ends(class)),
        HirKind::Look(look) => Hir::look(at_line(*look)),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            let sub = Box::new(within_line(sub));
            Hir::repetition(Repetition { min: *min, max: *max, greedy: *greedy, sub })
        }
        HirKind::Capture(capture) => within_line(&capture.sub),
        HirKind::Concat(hirs) => Hir::concat(all(hirs)),
        HirKind::Alternation(hirs) => Hir::alternation(all(hirs)),
    }
}

fn without_ends(class: &Class) -> Class {
    match class {
        Class::Unicode(class) => {
            let ends = ['\n', '\r'].map(|end| ClassUnicodeRange::new(end, end));
            let mut class = class.clone();
            class.difference(&ClassUnicode::new(ends));
            Class::Unicode(class)
        }
        Class::Bytes(class) => {
            let ends = [b'\n', b'\r'].map(|end| ClassBytesRange::new(end, end));
            let mut class = class.clone();
            class.difference(&ClassBytes::new(ends));
            Class::Bytes(class)
        }
    }
}

/// Ends of the text become ends of a line. Whether a word ends there is the same for both.
fn at_line(look: Look) -> Look {
    match look {
        Look::Start | Look::StartLF | Look::StartCRLF => Look::StartLF,
        Look::End | Look::EndLF | Look::EndCRLF => Look::EndCRLF,
        Look::WordAscii
        | Look::WordAsciiNegate
        | Look::WordUnicode
        | Look::WordUnicodeNegate
        | Look::WordStartAscii
        | Look::WordEndAscii
        | Look::WordStartUnicode
        | Look::WordEndUnicode
        | Look::WordStartHalfAscii
        | Look::WordEndHalfAscii
        | Look::WordStartHalfUnicode
        | Look::WordEndHalfUnicode => look,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it matches a line by itself, and whether something is found in a text.
    #[track_caller]
    fn check(text: &str, line: &str, lines: &str) {
        let pattern = pattern("pattern", text, false).unwrap();
        let expect = regex::Regex::new(text).unwrap().is_match(line);
        assert_eq!(pattern.is_match(line), expect, "{text:?} in {line:?}");
        let found = pattern.find(lines.as_bytes(), 0, false).is_some();
        assert_eq!(found, expect, "{text:?} in {lines:?}");
    }

    #[test]
    fn nothing_is_found_across_lines() {
        for text in [r"a\sb", "a[^x]b", "(?s)a.b", "a\\nb", "a\\r\\nb", "a(?:\n|\r|x)+b", r"a\W+b"]
        {
            check(text, "a", "a\r\nb\r\n");
            check(text, "a", "a\nb\n");
        }
    }

    #[test]
    fn the_ends_of_a_line_are_the_ends_of_a_text() {
        for text in ["^b$", r"\Ab\z", "(?m)^b$", "(?mR)^b$", r"\bb\b", r"\b{start}b\b{end}"] {
            check(text, "b", "a\r\nb\r\nc");
            check(text, "b", "a\nb");
        }
        check(r"^\s*$", "", "\r\n");
        check("a$", "a", "a\r\n");
        check("^[^a]*b", "b", "a\r\nb\r\n");
    }

    #[test]
    fn what_every_match_holds_is_looked_for_first() {
        let lines = b"took 1 ms\ntook 2 minutes\n";
        for (text, expect) in [
            (r"^took \d+ minutes", Some(16)),
            (r"\d+ (minutes|hours)", Some(17)),
            (r"\d+ (hours|days)", None),
        ] {
            let pattern = pattern("pattern", text, false).unwrap();
            assert_eq!(pattern.find(lines, 0, true), expect, "{text}");
        }
        // Nothing but what a match begins with, and nothing at all.
        for text in ["minutes", "(?i)took .*MINUTES", r"\d$"] {
            assert!(pattern("pattern", text, false).unwrap().finder.is_none(), "{text}");
        }
    }

    #[test]
    fn bad_and_huge_patterns_get_a_sentence() {
        assert!(pattern("pattern", "a.*b$", false).unwrap().is_match("axxb"));
        assert!(pattern("pattern", "ERROR", true).unwrap().is_match("an error"));
        for (text, part) in [
            ("a(", "unclosed group"),
            (r"(a)\1", "backreferences are not supported"),
            ("a{1000}{1000}{10}", "too large"),
        ] {
            let sentence = pattern("pattern", text, false).unwrap_err().sentence;
            assert!(
                sentence.starts_with("`pattern` is no pattern") && sentence.contains(part),
                "{sentence}"
            );
        }
        assert!(pattern("p", &"x".repeat(1001), false).unwrap_err().sentence.contains("1000"));
    }
}
