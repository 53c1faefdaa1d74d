//! Signals in an agent's output, read as they pass: titles, progress, prompt marks, notifications, program status, resets.
//!
//! How the output is cut does not matter, and no more than [`MAX`] bytes are kept.

use super::status::StatusReport;

/// The longest signal that is understood; longer ones are skipped. It is the longest report of a program's status.
const MAX: usize = 4096;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// A signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// OSC 0 and 2.
    Title(String),
    /// OSC 9;4: whether something is under way.
    Progress(bool),
    /// OSC 133: the letter of a prompt mark.
    Mark(char),
    /// OSC 9, 99 and 777: the words of a notification.
    Notice(String),
    /// OSC 7501: what the program reports of itself.
    Status(StatusReport),
    /// RIS (`ESC c`): the terminal is as it was at the start.
    Reset,
}

/// The reader.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    state: State,
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    Osc,
    /// After an ESC in an OSC.
    OscEscape,
}

impl Reader {
    pub(super) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(Signal)) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Text, ESC) => State::Escape,
                (State::Text, _) => State::Text,
                (State::Escape, b']') => {
                    self.held.clear();
                    State::Osc
                }
                (State::Escape, ESC) => State::Escape,
                (State::Escape | State::OscEscape, b'c') => {
                    found(Signal::Reset);
                    State::Text
                }
                (State::Escape, _) => State::Text,
                (State::Osc, BEL) | (State::OscEscape, b'\\') => {
                    self.end(&mut found);
                    State::Text
                }
                (State::Osc, CAN | SUB) => State::Text,
                (State::Osc, ESC) => State::OscEscape,
                (State::OscEscape, b']') => {
                    self.held.clear();
                    State::Osc
                }
                (State::OscEscape, ESC) => State::Escape,
                (State::OscEscape, _) => State::Text,
                (State::Osc, _) => {
                    if self.held.len() <= MAX {
                        self.held.push(byte);
                    }
                    State::Osc
                }
            };
        }
    }

    fn end(&mut self, found: &mut impl FnMut(Signal)) {
        if MAX < self.held.len() {
            return;
        }
        let text = String::from_utf8_lossy(&self.held);
        let (number, rest) = text.split_once(';').unwrap_or((&text, ""));
        let signal = match number {
            "0" | "2" => Some(Signal::Title(clean(rest))),
            "9" => Some(progress(rest).unwrap_or_else(|| Signal::Notice(clean(rest)))),
            "99" => rest.split_once(';').map(|(_, words)| Signal::Notice(clean(words))),
            "777" => rest.strip_prefix("notify;").map(|words| Signal::Notice(clean(words))),
            "7501" => StatusReport::read(rest).map(Signal::Status),
            "133" => rest.chars().next().map(Signal::Mark),
            _ => None,
        };
        if let Some(signal) = signal {
            found(signal);
        }
    }
}

/// `4;state;percent`: 0 ends it, 2 is an error, the others go on.
fn progress(rest: &str) -> Option<Signal> {
    let rest = rest.strip_prefix("4;")?;
    let state = rest.split(';').next()?;
    matches!(state, "0" | "1" | "2" | "3" | "4")
        .then_some(Signal::Progress(matches!(state, "1" | "3")))
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Signal> {
        let mut reader = Reader::default();
        let mut found = Vec::new();
        pieces.iter().for_each(|piece| reader.feed(piece, |signal| found.push(signal)));
        found
    }

    #[test]
    fn each_signal_is_read() {
        let title = |text: &str| Signal::Title(text.into());
        let output = "a\x1b]0;⠋ demo\x07b\x1b]2;x\x1b\\\x1b]9;4;1;30\x07\x1b]9;4;0\x07\x1b]133;A\x07\
            \x1b]9;done\x07\x1b]777;notify;t;b\x07\x1b]11;?\x07\x1b]7501;?\x07\x1b]7501;state=idle:app=x\x1b\\";
        let expect = vec![
            title("⠋ demo"),
            title("x"),
            Signal::Progress(true),
            Signal::Progress(false),
            Signal::Mark('A'),
            Signal::Notice("done".into()),
            Signal::Notice("t;b".into()),
            Signal::Status(StatusReport::read("state=idle").unwrap()),
        ];
        assert_eq!(read(&[output.as_bytes()]), expect);
        for cut in 0..output.len() {
            let (one, other) = output.as_bytes().split_at(cut);
            assert_eq!(read(&[one, other]), expect, "cut at {cut}");
        }
    }

    #[test]
    fn a_full_reset_is_read_also_in_the_middle_of_another_signal() {
        assert_eq!(read(&[b"a\x1bcb"]), [Signal::Reset]);
        assert_eq!(read(&[b"\x1b", b"c"]), [Signal::Reset]);
        assert_eq!(
            read(&[b"\x1b]0;title\x1bc\x1b]0;y\x07"]),
            [Signal::Reset, Signal::Title("y".into())]
        );
        assert_eq!(read(&[b"\x1b[c c \x1b(c"]), []);
    }

    #[test]
    fn an_endless_one_is_skipped() {
        let long = [b"\x1b]0;".as_slice(), &[b'x'; 9000], b"\x07\x1b]0;y\x07"].concat();
        assert_eq!(read(&[&long]), [Signal::Title("y".into())]);
    }
}
