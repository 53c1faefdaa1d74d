//! A terminal emulator: the grid that a pane's output draws, on `alacritty_terminal`.
//!
//! It keeps no scrollback unless asked for (the history of a pane is stored elsewhere, as bytes),
//! never touches a clipboard, and never replies with anything that the program wrote itself, such
//! as a title.

mod cell_groups;
mod csi;
mod dump;
mod dump_writer;
mod grid_size;
mod handler;
mod history;
mod history_dump;
mod parser;
mod parser_state;
mod replies;
mod rows;
mod screen_titles;
mod sgr;
mod status_query;
pub mod styled_screen;
#[cfg(test)]
mod tests;
mod text;
pub mod view;
mod wide_chars;

use std::borrow::Cow;
use std::mem;
use std::time::Duration;

use alacritty_terminal::grid::Dimensions;
use memchr::memrchr3;
use paned_model::Size;

use crate::vt::{BEL, CAN, ESC};
pub use dump::DumpLoss;
use handler::TermHandler;
use parser::ScreenParser;
pub use styled_screen::StyledScreen;
use view::ScreenModes;
pub use view::ScreenView;

/// How long a synchronized update may take; then terminals give up and show what there is.
pub const UPDATE_TIMEOUT: Duration = Duration::from_millis(150);

/// The longest string sequence; the parser would buffer an endless one completely.
const MAX_STRING: usize = 1 << 20;

/// The emulator. Feed it every byte in order; how the bytes are cut does not matter.
pub struct Screen {
    handler: TermHandler,
    parser: ScreenParser,
    /// The first bytes of a character that is not complete yet.
    partial_char: Vec<u8>,
    /// Whether the last byte began an escape sequence.
    escaped: bool,
    /// The number of bytes since the last one that ends every string.
    string_bytes: usize,
    /// How many bytes and resizes it was given.
    position: u64,
    /// The position after the last visible change.
    revision: u64,
}

