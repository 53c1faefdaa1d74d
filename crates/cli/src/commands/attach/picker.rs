//! Lets the user pick one of several panes: arrow keys, a number, or letters that filter.

use std::io::{self, Write};
use std::os::fd::AsFd;

use anyhow::Result;
use paned_keeper::input::tty_guard::TtyGuard;
use paned_model::{PaneId, PaneInfo, Size};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::commands::support::tty;
use crate::out::units;

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// The rows that are not panes: the question, and one below the list.
const OTHER_ROWS: usize = 2;

/// The pane that the user picks; None if the user cancels.
///
/// # Errors
/// When the terminal cannot be used.
pub(super) fn pick(panes: &[PaneInfo], last: Option<&PaneId>) -> Result<Option<PaneId>> {
    let _raw = RawTerminal::take()?;
    let mut picker = Picker::new(panes.iter().map(PickerRow::of).collect());
    picker.select(last);
    let mut keys = [0; 64];
    loop {
        let size = tty::size().unwrap_or_default();
        show(&picker.draw(size))?;
        let read = rustix::io::read(io::stdin().as_fd(), &mut keys)?;
        let picked = match picker.press(&keys[..read]) {
            PickerStep::Continue => None,
            PickerStep::Cancel => Some(None),
            PickerStep::Pick(at) => Some(Some(panes[at].id.clone())),
        };
        if let Some(picked) = picked {
            show(&picker.erase())?;
            return Ok(picked);
        }
    }
}

fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The terminal without line editing; dropping it restores it.
struct RawTerminal {
    before: Termios,
    /// Restores it if we are killed.
    _guard: Option<TtyGuard>,
}

impl RawTerminal {
    fn take() -> io::Result<Self> {
        let mut guard = TtyGuard::spawn(io::stdin().as_fd()).ok();
        if let Some(guard) = &mut guard {
            guard.set_undo(SHOW_CURSOR.as_bytes().to_vec());
        }
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before, _guard: guard })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to restore.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// A pane as a row of the list.
struct PickerRow {
    id: String,
    text: String,
}

impl PickerRow {
    fn of(pane: &PaneInfo) -> Self {
        let age = units::age(paned_keeper::time::now().since(pane.created_at));
        let agent = pane.agent.as_ref().map(|agent| format!("{}  ", agent.state));
        let text = format!("{}{age}  {}", agent.unwrap_or_default(), pane.title);
        // A title may hold what a terminal would obey.
        let text = text.replace(char::is_control, "?");
        Self { id: pane.id.to_string(), text }
    }
}

/// What a key press leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PickerStep {
    Continue,
    Cancel,
    /// The row of this index.
    Pick(usize),
}

/// The list, the filter and the selected row. Pure.
struct Picker {
    rows: Vec<PickerRow>,
    filter: String,
    /// The index of the selected row among those that pass the filter.
    selected: usize,
    /// How many rows were drawn last.
    drawn: usize,
}

impl Picker {
    fn new(rows: Vec<PickerRow>) -> Self {
        Self { rows, filter: String::new(), selected: 0, drawn: 0 }
    }

    /// Selects this pane, if it is there.
    fn select(&mut self, pane: Option<&PaneId>) {
        let is_it = |row: &PickerRow| pane.is_some_and(|pane| pane.as_str() == row.id);
        self.selected = self.rows.iter().position(is_it).unwrap_or(0);
    }

    /// The indices of the rows that pass the filter.
    fn matches(&self) -> Vec<usize> {
        let filter = self.filter.to_lowercase();
        let passes = |row: &PickerRow| {
            row.id.to_lowercase().contains(&filter) || row.text.to_lowercase().contains(&filter)
        };
        (0..self.rows.len()).filter(|at| passes(&self.rows[*at])).collect()
    }

    /// Handles what one read returned: one key, or a few typed quickly.
    fn press(&mut self, keys: &[u8]) -> PickerStep {
        let keys = String::from_utf8_lossy(keys);
        if keys.is_empty() || keys == "\x1b" {
            return PickerStep::Cancel;
        }
        let mut rest = &*keys;
        while let Some(key) = rest.chars().next() {
            let (sequence, after) = split_sequence(rest);
            let step = match sequence {
                "" => self.press_one(key),
                _ if sequence.ends_with('A') => self.step(-1),
                _ if sequence.ends_with('B') => self.step(1),
                _ => PickerStep::Continue,
            };
            if step != PickerStep::Continue {
                return step;
            }
            rest = if sequence.is_empty() { &rest[key.len_utf8()..] } else { after };
        }
        PickerStep::Continue
    }

    fn press_one(&mut self, key: char) -> PickerStep {
        match key {
            '\x03' | '\x04' | '\x1b' => return PickerStep::Cancel,
            '\r' | '\n' => {
                let picked = self.matches().get(self.selected).copied();
                return picked.map_or(PickerStep::Continue, PickerStep::Pick);
            }
            '\x10' => return self.step(-1),
            '\x0e' | '\t' => return self.step(1),
            '1'..='9' if self.filter.is_empty() => {
                let at = key as usize - '1' as usize;
                return if at < self.rows.len() {
                    PickerStep::Pick(at)
                } else {
                    PickerStep::Continue
                };
            }
            '\x7f' | '\x08' => drop(self.filter.pop()),
            '\x15' => self.filter.clear(),
            other if !other.is_control() => self.filter.push(other),
            _ => return PickerStep::Continue,
        }
        self.selected = 0;
        PickerStep::Continue
    }

