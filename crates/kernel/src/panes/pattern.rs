//! Patterns that users send: regular expressions in linear time, of bounded size, that match within a line.

use memchr::memchr2;
use paned_model::{Code, Refusal};
use paned_term::lines::TextLine;
use regex_automata::meta::{self, BuildError};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, Span};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

use super::literals::{self, RequiredLiteral};

/// The longest pattern, in characters.
const LONGEST: usize = 1000;
/// How many patterns there may be where several are taken, and how long they may be together.
const MAX_PATTERNS: usize = 32;
const LONGEST_TOGETHER: usize = 4000;
/// The largest that patterns may become, in bytes. To get there takes some 40 ms; `\w{60}` is about as large.
const LARGEST: usize = 4 << 20;
/// What a regex may remember while it is used. As much again: with less it would do without for a large pattern, and
/// take a thousand times as long.
const REGEX_CACHE: usize = LARGEST;
/// How long a pattern may be, and how many classes it may name, that is made and used on the spot.
const LIGHT: (usize, usize) = (200, 4);

/// A pattern for lines. It matches neither `\n` nor `\r`, and the ends of a line are to it what the ends of
/// a text are to others: so it finds in many lines at once what it finds in each of them.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    regex: meta::Regex,
    literals: Vec<RequiredLiteral>,
    /// Finds what every line that matches holds, where that is rarer than what the regex looks for first.
    finder: Option<Prefilter>,
    is_light: bool,
}

