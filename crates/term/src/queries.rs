//! Filters what a program prints for the user's terminal: removes queries, and keeps the user's
//! window title. Pure.
//!
//! Each terminal that receives a query answers it, and every answer reaches the program, or the
//! shell after it, as if it were typed. Only one may answer: the server, as long as it runs, as it
//! also does without attached terminals. Queries for more than the terminal itself (the clipboard,
//! the title, the content of the screen) never reach a user's terminal.

mod sequence_class;
mod titles;

use crate::sequences::{SequenceSplitter, VtToken};
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
#[derive(Debug, Default)]
pub struct QueryFilter {
    splitter: SequenceSplitter,
    state: QueryFilterState,
}

#[derive(Debug, Default)]
struct QueryFilterState {
    titles: TitleStack,
    /// Whether the rest of a long string passes, as its beginning did.
    shows_rest: bool,
}

impl QueryFilter {
    /// The bytes that pass, including what was buffered before them.
    pub fn filter(&mut self, bytes: &[u8], responder: QueryResponder) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let state = &mut self.state;
        self.splitter.feed(bytes, |token| match token {
            VtToken::Text(text) => out.extend(text),
            VtToken::Enquiry => {}
            VtToken::Sequence(sequence) => state.filter_sequence(sequence, responder, &mut out),
            VtToken::LongStart(sequence) => {
                let class = sequence_class::classify_start(sequence);
                state.shows_rest = show(sequence, class, responder, &mut out);
            }
            VtToken::LongByte(byte) if state.shows_rest => out.push(byte),
            VtToken::LongByte(_) => {}
        });
        out
    }
}

impl QueryFilterState {
    fn filter_sequence(&mut self, sequence: &[u8], responder: QueryResponder, out: &mut Vec<u8>) {
        match self.titles.replacement(sequence) {
            Some(titles) => out.extend(titles),
            None => {
                show(sequence, sequence_class::classify(sequence), responder, out);
            }
        }
    }
}

/// Appends what may pass of a sequence; returns whether anything did.
fn show(
    sequence: &[u8],
    class: SequenceClass,
    responder: QueryResponder,
    out: &mut Vec<u8>,
) -> bool {
    match (class, responder) {
        (SequenceClass::Harmless, _)
        | (SequenceClass::Query | SequenceClass::Graphics, QueryResponder::Terminal) => {
            out.extend(sequence);
        }
        (SequenceClass::Graphics, QueryResponder::Elsewhere) => {
            out.extend(sequence_class::without_answer(sequence))
        }
        (SequenceClass::Query, QueryResponder::Elsewhere) | (SequenceClass::Forbidden, _) => {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
