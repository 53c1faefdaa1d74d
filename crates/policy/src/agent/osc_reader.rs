//! Signals in an agent's output, parsed as it arrives: titles, progress, prompt marks,
//! notifications, program status, resets.
//!
//! The output may be split at any byte. Signals are at most as long as the longest report of a
//! program's status, [`MAX_SEQUENCE`](paned_term::vt::MAX_SEQUENCE); longer ones are skipped.

use paned_term::vt::{StringBuffer, StringKind, VtToken, VtTokenizer};

use super::status::StatusReport;

/// A signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OscSignal {
    /// OSC 0 and 2.
    Title(String),
    /// OSC 9;4: whether something is in progress.
    Progress(bool),
    /// OSC 133: the letter of a prompt mark.
    Mark(char),
    /// OSC 9, 99 and 777: the text of a notification.
    Notice(String),
    /// OSC 7501: what the program reports of itself.
    Status(StatusReport),
    /// RIS (`ESC c`): the terminal is reset to its initial state.
    Reset,
}

/// Parses the signals from the output.
#[derive(Clone, Debug, Default)]
pub(super) struct OscReader {
    tokenizer: VtTokenizer,
    string: StringBuffer,
}

impl OscReader {
    pub(super) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(OscSignal)) {
        let mut rest = bytes;
        while let Some(token) = self.tokenizer.next(&mut rest) {
            if matches!(token, VtToken::Escape(sequence) if sequence.plain == b"\x1bc") {
                found(OscSignal::Reset);
            }
            let string = self.string.observe(&token).filter(|(_, _, end)| end.is_complete());
            if let Some((StringKind::Osc, content, _)) = string {
                signal(&String::from_utf8_lossy(content)).into_iter().for_each(&mut found);
            }
        }
    }
}

/// The signal of an OSC.
fn signal(osc: &str) -> Option<OscSignal> {
    let (number, rest) = osc.split_once(';').unwrap_or((osc, ""));
    match number {
        "0" | "2" => Some(OscSignal::Title(clean(rest))),
        "9" => Some(progress(rest).unwrap_or_else(|| OscSignal::Notice(clean(rest)))),
        "99" => rest.split_once(';').map(|(_, words)| OscSignal::Notice(clean(words))),
        "777" => rest.strip_prefix("notify;").map(|words| OscSignal::Notice(clean(words))),
        "7501" => StatusReport::read(rest).map(OscSignal::Status),
        "133" => rest.chars().next().map(OscSignal::Mark),
        _ => None,
    }
}

/// `4;state;percent`, as ConEmu and Windows Terminal define it: 0 removes the progress and 2 shows
/// that it failed. 1 (a percentage), 3 (no percentage) and 4 (paused, a warning) are in progress.
fn progress(rest: &str) -> Option<OscSignal> {
    let rest = rest.strip_prefix("4;")?;
    let state = rest.split(';').next()?;
    matches!(state, "0" | "1" | "2" | "3" | "4")
        .then_some(OscSignal::Progress(matches!(state, "1" | "3" | "4")))
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<OscSignal> {
        let mut reader = OscReader::default();
        let mut found = Vec::new();
        pieces.iter().for_each(|piece| reader.feed(piece, |signal| found.push(signal)));
        found
    }

    #[test]
    fn progress_that_is_paused_has_not_ended() {
        let progress = |state: char| read(&[format!("\x1b]9;4;{state};50\x07").as_bytes()]);
        for (state, expect) in [('0', false), ('1', true), ('2', false), ('3', true), ('4', true)] {
            assert_eq!(progress(state), [OscSignal::Progress(expect)], "{state}");
        }
    }

    #[test]
    fn each_signal_is_read() {
        let title = |text: &str| OscSignal::Title(text.into());
        let output = "a\x1b]0;⠋ demo\x07b\x1b]2;x\x1b\\\x1b]9;4;1;30\x07\x1b]9;4;0\x07\x1b]133;A\x07\
            \x1b]9;done\x07\x1b]777;notify;t;b\x07\x1b]11;?\x07\x1b]7501;?\x07\x1b]7501;state=idle:app=x\x1b\\";
        let expect = vec![
            title("⠋ demo"),
            title("x"),
            OscSignal::Progress(true),
            OscSignal::Progress(false),
            OscSignal::Mark('A'),
            OscSignal::Notice("done".into()),
            OscSignal::Notice("t;b".into()),
            OscSignal::Status(StatusReport::read("state=idle").unwrap()),
        ];
        assert_eq!(read(&[output.as_bytes()]), expect);
        for cut in 0..output.len() {
            let (one, other) = output.as_bytes().split_at(cut);
            assert_eq!(read(&[one, other]), expect, "cut at {cut}");
        }
    }

    #[test]
    fn a_full_reset_is_read_also_in_the_middle_of_another_signal() {
        assert_eq!(read(&[b"a\x1bcb"]), [OscSignal::Reset]);
        assert_eq!(read(&[b"\x1b", b"c"]), [OscSignal::Reset]);
        assert_eq!(
            read(&[b"\x1b]0;title\x1bc\x1b]0;y\x07"]),
            [OscSignal::Reset, OscSignal::Title("y".into())]
        );
        assert_eq!(read(&[b"\x1b[c c \x1b(c"]), []);
    }

    #[test]
    fn what_terminals_skip_hides_no_signal() {
        assert_eq!(read(&[b"\x1b\0]\x010\x7f;x\x07"]), [OscSignal::Title("x".into())]);
    }

    #[test]
    fn an_endless_one_is_skipped() {
        let long = [b"\x1b]0;".as_slice(), &[b'x'; 9000], b"\x07\x1b]0;y\x07"].concat();
        assert_eq!(read(&[&long]), [OscSignal::Title("y".into())]);
    }
}