impl LinePattern {
    /// Whether it matches a line, which is without its end.
    pub(crate) fn is_match(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Whether it matches within the first so many characters of a line that was cut after more than that, if at all. Where
    /// the line goes on is no end, and what follows counts for what looks around.
    pub(crate) fn is_match_within(&self, line: &TextLine<'_>, max_chars: usize) -> bool {
        let text = line.text.as_ref();
        let end = match text.len() <= max_chars {
            true => None,
            false => text.char_indices().nth(max_chars).map(|(end, _)| end),
        };
        match end {
            Some(end) => self.regex.is_match(Input::new(text).range(..end)),
            // Something follows, and nobody knows what.
            None if line.cut => {
                self.regex.is_match(Input::new(&format!("{text} ")).range(..text.len()))
            }
            None => self.regex.is_match(text),
        }
    }

    /// Whether it is soon done with a piece of output. What is not is for a thread that may take its time.
    pub(crate) fn is_light(&self) -> bool {
        self.is_light
    }

    /// How much memory it takes, in bytes, before it is used.
    pub(crate) fn size(&self) -> usize {
        self.regex.memory_usage()
    }

    /// What every line that matches holds.
    pub(crate) fn literals(&self) -> &[RequiredLiteral] {
        &self.literals
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
#[cfg(test)]
pub(crate) fn pattern(
    field: &'static str,
    text: &str,
    ignore_case: bool,
) -> Result<LinePattern, Refusal> {
    PatternParam::one(field, text, ignore_case).read()
}

/// Patterns as somebody wrote them, to be read as one that matches where any of them does.
#[derive(Clone, Debug)]
pub(crate) struct PatternParam {
    field: PatternField,
    pub(crate) key: PatternKey,
}

/// What was written; the same becomes the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternKey {
    texts: Vec<String>,
    ignore_case: bool,
}

/// What the parameter is called, in sentences.
#[derive(Clone, Copy, Debug)]
enum PatternField {
    One(&'static str),
    List(&'static str),
}

impl PatternParam {
    pub(crate) fn one(field: &'static str, text: &str, ignore_case: bool) -> Self {
        let key = PatternKey { texts: vec![text.to_owned()], ignore_case };
        Self { field: PatternField::One(field), key }
    }

    /// Any of several. There is at least one.
    pub(crate) fn any(field: &'static str, texts: &[String], ignore_case: bool) -> Self {
        let key = PatternKey { texts: texts.to_vec(), ignore_case };
        Self { field: PatternField::List(field), key }
    }

    /// Whether it takes no time to speak of to make it. Of what is written with few words, only numbers of repetitions
    /// and classes of letters become large.
    pub(crate) fn is_light(&self) -> bool {
        let all = || self.key.texts.iter().flat_map(|text| text.bytes());
        let classes = all().filter(|&byte| byte == b'\\').count();
        all().count() <= LIGHT.0 && classes <= LIGHT.1 && all().all(|byte| byte != b'{')
    }

    /// Whether there is too much of it to be looked at.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let limit = |sentence: String| Err(Refusal::new(Code::Limit, sentence));
        let texts = &self.key.texts;
        let long = |text: &String| LONGEST < text.chars().count();
        if let Some(at) = texts.iter().position(long) {
            let sentence = format!("`{}` is longer than {LONGEST} characters", self.name(at));
            return Err(Refusal::invalid(sentence));
        }
        let name = self.name_of_all();
        if MAX_PATTERNS < texts.len() {
            return limit(format!(
                "`{name}` takes up to {MAX_PATTERNS} patterns; join some with `|`"
            ));
        }
        if LONGEST_TOGETHER < texts.iter().map(|text| text.chars().count()).sum::<usize>() {
            return limit(format!("`{name}` is longer than {LONGEST_TOGETHER} characters in all"));
        }
        Ok(())
    }

    /// Reads it. This may take a while.
    pub(crate) fn read(&self) -> Result<LinePattern, Refusal> {
        self.check()?;
        let bad = |name: &str, reason: &str| {
            Refusal::invalid(format!("`{name}` is no pattern we can use: {reason}"))
        };
        let PatternKey { texts, ignore_case } = &self.key;
        let parse = |(at, text): (usize, &String)| {
            parse(text, *ignore_case).map_err(|reason| bad(&self.name(at), &reason))
        };
        let hirs: Result<_, _> = texts.iter().enumerate().map(parse).collect();
        build(&Hir::alternation(hirs?), self.is_light())
            .map_err(|reason| bad(&self.name_of_all(), &reason))
    }

    fn name(&self, at: usize) -> String {
        match self.field {
            PatternField::One(field) => field.to_owned(),
            PatternField::List(field) => format!("{field}[{at}]"),
        }
    }

    /// What to call what all of them are together.
    fn name_of_all(&self) -> String {
        match self.field {
            PatternField::List(field) if self.key.texts.len() != 1 => field.to_owned(),
            PatternField::One(_) | PatternField::List(_) => self.name(0),
        }
    }
}

fn parse(text: &str, ignore_case: bool) -> Result<Hir, String> {
    let mut parser = ParserBuilder::new();
    let parsed = parser.case_insensitive(ignore_case).build().parse(text);
    let hir = within_line(&parsed.map_err(|error| last_line(&error.to_string()))?);
    match never_matches(&hir) {
        true => Err("it can match no line, because it is tried on each line without its end; \
                     write `$` for a line's end"
            .to_owned()),
        false => Ok(hir),
    }
}

fn build(hir: &Hir, is_light: bool) -> Result<LinePattern, String> {
    let limits = meta::Config::new()
        .nfa_size_limit(Some(LARGEST))
        .onepass_size_limit(Some(LARGEST))
        .hybrid_cache_capacity(REGEX_CACHE)
        // Only plain text is looked at, where no place is within a character.
        .utf8_empty(false);
    let regex = meta::Builder::new().configure(limits).build_from_hir(hir);
    let regex = regex.map_err(|error: BuildError| match error.size_limit() {
        Some(_) => "it is too large once compiled; ask for fewer repetitions, or use `[a-z]` \
                    where `\\w` means all letters of the world"
            .to_owned(),
        None => last_line(&error.to_string()),
    })?;
    let needs = literals::required_literals(hir);
    let finder = finder(&needs);
    Ok(LinePattern { regex, literals: needs, finder, is_light })
}

/// Of what a match begins with, a regex makes a finder of its own.
fn finder(needs: &[RequiredLiteral]) -> Option<Prefilter> {
    let rarest = literals::rarest(needs).filter(|need| need.is_exact && !need.is_prefix)?;
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

/// Whether a part that nothing matches is in every match. The parser bounds how deep this goes.
fn never_matches(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => false,
        HirKind::Class(Class::Unicode(class)) => class.ranges().is_empty(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().is_empty(),
        HirKind::Repetition(repeated) => 0 < repeated.min && never_matches(&repeated.sub),
        HirKind::Capture(capture) => never_matches(&capture.sub),
        HirKind::Concat(hirs) => hirs.iter().any(never_matches),
        HirKind::Alternation(hirs) => hirs.iter().all(never_matches),
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
        let expect = regex::Regex::new(text).unwrap().is_match(line);
        let pattern = match pattern("pattern", text, false) {
            Ok(pattern) => pattern,
            Err(refusal) => {
                assert!(!expect && refusal.sentence.contains("can match no line"), "{refusal}");
                return;
            }
        };
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
    fn where_a_line_is_cut_it_does_not_end() {
        let check = |text: &str, line: &str, cut: bool, expect: bool| {
            let line = TextLine { text: line.into(), cut };
            let pattern = pattern("pattern", text, false).unwrap();
            assert_eq!(pattern.is_match_within(&line, 5), expect, "{text} in {line:?}");
        };
        for text in ["cde$", r"cde\z", r"e\b", "(?m)e$", "e(?:$|!)", "^.{5}$"] {
            check(text, "abcde", false, true);
            check(text, "abcdef", true, false);
        }
        for text in ["cde$", r"cde\z", "日$", "^.{5}$"] {
            check(text, "日本cde", true, false);
            check(text, "abcd日本", true, false);
        }
        check(r"e\b", "abcde ", true, true);
        check(r"e\B", "abcdef", true, true);
        check("f|ef", "abcdef", true, false);
        check("cde", "abcdef", true, true);
        // What follows is not known.
        check("c$", "abc", true, false);
        check(r"c\b", "abc", true, true);
        check("c ", "abc", true, false);
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

    #[test]
    fn ordinary_patterns_are_not_too_large() {
        for (text, line) in [
            (r"\w{30}", "x".repeat(30)),
            (r"^\s*\w{1,32}=\S{1,200}$", " key=value".to_owned()),
            (r"(\w+ ){20}", "a b ".repeat(10)),
            (r"^.{1,1000}$", "x".repeat(1000)),
        ] {
            assert!(pattern("pattern", text, false).unwrap().is_match(&line), "{text}");
        }
    }

    #[test]
    fn what_can_match_no_line_is_refused() {
        for text in ["a\nb", r"done\n", r"a\r\nb", r"(?:x\n|\ny)z", r"(\n)+", r"[\r\n]", r"[^\s\S]"]
        {
            let sentence = pattern("pattern", text, false).unwrap_err().sentence;
            assert!(sentence.contains("without its end"), "{text}: {sentence}");
        }
        for text in [r"a\r?$", r"a\n?", r"b\n|a", r"[\na]", r"\n*a"] {
            assert!(pattern("pattern", text, false).unwrap().is_match("a"), "{text}");
        }
    }

    fn any(texts: &[&str]) -> Result<LinePattern, Refusal> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        PatternParam::any("stop", &texts, false).read()
    }

    #[test]
    fn several_are_one_that_matches_where_any_does() {
        let stop = any(&["^a$", r"b|\d", "c"]).unwrap();
        for (line, expect) in [("a", true), ("xb", true), ("7", true), ("c", true), ("ax", false)] {
            assert_eq!(stop.is_match(line), expect, "{line}");
        }
    }

    #[test]
    fn one_of_several_is_called_by_its_place_and_there_are_not_too_many() {
        for (texts, code, part) in [
            (
                vec!["a", "b", "c", "d("],
                Code::Invalid,
                "`stop[3]` is no pattern we can use: unclosed",
            ),
            (
                vec!["a", "b\n"],
                Code::Invalid,
                "`stop[1]` is no pattern we can use: it can match no",
            ),
            (vec!["a", &"x".repeat(1001)], Code::Invalid, "`stop[1]` is longer than 1000"),
            (vec!["a"; 33], Code::Limit, "`stop` takes up to 32 patterns"),
            (
                vec![&"x".repeat(1000); 5],
                Code::Limit,
                "`stop` is longer than 4000 characters in all",
            ),
            (
                vec![r"\w{20}"; 32],
                Code::Invalid,
                "`stop` is no pattern we can use: it is too large",
            ),
            (
                vec![r"\w{200}"],
                Code::Invalid,
                "`stop[0]` is no pattern we can use: it is too large",
            ),
        ] {
            let refusal = any(&texts).unwrap_err();
            assert!(refusal.code == code && refusal.sentence.starts_with(part), "{refusal}");
        }
    }

    #[test]
    fn what_may_become_large_is_not_light() {
        for (text, expect) in [
            ("error|panic", true),
            (r"^\s*took \d+ ms$", true),
            (r"\w{20}", false),
            (r"\w\w\w\w\w", false),
            (&"[ab]".repeat(60), false),
        ] {
            assert_eq!(pattern("pattern", text, false).unwrap().is_light(), expect, "{text}");
        }
    }
}
