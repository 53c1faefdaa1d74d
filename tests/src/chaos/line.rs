//! Lines that can be checked by themselves: each names its own offset, its number and its kind, and
//! ends with a checksum.
//!
//! A reader that knows its offset on a tape can check every byte without a copy of what was
//! printed.

use std::io::{self, Write};

/// One line as it was printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// How many lines were printed before it.
    pub(super) number: u64,
    /// One letter: what the line is about.
    pub(super) kind: char,
    /// The text between the head and the checksum.
    pub(super) payload: String,
}

/// The printing side.
pub(super) struct Printer<W> {
    out: W,
    offset: u64,
    number: u64,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, offset: 0, number: 0 }
    }

    pub(super) fn print(&mut self, kind: char, payload: &str) -> io::Result<()> {
        let text = format!("{} {} {kind} {payload}", self.offset, self.number);
        let line = format!("{text} {:08x}\n", checksum(text.as_bytes()));
        self.out.write_all(line.as_bytes())?;
        self.offset += line.len() as u64;
        self.number += 1;
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The reading side: fed with bytes in order, it answers the lines or says what is wrong.
#[derive(Debug, Default)]
pub(super) struct Checker {
    /// The offset of the next byte that it expects.
    next: u64,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// The number of the next line; unknown after a gap.
    number: Option<u64>,
    /// Whether the current line has lost its beginning.
    is_cut: bool,
}

impl Checker {
    /// A checker for everything from the first byte on.
    pub(super) fn new() -> Self {
        Self { number: Some(0), ..Self::default() }
    }

    /// The offset of the next byte that it expects.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes before this offset are missing, and the reader got a gap for them.
    pub(super) fn skip_to(&mut self, offset: u64) {
        self.next = offset;
        self.begun.clear();
        self.number = None;
        self.is_cut = true;
    }

    /// Takes the next bytes; answers the lines that they complete.
    pub(super) fn feed(&mut self, offset: u64, bytes: &[u8]) -> Result<Vec<Line>, String> {
        if offset != self.next {
            return Err(format!("bytes of offset {offset} came where {} was due", self.next));
        }
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.next += piece.len() as u64;
            self.begun.extend(piece);
            if piece.ends_with(b"\n") {
                let whole = std::mem::take(&mut self.begun);
                lines.extend(self.complete(&whole)?);
            }
        }
        Ok(lines)
    }

    fn complete(&mut self, whole: &[u8]) -> Result<Option<Line>, String> {
        if std::mem::take(&mut self.is_cut) {
            return Ok(None);
        }
        let start = self.next - whole.len() as u64;
        let line = parse(whole, start).map_err(|error| {
            let text = String::from_utf8_lossy(&whole[..whole.len().min(300)]).into_owned();
            format!("at offset {start}: {error}: {text:?}")
        })?;
        if self.number.is_some_and(|number| number != line.number) {
            return Err(format!(
                "at offset {start} stands line {} where {:?} was due",
                line.number, self.number
            ));
        }
        self.number = Some(line.number + 1);
        Ok(Some(line))
    }
}

fn parse(whole: &[u8], start: u64) -> Result<Line, &'static str> {
    let text = std::str::from_utf8(whole).map_err(|_| "it is no text")?;
    let text = text.strip_suffix('\n').ok_or("it has no end")?;
    let (text, sum) = text.rsplit_once(' ').ok_or("it has no checksum")?;
    if sum != format!("{:08x}", checksum(text.as_bytes())) {
        return Err("its checksum is wrong");
    }
    let mut words = text.splitn(4, ' ');
    let offset = words.next().and_then(|word| word.parse::<u64>().ok());
    let number = words.next().and_then(|word| word.parse::<u64>().ok());
    let kind = words.next().and_then(|word| word.chars().next());
    let (Some(offset), Some(number), Some(kind)) = (offset, number, kind) else {
        return Err("its head cannot be read");
    };
    if offset != start {
        return Err("it was printed at another offset");
    }
    Ok(Line { number, kind, payload: words.next().unwrap_or_default().to_owned() })
}

/// FNV-1a: enough to find a wrong byte, and quick in a debug build.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed() -> Vec<u8> {
        let mut printer = Printer::new(Vec::new());
        for payload in ["one", "", "three words here"] {
            printer.print('t', payload).unwrap();
        }
        printer.out
    }

    #[test]
    fn what_was_printed_is_accepted_however_it_is_cut() {
        let bytes = printed();
        for cut in 0..bytes.len() {
            let mut checker = Checker::new();
            let mut lines = checker.feed(0, &bytes[..cut]).unwrap();
            lines.extend(checker.feed(cut as u64, &bytes[cut..]).unwrap());
            let payloads: Vec<_> = lines.iter().map(|line| line.payload.as_str()).collect();
            assert_eq!(payloads, ["one", "", "three words here"]);
        }
    }

    #[test]
    fn a_wrong_a_missing_and_a_repeated_byte_are_found() {
        let bytes = printed();
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            let mut missing = bytes.clone();
            missing.remove(at);
            let mut repeated = bytes.clone();
            repeated.insert(at, bytes[at]);
            for damaged in [wrong, missing, repeated] {
                let lines = Checker::new().feed(0, &damaged);
                assert!(lines.map_or(true, |lines| lines.len() < 3), "byte {at}");
            }
        }
    }

    #[test]
    fn after_a_gap_that_was_told_it_goes_on_with_the_next_whole_line() {
        let bytes = printed();
        let mut checker = Checker::new();
        checker.skip_to(3);
        let lines = checker.feed(3, &bytes[3..]).unwrap();
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 2]);
        assert!(checker.feed(3, b"x").is_err());
    }
}
