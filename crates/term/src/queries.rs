//! Filters what a program prints for the user's terminal: removes queries, and keeps the user's
//! window title. Pure.
//!
//! Each terminal that receives a query answers it, and every answer reaches the program, or the
//! shell after it, as if it were typed. Only one may answer: the server, as long as it runs, as it
//! also does without attached terminals. Queries for more than the terminal itself (the clipboard,
//! the title, the content of the screen) never reach a user's terminal.

mod sequence_class;
mod titles;

use memchr::memchr;

use crate::vt::{self, ENQ, StringBuffer, StringEnd, StringKind};
use crate::vt::{VtDialect, VtToken, VtTokenizer};
use sequence_class::SequenceClass;
use titles::TitleStack;

/// Which side answers a program's queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryResponder {
    /// The terminal that receives the bytes, for queries that are harmless.
    Terminal,
    /// The server; the terminal must not see them.
    Elsewhere,
}

/// Removes queries from a stream. The result does not depend on how the stream is cut.
#[derive(Debug)]
pub struct QueryFilter {
    tokenizer: VtTokenizer,
    state: QueryFilterState,
}

#[derive(Debug, Default)]
struct QueryFilterState {
    titles: TitleStack,
    string: StringBuffer,
    /// Whether the rest of a long string passes, as its beginning did.
    shows_rest: bool,
}

impl Default for QueryFilter {
    fn default() -> Self {
        let tokenizer = VtTokenizer::new(VtDialect::AnyTerminal);
        Self { tokenizer, state: QueryFilterState::default() }
    }
}

impl QueryFilter {
    /// The bytes that pass, including what was buffered before them.
    pub fn filter(&mut self, bytes: &[u8], responder: QueryResponder) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some(token) = self.tokenizer.next(&mut rest) {
            self.state.filter(token, responder, &mut out);
        }
        out
    }

    /// Whether what has passed ends inside a long string, so that nothing may be inserted.
    #[must_use]
    pub fn is_inside_string(&self) -> bool {
        self.state.shows_rest && self.state.string.is_overlong()
    }
}

impl QueryFilterState {
    fn filter(&mut self, token: VtToken<'_>, responder: QueryResponder, out: &mut Vec<u8>) {
        match token {
            VtToken::Text(text) => push_text(text, out),
            VtToken::Escape(sequence) | VtToken::Incomplete(sequence) => {
                push_controls(sequence.controls(), out);
                if sequence_class::classify_escape(sequence.plain).passes(responder) {
                    out.extend(sequence.plain);
                }
            }
            VtToken::Csi(csi) => {
                let sequence = csi.sequence();
                push_controls(sequence.controls(), out);
                match self.titles.replace_csi(&csi) {
                    Some(titles) => out.extend(titles),
                    None if sequence_class::classify_csi(&csi).passes(responder) => {
                        out.extend(sequence.plain);
                    }
                    None => {}
                }
            }
            // A terminal may accept longer sequences than we do, so it does not pass.
            VtToken::Overlong(part) => push_controls(vt::controls(part), out),
            VtToken::StringStart(kind, _) => self.string.start(kind),
            VtToken::StringBody(part) => self.string_body(part, responder, out),
            VtToken::StringEnd(end) => self.string_end(end, responder, out),
        }
    }

    /// Keeps a part of a string. One that is too long passes as soon as it is, if it does.
    fn string_body(&mut self, part: &[u8], responder: QueryResponder, out: &mut Vec<u8>) {
        let was_overlong = self.string.is_overlong();
        let rest = self.string.push(part);
        if !self.string.is_overlong() {
            return;
        }
        if let Some((kind, content)) = self.string.start_of_string().filter(|_| !was_overlong) {
            let class = sequence_class::classify_start(kind, content);
            self.shows_rest = show_string(kind, class, content, responder, out);
        }
        if self.shows_rest {
            push_text(rest, out);
        }
    }

    fn string_end(&mut self, end: StringEnd, responder: QueryResponder, out: &mut Vec<u8>) {
        let Some((kind, content)) = self.string.whole_string() else {
            return out.extend(if self.shows_rest { end.bytes() } else { b"" });
        };
        if let Some(titles) = self.titles.replace_string(kind, content, end) {
            return out.extend(titles);
        }
        let class = sequence_class::classify_string(kind, content);
        if show_string(kind, class, content, responder, out) {
            out.extend(end.bytes());
        }
    }
}

/// Appends a string without its end, if it may pass; returns whether it does.
fn show_string(
    kind: StringKind,
    class: SequenceClass,
    content: &[u8],
    responder: QueryResponder,
    out: &mut Vec<u8>,
) -> bool {
    if !class.passes(responder) {
        return false;
    }
    out.extend(kind.introducer());
    match (class, responder) {
        (SequenceClass::Graphics, QueryResponder::Elsewhere) => {
            out.extend(sequence_class::without_answer(content));
        }
        _ => out.extend(content),
    }
    true
}

/// Appends text without the control character that is a query.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(ENQ, rest) {
        out.extend(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend(rest);
}

fn push_controls(controls: impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    out.extend(controls.filter(|byte| *byte != ENQ));
}

#[cfg(test)]
mod tests;
