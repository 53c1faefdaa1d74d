//! Finds the echo of typed text in the output, so that a client that waits for output is not
//! answered with what was typed.
//!
//! Only the keeper sees input and output in one order, and only the keeper may see typed text: it
//! records where the echo is on the tape, and never the text.
//!
//! Two sources echo. The kernel does at once, wherever the cursor is, while the terminal is in
//! canonical mode; then the text may come a second time, when a line editor reads what was typed
//! ahead of it. A line editor echoes behind its prompt, with redraws and its own line wrapping. So
//! each output line is drawn here as a terminal of this width would, and compared with the lines
//! that were typed.

mod drawn_line;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

use drawn_line::DrawnLine;

/// How many typed lines may wait for their echo.
const MAX_LINES: usize = 1024;
/// How many of them a line of output is compared with, oldest first.
const COMPARED_LINES: usize = 16;
/// How many characters of one typed line are compared.
const MAX_CHARS: usize = 16 << 10;
/// How many characters of typed text are kept in all: it may hold secrets, and a program that does
/// not echo leaves them here until its next output.
const MAX_KEPT_CHARS: usize = 256 << 10;
/// How many characters may be looked at for the echo of one input. After that the program is taken
/// for one that does not echo: no output may keep the keeper busy.
const MAX_WORK: usize = 64 << 20;
/// After this much output without an echo, the program is taken for one that does not echo.
const MAX_OUTPUT: u64 = 1 << 20;
/// The kernel echoes this soon: only output that was already on its way comes before.
const KERNEL_ECHO_OUTPUT: u64 = 16 << 10;
/// How much of the open line is kept to find the prompt in it.
const MAX_OPEN_LINE: usize = 4 << 10;
/// How many characters before the cursor are compared: full-screen programs print no newline, so
/// that their line grows with every key.
const MAX_PROMPT: usize = 1 << 10;
const PASTE_START: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";
/// The last character of a prompt, before blanks.
const PROMPT_ENDS: &str = "$#%>»❯›➜→λ▶⟩";

/// How the terminal treats input at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoMode {
    /// The kernel echoes.
    Kernel,
    /// The program reads keys as they come, and may echo them.
    Program,
    /// Nothing is echoed: a password is read.
    Off,
}

/// Looks for the echo of what was typed.
#[derive(Debug, Default)]
pub(crate) struct EchoTracker {
    /// The bytes of the line that the cursor is in.
    open: Vec<u8>,
    /// Where that line begins.
    open_at: u64,
    cols: usize,
    /// What was typed and not echoed yet. Empty most of the time: then nothing is drawn.
    typed: VecDeque<TypedLine>,
    /// What the kernel has echoed, and a line editor may echo again.
    typed_ahead: VecDeque<TypedLine>,
    drawn: DrawnLine,
    /// The prompts behind which an echo was found.
    prompts: VecDeque<Vec<char>>,
    /// Where the line ends after which an echo was found.
    last_echo_line: u64,
    line: LineProgress,
    /// The lines that were echoed directly above each other: an editor may draw them again.
    block: Vec<TypedLine>,
    /// Whether an editor draws a long line row by row, up and down.
    draws_rows: bool,
    /// How many characters were looked at since the last input.
    work: usize,
}

/// What was found in the line that the cursor is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineProgress {
    /// No echo.
    #[default]
    Nothing,
    /// It reads like a part of an echo, and was reported as that.
    Part,
    /// A whole echo.
    Whole,
    /// A whole echo, and the editor went up to draw again.
    DrawnAgain,
}

/// A typed line, or a part of it.
#[derive(Clone, Debug)]
struct TypedLine {
    text: Vec<char>,
    is_complete: bool,
    mode: EchoMode,
    /// Where the output ended when it was typed.
    at: u64,
    /// What the line read then, up to the cursor; nothing for a line typed behind another.
    prompt: Option<LineStart>,
}

/// A line up to the cursor.
#[derive(Clone, Debug)]
struct LineStart {
    length: usize,
    /// Its last characters.
    end: Vec<char>,
}

impl LineStart {
    fn new(text: &[char]) -> Self {
        let end = &text[text.len().saturating_sub(MAX_PROMPT)..];
        Self { length: text.len(), end: end.to_vec() }
    }

    /// What follows it in a line that begins with it.
    fn strip_from<'a>(&self, line: &'a [char]) -> Option<&'a [char]> {
        let (start, rest) = line.split_at_checked(self.length)?;
        start.ends_with(&self.end).then_some(rest)
    }

    fn is_blank(&self) -> bool {
        self.length <= MAX_PROMPT && trim_end(&self.end).is_empty()
    }
}

