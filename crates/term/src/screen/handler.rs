//! A handler between parser and emulator: tracks state that the emulator does not expose, and works
//! around its faults.
//!
//! Drawing passes through unchanged. Titles are kept only here, and clipboard sequences are
//! dropped.

mod delegate;

use std::ops::Range;

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Point;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, NamedPrivateMode, PrivateMode, Rgb,
    StandardCharset, TabulationClearMode,
};
use paned_model::Size;

use self::delegate::{delegate, delegate_cursor, delegate_drawing, delegate_switch};
use super::grid_size::GridSize;
use super::history::ScreenHistory;
use super::replies::{self, ReplyBuffer};
use super::wide_chars;
use crate::title;

/// How many titles and keyboard modes can be pushed; beyond that the oldest are dropped.
const MAX_PUSHED: usize = 64;

/// The mode that swaps the colours of the whole screen (DECSCNM).
const REVERSE: PrivateMode = PrivateMode::Unknown(5);

/// The size of a cell in pixels, as reported to programs.
const CELL: (usize, usize) = (8, 16);

/// The emulator, and the part of its state that it does not expose.
pub(super) struct TermHandler {
    pub(super) term: Term<ReplyBuffer>,
    pub(super) title: String,
    pub(super) titles: Vec<String>,
    /// The scroll region.
    pub(super) region: Range<usize>,
    pub(super) charset: CharsetIndex,
    pub(super) tabs: Vec<bool>,
    /// Pushed keyboard modes of the shown and of the hidden screen.
    pub(super) pushed: [Vec<KeyboardModes>; 2],
    /// The primary screen, while the alternate one is shown.
    pub(super) primary: Option<Grid<Cell>>,
    /// Whether something visible may have changed; the reader resets it.
    pub(super) changed: bool,
    /// Whether the whole screen is shown with its colours swapped (DECSCNM), which the emulator
    /// does not support.
    pub(super) reversed: bool,
    /// The rows that scrolled off the primary screen.
    pub(super) history: ScreenHistory,
    links: u64,
    replies: ReplyBuffer,
}

impl TermHandler {
    pub(super) fn new(size: Size, history: usize) -> Self {
        let replies = ReplyBuffer::default();
        let history = ScreenHistory::new(history);
        let config = Config {
            scrolling_history: history.capacity(),
            kitty_keyboard: true,
            osc52: Osc52::Disabled,
            ..Config::default()
        };
        Self {
            term: Term::new(config, &GridSize(size), replies.clone()),
            title: String::new(),
            titles: Vec::new(),
            region: 0..size.rows.into(),
            charset: CharsetIndex::default(),
            tabs: default_tab_stops(size.cols.into()),
            pushed: [Vec::new(), Vec::new()],
            primary: None,
            changed: false,
            reversed: false,
            history,
            links: 0,
            replies,
        }
    }

    pub(super) fn has(&self, mode: TermMode) -> bool {
        self.term.mode().contains(mode)
    }

    pub(super) fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// Queues a reply to the program, after the earlier ones.
    pub(super) fn reply(&self, text: &str) {
        self.replies.put(text);
    }

    /// Resizes the screen; returns whether the size changed.
    pub(super) fn resize(&mut self, size: Size) -> bool {
        let rows = usize::from(size.rows);
        let cols = usize::from(size.cols);
        if (rows, cols) == (self.term.screen_lines(), self.term.columns()) {
            return false;
        }
        if cols != self.term.columns() {
            self.trim();
            self.history.reflow();
        }
        self.term.resize(GridSize(size));
        self.trim();
        if let Some(primary) = &mut self.primary {
            primary.resize(true, rows, cols);
        }
        self.region = 0..rows;
        let kept = self.tabs.len().min(cols);
        self.tabs.truncate(kept);
        self.tabs.extend(&default_tab_stops(cols)[kept..]);
        self.clear_stale_wrap();
        wide_chars::blank_lone_halves(self.term.grid_mut());
        true
    }

    /// Without this, a cursor with a pending wrap would still wrap when its column is no longer the
    /// last.
    fn clear_stale_wrap(&mut self) {
        let cols = self.term.columns();
        let grid = self.term.grid_mut();
        for cursor in [&mut grid.cursor, &mut grid.saved_cursor] {
            cursor.input_needs_wrap &= cursor.point.column.0 + 1 == cols;
        }
    }

