//! Reads the stream of a control-mode client: bytes in, replies and notices out. Pure: no pipe, no clock.
//!
//! The stream carries the text of panes and the names people give, so nothing in it is trusted. A reply ends only at
//! a line that repeats the time, the number and the flags it began with. A program that guesses all three could still
//! forge an ending, so a reader that knows how many lines a reply has can say so with [`TmuxDecoder::expect_lines`], and
//! then no line of it means anything.

use super::ids::number;
use super::notice::{Notice, word};

/// A line is cut here: no line that tmux writes is near this long.
const MAX_LINE: usize = 1 << 20;
/// A reply keeps this many bytes.
const MAX_REPLY: usize = 64 << 20;

/// Puts items together from pieces of any size.
#[derive(Debug)]
pub struct TmuxDecoder {
    /// What has not been read yet; a line that is too long keeps one byte more than it may have.
    bytes: Vec<u8>,
    /// How much of it has been read.
    start: usize,
    /// Up to where it has been searched for the end of a line.
    searched: usize,
    block: Option<ReplyBlock>,
    expected: Option<usize>,
    longest: usize,
}

/// One thing that tmux said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The answer to a command.
    Reply(TmuxReply),
    /// Something that happened.
    Notice(Notice),
    /// A line that has no place in the protocol: a sign of a forged ending, or of a broken pipe.
    Stray(Vec<u8>),
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxReply {
    /// How it was framed.
    pub header: ReplyHeader,
    /// Its lines, as they came.
    pub lines: Vec<Vec<u8>>,
    /// Whether the command was done.
    pub ok: bool,
    /// Whether it was too long to keep, so that lines are missing or shortened.
    pub cut: bool,
}

/// What stands behind `%begin`, and again behind `%end` or `%error`.
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
    /// Whether the client asked for it. Hooks answer in the same stream, and are nobody's answer.
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
    /// How many lines must come before one can end it, where that is known.
    known_lines: Option<usize>,
}

impl Default for TmuxDecoder {
    fn default() -> Self {
        Self::with_longest(MAX_LINE)
    }
}

impl TmuxDecoder {
    /// A decoder that cuts lines at so many bytes.
    #[must_use]
    pub fn with_longest(longest: usize) -> Self {
        let bytes = Vec::new();
        Self { bytes, start: 0, searched: 0, block: None, expected: None, longest }
    }

    /// Takes a piece of the stream and gives everything that is whole now.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<Item> {
        self.push(piece);
        std::iter::from_fn(|| self.next_item()).collect()
    }

    /// Takes a piece of the stream.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// Says that the next reply to the client has exactly so many lines.
    pub fn expect_lines(&mut self, lines: usize) {
        self.expected = Some(lines);
    }

    /// The next item that is whole.
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
        (self.start, self.searched) = (end + 1, end + 1);
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
        let sure = if header.is_ours() { self.expected.take() } else { None };
        self.block =
            Some(ReplyBlock { header, lines: Vec::new(), size: 0, cut: false, known_lines: sure });
        None
    }
}

