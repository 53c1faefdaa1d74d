//! Words of shell text: which text each stands for, where that is known before it runs.

use brush_parser::ParserOptions;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::words::{Word, is_plain};

/// The languages of shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `sh`, which may be any of several shells: what only some of them know is not trusted.
    Posix,
    /// bash and its relatives.
    Bash,
}

impl Dialect {
    pub(super) fn options(self) -> ParserOptions {
        ParserOptions::default()
    }
}

/// What a word of shell text holds.
#[derive(Debug, Default)]
pub(super) struct WordContent {
    /// Its text, as far as it is known.
    text: String,
    is_unknown: bool,
    /// Shell text that it runs.
    pub(super) scripts: Vec<String>,
    /// Why it cannot be judged, if it cannot.
    pub(super) opaque: Option<&'static str>,
}

/// Characters that an unquoted part of a word cannot hold: the grammar has misread it.
const SEPARATORS: [char; 9] = [' ', '\t', '\n', ';', '|', '&', '<', '>', '\r'];

impl WordContent {
    /// Reads a word.
    pub(super) fn of(raw: &str, dialect: Dialect) -> Self {
        let mut content = Self::default();
        if is_plain(raw) && !raw.contains('=') {
            content.text = raw.to_owned();
            return content;
        }
        match word::parse(raw, &dialect.options()) {
            Ok(pieces) => content.pieces(&pieces, raw, dialect, false),
            Err(_) => content.misread(),
        }
        content
    }

    /// The word.
    pub(super) fn word(&self, raw: &str) -> Word {
        match self.is_unknown {
            true => Word::Unknown(raw.to_owned()),
            false => Word::Known(self.text.clone()),
        }
    }

    fn misread(&mut self) {
        self.is_unknown = true;
        self.opaque = Some("a word of it cannot be parsed");
    }

    fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        raw: &str,
        dialect: Dialect,
        quoted: bool,
    ) {
        for WordPieceWithSource { piece, start_index, end_index } in pieces {
            let source = slice(raw, *start_index, *end_index);
            match piece {
                WordPiece::Text(text) if quoted => self.text.push_str(text),
                WordPiece::Text(text) => self.unquoted(text),
                WordPiece::SingleQuotedText(text) => self.text.push_str(text),
                WordPiece::AnsiCQuotedText(text) => {
                    self.is_unknown |= text.contains('\\') || dialect == Dialect::Posix;
                    self.text.push_str(text);
                }
                WordPiece::DoubleQuotedSequence(inner) => self.pieces(inner, raw, dialect, true),
                WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.is_unknown = true;
                    self.pieces(inner, raw, dialect, true);
                }
                WordPiece::TildePrefix(_) => self.is_unknown = true,
                WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => {
                    self.expansion(source, dialect);
                }
                WordPiece::CommandSubstitution(script) => {
                    self.is_unknown = true;
                    self.scripts.push(script.clone());
                }
                WordPiece::BackquotedCommandSubstitution(script) => {
                    self.is_unknown = true;
                    // Inside double quotes the shell removes one more level of backslashes.
                    self.scripts.push(unescape_backquoted(script, quoted));
                }
                WordPiece::EscapeSequence(text) => self.escape(text),
            }
        }
    }

    /// A part without quotes: it may be a pattern of file names, or a brace expansion.
    fn unquoted(&mut self, text: &str) {
        if text.contains(SEPARATORS) || text.contains(['(', ')', '\0']) {
            return self.misread();
        }
        let mut chars = text.char_indices();
        let is_brace = chars.any(|(at, it)| it == '{' && !text[at..].starts_with("{}"));
        let is_open = text.ends_with('{') || text.starts_with('~') || text.contains("~");
        self.is_unknown |= is_brace
            || is_open
            || text.contains(['*', '?', '[', '^', '#']) && text.contains(['*', '?', '[']);
        self.text.push_str(text);
    }

    fn escape(&mut self, text: &str) {
        match text.strip_prefix('\\').unwrap_or(text) {
            // A backslash at the end of a line joins it with the next one.
            "\n" => {}
            rest => self.text.push_str(rest),
        }
    }

    /// An expansion whose value is not known. Commands may stand in it.
    fn expansion(&mut self, source: &str, dialect: Dialect) {
        self.is_unknown = true;
        if source.contains("@P") {
            self.opaque = Some("an expansion runs the text of a variable");
        }
        let inner = source.get(2..).unwrap_or_default();
        let Some(at) = inner.find("$(").into_iter().chain(inner.find('`')).min() else { return };
        self.opaque = Some("a command stands inside of another expansion");
        let rest = inner[at..].strip_suffix('}').unwrap_or(&inner[at..]);
        let rest =
            rest.strip_suffix("))").map_or(rest, |it| if it.contains(')') { it } else { rest });
        if let Ok(pieces) = word::parse(rest, &dialect.options()) {
            let mut nested = Self::default();
            nested.pieces(&pieces, rest, dialect, true);
            self.scripts.extend(nested.scripts);
        }
    }
}

fn unescape_backquoted(script: &str, quoted: bool) -> String {
    if quoted { script.replace("\\\"", "\"") } else { script.to_owned() }
}

/// A part of a text by the indices that the grammar gives, which count characters.
fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or(text)
}
