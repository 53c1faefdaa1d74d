//! Reads output: draws common sequences itself, and leaves the rest to the parser, which knows
//! everything but works byte by byte.
//!
//! The fast path draws exactly what the parser would; a property test compares the two.

#[cfg(test)]
mod tests;

use std::mem;
use std::time::Duration;

use alacritty_terminal::vte::ansi::{Handler, Processor, Timeout};
use memchr::memmem;
use unicode_width::UnicodeWidthChar;

use super::csi::SimpleCsi;
use super::handler::TermHandler;
use super::parser_state::ParserState;
use super::status_query::StatusQuery;
use super::text;
use crate::vt::ESC;

/// The end of a synchronized update, wherever it occurs.
const END: &[u8] = b"\x1b[?2026l";

/// The longest synchronized update; a longer one is drawn before it ends.
const MAX_HELD: usize = 2 << 20;

/// How many characters are printed together; more are no faster.
const MAX_RUN: usize = 256;

/// The parser, and what is known of its state.
#[derive(Default)]
pub(super) struct ScreenParser {
    parser: Processor<SyncUpdateFlag>,
    state: ParserState,
    status_query: StatusQuery,
    /// The last character that the parser has not seen. It may be asked to repeat it.
    repeatable_char: Option<char>,
    /// Characters of one column to be printed together; empty between two reads.
    run: Vec<char>,
    /// The bytes of a synchronized update so far, if there is one.
    held: Option<Vec<u8>>,
}

/// Whether the output asked for a synchronized update. The parser could buffer one itself, but
/// would then read it byte by byte; so its time-out is always reported as expired.
#[derive(Default)]
struct SyncUpdateFlag(bool);

impl Timeout for SyncUpdateFlag {
    fn set_timeout(&mut self, _: Duration) {
        self.0 = true;
    }

    fn clear_timeout(&mut self) {
        self.0 = false;
    }

    fn pending_timeout(&self) -> bool {
        false
    }
}

/// A handler that draws nothing.
struct NullHandler;

impl Handler for NullHandler {}

impl ScreenParser {
    /// Draws the next bytes, which must not end with a partial character. Returns after how many of
    /// them the last visible change happened, if there was one; how the bytes are cut does not
    /// matter for that.
    pub(super) fn read(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> Option<usize> {
        let mut read = 0;
        let mut changed = None;
        while read < bytes.len() {
            let rest = &bytes[read..];
            read += if self.is_update_held() {
                self.hold(handler, rest)
            } else {
                self.step(handler, rest)
            };
            if mem::take(&mut handler.changed) {
                changed = Some(read);
            }
            if self.parser.sync_timeout().0 {
                self.clear_sync_flag();
                self.held = Some(Vec::new());
            }
        }
        changed
    }

    /// Whether a synchronized update is buffered. The caller keeps its deadline: see
    /// [`ScreenParser::flush_update`].
    pub(super) fn is_update_held(&self) -> bool {
        self.held.is_some()
    }

    /// How many bytes are buffered.
    pub(super) fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Vec::len)
    }

    /// Draws what is buffered.
    pub(super) fn flush_update(&mut self, handler: &mut TermHandler) {
        let held = self.held.take().unwrap_or_default();
        let mut rest = &held[..];
        while !rest.is_empty() {
            rest = &rest[self.step(handler, rest)..];
        }
        // A nested update is part of the outer one.
        self.clear_sync_flag();
    }

    /// Buffers bytes up to the end of the update, and draws it there; returns how many bytes that
    /// was.
    fn hold(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> usize {
        let held = self.held.get_or_insert_default();
        let space = MAX_HELD - held.len();
        let used = until_end(held, bytes).unwrap_or(bytes.len()).min(space);
        held.extend_from_slice(&bytes[..used]);
        if held.ends_with(END) || held.len() == MAX_HELD {
            self.flush_update(handler);
        }
        used
    }

    fn clear_sync_flag(&mut self) {
        self.parser.stop_sync(&mut NullHandler);
    }

    /// Draws some of the bytes; returns how many.
    fn step(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> usize {
        let drawn = if self.state == ParserState::TEXT { self.draw(handler, bytes) } else { 0 };
        if drawn == 0 { self.parse(handler, bytes) } else { drawn }
    }

    /// Draws the start of the bytes, if it is common; returns how many bytes that was.
    fn draw(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> usize {
        match *bytes {
            [0x20..=0x7e, ..] => self.print(handler, &bytes[..text::plain_prefix(bytes)]),
            [b'\r', ..] => {
                handler.carriage_return();
                1
            }
            [b'\n', ..] => {
                handler.linefeed();
                1
            }
            [ESC, b'[', ref rest @ ..] => match SimpleCsi::read(rest) {
                Some((csi, length)) if csi.apply(handler) => 2 + length,
                Some(_) | None => 0,
            },
            [0x80..=0xff, ..] => self.input(handler, bytes),
            _ => 0,
        }
    }

    fn print(&mut self, handler: &mut TermHandler, plain: &[u8]) -> usize {
        text::print(handler, plain);
        self.repeatable_char = plain.last().map(|&byte| byte.into());
        plain.len()
    }

    /// Prints non-ASCII characters; returns how many bytes they were. Invalid bytes print a
    /// replacement character. A C1 control, or half of one, does nothing; it counts only if nothing
    /// was printed before it, so that the position of the last visible change stays exact.
    fn input(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> usize {
        let end = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
        let mut at = 0;
        let mut printed = 0;
        for chunk in bytes[..end].utf8_chunks() {
            for c in chunk.valid().chars() {
                at += c.len_utf8();
                if !c.is_control() {
                    self.put(handler, c);
                    printed = at;
                }
            }
            at += chunk.invalid().len();
            if !matches!(chunk.invalid(), [] | [0x80..=0x9f]) {
                self.put(handler, char::REPLACEMENT_CHARACTER);
                printed = at;
            }
        }
        self.print_run(handler);
        if printed == 0 { end } else { printed }
    }

    /// Prints a character, or queues it to be printed with those that follow.
    fn put(&mut self, handler: &mut TermHandler, c: char) {
        self.repeatable_char = Some(c);
        let joins = c.width() == Some(1);
        if !joins || self.run.len() == MAX_RUN {
            self.print_run(handler);
        }
        if joins {
            self.run.push(c);
        } else {
            handler.input(c);
        }
    }

    fn print_run(&mut self, handler: &mut TermHandler) {
        text::print(handler, &self.run);
        self.run.clear();
    }

    /// Lets the parser read up to where text surely begins again; returns how many bytes that is.
    fn parse(&mut self, handler: &mut TermHandler, bytes: &[u8]) -> usize {
        if let Some(c) = self.repeatable_char.take() {
            self.parser.advance(&mut NullHandler, c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let (used, next_state) = self.state.skip(bytes);
        if let Some(reply) = self.status_query.read(self.state, &bytes[..used]) {
            handler.reply(reply);
        }
        self.parser.advance(handler, &bytes[..used]);
        self.state = next_state;
        used
    }
}

/// How many of these bytes complete the end of the update, if they do.
fn until_end(held: &[u8], bytes: &[u8]) -> Option<usize> {
    let begun = &held[held.len().saturating_sub(END.len() - 1)..];
    let seam = [begun, &bytes[..bytes.len().min(END.len() - 1)]].concat();
    match memmem::find(&seam, END) {
        Some(at) => Some(at + END.len() - begun.len()),
        None => memmem::find(bytes, END).map(|at| at + END.len()),
    }
}
