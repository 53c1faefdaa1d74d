//! Patterns that users send: regular expressions in linear time, of bounded size, that match within
//! a line.

#[cfg(test)]
mod tests;

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
/// How many patterns a list may have, and how long they may be together.
const MAX_PATTERNS: usize = 32;
const LONGEST_TOGETHER: usize = 4000;
/// The largest compiled size, in bytes. Compiling that much takes some 40 ms; `\w{60}` is about as
/// large.
const LARGEST: usize = 4 << 20;
/// The capacity of the lazy DFA's cache. As much again: with less, the engine does without the lazy
/// DFA for a large pattern and takes a thousand times as long.
const REGEX_CACHE: usize = LARGEST;
/// The length and the number of classes up to which a pattern is compiled and used inline.
const LIGHT: (usize, usize) = (200, 4);

/// A pattern for lines. It matches neither `\n` nor `\r`, and treats the ends of a line like the
/// ends of a text. So a search of many lines finds what it finds in each of them alone.
#[derive(Clone, Debug)]
pub(crate) struct LinePattern {
    regex: meta::Regex,
    literals: Vec<RequiredLiteral>,
    /// Finds a literal of every matching line, where that is rarer than what the regex searches for
    /// first.
    finder: Option<Prefilter>,
    is_light: bool,
}

impl LinePattern {
    /// Whether it matches a line, given without its newline.
    pub(crate) fn is_match(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Whether it matches within the first `max_chars` characters of a line. If the line is cut,
    /// then after more than that. `$` must not match at a cut, and look-around sees what follows.
    pub(crate) fn is_match_within(&self, line: &TextLine<'_>, max_chars: usize) -> bool {
        let text = line.text.as_ref();
        let end = match text.len() <= max_chars {
            true => None,
            false => text.char_indices().nth(max_chars).map(|(end, _)| end),
        };
        match end {
            Some(end) => self.regex.is_match(Input::new(text).range(..end)),
            // What follows is not known; the space keeps `$` from matching.
            None if line.cut => {
                self.regex.is_match(Input::new(&format!("{text} ")).range(..text.len()))
            }
            None => self.regex.is_match(text),
        }
    }

    /// Whether it takes little time on a piece of output. Other patterns run on a blocking thread.
    pub(crate) fn is_light(&self) -> bool {
        self.is_light
    }

    /// How much memory it takes, in bytes, before it is used.
    pub(crate) fn size(&self) -> usize {
        self.regex.memory_usage()
    }

    /// Literals of every matching line.
    pub(crate) fn literals(&self) -> &[RequiredLiteral] {
        &self.literals
    }

    /// A position in the first line that may match, searched from a line's start on. No line before
    /// it matches.
    ///
    /// It may be a false hit: now and then because of the position between `\r` and `\n`, which no
    /// line has, and more often with `guess`, which searches only for a literal of every matching
    /// line.
    pub(crate) fn find(&self, lines: &[u8], from: usize, guess: bool) -> Option<usize> {
        if let Some(finder) = self.finder.as_ref().filter(|_| guess) {
            let found = finder.find(lines, Span::from(from..lines.len()));
            return found.map(|span| span.start);
        }
        // The end of a match serves as well as its start, and is found sooner.
        let input = Input::new(lines).range(from..).earliest(true);
        self.regex.search_half(&input).map(|half| half.offset())
    }
}

/// Compiles a pattern.
#[cfg(test)]
pub(crate) fn pattern(
    field: &'static str,
    text: &str,
    ignore_case: bool,
) -> Result<LinePattern, Refusal> {
    PatternParam::one(field, text, ignore_case).read()
}

/// Patterns as a client sent them, compiled into one that matches where any of them does.
#[derive(Clone, Debug)]
pub(crate) struct PatternParam {
    field: PatternField,
    pub(crate) key: PatternKey,
}

/// The texts as they were sent. Equal keys compile to the same pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternKey {
    texts: Vec<String>,
    ignore_case: bool,
}

/// The name of the parameter, for error messages.
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

    /// Whether compiling it takes next to no time. Among short patterns, only counted repetitions
    /// and character classes become large.
    pub(crate) fn is_light(&self) -> bool {
        let all = || self.key.texts.iter().flat_map(|text| text.bytes());
        let classes = all().filter(|&byte| byte == b'\\').count();
        all().count() <= LIGHT.0 && classes <= LIGHT.1 && all().all(|byte| byte != b'{')
    }

    /// Refuses patterns that are too many or too long to be parsed.
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
                "`{name}` can have at most {MAX_PATTERNS} patterns; join some with `|`"
            ));
        }
        if LONGEST_TOGETHER < texts.iter().map(|text| text.chars().count()).sum::<usize>() {
            return limit(format!(
                "the patterns of `{name}` are longer than {LONGEST_TOGETHER} \
                                 characters in total"
            ));
        }
        Ok(())
    }

    /// Compiles it. This may take a while.
    pub(crate) fn read(&self) -> Result<LinePattern, Refusal> {
        self.check()?;
        let bad =
            |name: &str, reason: &str| Refusal::invalid(format!("invalid `{name}`: {reason}"));
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

    /// The name of all patterns together.
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
        true => Err("it cannot match any line, because lines are matched without their line \
                    ends; use `$` for the end of a line"
            .to_owned()),
        false => Ok(hir),
    }
}

fn build(hir: &Hir, is_light: bool) -> Result<LinePattern, String> {
    let limits = meta::Config::new()
        .nfa_size_limit(Some(LARGEST))
        .onepass_size_limit(Some(LARGEST))
        .hybrid_cache_capacity(REGEX_CACHE)
        // Only plain text is searched, so empty matches need no check for UTF-8 boundaries.
        .utf8_empty(false);
    let regex = meta::Builder::new().configure(limits).build_from_hir(hir);
    let regex = regex.map_err(|error: BuildError| match error.size_limit() {
        Some(_) => "the compiled pattern is too large; reduce repetitions, or use `[a-z]` \
                   instead of `\\w`, which includes all Unicode letters"
            .to_owned(),
        None => last_line(&error.to_string()),
    })?;
    let literals = literals::required_literals(hir);
    let finder = finder(&literals);
    Ok(LinePattern { regex, literals, finder, is_light })
}

/// A prefilter for the rarest literal. None if matches begin with it: the regex has its own
/// prefilter for that.
fn finder(literals: &[RequiredLiteral]) -> Option<Prefilter> {
    let rarest =
        literals::rarest(literals).filter(|literal| literal.is_exact && !literal.is_prefix)?;
    Prefilter::new(MatchKind::LeftmostFirst, &rarest.texts).filter(Prefilter::is_fast)
}

/// The message of a parser error, which is its last line; the lines before it show the position.
fn last_line(error: &str) -> String {
    error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
}

/// Rewrites a pattern so that it matches each line of a text as it matches that line alone.
/// Captures are dropped, because they are never read.
///
/// The parser bounds the recursion depth.
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

/// Whether every match needs a part that matches nothing. The parser bounds the recursion depth.
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

/// Anchors of the text become anchors of a line. Word boundaries are the same for both.
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