impl EchoTracker {
    /// The terminal's width.
    pub(crate) fn set_cols(&mut self, cols: u16) {
        self.cols = cols.into();
        self.drawn.set_cols(self.cols);
    }

    /// This is typed while the output ends at `end`, all of which was read.
    pub(crate) fn typed(&mut self, bytes: &[u8], mode: EchoMode, end: u64) {
        if mode == EchoMode::Off {
            self.typed.clear();
            return;
        }
        self.draws_rows = false;
        self.work = 0;
        if self.is_idle() {
            self.drawn = DrawnLine::new(self.cols);
            self.drawn.feed(&self.open);
        }
        let text = String::from_utf8_lossy(bytes);
        let mut prompt = Some(LineStart::new(self.drawn.before_cursor()));
        for piece in text.split_inclusive(['\r', '\n']) {
            let is_complete = piece.ends_with(['\r', '\n']);
            let text = visible(piece, mode);
            self.push(TypedLine { text, is_complete, mode, at: end, prompt: prompt.take() });
        }
    }

    fn push(&mut self, line: TypedLine) {
        if let Some(last) = self.typed.back_mut().filter(|last| !last.is_complete) {
            let room = MAX_CHARS.saturating_sub(last.text.len());
            last.text.extend(line.text.into_iter().take(room));
            last.is_complete = line.is_complete;
            return limit(&mut self.typed);
        }
        if !line.text.is_empty() {
            self.typed.push_back(line);
        }
        limit(&mut self.typed);
    }

    fn is_idle(&self) -> bool {
        self.typed.is_empty() && self.typed_ahead.is_empty() && self.line != LineProgress::Whole
    }