impl ReplyBlock {
    fn may_end(&self, header: Option<ReplyHeader>, ok: bool) -> bool {
        // An error is shorter than what was expected; one that is forged is an error still.
        let whole = !ok || self.known_lines.is_none_or(|sure| sure <= self.lines.len());
        header == Some(self.header) && whole
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

/// For a fuzzer: any bytes, cut in two anywhere, read the same as in one piece, and without a panic.
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
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::ids::{TmuxPane, WindowId};
    use super::super::notice::WindowScope;
    use super::*;

    fn reply(number: u64, lines: &[&str]) -> Item {
        let lines = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let header = ReplyHeader { time: 7, number, flags: 1 };
        Item::Reply(TmuxReply { header, lines, ok: true, cut: false })
    }

    #[track_caller]
    fn check(stream: &str, expect: &[Item]) {
        assert_eq!(TmuxDecoder::default().feed(stream.as_bytes()), expect, "{stream}");
    }

    #[test]
    fn replies_and_notices_take_turns() {
        let stream = "%begin 7 1 1\na\n\nb\n%end 7 1 1\n%window-add @1\n%begin 7 2 1\n%end 7 2 1\n";
        let notice = Item::Notice(Notice::WindowAdded(WindowId(1), WindowScope::Attached));
        check(stream, &[reply(1, &["a", "", "b"]), notice, reply(2, &[])]);
    }

    #[test]
    fn an_error_says_so() {
        let items = TmuxDecoder::default().feed(b"%begin 7 1 1\nno such thing\n%error 7 1 1\n");
        assert!(matches!(&items[..], [Item::Reply(TmuxReply { ok: false, .. })]), "{items:?}");
    }

    #[test]
    fn a_forged_ending_ends_nothing() {
        let forged =
            ["%end", "%end 7 1 0", "%end 7 2 1", "%error 8 1 1", "%end 7 1 1 ", "%end 7 01"];
        for forged in forged.into_iter().chain(["%end  7 1 1", " %end 7 1 1", "%begin 7 1 1"]) {
            let stream = format!("%begin 7 1 1\n{forged}\n%end 7 1 1\n");
            check(&stream, &[reply(1, &[forged])]);
        }
    }

    #[test]
    fn a_reply_of_known_length_cannot_be_forged() {
        let mut decoder = TmuxDecoder::default();
        decoder.expect_lines(2);
        // Of a hook, not of ours: it has a length of its own.
        let hook = decoder.feed(b"%begin 7 1 0\n%end 7 1 0\n");
        assert_eq!(hook.len(), 1);
        let items = decoder.feed(b"%begin 7 1 1\n%end 7 1 1\nb\n%end 7 1 1\n");
        assert_eq!(items, [reply(1, &["%end 7 1 1", "b"])]);
        decoder.expect_lines(2);
        let items = decoder.feed(b"%begin 7 1 1\nno such pane\n%error 7 1 1\n");
        assert!(matches!(&items[..], [Item::Reply(TmuxReply { ok: false, .. })]), "{items:?}");
        // And the one after it is read as ever.
        assert_eq!(decoder.feed(b"%begin 7 2 1\n%end 7 2 1\n"), [reply(2, &[])]);
    }

    #[test]
    fn what_is_left_of_a_forged_reply_is_seen() {
        let stream = "%begin 7 1 1\n%end 7 1 1\nrest\n%end 7 1 1\n";
        let strays = ["rest", "%end 7 1 1"].map(|line| Item::Stray(line.as_bytes().to_vec()));
        check(stream, &[reply(1, &[]), strays[0].clone(), strays[1].clone()]);
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut decoder = TmuxDecoder::with_longest(12);
        assert_eq!(decoder.feed(b"%begin 7 1 1\n"), []);
        for _ in 0..1000 {
            assert_eq!(decoder.feed(&[b'x'; 100]), []);
            assert!(decoder.bytes.len() <= 13, "{}", decoder.bytes.len());
        }
        let items = decoder.feed(b"\nyy\n%end 7 1 1\n");
        let [Item::Reply(reply)] = &items[..] else { panic!("{items:?}") };
        assert_eq!(reply.lines, [b"xxxxxxxxxxxx".to_vec(), b"yy".to_vec()]);
        assert!(reply.cut);
    }

    #[test]
    fn a_line_that_was_cut_ends_nothing() {
        let mut decoder = TmuxDecoder::with_longest(12);
        assert_eq!(decoder.feed(b"%begin 7 1 1\n%error 7 1 1 and more\n"), []);
        assert_eq!(decoder.feed(b"%end 7 1 1\n").len(), 1);
    }

    /// Writes an item as tmux would.
    fn encode(item: &Item, out: &mut Vec<u8>) {
        match item {
            Item::Reply(TmuxReply {
                header: ReplyHeader { time, number, flags },
                lines,
                ok,
                ..
            }) => {
                out.extend(format!("%begin {time} {number} {flags}\n").bytes());
                for line in lines {
                    out.extend_from_slice(line);
                    out.push(b'\n');
                }
                let end = if *ok { "%end" } else { "%error" };
                out.extend(format!("{end} {time} {number} {flags}\n").bytes());
            }
            Item::Notice(Notice::Output { pane, data, age }) => {
                match age {
                    Some(age) => out.extend(format!("%extended-output {pane} {age} : ").bytes()),
                    None => out.extend(format!("%output {pane} ").bytes()),
                }
                for byte in data {
                    match byte {
                        b' '..=b'[' | b']'..=b'~' => out.push(*byte),
                        _ => out.extend(format!("\\{byte:03o}").bytes()),
                    }
                }
                out.push(b'\n');
            }
            other => panic!("not written here: {other:?}"),
        }
    }

    fn line() -> impl Strategy<Value = Vec<u8>> {
        let any = vec(any::<u8>().prop_filter("no end of line", |byte| *byte != b'\n'), 0..40);
        let near = "%(begin|end|error) [0-9] [0-9] [01]".prop_map(String::into_bytes);
        prop_oneof![any, near]
    }

    fn item() -> impl Strategy<Value = Item> {
        let reply = (10..99u64, 10..99u64, 0..2u64, vec(line(), 0..8), any::<bool>());
        let reply = reply.prop_map(|(time, number, flags, lines, ok)| {
            let header = ReplyHeader { time, number, flags };
            Item::Reply(TmuxReply { header, lines, ok, cut: false })
        });
        let output = (any::<u32>(), vec(any::<u8>(), 0..40), any::<Option<u64>>());
        let output = output.prop_map(|(pane, data, age)| {
            Item::Notice(Notice::Output { pane: TmuxPane(pane), data, age })
        });
        prop_oneof![reply, output]
    }

    /// Lines that look like the protocol, and lines that do not.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let protocol = "(%(begin|end|error) [0-9]{1,2} [0-9] [01]\n|%[a-z-]{1,12} [%@$][0-9] ?[a-z\\\\0-9]*\n)";
        let lines = prop_oneof![
            protocol.prop_map(String::into_bytes),
            line().prop_map(|mut line| {
                line.push(b'\n');
                line
            }),
            vec(any::<u8>(), 0..100),
        ];
        vec(lines, 0..20).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(items in vec(item(), 0..10)) {
            let mut bytes = Vec::new();
            items.iter().for_each(|item| encode(item, &mut bytes));
            prop_assert_eq!(TmuxDecoder::default().feed(&bytes), items);
        }

        #[test]
        fn cutting_it_differently_changes_nothing(
            bytes in stream(), cuts in vec(any::<prop::sample::Index>(), 0..12), longest in 0..80usize,
        ) {
            let whole = TmuxDecoder::with_longest(longest).feed(&bytes);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let (mut decoder, mut items, mut from) = (TmuxDecoder::with_longest(longest), Vec::new(), 0);
            for to in cuts.into_iter().chain([bytes.len()]) {
                items.extend(decoder.feed(&bytes[from..to]));
                from = to;
            }
            prop_assert_eq!(items, whole);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..500)) {
            fuzz(&bytes);
        }
    }
}