    /// Tracks the scroll region, by the emulator's own rule.
    fn track_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.term.screen_lines();
        let end = bottom.unwrap_or(rows);
        if top < end {
            self.region = (top - 1).min(rows)..end.min(rows);
        }
    }

    /// Tracks what a private mode changes besides its flag.
    fn track_private_mode(&mut self, mode: PrivateMode, on: bool) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => {
                self.changed = true;
                self.track_region(1, None);
            }
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.track_alternate(on)
            }
            REVERSE => {
                self.changed |= self.reversed != on;
                self.reversed = on;
            }
            PrivateMode::Named(_) | PrivateMode::Unknown(_) => {}
        }
    }

    fn replace_title(&mut self, title: String) {
        self.changed |= self.title != title;
        self.title = title;
    }

    fn visible_state(&self) -> VisibleState {
        VisibleState {
            cursor: self.term.grid().cursor.point,
            mode: *self.term.mode(),
            shape: self.term.cursor_style().shape,
        }
    }

    fn track_alternate(&mut self, on: bool) {
        if on != self.has(TermMode::ALT_SCREEN) {
            self.primary = on.then(|| self.term.grid().clone());
            self.pushed.swap(0, 1);
        }
    }
}

fn default_tab_stops(cols: usize) -> Vec<bool> {
    (0..cols).map(|col| col % 8 == 0).collect()
}

/// The visible state that a call of the emulator can change.
#[derive(PartialEq, Eq)]
struct VisibleState {
    cursor: Point,
    mode: TermMode,
    shape: CursorShape,
}

/// The emulator does not need to see the methods that are not listed here (clipboard, pointer
/// shape, other keyboard protocols).
impl Handler for TermHandler {
    delegate! {
        identify_terminal(intermediate: Option<char>);
        device_status(arg: usize);
        bell();
        substitute();
        save_cursor_position();
        terminal_attribute(attr: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        report_mode(mode: Mode);
        configure_charset(index: CharsetIndex, charset: StandardCharset);
        text_area_size_chars();
        report_keyboard_mode();
    }

    delegate_drawing! {
        linefeed();
        newline();
        scroll_up(rows: usize);
        scroll_down(rows: usize);
        insert_blank_lines(count: usize);
        delete_lines(count: usize);
        reverse_index();
        set_color(index: usize, colour: Rgb);
        reset_color(index: usize);
        decaln();
    }

    delegate_cursor! {
        goto(line: i32, col: usize);
        goto_line(line: i32);
        goto_col(col: usize);
        move_up(rows: usize);
        move_down(rows: usize);
        move_forward(cols: usize);
        move_backward(cols: usize);
        move_down_and_cr(rows: usize);
        move_up_and_cr(rows: usize);
        put_tab(count: u16);
        backspace();
        carriage_return();
        move_forward_tabs(count: u16);
        restore_cursor_position();
    }

    delegate_switch! {
        set_cursor_style(style: Option<CursorStyle>);
        set_cursor_shape(shape: CursorShape);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        set_keyboard_mode(mode: KeyboardModes, how: KeyboardModesApplyBehavior);
    }

    #[inline]
    fn input(&mut self, c: char) {
        self.changed = true;
        if self.has(TermMode::INSERT) {
            return self.insert(c);
        }
        self.term.input(c);
    }

    fn insert_blank(&mut self, count: usize) {
        let col = self.column();
        let cols = self.term.columns();
        self.cut(col);
        self.cut(cols - count.min(cols - col));
        self.term.insert_blank(count);
    }

    fn erase_chars(&mut self, count: usize) {
        let col = self.column();
        self.cut(col);
        self.cut(col.saturating_add(count));
        self.term.erase_chars(count);
    }

    /// The emulator would also delete cells left of the cursor if there are fewer than `count`
    /// right of it.
    fn delete_chars(&mut self, count: usize) {
        let col = self.column();
        let count = count.min(self.term.columns() - col);
        self.cut(col);
        self.cut(col + count);
        self.term.delete_chars(count);
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        match mode {
            // The emulator does not change the row in this case.
            LineClearMode::Right if self.term.grid().cursor.input_needs_wrap => return,
            LineClearMode::Right => self.cut(self.column()),
            LineClearMode::Left => self.cut(self.column() + 1),
            LineClearMode::All => {}
        }
        self.changed = true;
        self.term.clear_line(mode);
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        self.changed = true;
        match mode {
            ClearMode::Below => self.cut(self.column()),
            ClearMode::Above => self.cut(self.column() + 1),
            ClearMode::All | ClearMode::Saved => {}
        }
        let line = self.term.grid().cursor.point.line;
        if matches!(mode, ClearMode::Saved) && !self.has(TermMode::ALT_SCREEN) {
            self.clear_history();
        }
        // The emulator does not clear the first row when the cursor is in the second.
        if matches!(mode, ClearMode::Above) && line == 1 {
            self.term.grid_mut().reset_region(..line);
        }
        self.term.clear_screen(mode);
    }

    fn move_backward_tabs(&mut self, count: u16) {
        let before = self.term.grid().cursor.point;
        self.term.move_backward_tabs(count);
        self.changed |= before != self.term.grid().cursor.point;
        self.clear_stale_wrap();
    }

    /// Links without an id are numbered per screen; the emulator numbers them across all screens.
    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        let named = link.map(|Hyperlink { id, uri }| {
            self.links += u64::from(id.is_none());
            Hyperlink { id: id.or_else(|| Some(format!("{}_paned", self.links))), uri }
        });
        self.term.set_hyperlink(named);
    }

