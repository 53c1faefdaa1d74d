//! A recording of an agent, as asciicast v2: its output, and the input as far as it was echoed.

use std::fmt::Write;

use paned_model::{Size, Time};
use paned_term::vt::input::InputStart;
use paned_term::{Screen, ScreenView};

use super::{HistoryEntry, HistoryEvent};

/// Replaces a typed character that was not echoed.
const REDACTED: &str = "*";
/// How long the echo of a typed text may take, in milliseconds.
const ECHO: u64 = 2000;

/// Reads the bytes between two offsets; fewer if some are no longer kept.
pub(super) type ReadRange<'a> = &'a dyn Fn(u64, u64) -> Vec<u8>;

/// Writes a recording.
pub(super) struct AsciicastWriter<'a> {
    text: String,
    start: Time,
    at: u64,
    /// The first bytes of an incomplete UTF-8 character.
    partial: Vec<u8>,
    /// The screen so far.
    screen: Screen,
    size: Size,
    bytes: ReadRange<'a>,
}

impl<'a> AsciicastWriter<'a> {
    /// Starts a recording with a screen at offset `at`; the bytes `drawn` draw it.
    pub(super) fn new(
        start: Time,
        size: Size,
        drawn: &[u8],
        at: u64,
        bytes: ReadRange<'a>,
    ) -> Self {
        let header = serde_json::json!({
            "version": 2, "width": size.cols, "height": size.rows, "timestamp": start.0 / 1000,
        });
        let mut writer = Self {
            text: format!("{header}\n"),
            start,
            at,
            partial: Vec::new(),
            screen: Screen::new(size),
            size,
            bytes,
        };
        writer.print(start, drawn.to_vec());
        writer
    }

    /// Writes all entries, until the text has more than `most` bytes; returns the text and whether
    /// it was cut.
    pub(super) fn write(mut self, entries: &[HistoryEntry], most: usize) -> (String, bool) {
        for (n, entry) in entries.iter().enumerate() {
            if most < self.text.len() {
                return (self.text, true);
            }
            match &entry.what {
                HistoryEvent::Printed(end) => self.printed(entry.at, *end),
                HistoryEvent::Resized(end, size) => {
                    self.printed(entry.at, *end);
                    self.size = *size;
                    self.screen.resize(*size);
                    self.event(entry.at, "r", &size.to_string());
                }
                HistoryEvent::Typed(end, typed) => {
                    self.printed(entry.at, *end);
                    let shown = self.shown_after(typed, entry.at, &entries[n..]);
                    self.event(entry.at, "i", &redacted(typed, &shown));
                }
                HistoryEvent::State(..) => {}
            }
        }
        (self.text, false)
    }

    fn printed(&mut self, at: Time, end: u64) {
        if self.at < end {
            let bytes = (self.bytes)(self.at, end);
            self.at = end;
            self.print(at, bytes);
        }
    }

    fn print(&mut self, at: Time, bytes: Vec<u8>) {
        self.screen.feed(&bytes);
        let mut whole = std::mem::take(&mut self.partial);
        whole.extend(bytes);
        if let Err(error) = std::str::from_utf8(&whole)
            && error.error_len().is_none()
        {
            self.partial = whole.split_off(error.valid_up_to());
        }
        if !whole.is_empty() {
            self.event(at, "o", &String::from_utf8_lossy(&whole));
        }
    }

    fn event(&mut self, at: Time, kind: &str, data: &str) {
        let millis = at.since(self.start);
        let data = serde_json::Value::from(data);
        let _ = writeln!(self.text, "[{}.{:03}, \"{kind}\", {data}]", millis / 1000, millis % 1000);
    }

    /// The typed texts that stood before the cursor soon after: these were echoed.
    fn shown_after(&self, typed: &[u8], at: Time, later: &[HistoryEntry]) -> Vec<String> {
        let texts: Vec<String> = pieces(&String::from_utf8_lossy(typed))
            .filter(|(_, is_key)| !is_key)
            .map(|(piece, _)| without_whitespace(piece))
            .collect();
        let mut shown = Vec::new();
        let mut screen = Screen::new(self.size);
        let mut from = self.at;
        screen.feed(&self.screen.dump());
        for entry in later.iter().take_while(|entry| entry.at.since(at) < ECHO) {
            let HistoryEvent::Printed(upto) = entry.what else { continue };
            screen.feed(&(self.bytes)(from, upto));
            from = from.max(upto);
            let before = before_cursor(&screen.view());
            let is_shown = |text: &&String| !text.is_empty() && before.ends_with(text.as_str());
            shown.extend(texts.iter().filter(is_shown).cloned());
        }
        shown
    }
}

