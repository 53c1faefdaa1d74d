//! The hidden modes of this program: what runs inside the panes that are measured, and the nursery of the
//! kernel that runs in this process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// How much a flooding child writes at once.
const BLOCK: usize = 64 << 10;
/// A plain line, without its end.
const LINE: &str =
    "the quick brown fox jumps over the lazy dog, then reads the log line by line 0123";

/// Runs the hidden mode that these arguments ask for, if they do.
pub(crate) fn run(args: impl Iterator<Item = String>) -> Option<ExitCode> {
    let args: Vec<String> = args.collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["nursery"] => paned_keeper::nursery::run(None).map(|()| 0),
        ["child", "flood", bytes] => flood(number(bytes)).map(|()| 0),
        ["child", "lines", count] => print(&lines(number(count), "\n")).map(|()| 0),
        ["child", "clock", code] => print(now_text().as_bytes()).map(|()| number(code)),
        _ => return None,
    };
    let code = done.ok().and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// Straight to the descriptor: the standard output of Rust looks for lines first.
fn print(bytes: &[u8]) -> io::Result<()> {
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write_all(bytes)
}

fn flood(bytes: u64) -> io::Result<()> {
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let block = block();
    let mut left = bytes;
    while left != 0 {
        let piece = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        out.write_all(&block[..piece])?;
        left -= piece as u64;
    }
    Ok(())
}

/// One block of plain lines.
fn block() -> Vec<u8> {
    format!("{LINE}\n").into_bytes().into_iter().cycle().take(BLOCK).collect()
}

/// So many numbered lines with this at the end of each.
pub(crate) fn lines(count: u64, end: &str) -> Vec<u8> {
    (0..count).flat_map(|line| format!("{line:>6} {LINE}{end}").into_bytes()).collect()
}

/// The time as the `clock` child prints it: nanoseconds since 1970.
fn now_text() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}\n", since.as_nanos())
}
