//! Commands for tmux, built so that text cannot be misread.
//!
//! Commands, flags and formats are `&'static str` of ours. Text from outside goes in by
//! [`TmuxCommand::text`] and [`TmuxCommand::name`] only: in double quotes, with every byte that is
//! not a plain letter or digit as an octal escape. So no `;`, newline, quote, `$`, `~`, `#` or 0xFF
//! ever reaches tmux's parser; NUL, which tmux cannot hold, is refused. Targets are ids.

use std::fmt::Write as _;

use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};

/// Most bytes that one `send-keys` or `set-buffer` carries.
const PIECE: usize = 512;
/// Most bytes of one paste.
const PASTE: usize = 16 << 10;
/// The buffer for pastes; no automatic name looks like this.
pub(super) const BUFFER: &str = "paned-paste";

/// The target of a command. An id, never a name: tmux matches names by prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmuxTarget {
    /// A session.
    Session(SessionId),
    /// A window.
    Window(WindowId),
    /// A pane.
    Pane(TmuxPane),
}

impl From<SessionId> for TmuxTarget {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl From<WindowId> for TmuxTarget {
    fn from(id: WindowId) -> Self {
        Self::Window(id)
    }
}

impl From<TmuxPane> for TmuxTarget {
    fn from(id: TmuxPane) -> Self {
        Self::Pane(id)
    }
}

/// One line for tmux: a command, or several that run with nothing in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxCommand {
    line: String,
    parts: usize,
    rest: bool,
    error: Option<&'static str>,
    counts: bool,
}

impl TmuxCommand {
    /// A command of this name.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { line: name.to_owned(), parts: 1, rest: false, error: None, counts: false }
    }

    /// A flag, or an argument of ours.
    #[must_use]
    pub fn word(mut self, word: &'static str) -> Self {
        self.line.push(' ');
        self.line.push_str(word);
        self
    }

    /// A format of ours, for tmux to expand.
    #[must_use]
    pub(super) fn format(mut self, format: &str) -> Self {
        self.quote(format.as_bytes());
        self
    }

    /// The target: `-t` and an id.
    #[must_use]
    pub fn target(mut self, target: impl Into<TmuxTarget>) -> Self {
        match target.into() {
            // Quoted, because a `$` would be read as a variable.
            TmuxTarget::Session(id) => _ = write!(self.line, " -t \"\\044{}:\"", id.0),
            TmuxTarget::Window(id) => _ = write!(self.line, " -t {id}"),
            TmuxTarget::Pane(id) => _ = write!(self.line, " -t {id}"),
        }
        self
    }

    /// A number after a flag.
    #[must_use]
    pub fn number(mut self, flag: &'static str, number: impl Into<i64>) -> Self {
        _ = write!(self.line, " {flag} {}", number.into());
        self
    }

    /// Text that tmux takes as it is, after a flag.
    #[must_use]
    pub fn text(mut self, flag: &'static str, text: impl AsRef<[u8]>) -> Self {
        self = self.word(flag);
        self.quote(text.as_ref());
        self
    }

    /// Text that tmux would expand as a format, after a flag: names, titles, folders.
    #[must_use]
    pub fn name(mut self, flag: &'static str, text: impl AsRef<[u8]>) -> Self {
        self = self.word(flag);
        self.quote(&literal(text.as_ref()));
        self
    }

    /// Text that tmux takes as it is, and never as a flag. Flags cannot follow.
    #[must_use]
    pub fn argument(mut self, text: impl AsRef<[u8]>) -> Self {
        self.start_rest();
        self.quote(text.as_ref());
        self
    }

    /// Text that tmux would expand as a format, and never a flag. Flags cannot follow.
    #[must_use]
    pub fn named(mut self, text: impl AsRef<[u8]>) -> Self {
        self.start_rest();
        self.quote(&literal(text.as_ref()));
        self
    }

    /// A program with its arguments, for commands that start one. No shell reads them.
    #[must_use]
    pub fn program(self, argv: &[impl AsRef<[u8]>]) -> Self {
        // tmux gives a single word to a shell, and runs several as they are.
        let alone: &[&str] = if argv.len() == 1 { &["/bin/sh", "-c", "exec \"$0\""] } else { &[] };
        let command = alone.iter().fold(self, |command, word| command.argument(word));
        argv.iter().fold(command, |command, word| command.argument(word))
    }

    /// This command, then the next, with nothing in between. After an error the rest is not run.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.line.push_str(" ; ");
        self.line.push_str(&next.line);
        self.parts += next.parts;
        self.error = self.error.or(next.error);
        self.rest = next.rest;
        self
    }

    /// Declares that the first part replies with two numbers, whose sum is the number of lines of
    /// the second part.
    #[must_use]
    pub(super) fn counted(mut self) -> Self {
        self.counts = true;
        self
    }

    pub(super) fn counts(&self) -> bool {
        self.counts
    }

    /// How many replies it gets when no part fails.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The line to write, with its end.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] when a text has a NUL.
    pub fn encode(&self) -> Result<String, Error> {
        match self.error {
            Some(wrong) => Err(Error::InvalidCommand(wrong.to_owned())),
            None => Ok(format!("{}\n", self.line)),
        }
    }

    fn start_rest(&mut self) {
        if !self.rest {
            self.line.push_str(" --");
            self.rest = true;
        }
    }

    fn quote(&mut self, text: &[u8]) {
        self.line.push_str(" \"");
        for byte in text {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'/' | b'-' | b'_' | b'.' => {
                    self.line.push(char::from(*byte));
                }
                0 => self.error = Some("a text for tmux cannot hold a NUL"),
                _ => _ = write!(self.line, "\\{byte:03o}"),
            }
        }
        self.line.push('"');
    }
}