/// The text of a screen before the cursor, without whitespace.
fn before_cursor(view: &ScreenView) -> String {
    let row = usize::from(view.cursor.row);
    let col = usize::from(view.cursor.col);
    let above = view.rows.iter().take(row).map(String::as_str);
    let here: String = view.rows.get(row).map_or("", String::as_str).chars().take(col).collect();
    without_whitespace(&above.chain([here.as_str()]).collect::<String>())
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The input without text that was not echoed: keys stay, other characters become stars.
fn redacted(typed: &[u8], shown: &[String]) -> String {
    let typed = String::from_utf8_lossy(typed);
    let redact = |(piece, is_key): (&str, bool)| match is_key
        || shown.contains(&without_whitespace(piece))
    {
        true => piece.to_owned(),
        false => REDACTED.repeat(piece.chars().count()),
    };
    pieces(&typed).map(redact).collect()
}

/// Splits input into keys and texts; the flag is set for a key.
fn pieces(typed: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = typed;
    std::iter::from_fn(move || {
        let key = key_length(rest);
        let text = rest.find(|c: char| c.is_control()).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(if 0 < key { key } else { text });
        rest = after;
        (!piece.is_empty()).then_some((piece, 0 < key))
    })
}

/// The length of the key at the start of a text; 0 if it starts with a printable character.
fn key_length(text: &str) -> usize {
    match InputStart::of(text.as_bytes()) {
        InputStart::Sequence(length) => length,
        InputStart::OpenSequence => text.len(),
        InputStart::Reply(_) | InputStart::OpenReply | InputStart::Byte => {
            text.chars().next().filter(|c| c.is_control()).map_or(0, char::len_utf8)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types something at a prompt, whereupon the program prints something.
    #[track_caller]
    fn check(typed: &str, printed: &str, expect: &str) {
        let tape = format!("Say: {printed}").into_bytes();
        let (begin, end) = (5, tape.len() as u64);
        let bytes = move |from: u64, to: u64| tape[from as usize..to as usize].to_vec();
        let moment = |at, what| HistoryEntry { at: Time(at), what };
        let moments = [
            moment(0, HistoryEvent::Printed(begin)),
            moment(10, HistoryEvent::Typed(begin, typed.as_bytes().to_vec())),
            moment(20, HistoryEvent::Printed(end)),
        ];
        let cast = AsciicastWriter::new(Time(0), Size { cols: 80, rows: 24 }, b"", 0, &bytes);
        let text = cast.write(&moments, usize::MAX).0;
        let line = text.lines().find(|line| line.contains("\"i\"")).unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line[2], expect);
    }

    #[test]
    fn what_was_shown_as_it_was_typed_stays_and_all_else_becomes_stars() {
        check("fix the tests", "fix the tests", "fix the tests");
        check("fix the tests", "\x1b[1mfix\x1b[0m the\r\ntests", "fix the tests");
        check("hunter2", "\r\nnot hunter2, sorry\r\n", "*******");
        check("s", "", "*");
        check("\x1b[200~secret\x1b[201~", "[Pasted 1 line]", "\x1b[200~******\x1b[201~");
        check("secret\r", "\r\n", "******\r");
    }

    #[test]
    fn keys_are_no_secret() {
        check("\r", "", "\r");
        check("\x1b", "", "\x1b");
        check("\x1b[A\x1bOB\x03", "", "\x1b[A\x1bOB\x03");
    }

    #[test]
    fn a_recording_has_every_byte_and_its_time() {
        let tape = "hello wörld".as_bytes();
        let bytes = |from: u64, to: u64| tape[from as usize..to as usize].to_vec();
        let moment = |at, what| HistoryEntry { at: Time(at), what };
        let size = Size { cols: 80, rows: 24 };
        let moments = [
            moment(1000, HistoryEvent::Printed(6)),
            // In the middle of a character.
            moment(1500, HistoryEvent::Printed(8)),
            moment(1600, HistoryEvent::Typed(8, b"\r".to_vec())),
            moment(2000, HistoryEvent::Printed(12)),
        ];
        let cast = AsciicastWriter::new(Time(1000), size, b"", 0, &bytes);
        let (text, is_cut) = cast.write(&moments, usize::MAX);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let expect = [
            r#"[0.000, "o", "hello "]"#,
            r#"[0.500, "o", "w"]"#,
            r#"[0.600, "i", "\r"]"#,
            r#"[1.000, "o", "örld"]"#,
        ];
        assert_eq!((lines, is_cut), (expect.to_vec(), false));
    }
}
