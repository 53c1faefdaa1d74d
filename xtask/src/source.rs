//! Splits Rust text into code, comments and literals. It is no parser and never fails: text that
//! does not compile gets some answer, and the compiler reports the error.

use std::ops::Range;

/// Code, comments and literals of one file. Each is as long as the file: what belongs to the others
/// is blank, so that offsets and lines stay the same.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
    pub(crate) literals: String,
}

impl Source {
    /// The code that goes into the program: `#[cfg(test)]` items are blank.
    pub(crate) fn outside_tests(&self) -> String {
        self.without_tests(&self.code)
    }

    /// The literals that go into the program.
    pub(crate) fn literals_outside_tests(&self) -> String {
        self.without_tests(&self.literals)
    }

    fn without_tests(&self, text: &str) -> String {
        let mut rest = 0;
        let mut kept = String::with_capacity(text.len());
        for item in test_items(&self.code) {
            kept.push_str(&text[rest..item.start]);
            push_blank(&mut kept, &text[item.clone()]);
            rest = item.end;
        }
        kept + &text[rest..]
    }

    /// How many lines `#[cfg(test)]` items take.
    pub(crate) fn test_lines(&self) -> usize {
        let items = test_items(&self.code).into_iter();
        items.map(|item| self.code[item].lines().count()).sum()
    }
}

/// Splits a file.
pub(crate) fn split(text: &str) -> Source {
    let mut source = Source::default();
    let mut at = 0;
    while at < text.len() {
        let (kind, len) = next_span(&text[at..], text[..at].chars().next_back());
        let span = &text[at..at + len];
        match kind {
            Kind::Code => source.code.push_str(span),
            Kind::Comment | Kind::Literal => push_blank(&mut source.code, span),
        }
        match kind {
            Kind::Comment => source.comments.push_str(span),
            Kind::Code | Kind::Literal => push_blank(&mut source.comments, span),
        }
        match kind {
            Kind::Literal => source.literals.push_str(span),
            Kind::Code | Kind::Comment => push_blank(&mut source.literals, span),
        }
        at += len;
    }
    source
}

/// The line, counted from 1, that an offset is on.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Where `word` is a word of its own, so that `unsafe` is not found in `unsafe_code`.
pub(crate) fn find_word<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Whether a character can be part of a name.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Literal,
}

fn next_span(rest: &str, before: Option<char>) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    if rest.starts_with('"') {
        return (Kind::Literal, string(rest));
    }
    if let Some(len) = raw_string(rest).filter(|_| !before.is_some_and(is_word)) {
        return (Kind::Literal, len);
    }
    match character(rest) {
        Some(len) => (Kind::Literal, len),
        None => (Kind::Code, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut at = 0;
    let mut depth = 0;
    while at < rest.len() {
        let two = rest.as_bytes().get(at..at + 2);
        match two {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let opening = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let body = opening.trim_start_matches('#');
    let hashes = &opening[..opening.len() - body.len()];
    let body = body.strip_prefix('"')?;
    let start = rest.len() - body.len();
    let closing = format!("\"{hashes}");
    Some(body.find(&closing).map_or(rest.len(), |end| start + end + closing.len()))
}

/// A character literal; `'a` without a closing quote is a lifetime, which is code.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let first = body.chars().next()?;
    let skip = if first == '\\' { 2 } else { first.len_utf8() };
    let tail = body.get(skip..)?;
    let end = if first == '\\' { tail.find('\'')? } else { 0 };
    tail[end..].starts_with('\'').then_some(1 + skip + end + 1)
}

fn test_items(code: &str) -> Vec<Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut items: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices(ATTRIBUTE) {
        if items.last().is_none_or(|last| last.end <= start) {
            items.push(start..item_end(code, start + ATTRIBUTE.len()));
        }
    }
    items
}

/// An item ends with the brace that closes it, or with a semicolon outside of all brackets.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(byte, b';' | b'}') {
            return at + 1;
        }
    }
    code.len()
}

/// Spaces for a span, byte for byte; its line ends stay.
fn push_blank(to: &mut String, span: &str) {
    to.extend(span.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of `text` is code; runs of blanks become one space.
    #[track_caller]
    fn check(text: &str, code: &str) {
        let source = split(text);
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.comments.len(), text.len());
        assert_eq!(source.code.split_whitespace().collect::<Vec<_>>().join(" "), code);
    }

    #[test]
    fn comments_are_not_code() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
    }

    #[test]
    fn strings_are_not_code() {
        check(r#"a("b \" // c"); d"#, "a( ); d");
        check(r###"a(r#"b " c"#); br"d" e"###, "a( ); e");
    }

    #[test]
    fn characters_are_not_code_and_lifetimes_are() {
        check(r"a('\'', '\u{1f}', 'é') b", "a( , , ) b");
        check("fn a<'b, 'c>(d: &'b str)", "fn a<'b, 'c>(d: &'b str)");
    }

    #[test]
    fn comments_are_kept_apart() {
        assert_eq!(split("a // b\nc").comments, "  // b\n ");
    }

    #[test]
    fn a_word_stands_alone() {
        let found: Vec<_> = find_word("unsafe_code unsafe { not_unsafe }", "unsafe").collect();
        assert_eq!(found, [12]);
    }

    #[test]
    fn test_items_are_left_out() {
        let text =
            "#[cfg(test)]\nmod a;\nmod b;\n#[cfg(test)]\nfn c(d: [u8; 2]) {\n    {}\n}\nmod e;\n";
        let source = split(text);
        assert_eq!(source.outside_tests().split_whitespace().collect::<String>(), "modb;mode;");
        assert_eq!(source.test_lines(), 6);
    }
}