/// Types any bytes into a pane.
///
/// As a paste, which goes to the program even while the user scrolls; keys would go to the
/// scrolling. NUL does not fit into a paste and goes as a key.
#[must_use]
pub fn input(pane: TmuxPane, bytes: &[u8]) -> Vec<TmuxCommand> {
    let mut commands = Vec::new();
    for run in bytes.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        if run[0] == 0 {
            commands.extend(keys(pane, run));
        } else {
            commands.extend(run.chunks(PASTE).map(|piece| paste(pane, piece)));
        }
    }
    commands
}

/// Types bytes into a pane as keys, in pieces. While the user scrolls there, they control the
/// scrolling.
pub fn keys(pane: TmuxPane, bytes: &[u8]) -> impl Iterator<Item = TmuxCommand> {
    bytes.chunks(PIECE).map(move |piece| {
        let mut command = TmuxCommand::new("send-keys").word("-H").target(pane);
        for byte in piece {
            _ = write!(command.line, " {byte:02x}");
        }
        command
    })
}

fn paste(pane: TmuxPane, piece: &[u8]) -> TmuxCommand {
    let set = TmuxCommand::new("set-buffer").text("-b", BUFFER).argument(piece);
    let paste = TmuxCommand::new("paste-buffer").word("-d").word("-r").text("-b", BUFFER);
    set.then(paste.target(pane))
}

/// Cleans text for a name or a title, as tmux keeps it: no control characters, nothing that is
/// invisible or changes the direction of writing, no backslash (which tmux doubles at times), valid
/// UTF-8, at most 256 characters. What the system's own tables call unprintable, such as characters
/// newer than they are, tmux still writes in octal.
#[must_use]
pub fn clean(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let plain = |c: char| match c {
        c if c.is_control() => ' ',
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => ' ',
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => ' ',
        '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}' => ' ',
        '\\' => '/',
        c => c,
    };
    text.chars().map(plain).take(256).collect()
}

/// Escapes text so that tmux's format expansion restores it. `##` is a `#`, except before `[`,
/// where all of them stay.
fn literal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let signs = rest.iter().take_while(|byte| **byte == b'#').count();
        if signs == 0 {
            out.push(*first);
            rest = after;
            continue;
        }
        let times = if rest.get(signs) == Some(&b'[') { signs } else { 2 * signs };
        out.resize(out.len() + times, b'#');
        rest = &rest[signs..];
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(command: TmuxCommand, expect: &str) {
        assert_eq!(command.encode().as_deref(), Ok(format!("{expect}\n").as_str()));
    }

    #[test]
    fn a_command_is_one_line() {
        let split =
            TmuxCommand::new("split-window").word("-d").target(TmuxPane(3)).number("-l", 20);
        check(split.program(&["echo", "a;b"]), r#"split-window -d -t %3 -l 20 -- "echo" "a\073b""#);
        let two = TmuxCommand::new("kill-pane").target(TmuxPane(1));
        let two = two.then(TmuxCommand::new("kill-session").target(SessionId(2)));
        assert_eq!(two.parts(), 2);
        check(two, r#"kill-pane -t %1 ; kill-session -t "\0442:""#);
    }

    #[test]
    fn a_program_alone_is_not_given_to_a_shell() {
        let expect = r#"new-window -- "/bin/sh" "-c" "exec \042\0440\042" "a b""#;
        check(TmuxCommand::new("new-window").program(&["a b"]), expect);
    }

    #[test]
    fn nul_is_refused() {
        let command = TmuxCommand::new("rename-window").named("a\0b");
        assert!(matches!(command.clone().encode(), Err(Error::InvalidCommand(_))));
        let command = TmuxCommand::new("list-panes").then(command);
        assert!(matches!(command.encode(), Err(Error::InvalidCommand(_))));
    }

    #[test]
    fn formats_are_made_literal() {
        for (text, expect) in
            [("#{pid}", "##{pid}"), ("##", "####"), ("##[x", "##[x"), ("a#", "a##")]
        {
            assert_eq!(literal(text.as_bytes()), expect.as_bytes(), "{text}");
        }
    }

    #[test]
    fn input_goes_in_pieces() {
        assert_eq!(input(TmuxPane(1), b""), []);
        let pieces = input(TmuxPane(1), &[b'x'; PASTE + 1]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0].parts(), 2);
        let mixed = input(TmuxPane(1), b"a\0\0b");
        assert_eq!(mixed.len(), 3);
        check(mixed[1].clone(), "send-keys -H -t %1 00 00");
        assert_eq!(keys(TmuxPane(1), &[0xff; 513]).count(), 2);
    }

    #[test]
    fn names_are_cleaned() {
        assert_eq!(clean(b"a\nb\x1b\\c\xff"), "a b /c\u{fffd}");
        assert_eq!(clean("é".repeat(300).as_bytes()).chars().count(), 256);
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_quotes(text in vec(1..=255u8, 0..60)) {
            let line = TmuxCommand::new("x").argument(&text).encode().unwrap();
            let inner = line.strip_prefix("x -- \"").unwrap().strip_suffix("\"\n").unwrap();
            let plain = |c: char| c.is_ascii_alphanumeric() || " /-_.\\".contains(c);
            prop_assert!(inner.chars().all(plain), "{}", inner);
            prop_assert_eq!(super::super::notice::unescape(inner.as_bytes()), text);
        }
    }
}