    /// Reads output that begins at this offset. Answers the echoes in it, in order; one that begins
    /// where the one before it begins replaces that.
    pub(crate) fn printed(&mut self, bytes: &[u8], at: u64) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        if !self.is_idle() {
            self.find(bytes, at, &mut found);
        }
        self.keep_open_line(bytes, at);
        found
    }

    fn keep_open_line(&mut self, bytes: &[u8], at: u64) {
        let rest = match memchr::memrchr(b'\n', bytes) {
            Some(newline) => {
                self.open.clear();
                self.open_at = at + newline as u64 + 1;
                &bytes[newline + 1..]
            }
            None => bytes,
        };
        self.open.extend_from_slice(&rest[rest.len().saturating_sub(MAX_OPEN_LINE)..]);
        let over = self.open.len().saturating_sub(MAX_OPEN_LINE);
        self.open.drain(..over);
        self.open.shrink_to(MAX_OPEN_LINE);
    }

    fn find(&mut self, bytes: &[u8], at: u64, found: &mut Vec<Range<u64>>) {
        self.give_up(at);
        let mut start = self.open_at;
        let mut read = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            self.work += self.drawn.feed(&bytes[read..newline]);
            let end = at + newline as u64;
            self.check(start..end, true, found);
            read = newline + 1;
            start = end + 1;
            self.end_line(end + 1);
            self.give_up(end);
            if self.is_idle() {
                return;
            }
        }
        self.work += self.drawn.feed(&bytes[read..]);
        self.check(start..at + bytes.len() as u64, false, found);
    }

    /// Forgets what this program does not echo.
    fn give_up(&mut self, at: u64) {
        if MAX_WORK < self.work {
            self.typed.clear();
            self.typed_ahead.clear();
            self.block.clear();
            self.line = LineProgress::Nothing;
        }
        let is_late = |line: &TypedLine| line.at + MAX_OUTPUT < at;
        self.typed.retain(|line| !is_late(line));
        self.typed_ahead.retain(|line| !is_late(line));
    }

    /// Looks for an echo in the line as it reads now. `line` is its range so far.
    fn check(&mut self, line: Range<u64>, is_over: bool, found: &mut Vec<Range<u64>>) {
        if self.line == LineProgress::Whole && self.drawn.moved_up() {
            self.line = LineProgress::DrawnAgain;
        }
        if self.line == LineProgress::DrawnAgain {
            self.last_echo_line = line.end + 1;
            found.push(line);
            return;
        }
        let text = self.drawn.text();
        // Each line is compared from its end on, as far as it fits.
        let compared = self.typed.iter().chain(&self.typed_ahead).take(COMPARED_LINES);
        let compared: usize = compared.map(|typed| typed.text.len().min(text.len())).sum();
        self.work += 64 + text.len() + compared;
        let whole = (0..self.typed.len().min(COMPARED_LINES)).find_map(|index| {
            let prompt = self.echo_of(&self.typed[index], index, text, &line)?;
            Some((index, prompt.len()))
        });
        if let Some((index, prompt)) = whole {
            self.echoed(index, prompt, line, found);
            return;
        }
        let again = self.typed_ahead.iter().take(COMPARED_LINES).position(|typed| {
            prompt_before(typed, text).is_some_and(|prompt| self.is_prompt(prompt))
        });
        if let Some(index) = again {
            self.typed_ahead.drain(..=index);
            self.record(line, found);
            return;
        }
        let is_part = self.draws_rows && self.is_row() || self.is_part(&line);
        let draws_rows = self.drawn.moved_up() || is_over && self.drawn.goes_on_below();
        if is_part && (!is_over || draws_rows) {
            self.draws_rows |= draws_rows;
            self.line = LineProgress::Part;
            found.push(line);
        } else if is_over && self.line == LineProgress::Part && !draws_rows {
            // It only began like an echo.
            found.push(line.start..line.start);
        }
    }

    /// A new line begins.
    fn end_line(&mut self, next: u64) {
        if self.line == LineProgress::Whole && self.drawn.moved_up() {
            self.line = LineProgress::DrawnAgain;
        }
        match self.line {
            LineProgress::DrawnAgain => {
                for mut typed in std::mem::take(&mut self.block).into_iter().rev() {
                    typed.prompt = None;
                    self.typed.push_front(typed);
                }
            }
            LineProgress::Nothing | LineProgress::Part if self.last_echo_line != next => {
                self.block.clear();
            }
            LineProgress::Nothing | LineProgress::Part | LineProgress::Whole => {}
        }
        self.line = LineProgress::Nothing;
        self.drawn = DrawnLine::new(self.cols);
    }

    /// Whether the line is a piece of a typed line.
    fn is_row(&mut self) -> bool {
        self.work += self.typed.front().map_or(0, |typed| typed.text.len());
        let text: String = self.drawn.text().iter().collect();
        let typed = |line: &TypedLine| line.text.iter().collect::<String>().contains(text.trim());
        self.typed.front().is_some_and(typed)
    }

    fn record(&mut self, line: Range<u64>, found: &mut Vec<Range<u64>>) {
        self.line = LineProgress::Whole;
        self.last_echo_line = line.end + 1;
        found.push(line);
    }

    /// This typed line was echoed behind a prompt of this length; those before it were not, and
    /// will not be.
    fn echoed(
        &mut self,
        index: usize,
        prompt: usize,
        line: Range<u64>,
        found: &mut Vec<Range<u64>>,
    ) {
        self.typed.drain(..index);
        let Some(typed) = self.typed.pop_front() else { return };
        let typed = TypedLine { prompt: None, ..typed };
        let prompt = &self.drawn.text()[..prompt];
        let is_prompt = (1..=MAX_PROMPT).contains(&prompt.len());
        if is_prompt && !self.prompts.iter().any(|known| known == prompt) {
            self.prompts.push_back(prompt.to_vec());
            if 4 < self.prompts.len() {
                self.prompts.pop_front();
            }
        }
        let is_typed_ahead = typed.mode == EchoMode::Kernel && !ends_like_prompt(prompt);
        self.draws_rows = false;
        let is_full =
            MAX_LINES <= self.block.len() || MAX_KEPT_CHARS < chars(&self.block) + typed.text.len();
        if self.last_echo_line != line.start || is_full {
            self.block.clear();
        }
        self.block.push(typed.clone());
        if is_typed_ahead {
            self.typed_ahead.push_back(typed);
            limit(&mut self.typed_ahead);
        }
        self.record(line, found);
    }

    /// What is before the echo of a typed line, if this line of output is that.
    fn echo_of<'a>(
        &self,
        typed: &TypedLine,
        index: usize,
        text: &'a [char],
        line: &Range<u64>,
    ) -> Option<&'a [char]> {
        if let Some(prompt) = self.prompt_of(typed, line)
            && let Some(rest) = prompt.strip_from(text)
            && begins_with(rest, &typed.text)
        {
            return text.get(..prompt.length);
        }
        let before = prompt_before(typed, text)?;
        let is_echo = if before.is_empty() {
            let soon = line.start <= typed.at + KERNEL_ECHO_OUTPUT;
            typed.mode == EchoMode::Kernel && soon || self.follows_echo(typed, line)
        } else {
            let had_no_prompt = typed.prompt.as_ref().is_none_or(LineStart::is_blank);
            let may_be_later = typed.mode == EchoMode::Kernel || 0 < index || had_no_prompt;
            self.prompts.iter().any(|known| same_prompt(known, before))
                || may_be_later && ends_like_prompt(before)
        };
        is_echo.then_some(before)
    }

    /// What the line read when this was typed, if that is the line.
    fn prompt_of<'a>(&self, typed: &'a TypedLine, line: &Range<u64>) -> Option<&'a LineStart> {
        typed.prompt.as_ref().filter(|_| line.start <= typed.at)
    }

    /// Whether the line before is an echo too, of text that was pasted together with this.
    fn follows_echo(&self, typed: &TypedLine, line: &Range<u64>) -> bool {
        typed.prompt.is_none() && self.last_echo_line == line.start
    }

    fn is_prompt(&self, before: &[char]) -> bool {
        ends_like_prompt(before) || self.prompts.iter().any(|known| same_prompt(known, before))
    }

    /// Whether the line reads like the beginning of an echo.
    fn is_part(&self, line: &Range<u64>) -> bool {
        let Some(typed) = self.typed.front() else { return false };
        let text = self.drawn.text();
        let is_begun = |rest: Option<&[char]>| {
            rest.is_some_and(|rest| !rest.is_empty() && typed.text.starts_with(rest))
        };
        let own = self.prompt_of(typed, line).is_some_and(|own| is_begun(own.strip_from(text)));
        own || self.prompts.iter().any(|prompt| is_begun(text.strip_prefix(prompt.as_slice())))
            || self.follows_echo(typed, line) && is_begun(Some(text))
    }
}