    /// Moves the selection, around the ends.
    fn step(&mut self, by: isize) -> PickerStep {
        let count = self.matches().len();
        if 0 < count {
            self.selected = (self.selected + count).wrapping_add_signed(by) % count;
        }
        PickerStep::Continue
    }

    /// The bytes that draw the list over what was drawn before.
    fn draw(&mut self, size: Size) -> String {
        let mut text = self.erase() + HIDE_CURSOR;
        let matches = self.matches();
        let room = usize::from(size.rows).saturating_sub(OTHER_ROWS).max(1);
        let first = (self.selected + 1).saturating_sub(room);
        let shown: Vec<usize> = matches.iter().skip(first).take(room).copied().collect();
        let width = shown.iter().map(|at| self.rows[*at].id.len()).max().unwrap_or(0);
        let question = match self.filter.is_empty() {
            true => {
                "Attach to which pane? (arrows or a number, enter; letters filter, esc cancels)"
            }
            false => "Attach to which pane?",
        };
        let question = format!("{question} {}", self.filter);
        text += &format!("{}\r\n", cut(&question, size));
        for (at, row) in shown.iter().zip(first..) {
            let number = if self.filter.is_empty() && *at < 9 {
                format!("{}", at + 1)
            } else {
                " ".to_owned()
            };
            let PickerRow { id, text: about } = &self.rows[*at];
            let mark = if row == self.selected { '>' } else { ' ' };
            let line = format!("{mark} {number} {id:width$}  {about}");
            text += &format!("{}\r\n", cut(&line, size));
        }
        self.drawn = 1 + shown.len();
        text
    }

    /// The bytes that remove the list.
    fn erase(&self) -> String {
        let up = if 0 < self.drawn { format!("\x1b[{}A", self.drawn) } else { String::new() };
        format!("{up}\r\x1b[J{SHOW_CURSOR}")
    }
}

/// The escape sequence of a key at the start of a text, and what follows it.
fn split_sequence(text: &str) -> (&str, &str) {
    if !text.starts_with("\x1b[") && !text.starts_with("\x1bO") {
        return ("", text);
    }
    let end = text[2..].find(|c: char| matches!(c, '@'..='~')).map_or(text.len(), |at| at + 3);
    text.split_at(end)
}

/// As much of a line as surely fits into a row: a character outside ASCII may be two columns wide.
fn cut(line: &str, size: Size) -> String {
    let mut left = usize::from(size.cols).saturating_sub(1);
    line.chars()
        .take_while(|c| {
            let width = if c.is_ascii() { 1 } else { 2 };
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker {
        let row = |id: &str, text: &str| PickerRow { id: id.into(), text: text.into() };
        Picker::new(vec![row("web", "npm run dev"), row("db", "postgres"), row("api", "cargo run")])
    }

    #[track_caller]
    fn check(keys: &[&str], expect: PickerStep) {
        let mut picker = picker();
        let steps: Vec<_> = keys.iter().map(|keys| picker.press(keys.as_bytes())).collect();
        assert_eq!(steps.last(), Some(&expect), "{keys:?}");
    }

    #[test]
    fn arrows_move_and_enter_picks() {
        check(&["\r"], PickerStep::Pick(0));
        check(&["\x1b[B", "\r"], PickerStep::Pick(1));
        check(&["\x1b[B\r"], PickerStep::Pick(1));
        check(&["\x1b[1;2C\x1b[B\x1b[B\r"], PickerStep::Pick(2));
        check(&["\x1bOB", "\x1b[B", "\x1b[B", "\r"], PickerStep::Pick(0));
        check(&["\x1b[A", "\r"], PickerStep::Pick(2));
    }

    #[test]
    fn a_number_picks_at_once() {
        check(&["2"], PickerStep::Pick(1));
        check(&["9"], PickerStep::Continue);
    }

    #[test]
    fn letters_filter_by_id_and_title() {
        check(&["postg", "\r"], PickerStep::Pick(1));
        check(&["run", "\x1b[B", "\r"], PickerStep::Pick(2));
        check(&["zzz", "\r"], PickerStep::Continue);
        check(&["zzz", "\x15", "\r"], PickerStep::Pick(0));
    }

    #[test]
    fn escape_and_ctrl_c_cancel() {
        check(&["\x1b"], PickerStep::Cancel);
        check(&["\x03"], PickerStep::Cancel);
        check(&["\x1b[5~"], PickerStep::Continue);
    }

    #[test]
    fn a_long_list_is_cut_and_the_selected_row_is_in_it() {
        let mut picker = picker();
        picker.press(b"\x1b[A");
        let drawn = picker.draw(Size { cols: 20, rows: 4 });
        assert!(drawn.contains("> 3 api") && !drawn.contains("web"), "{drawn:?}");
        assert!(drawn.lines().skip(1).all(|line| line.trim_end().len() < 20), "{drawn:?}");
    }
}
