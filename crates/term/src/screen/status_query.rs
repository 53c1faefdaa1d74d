//! The query for the program status protocol (`OSC 7501 ; ?`), which the emulator does not know. A
//! terminal that supports the protocol answers with the same bytes; programs then report their
//! status.

use super::parser_state::ParserState;
use crate::vt::{BEL, ESC, StringKind, VtState};

const QUERY: &[u8] = b"7501;?";

/// Detects the query. How the bytes are cut does not matter.
#[derive(Debug, Default)]
pub(super) struct StatusQuery {
    /// The start of the string that is being read; one byte more than the query, to tell it from a
    /// longer string.
    held: Vec<u8>,
}

impl StatusQuery {
    /// Reads bytes that the parser is about to read in this state, up to the first control
    /// character. Returns the reply to the program, if they end a query.
    pub(super) fn read(&mut self, state: ParserState, bytes: &[u8]) -> Option<&'static str> {
        let ParserState::Known(state) = state else { return None };
        let text = match (state, bytes) {
            (VtState::Escape | VtState::StringEscape(_), [b']', text @ ..]) => {
                self.held.clear();
                text
            }
            (VtState::String(StringKind::Osc), text) => text,
            _ => return None,
        };
        for &byte in text {
            match byte {
                BEL if self.held == QUERY => return Some("\x1b]7501;?\x07"),
                ESC if self.held == QUERY => return Some("\x1b]7501;?\x1b\\"),
                0..0x20 => {}
                _ if self.held.len() <= QUERY.len() => self.held.push(byte),
                _ => {}
            }
        }
        None
    }
}
