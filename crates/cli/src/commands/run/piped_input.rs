//! Standard input that is a pipe or a file, typed into the program's terminal.
//!
//! The terminal of such a pane echoes nothing, and only `^D` and `^V` have a meaning in it, so
//! every byte arrives unchanged. It hands over whole lines and holds a few thousand bytes of one:
//! a `^D` in the middle of a line hands over what is there. At the start of a line it is the end of
//! input.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_backend::native::KeeperConn;
use paned_keeper::pty::{END_OF_INPUT, LITERAL_NEXT};
use paned_model::frame::{FromKeeper, RefusalReason, RequestId, ToKeeper};
use paned_model::{Code, Refusal};
use rustix::fs::{FileType, fstat};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::client::ApiClient;
use crate::commands::is_unavailable;

/// How much is read at once.
const PIECE: usize = 32 << 10;
/// How many bytes of a line are handed over at once: macOS holds 1024 of one.
const MAX_LINE: usize = 1000;
/// How long to wait for a program that does not read, before the next try.
const FULL_INTERVAL: Duration = Duration::from_millis(20);

/// Where the input goes.
pub(super) enum InputTarget {
    /// The keeper that listens here.
    Keeper(PathBuf),
    /// The pane of this id, on a server.
    Server(ApiClient, String),
}

/// Whether standard input is a pipe or a file. `/dev/null` and other devices are left alone, and so
/// are sockets: programs that start others often leave one open that never carries anything.
pub(super) fn is_piped() -> bool {
    let kind = fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::RegularFile))
}

/// Types standard input into the program until its end.
///
/// # Errors
/// When it can no longer be typed, mostly because the program has ended.
pub(super) async fn forward(target: InputTarget) -> Result<()> {
    let mut pieces = read_stdin();
    let mut encoder = PipedInputEncoder::default();
    let mut typist = match target {
        InputTarget::Keeper(socket) => {
            InputTypist::Keeper(KeeperConn::connect_viewer(&socket).await?, 0)
        }
        InputTarget::Server(client, pane) => InputTypist::Server(client, pane),
    };
    while let Some(piece) = pieces.recv().await {
        typist.type_in(encoder.encode(&piece)).await?;
    }
    typist.type_in(encoder.end()).await
}

/// Reads standard input in a thread, because a read cannot be cancelled. The thread ends with us.
fn read_stdin() -> mpsc::Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel(2);
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut piece = vec![0; PIECE];
        loop {
            match stdin.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What cannot be read has ended.
                Ok(0) | Err(_) => return,
                Ok(read) if sender.blocking_send(piece[..read].to_vec()).is_err() => return,
                Ok(_) => {}
            }
        }
    });
    pieces
}

/// The connection over which input is typed.
enum InputTypist {
    Keeper(KeeperConn, RequestId),
    Server(ApiClient, String),
}

impl InputTypist {
    /// Types all of these bytes, waiting for a program that does not read.
    async fn type_in(&mut self, bytes: Vec<u8>) -> Result<()> {
        while !self.try_type(&bytes).await? {
            sleep(FULL_INTERVAL).await;
        }
        Ok(())
    }

    /// Types all of these bytes or none; returns whether it did.
    async fn try_type(&mut self, bytes: &[u8]) -> Result<bool> {
        match self {
            Self::Keeper(wire, id) => {
                *id += 1;
                wire.queue(&ToKeeper::Input(*id, bytes.to_vec()));
                match response(wire, *id).await? {
                    None => Ok(true),
                    Some(RefusalReason::Full) => Ok(false),
                    Some(_) => Err(Refusal::new(Code::Gone, "the program has exited").into()),
                }
            }
            Self::Server(client, pane) => {
                let text = BASE64_STANDARD.encode(bytes);
                let params = json!({ "paneId": pane, "base64": text });
                match client.exact_action("pane:write", &params).await {
                    Ok(_) => Ok(true),
                    Err(error) if is_unavailable(&error) || is_full(&error) => Ok(false),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// The keeper's response to a request. A keeper that is busy may take a while.
async fn response(wire: &mut KeeperConn, id: RequestId) -> Result<Option<RefusalReason>> {
    let is_it = |it: &FromKeeper| matches!(it, FromKeeper::Response(done) if done.id == id);
    loop {
        match wire.recv_until(is_it).await {
            Ok(FromKeeper::Response(done)) => return Ok(done.refused),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_full(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == Code::Limit)
}

/// Makes keys of bytes, so that the terminal hands over exactly these bytes.
#[derive(Default)]
struct PipedInputEncoder {
    /// How many bytes of the line were not handed over yet.
    held: usize,
}

impl PipedInputEncoder {
    fn encode(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut keys = Vec::with_capacity(bytes.len() + bytes.len() / MAX_LINE + 2);
        for byte in bytes {
            if self.held == MAX_LINE {
                keys.push(END_OF_INPUT);
                self.held = 0;
            }
            if matches!(*byte, END_OF_INPUT | LITERAL_NEXT) {
                keys.push(LITERAL_NEXT);
            }
            keys.push(*byte);
            self.held = if *byte == b'\n' { 0 } else { self.held + 1 };
        }
        keys
    }

    /// The end of input; before it, what is held of a line is handed over.
    fn end(&mut self) -> Vec<u8> {
        let times = if 0 < self.held { 2 } else { 1 };
        self.held = 0;
        vec![END_OF_INPUT; times]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expect: &[u8]) {
        let mut encoder = PipedInputEncoder::default();
        let mut keys = encoder.encode(bytes);
        keys.extend(encoder.end());
        assert_eq!(keys, expect);
    }

    #[test]
    fn the_end_comes_at_the_start_of_a_line() {
        check(b"", b"\x04");
        check(b"hi\n", b"hi\n\x04");
        check(b"hi", b"hi\x04\x04");
    }

    #[test]
    fn bytes_with_a_meaning_are_made_literal() {
        check(b"\x03\x04\x16\0\r\n", b"\x03\x16\x04\x16\x16\0\r\n\x04");
    }

    #[test]
    fn a_long_line_is_handed_over_in_pieces() {
        let mut encoder = PipedInputEncoder::default();
        let keys = encoder.encode(&[b'x'; 2 * MAX_LINE]);
        assert_eq!(keys.len(), 2 * MAX_LINE + 1, "none at its end: more may follow");
        assert_eq!(keys[MAX_LINE], END_OF_INPUT);
        assert_eq!(encoder.end(), [END_OF_INPUT; 2]);
    }
}
