//! Decodes the stream of a control-mode client: bytes in, replies and notices out. Pure: no pipe,
//! no clock.
//!
//! The stream carries the text of panes and names chosen by users, so nothing in it is trusted. A
//! reply ends only at a line that repeats the time, the number and the flags it began with. A
//! program that guesses all three could still forge an ending. So a caller that knows how many
//! lines a reply has can announce it with [`TmuxDecoder::expect_lines`]; then no line of it is
//! interpreted.

use super::ids::number;
use super::notice::{Notice, word};

/// Longer lines are cut: no line that tmux writes is near this long.
const MAX_LINE: usize = 1 << 20;
/// The most bytes that a reply keeps.
const MAX_REPLY: usize = 64 << 20;

/// Assembles items from chunks of any size.
#[derive(Debug)]
pub struct TmuxDecoder {
    /// Bytes not decoded yet; a line that is too long keeps one byte more than allowed.
    bytes: Vec<u8>,
    /// How many of them are decoded.
    start: usize,
    /// Up to where they were searched for the end of a line.
    searched: usize,
    block: Option<ReplyBlock>,
    expected: Option<usize>,
    longest: usize,
}

/// One item of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The answer to a command.
    Reply(TmuxReply),
    /// Something that happened.
    Notice(Notice),
    /// A line outside the protocol: a sign of a forged ending, or of a broken pipe.
    Stray(Vec<u8>),
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxReply {
    /// How it was framed.
    pub header: ReplyHeader,
    /// Its lines, unchanged.
    pub lines: Vec<Vec<u8>>,
    /// Whether the command succeeded.
    pub ok: bool,
    /// Whether it was too long to keep, so that lines are missing or shortened.
    pub cut: bool,
}

/// The fields after `%begin`, repeated after `%end` or `%error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    /// Seconds since 1970.
    pub time: u64,
    /// The number of the command, counted by the server.
    pub number: u64,
    /// 1 when the command came from the client's own standard input.
    pub flags: u64,
}

impl ReplyHeader {
    /// Whether it answers a command of this client. Hooks reply in the same stream, without a
    /// request.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.flags & 1 == 1
    }

    fn parse(rest: &[u8]) -> Option<Self> {
        let (time, rest) = word(rest);
        let (count, flags) = word(rest);
        Some(Self { time: number(time)?, number: number(count)?, flags: number(flags)? })
    }
}

#[derive(Debug)]
struct ReplyBlock {
    header: ReplyHeader,
    lines: Vec<Vec<u8>>,
    size: usize,
    cut: bool,
    /// How many lines must come before a line may end it, where that is known.
    known_lines: Option<usize>,
}

impl Default for TmuxDecoder {
    fn default() -> Self {
        Self::with_longest(MAX_LINE)
    }
}

impl TmuxDecoder {
    /// A decoder that cuts lines at this many bytes.
    #[must_use]
    pub fn with_longest(longest: usize) -> Self {
        let bytes = Vec::new();
        Self { bytes, start: 0, searched: 0, block: None, expected: None, longest }
    }

    /// Takes a chunk of the stream and returns every complete item.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Item> {
        self.push(chunk);
        std::iter::from_fn(|| self.next_item()).collect()
    }

    /// Takes a chunk of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(chunk);
    }

    /// Announces that the next reply to the client has exactly this many lines.
    pub fn expect_lines(&mut self, lines: usize) {
        self.expected = Some(lines);
    }

    /// The next complete item.
    pub fn next_item(&mut self) -> Option<Item> {
        loop {
            let (line, cut) = self.take_line()?;
            if let Some(item) = self.read(line, cut) {
                return Some(item);
            }
        }
    }

    /// The next line, and whether it was too long.
    fn take_line(&mut self) -> Option<(Vec<u8>, bool)> {
        let end = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|at| self.searched + at) else {
            self.bytes.truncate(self.start + self.longest + 1);
            self.searched = self.bytes.len();
            return None;
        };
        let line = &self.bytes[self.start..end];
        let cut = self.longest < line.len();
        let line = line[..line.len().min(self.longest)].to_vec();
        self.start = end + 1;
        self.searched = end + 1;
        Some((line, cut))
    }

    fn read(&mut self, line: Vec<u8>, cut: bool) -> Option<Item> {
        let (name, rest) = word(&line);
        let header = if cut { None } else { ReplyHeader::parse(rest) };
        let Some(mut block) = self.block.take() else {
            return match (name, header) {
                (b"%begin", Some(header)) => self.begin(header),
                (b"%begin" | b"%end" | b"%error", _) => Some(Item::Stray(line)),
                _ if line.starts_with(b"%") => Some(Item::Notice(Notice::parse(&line))),
                _ => Some(Item::Stray(line)),
            };
        };
        let ok = name == b"%end";
        if (ok || name == b"%error") && block.may_end(header, ok) {
            let ReplyBlock { header, lines, cut, .. } = block;
            return Some(Item::Reply(TmuxReply { header, lines, ok, cut }));
        }
        block.add(line, cut);
        self.block = Some(block);
        None
    }

    fn begin(&mut self, header: ReplyHeader) -> Option<Item> {
        let known_lines = if header.is_ours() { self.expected.take() } else { None };
        self.block =
            Some(ReplyBlock { header, lines: Vec::new(), size: 0, cut: false, known_lines });
        None
    }
}

impl ReplyBlock {
    fn may_end(&self, header: Option<ReplyHeader>, ok: bool) -> bool {
        // An error may be shorter than what was expected; a forged one is still only an error.
        let is_complete = !ok || self.known_lines.is_none_or(|known| known <= self.lines.len());
        header == Some(self.header) && is_complete
    }

    fn add(&mut self, line: Vec<u8>, cut: bool) {
        self.cut |= cut || MAX_REPLY < self.size + line.len();
        if self.size + line.len() <= MAX_REPLY {
            // An empty line costs memory too.
            self.size += line.len() + size_of::<Vec<u8>>();
            self.lines.push(line);
        }
    }
}

/// For a fuzzer: any bytes, cut in two anywhere, read the same as in one piece, and without a
/// panic.
///
/// # Panics
/// When they do not.
pub fn fuzz(bytes: &[u8]) {
    let longest = 64;
    let whole = TmuxDecoder::with_longest(longest).feed(bytes);
    let cut = bytes.first().map_or(0, |first| usize::from(*first) % (bytes.len() + 1));
    let mut decoder = TmuxDecoder::with_longest(longest);
    let mut items = decoder.feed(&bytes[..cut]);
    items.extend(decoder.feed(&bytes[cut..]));
    assert_eq!(items, whole, "cut at {cut}");
}

#[cfg(test)]
mod tests;