impl Screen {
    /// An empty screen. Sizes below 2 columns or 1 row are raised to that.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self::with_history(size, 0)
    }

    /// An empty screen that keeps this many rows of scrollback. Use it for a single view:
    /// [`Screen::dump`] does not include the scrollback.
    #[must_use]
    pub fn with_history(size: Size, rows: usize) -> Self {
        Self {
            handler: TermHandler::new(clamp_size(size), rows),
            parser: ScreenParser::default(),
            partial_char: Vec::new(),
            escaped: false,
            string_bytes: 0,
            position: 0,
            revision: 0,
        }
    }

    /// Draws the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let piece = self.handler.history.max_feed(self.handler.term.screen_lines());
        for bytes in bytes.chunks(piece) {
            self.draw(bytes);
            self.handler.trim();
        }
    }

    fn draw(&mut self, bytes: &[u8]) {
        let from = self.position - self.partial_char.len() as u64;
        self.position += bytes.len() as u64;
        let bytes = screen_titles::hide_titles(self.join(bytes), &mut self.escaped);
        // The parser loses characters when one before them is cut, so it never gets a partial one.
        let (whole, partial) = bytes.split_at(bytes.len() - incomplete_suffix(&bytes));
        self.partial_char.extend_from_slice(partial);
        if let Some(read) = self.parser.read(&mut self.handler, whole) {
            self.revision = from + read as u64;
        }
        self.cancel_long_string(whole);
    }

    /// The terminal's replies to the program's queries since the last call.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.handler.take_replies()
    }

    /// Resizes the screen; wrapped lines of the primary screen reflow. Ends a synchronized update,
    /// because it was drawn for the old size.
    pub fn resize(&mut self, size: Size) {
        self.flush_update();
        self.position += 1;
        if self.handler.resize(clamp_size(size)) {
            self.revision = self.position;
        }
    }

    /// Sets the position of the screen in a pane's output, in bytes and resizes. The current
    /// content gets this revision.
    pub fn set_position(&mut self, position: u64) {
        self.position = position;
        self.revision = position;
    }

    /// Whether a synchronized update is buffered. If it lasts too long, call
    /// [`Screen::flush_update`].
    #[must_use]
    pub fn is_update_held(&self) -> bool {
        self.parser.is_update_held()
    }

    /// Draws what a synchronized update has buffered so far, and ends it.
    pub fn flush_update(&mut self) {
        if self.is_update_held() {
            self.parser.flush_update(&mut self.handler);
            self.handler.trim();
            if mem::take(&mut self.handler.changed) {
                self.revision = self.position;
            }
        }
    }

    /// What a user would see.
    #[must_use]
    pub fn view(&self) -> ScreenView {
        view::view(&self.handler, self.revision)
    }

    /// The text of the rows that scrolled off the top and are kept, oldest first.
    #[must_use]
    pub fn history(&self) -> Vec<String> {
        view::history(&self.handler)
    }

    /// How many rows scrolled off before those of [`Screen::history`], if known: not after a reflow
    /// of lines that were dropped, nor if far too many rows scrolled off at once.
    #[must_use]
    pub fn history_dropped(&self) -> Option<u64> {
        view::history_dropped(&self.handler)
    }

    /// What the program has switched on, without the cost of a whole [`ScreenView`].
    #[must_use]
    pub fn modes(&self) -> ScreenModes {
        view::modes(&self.handler)
    }

    /// How many of the last bytes are not drawn yet: a synchronized update buffers them, or they
    /// are the start of an incomplete character.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.parser.held() + self.partial_char.len()
    }

    /// The position (bytes and resizes) after the last visible change. A position identifies one
    /// screen content, so different content has a different revision, even after it was drawn anew.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The escape bytes that make a fresh screen of the same size show the same.
    ///
    /// A buffered synchronized update and an unfinished sequence have not been drawn and are not
    /// included: call [`Screen::flush_update`] first, and continue from
    /// [`OutputScanner::pending`](crate::OutputScanner::pending) bytes back.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        dump::dump(&self.handler)
    }

    /// The escape bytes that give a fresh terminal of the same size the last rows of the scrollback
    /// of the primary screen: at most so many rows, and about so many bytes. They leave its screen
    /// blank, so that [`Screen::dump`] can follow.
    #[must_use]
    pub fn dump_history(&self, max_rows: usize, max_bytes: usize) -> Vec<u8> {
        history_dump::dump_history(&self.handler, max_rows, max_bytes)
    }

    /// The same for the screen that is shown alone: it is drawn without a switch to the alternate
    /// screen.
    #[must_use]
    pub fn dump_shown(&self) -> Vec<u8> {
        dump::dump_shown(&self.handler)
    }

    /// What [`Screen::dump`] does not restore of this screen, for tests of that promise. Nearly
    /// always nothing.
    #[must_use]
    pub fn loss(&self) -> Option<DumpLoss> {
        dump::loss(&self.handler)
    }

    /// The bytes, with the incomplete character before them.
    fn join<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.partial_char.is_empty() {
            return bytes.into();
        }
        let mut joined = mem::take(&mut self.partial_char);
        joined.extend_from_slice(bytes);
        joined.into()
    }

    fn cancel_long_string(&mut self, bytes: &[u8]) {
        self.string_bytes = match memrchr3(ESC, BEL, CAN, bytes) {
            Some(at) => bytes.len() - at,
            None => self.string_bytes + bytes.len(),
        };
        if MAX_STRING < self.string_bytes {
            // Cancels a sequence, and does nothing in text.
            self.parser.read(&mut self.handler, &[CAN]);
            self.string_bytes = 0;
        }
    }
}

/// The emulator loops forever when resized to one column.
fn clamp_size(size: Size) -> Size {
    Size { cols: size.cols.max(2), rows: size.rows.max(1) }
}

/// How many bytes at the end are the start of an incomplete character.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let Some(lead) = tail.iter().rposition(|&byte| 0xc0 <= byte) else {
        return 0;
    };
    match std::str::from_utf8(&tail[lead..]) {
        Err(error) if error.error_len().is_none() => tail.len() - lead,
        Ok(_) | Err(_) => 0,
    }
}
