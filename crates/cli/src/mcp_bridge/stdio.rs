//! Standard input and output as lines. Both have a thread of their own: they may block for as long
//! as the client likes.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// The longest line of a client: the limit of a request's body.
const MAX_LINE: u64 = 1 << 20;
/// How many lines are read ahead.
const READ_AHEAD: usize = 16;

/// The lines of standard input, until its end. One that is too long is
/// replaced by a text that is refused.
pub(super) fn read_lines() -> mpsc::Receiver<String> {
    let (lines, read) = mpsc::channel(READ_AHEAD);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = next_line(&mut input) {
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    });
    read
}

fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE {
        input.skip_until(b'\n')?;
        return Ok(Some("the line is too long".to_owned()));
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Writes answers to standard output. The receiver learns when no more can be written.
pub(super) fn write_lines(mut answers: mpsc::Receiver<Value>) -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let mut output = io::stdout().lock();
        while let Some(answer) = answers.blocking_recv() {
            let line = format!("{answer}\n");
            if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        // The bridge may be gone already.
        let _ = ended.send(());
    });
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_as_a_whole() {
        let long = "x".repeat(2 << 20);
        let mut input = io::BufReader::new(io::Cursor::new(format!("{{}}\n{long}\n[]\nend")));
        let mut next = || next_line(&mut input).unwrap();
        assert_eq!(next().as_deref(), Some("{}\n"));
        assert_eq!(next().as_deref(), Some("the line is too long"));
        assert_eq!(next().as_deref(), Some("[]\n"));
        assert_eq!(next().as_deref(), Some("end"));
        assert_eq!(next(), None);
    }
}