/// Drops the oldest lines beyond what is kept.
fn limit(lines: &mut VecDeque<TypedLine>) {
    let mut kept = chars(lines.iter());
    while MAX_LINES < lines.len() || MAX_KEPT_CHARS < kept {
        let Some(dropped) = lines.pop_front() else { return };
        kept -= dropped.text.len();
    }
}

fn chars<'a>(lines: impl IntoIterator<Item = &'a TypedLine>) -> usize {
    lines.into_iter().map(|line| line.text.len()).sum()
}

/// The characters that a line of typed text shows. After a key that does something else, only what
/// follows it is known.
fn visible(typed: &str, mode: EchoMode) -> Vec<char> {
    let text = typed.trim_end_matches(['\r', '\n']);
    let text = text.strip_suffix(PASTE_END).unwrap_or(text);
    let text = text.rfind(PASTE_START).map_or(text, |at| &text[at + PASTE_START.len()..]);
    let mut shown = Vec::new();
    for c in text.chars() {
        match c {
            '\x08' | '\x7f' => drop(shown.pop()),
            '\t' if mode == EchoMode::Kernel => shown.push(c),
            c if c.is_control() => shown.clear(),
            c if shown.len() < MAX_CHARS => shown.push(c),
            _ => {}
        }
    }
    shown
}

/// What is before the typed text at the end of a line.
fn prompt_before<'a>(typed: &TypedLine, text: &'a [char]) -> Option<&'a [char]> {
    let is_end = |text: &'a [char]| text.strip_suffix(typed.text.as_slice());
    is_end(text).or_else(|| is_end(trim_end(text)))
}

/// Whether the text is this, alone or with something far to the right of it, as shells show there.
fn begins_with(text: &[char], typed: &[char]) -> bool {
    let rest = text.strip_prefix(typed);
    rest.is_some_and(|rest| rest.starts_with(&[' ', ' ']) || trim_end(rest).is_empty())
}

/// Whether two prompts differ in numbers only.
fn same_prompt(a: &[char], b: &[char]) -> bool {
    let is_letter = |c: &&char| !c.is_ascii_digit();
    a.iter().filter(is_letter).eq(b.iter().filter(is_letter))
}

fn ends_like_prompt(text: &[char]) -> bool {
    let text = trim_end(text);
    text.ends_with(&['.', '.', '.']) || text.last().is_some_and(|c| PROMPT_ENDS.contains(*c))
}

/// The text without the blanks at its end.
fn trim_end(text: &[char]) -> &[char] {
    let last = text.iter().rposition(|c| !c.is_whitespace());
    &text[..last.map_or(0, |last| last + 1)]
}