    fn set_title(&mut self, text: Option<String>) {
        self.replace_title(title::clean(&text.unwrap_or_default()));
    }

    fn push_title(&mut self) {
        drop_oldest(&mut self.titles);
        self.titles.push(self.title.clone());
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.replace_title(title);
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.charset = index;
        self.term.set_active_charset(index);
    }

    fn set_horizontal_tabstop(&mut self) {
        self.tabs[self.term.grid().cursor.point.column.0] = true;
        self.term.set_horizontal_tabstop();
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        match mode {
            TabulationClearMode::Current => {
                self.tabs[self.term.grid().cursor.point.column.0] = false;
            }
            TabulationClearMode::All => self.tabs.fill(false),
        }
        self.term.clear_tabs(mode);
    }

    fn reset_state(&mut self) {
        self.changed = true;
        self.clear_history();
        self.title.clear();
        self.titles.clear();
        self.region = 0..self.term.screen_lines();
        self.charset = CharsetIndex::default();
        self.tabs = default_tab_stops(self.tabs.len());
        self.reversed = false;
        self.pushed = [Vec::new(), Vec::new()];
        self.primary = None;
        self.term.reset_state();
    }

    fn report_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            REVERSE => {
                let state = if self.reversed { 1 } else { 2 };
                self.replies.put(&format!("\x1b[?5;{state}$y"));
            }
            PrivateMode::Named(_) | PrivateMode::Unknown(_) => self.term.report_private_mode(mode),
        }
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        self.track_private_mode(mode, true);
        let before = self.visible_state();
        self.term.set_private_mode(mode);
        self.changed |= before != self.visible_state();
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        self.track_private_mode(mode, false);
        let before = self.visible_state();
        self.term.unset_private_mode(mode);
        // The cursor goes home when the mode is set or reset; the emulator does so only when it is
        // set.
        if mode == PrivateMode::Named(NamedPrivateMode::Origin) {
            self.term.goto(0, 0);
        }
        self.changed |= before != self.visible_state();
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        self.track_region(top, bottom);
        let before = self.term.grid().cursor.point;
        self.term.set_scrolling_region(top, bottom);
        self.changed |= before != self.term.grid().cursor.point;
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        let before = *self.term.mode();
        let [shown, _] = &mut self.pushed;
        // The emulator panics on the 4097th push, so it is reset to the newest ones.
        if drop_oldest(shown) {
            self.term.pop_keyboard_modes(u16::MAX);
            shown.iter().for_each(|&mode| self.term.push_keyboard_mode(mode));
        }
        shown.push(mode);
        self.term.push_keyboard_mode(mode);
        self.changed |= before != *self.term.mode();
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        let before = *self.term.mode();
        let [shown, _] = &mut self.pushed;
        shown.truncate(shown.len().saturating_sub(count.into()));
        self.term.pop_keyboard_modes(count);
        self.changed |= before != *self.term.mode();
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, end: &str) {
        let Rgb { r, g, b } = self.term.colors()[index].unwrap_or_else(|| replies::colour(index));
        self.replies
            .put(&format!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}"));
    }

    fn text_area_size_pixels(&mut self) {
        let rows = self.term.screen_lines();
        let cols = self.term.columns();
        let (wide, high) = CELL;
        self.replies.put(&format!("\x1b[4;{};{}t", rows * high, cols * wide));
    }
}

/// Drops the oldest entry if there is no space for one more; returns whether it did.
fn drop_oldest<T>(pushed: &mut Vec<T>) -> bool {
    let is_full = pushed.len() == MAX_PUSHED;
    if is_full {
        pushed.remove(0);
    }
    is_full
}
