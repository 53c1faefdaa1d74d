//! Answers what a program asks its terminal (where its cursor is, what it can do), for as long as the handle that
//! started it lives. It only looks on: a program that prints much never waits for it.

use std::io;

use paned_keeper::tape::TapeReader;
use paned_term::{OutputScanner, ScanEvent};

use super::tape_text;
use super::viewer_conn::ViewerConn;
use paned_backend::ReplayedScreen;

/// Attends one pane until it ends.
pub(super) async fn run_responder(mut visit: ViewerConn, tape: TapeReader) {
    let mut attendant = TerminalResponder::new(tape);
    while visit.printed().await {
        let Ok(answer) = attendant.process_new_output() else { return };
        if visit.write(&[&answer]).await.is_err() {
            return;
        }
    }
}

/// What a pane's terminal knows. It draws nothing until it is asked something.
struct TerminalResponder {
    tape: TapeReader,
    signals: OutputScanner,
    at: u64,
    drawn: Option<ReplayedScreen>,
}

impl TerminalResponder {
    fn new(tape: TapeReader) -> Self {
        Self { tape, signals: OutputScanner::new(), at: 0, drawn: None }
    }

    /// Looks at what is new; answers what the terminal has to say to it.
    fn process_new_output(&mut self) -> io::Result<Vec<u8>> {
        let (from, mut asked) = (self.at, false);
        let signals = &mut self.signals;
        self.at = tape_text::each(&self.tape, from, self.tape.end(), |bytes| {
            signals.feed(bytes, |signal| asked |= signal == ScanEvent::Query);
        })?;
        if asked { self.answer(from) } else { Ok(Vec::new()) }
    }

    /// The answers to what was asked after this offset; what was before has been answered.
    fn answer(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let tape = &self.tape;
        let drawn = self.drawn.get_or_insert_with(|| ReplayedScreen::new(tape, tape.first(), b""));
        for end in [from, self.at] {
            drop(drawn.screen_mut().take_replies());
            while let Err(gap) = drawn.catch_up(tape, end)? {
                // The ring was faster.
                *drawn = ReplayedScreen::new(tape, gap.first, b"");
            }
        }
        Ok(drawn.screen_mut().take_replies())
    }
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::TapeWriter;
    use paned_model::{Size, Time};

    use super::*;

    #[test]
    fn each_question_is_answered_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = TapeWriter::create(&path, 1 << 20, Time(1)).unwrap();
        tape.set_size(Size::default());
        let mut attendant = TerminalResponder::new(TapeReader::open(&path).unwrap());
        let mut check = |printed: &[u8], expect: &[u8]| {
            tape.append(printed, Time(1)).unwrap();
            assert_eq!(
                attendant.process_new_output().unwrap(),
                expect,
                "{}",
                printed.escape_ascii()
            );
        };
        check(b"hello", b"");
        check(b"\x1b[6n", b"\x1b[1;6R");
        check(b"\r\nab", b"");
        check(b"\x1b[", b"");
        check(b"6n", b"\x1b[2;3R");
        check(b"c", b"");
    }
}
