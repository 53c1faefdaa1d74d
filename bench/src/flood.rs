//! What flooding programs print, and what arrives of it. Pure.

/// How much a flooding child writes at once, over and over.
pub(crate) const BLOCK: usize = 64 << 10;
/// A plain line, without its end.
const LINE: &str =
    "the quick brown fox jumps over the lazy dog, then reads the log line by line 0123";

/// A way of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloodKind {
    /// Lines of text.
    Plain,
    /// Lines in which each word has a colour of its own.
    Colours,
    /// A screen that is drawn again and again, each row at its place.
    Redraw,
}

impl FloodKind {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Colours, Self::Redraw];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Colours => "colours",
            Self::Redraw => "redraw",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What is written at once, over and over.
    pub(crate) fn strip(self) -> Vec<u8> {
        let piece = match self {
            Self::Plain => format!("{LINE}\n"),
            Self::Colours => colours(),
            Self::Redraw => redraw(),
        };
        piece.into_bytes().into_iter().cycle().take(BLOCK).collect()
    }
}

/// Lines of short words, each with its attributes and its colour, of 16, of 256 and of all there
/// are.
fn colours() -> String {
    let words = LINE.split_inclusive(' ').enumerate().map(|(at, word)| match at % 3 {
        0 => format!("\x1b[1;3{}m{word}\x1b[0m", at % 8),
        1 => format!("\x1b[38;5;{}m{word}\x1b[39m", 16 + at),
        _ => format!("\x1b[4;38;2;{};{};90m{word}\x1b[24;39m", 10 * at, 5 * at),
    });
    words.chain(["\n".to_owned()]).collect()
}

/// A whole screen of 24 rows as a full-screen program draws it.
fn redraw() -> String {
    let rows = (1..=24).map(|row| {
        format!("\x1b[{row};1H\x1b[2K\x1b[3{}m│\x1b[0m {row:>3} {}", row % 8, &LINE[..60])
    });
    rows.chain(["\x1b[24;70H\x1b[7m busy \x1b[27m".to_owned()]).collect()
}

/// What arrives of a flood, which a terminal prints with `\r\n` for `\n`.
#[derive(Debug)]
pub(crate) struct ExpectedOutput {
    strip: Vec<u8>,
    at: usize,
    seen: u64,
}

impl ExpectedOutput {
    pub(crate) fn of(kind: FloodKind) -> Self {
        Self { strip: cooked(&kind.strip()), at: 0, seen: 0 }
    }

    /// What arrives of one strip.
    pub(crate) fn into_strip(self) -> Vec<u8> {
        self.strip
    }

    /// How much arrives in all when this much is printed.
    pub(crate) fn length(&self, kind: FloodKind, printed: u64) -> u64 {
        let strips = printed / BLOCK as u64;
        let rest = printed as usize % BLOCK;
        strips * self.strip.len() as u64 + cooked(&kind.strip()[..rest]).len() as u64
    }

    /// Whether these are the bytes that have to come next.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) -> bool {
        self.seen += bytes.len() as u64;
        while !bytes.is_empty() {
            let piece = bytes.len().min(self.strip.len() - self.at);
            if bytes[..piece] != self.strip[self.at..self.at + piece] {
                return false;
            }
            self.at = (self.at + piece) % self.strip.len();
            bytes = &bytes[piece..];
        }
        true
    }

    /// How much has come.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

fn cooked(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_known_however_it_is_cut() {
        for kind in FloodKind::ALL {
            let twice = cooked(&kind.strip().repeat(2));
            let mut arriving = ExpectedOutput::of(kind);
            assert!(twice.chunks(4093).all(|chunk| arriving.take(chunk)));
            assert_eq!(arriving.seen(), arriving.length(kind, 2 * BLOCK as u64));
            assert_eq!(arriving.length(kind, 100), cooked(&kind.strip()[..100]).len() as u64);
        }
    }

    #[test]
    fn a_byte_too_few_or_another_one_is_seen() {
        let strip = cooked(&FloodKind::Plain.strip());
        assert!(!ExpectedOutput::of(FloodKind::Plain).take(&strip[1..]));
        let mut other = strip.clone();
        other[5000] ^= 1;
        assert!(!ExpectedOutput::of(FloodKind::Plain).take(&other));
        assert!(ExpectedOutput::of(FloodKind::Plain).take(&strip));
    }
}
