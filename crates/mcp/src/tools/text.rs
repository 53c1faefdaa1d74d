//! Lines and blocks as models read them. Pure.

use super::replies::LineReply;

/// The longest line that is shown.
const MAX_CHARS: usize = 2000;

/// A numbered line: the first of a session is 1.
pub(super) fn numbered(line: &LineReply) -> String {
    let LineReply { n, text, cut } = line;
    let is_long = MAX_CHARS < text.chars().count();
    let shown: String = text.chars().take(MAX_CHARS).collect();
    let dots = if *cut || is_long { "..." } else { "" };
    format!("{:05}| {shown}{dots}", n + 1)
}

/// A count with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A value inside an attribute or a line of a block: it cannot end either.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").replace('"', "'")
}

/// A block: a tag around lines.
pub(super) struct TextBlock {
    tag: &'static str,
    lines: Vec<String>,
}

impl TextBlock {
    pub(super) fn new(tag: &'static str) -> Self {
        Self { tag, lines: vec![format!("<{tag}>")] }
    }

    /// A block whose tag has attributes.
    pub(super) fn with_attributes(tag: &'static str, attributes: &[(&str, &str)]) -> Self {
        let attributes = attributes.iter();
        let attributes: String =
            attributes.map(|(name, value)| format!(" {name}=\"{}\"", one_line(value))).collect();
        Self { tag, lines: vec![format!("<{tag}{attributes}>")] }
    }

    pub(super) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// A named value.
    pub(super) fn field(&mut self, name: &str, value: impl AsRef<str>) {
        self.line(format!("{name}: {}", one_line(value.as_ref())));
    }

    pub(super) fn finish(mut self) -> String {
        self.lines.push(format!("</{}>", self.tag));
        self.lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(n: u64, text: &str, cut: bool, expect: &str) {
        assert_eq!(numbered(&LineReply { n, text: text.to_owned(), cut }), expect);
    }

    #[test]
    fn lines_are_numbered_from_one_and_cut() {
        check(0, "a", false, "00001| a");
        check(99_999, "", false, "100000| ");
        check(1, "a", true, "00002| a...");
        let long = "\u{e4}".repeat(2001);
        check(0, &long, false, &format!("00001| {}...", "\u{e4}".repeat(2000)));
    }

    #[test]
    fn a_value_stays_in_its_line() {
        let mut block = TextBlock::with_attributes("x", &[("id", "a\"b\n")]);
        block.field("Title", "a\nb");
        assert_eq!(block.finish(), "<x id=\"a'b \">\nTitle: a b\n</x>");
    }
}
