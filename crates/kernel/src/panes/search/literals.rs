//! Literals that a line must contain to match a pattern, as far as the pattern shows that.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::trigram::MIN_LITERAL;

/// Texts, one of which is in every line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredLiteral {
    pub(crate) texts: Vec<Vec<u8>>,
    /// Whether they occur exactly as written; otherwise in any case.
    pub(crate) is_exact: bool,
    /// Whether every match begins with them.
    pub(crate) is_prefix: bool,
}

impl RequiredLiteral {
    /// How long its shortest text is: the longer, the rarer.
    fn length(&self) -> usize {
        self.texts.iter().map(Vec::len).min().unwrap_or(0)
    }
}

/// All literals that a line must contain. Texts that are too short to be useful are left out.
pub(crate) fn required_literals(hir: &Hir) -> Vec<RequiredLiteral> {
    let mut extractor = LiteralExtractor {
        literals: Vec::new(),
        text: Vec::new(),
        is_exact: true,
        is_prefix: true,
    };
    extractor.visit(hir);
    extractor.flush();
    extractor.literals
}

/// The literal that is probably the rarest, that is, the longest; of equals, the first.
pub(crate) fn rarest(literals: &[RequiredLiteral]) -> Option<&RequiredLiteral> {
    literals.iter().rev().max_by_key(|literal| literal.length())
}

/// Visits a pattern and collects its literals.
struct LiteralExtractor {
    literals: Vec<RequiredLiteral>,
    /// What the match contains right before the current position.
    text: Vec<u8>,
    is_exact: bool,
    /// Whether the match begins with that text.
    is_prefix: bool,
}

impl LiteralExtractor {
    /// The parser bounds the recursion depth.
    fn visit(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.extend(&literal.0),
            HirKind::Class(class) => match case_folded_letter(class) {
                Some(letter) => {
                    self.text.push(letter);
                    self.is_exact = false;
                }
                None => self.flush(),
            },
            HirKind::Repetition(repeated) => {
                if 0 < repeated.min {
                    self.visit(&repeated.sub);
                }
                self.flush();
            }
            HirKind::Capture(capture) => self.visit(&capture.sub),
            HirKind::Concat(hirs) => hirs.iter().for_each(|hir| self.visit(hir)),
            HirKind::Alternation(hirs) => self.visit_alternation(hirs),
        }
    }

    /// Ends the current text: what follows need not follow directly.
    fn flush(&mut self) {
        let texts = vec![std::mem::take(&mut self.text)];
        let literal = RequiredLiteral { texts, is_exact: self.is_exact, is_prefix: self.is_prefix };
        if MIN_LITERAL <= literal.length() {
            self.literals.push(literal);
        }
        self.is_exact = true;
        self.is_prefix = false;
    }

    /// One literal for an alternation: a text of each branch, if each branch has one.
    fn visit_alternation(&mut self, hirs: &[Hir]) {
        let starts_match = self.is_prefix && self.text.is_empty();
        self.flush();
        let each: Option<Vec<RequiredLiteral>> =
            hirs.iter().map(|hir| rarest(&required_literals(hir)).cloned()).collect();
        let Some(each) = each else { return };
        self.literals.push(RequiredLiteral {
            is_exact: each.iter().all(|literal| literal.is_exact),
            is_prefix: starts_match && each.iter().all(|literal| literal.is_prefix),
            texts: each.into_iter().flat_map(|literal| literal.texts).collect(),
        });
    }
}

/// The ASCII letter whose case variants are all that a class contains.
fn case_folded_letter(class: &Class) -> Option<u8> {
    let folded = |c: char| match c {
        // The only non-ASCII case variants of ASCII letters.
        '\u{17f}' => Some(b's'),
        '\u{212a}' => Some(b'k'),
        c => u8::try_from(c).ok().filter(u8::is_ascii).map(|byte| byte.to_ascii_lowercase()),
    };
    let chars: Vec<char> = match class {
        Class::Unicode(class) => {
            class.iter().flat_map(|range| range.start()..=range.end()).take(4).collect()
        }
        Class::Bytes(class) => {
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            bytes.take(4).map(char::from).collect()
        }
    };
    let first = folded(*chars.first()?)?;
    chars.into_iter().all(|c| folded(c) == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A literal is written as its texts, joined by `|`; `~` marks any case, and `^` a prefix of
    /// the match.
    #[track_caller]
    fn check(pattern: &str, expect: &[&str]) {
        let written = |need: &RequiredLiteral| {
            let texts: Vec<_> =
                need.texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
            let exact = if need.is_exact { "" } else { "~" };
            let leads = if need.is_prefix { "^" } else { "" };
            format!("{leads}{exact}{}", texts.join("|"))
        };
        let found: Vec<_> =
            required_literals(&regex_syntax::parse(pattern).unwrap()).iter().map(written).collect();
        assert_eq!(found, expect, "{pattern}");
    }

    #[test]
    fn texts_in_a_row_are_needed() {
        check("needle", &["^needle"]);
        check(r"^\d+ .*took \d+ minutes", &["took ", " minutes"]);
        check(r"\bfoo\b.*(ba)r", &["^foo", "bar"]);
        check("ab.cd", &[]);
        check("", &[]);
    }

    #[test]
    fn what_may_be_left_out_is_not_needed() {
        check("(foo)?bar", &["bar"]);
        check("(foo)*bar(baz){0,3}", &["bar"]);
        check("xy(foo)+bar", &["^xyfoo", "bar"]);
        check("(foo|)bar", &["bar"]);
        check("foo|", &[]);
    }

    #[test]
    fn of_several_one_is_needed() {
        check("error|ERROR|failed", &["^error|ERROR|failed"]);
        check("(foo|bar)baz", &["^foo|bar", "baz"]);
        check("x(foo.*longer|bar)", &["longer|bar"]);
        check("foo|ba", &[]);
        check("foo|.*bar", &["foo|bar"]);
    }

    #[test]
    fn letters_may_come_in_other_cases() {
        check("(?i)task-7", &["^~task-7"]);
        check("(?i)foo|(?-i)BAR", &["^~foo|BAR"]);
        check("fo[oO]bar", &["^~foobar"]);
        check("fo[ou]bar", &["bar"]);
        check("fo[oö]bar", &["bar"]);
        check("(?i)café!", &["^~caf"]);
        check(r"fo[^o]bar", &["bar"]);
        check(r"foo[a&&b]bar", &["^foo", "bar"]);
    }

    #[test]
    fn the_longest_is_likely_the_rarest() {
        let needs =
            required_literals(&regex_syntax::parse("foo.*longer.*others.*(bar|longest)").unwrap());
        assert_eq!(rarest(&needs).unwrap().texts, [b"longer"]);
        assert_eq!(rarest(&[]), None);
    }
}
