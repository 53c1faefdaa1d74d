//! Reads output: draws what is common itself, and leaves the rest to the parser, which knows everything but takes
//! each byte by itself.
//!
//! What is drawn here is drawn as the parser would have it drawn; a property compares the two.

#[cfg(test)]
mod tests;

use std::mem;
use std::time::Duration;

use alacritty_terminal::vte::ansi::{Handler, Processor, Timeout};
use memchr::memmem;
use unicode_width::UnicodeWidthChar;

use super::csi::SimpleCsi;
use super::handler::TermHandler;
use super::parser_state::{ESC, ParserState};
use super::status_query::StatusQuery;
use super::text;

/// What ends a synchronized update, wherever it stands.
const END: &[u8] = b"\x1b[?2026l";

/// The longest synchronized update; a longer one is drawn before it ends.
const MAX_HELD: usize = 2 << 20;

/// How many characters are printed together; more are no faster.
const MAX_RUN: usize = 256;

/// The parser, and what is known of it.
#[derive(Default)]
pub(super) struct ScreenParser {
    parser: Processor<SyncUpdateFlag>,
    state: ParserState,
    status_query: StatusQuery,
    /// The last character that the parser has not seen. It may be asked to repeat it.
    repeatable_char: Option<char>,
    /// Characters of one column that are printed together; empty between two reads.
    run: Vec<char>,
    /// What a synchronized update has brought so far, if there is one.
    held: Option<Vec<u8>>,
}

/// Whether the output asked for a synchronized update. The parser, which could hold one back itself, would read it
/// byte by byte in the end; so it is made to believe that its time is always over.
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

/// Draws nothing.
struct NullHandler;

impl Handler for NullHandler {}

impl ScreenParser {
    /// Draws the next bytes, which end with no half of a character. Answers after how many of them something that is
    /// to be seen changed last, if anything did; how the bytes are cut does not matter for that.
    pub(super) fn read(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> Option<usize> {
        let (mut read, mut changed) = (0, None);
        while read < bytes.len() {
            let rest = &bytes[read..];
            read += if self.is_update_held() { self.hold(tap, rest) } else { self.step(tap, rest) };
            if mem::take(&mut tap.changed) {
                changed = Some(read);
            }
            if self.parser.sync_timeout().0 {
                self.clear_sync_flag();
                self.held = Some(Vec::new());
            }
        }
        changed
    }

    /// Whether a synchronized update is held back. Its deadline is the caller's: see [`ScreenParser::flush_update`].
    pub(super) fn is_update_held(&self) -> bool {
        self.held.is_some()
    }

    /// How many bytes are held back.
    pub(super) fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Vec::len)
    }

    /// Draws what is held back.
    pub(super) fn flush_update(&mut self, tap: &mut TermHandler) {
        let held = self.held.take().unwrap_or_default();
        let mut rest = &held[..];
        while !rest.is_empty() {
            rest = &rest[self.step(tap, rest)..];
        }
        // An update that begins within another is a part of it.
        self.clear_sync_flag();
    }

    /// Holds bytes back up to where the update ends, and draws it there; how many bytes that was.
    fn hold(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> usize {
        let held = self.held.get_or_insert_default();
        let room = MAX_HELD - held.len();
        let used = until_end(held, bytes).unwrap_or(bytes.len()).min(room);
        held.extend_from_slice(&bytes[..used]);
        if held.ends_with(END) || held.len() == MAX_HELD {
            self.flush_update(tap);
        }
        used
    }

    fn clear_sync_flag(&mut self) {
        self.parser.stop_sync(&mut NullHandler);
    }

    /// Draws some of the bytes; how many.
    fn step(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> usize {
        let drawn = if self.state == ParserState::Text { self.draw(tap, bytes) } else { 0 };
        if drawn == 0 { self.parse(tap, bytes) } else { drawn }
    }

    /// Draws what the bytes begin with, if it is common; how many bytes that was.
    fn draw(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> usize {
        match *bytes {
            [0x20..=0x7e, ..] => self.print(tap, &bytes[..text::plain_prefix(bytes)]),
            [b'\r', ..] => {
                tap.carriage_return();
                1
            }
            [b'\n', ..] => {
                tap.linefeed();
                1
            }
            [ESC, b'[', ref rest @ ..] => match SimpleCsi::read(rest) {
                Some((csi, length)) if csi.apply(tap) => 2 + length,
                Some(_) | None => 0,
            },
            [0x80..=0xff, ..] => self.input(tap, bytes),
            _ => 0,
        }
    }

    fn print(&mut self, tap: &mut TermHandler, plain: &[u8]) -> usize {
        text::print(tap, plain);
        self.repeatable_char = plain.last().map(|&byte| byte.into());
        plain.len()
    }

    /// Prints characters that are not plain; how many bytes they were. What is no character shows as one, and a
    /// control of two bytes, or half of it, means nothing: it counts only where nothing was printed before it, so that
    /// the screen is known to have changed where it did.
    fn input(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> usize {
        let end = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
        let (mut at, mut printed) = (0, 0);
        for chunk in bytes[..end].utf8_chunks() {
            for c in chunk.valid().chars() {
                at += c.len_utf8();
                if !c.is_control() {
                    self.put(tap, c);
                    printed = at;
                }
            }
            at += chunk.invalid().len();
            if !matches!(chunk.invalid(), [] | [0x80..=0x9f]) {
                self.put(tap, char::REPLACEMENT_CHARACTER);
                printed = at;
            }
        }
        self.print_run(tap);
        if printed == 0 { end } else { printed }
    }

    /// Prints a character, or keeps it to be printed with those that follow.
    fn put(&mut self, tap: &mut TermHandler, c: char) {
        self.repeatable_char = Some(c);
        let joins = c.width() == Some(1);
        if !joins || self.run.len() == MAX_RUN {
            self.print_run(tap);
        }
        if joins {
            self.run.push(c);
        } else {
            tap.input(c);
        }
    }

    fn print_run(&mut self, tap: &mut TermHandler) {
        text::print(tap, &self.run);
        self.run.clear();
    }

    /// Has the parser read up to where text surely begins again; how many bytes that is.
    fn parse(&mut self, tap: &mut TermHandler, bytes: &[u8]) -> usize {
        if let Some(c) = self.repeatable_char.take() {
            self.parser.advance(&mut NullHandler, c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let (used, place) = self.state.skip(bytes);
        if let Some(reply) = self.status_query.read(self.state, &bytes[..used]) {
            tap.reply(reply);
        }
        self.parser.advance(tap, &bytes[..used]);
        self.state = place;
        used
    }
}

/// How many bytes after those that are held end the update, if they do.
fn until_end(held: &[u8], bytes: &[u8]) -> Option<usize> {
    let begun = &held[held.len().saturating_sub(END.len() - 1)..];
    let seam = [begun, &bytes[..bytes.len().min(END.len() - 1)]].concat();
    match memmem::find(&seam, END) {
        Some(at) => Some(at + END.len() - begun.len()),
        None => memmem::find(bytes, END).map(|at| at + END.len()),
    }
}
