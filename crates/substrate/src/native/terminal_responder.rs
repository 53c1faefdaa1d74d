//! Answers a program's terminal queries (cursor position, capabilities), for as long as the handle
//! that started it lives. It is a viewer: a program that prints much never waits for it.

use std::io;

use paned_keeper::tape::TapeReader;
use paned_term::{OutputScanner, ScanEvent};

use super::tape_text;
use super::viewer_conn::ViewerConn;
use paned_backend::ReplayedScreen;

/// Answers the queries of one pane until it ends.
pub(super) async fn run_responder(mut conn: ViewerConn, tape: TapeReader) {
    let mut responder = TerminalResponder::new(tape);
    while conn.printed().await {
        let Ok(answer) = responder.process_new_output() else { return };
        if conn.write(&[&answer]).await.is_err() {
            return;
        }
    }
}

/// The terminal state of a pane. It draws nothing until there is a query.
struct TerminalResponder {
    tape: TapeReader,
    scanner: OutputScanner,
    at: u64,
    replayed: Option<ReplayedScreen>,
}

impl TerminalResponder {
    fn new(tape: TapeReader) -> Self {
        Self { tape, scanner: OutputScanner::new(), at: 0, replayed: None }
    }

    /// Reads new output; returns the replies to its queries.
    fn process_new_output(&mut self) -> io::Result<Vec<u8>> {
        let from = self.at;
        let mut has_query = false;
        let scanner = &mut self.scanner;
        self.at = tape_text::each(&self.tape, from, self.tape.end(), |bytes| {
            scanner.feed(bytes, |event| has_query |= event == ScanEvent::Query);
        })?;
        if has_query { self.answer(from) } else { Ok(Vec::new()) }
    }

    /// The replies to queries after this offset; earlier ones have been answered.
    fn answer(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let tape = &self.tape;
        let replayed =
            self.replayed.get_or_insert_with(|| ReplayedScreen::new(tape, tape.first(), b""));
        for end in [from, self.at] {
            drop(replayed.screen_mut().take_replies());
            while let Err(gap) = replayed.catch_up(tape, end)? {
                // The ring was overwritten meanwhile.
                *replayed = ReplayedScreen::new(tape, gap.first, b"");
            }
        }
        Ok(replayed.screen_mut().take_replies())
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
        let mut responder = TerminalResponder::new(TapeReader::open(&path).unwrap());
        let mut check = |printed: &[u8], expect: &[u8]| {
            tape.append(printed, Time(1)).unwrap();
            assert_eq!(
                responder.process_new_output().unwrap(),
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
