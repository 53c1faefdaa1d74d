//! The hidden modes of this program: what runs inside the panes that are measured.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use crate::flood::{BLOCK, FloodKind};

/// A plain line, without its end.
const LINE: &str =
    "the quick brown fox jumps over the lazy dog, then reads the log line by line 0123";

/// Runs the hidden mode that these arguments ask for, if they do.
pub(crate) fn run(args: impl Iterator<Item = String>) -> Option<ExitCode> {
    let args: Vec<String> = args.collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["child", "flood", bytes] => flood(FloodKind::Plain, number(bytes)).map(|()| 0),
        ["child", "paint", kind, bytes] => paint_and_stay(kind, number(bytes)).map(|()| 0),
        ["child", "echo"] => echo().map(|()| 0),
        ["child", "extension"] => extension().map(|()| 0),
        ["child", "lines", count] => print(&lines(number(count), "\n")).map(|()| 0),
        ["child", "clock", code] => print(now_text().as_bytes()).map(|()| number(code)),
        ["child", "last-words", code] => print_time_on_input().map(|()| number(code)),
        _ => return None,
    };
    let code = done.ok().and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// Straight to the descriptor: Rust's standard output buffers by line.
fn output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

fn print(bytes: &[u8]) -> io::Result<()> {
    output()?.write_all(bytes)
}

fn flood(kind: FloodKind, bytes: u64) -> io::Result<()> {
    let mut out = output()?;
    let strip = kind.strip();
    let mut left = bytes;
    while left != 0 {
        let piece = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        out.write_all(&strip[..piece])?;
        left -= piece as u64;
    }
    Ok(())
}

/// Prints, and stays until something is typed: what it cost can be read off its keeper meanwhile.
fn paint_and_stay(kind: &str, bytes: u64) -> io::Result<()> {
    let kind = FloodKind::named(kind).ok_or(io::ErrorKind::InvalidInput)?;
    flood(kind, bytes)?;
    io::stdin().read(&mut [0]).map(drop)
}

/// Waits for a line, and then prints the time.
fn print_time_on_input() -> io::Result<()> {
    io::stdin().read_line(&mut String::new())?;
    print(now_text().as_bytes())
}

/// Echoes what is typed at once, unchanged.
fn echo() -> io::Result<()> {
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut out = output()?;
    let mut modes = tcgetattr(&input)?;
    modes.make_raw();
    tcsetattr(&input, OptionalActions::Now, &modes)?;
    // What was typed before was echoed by the terminal, so this marks when to begin.
    out.write_all(READY)?;
    let mut buffer = [0; 4096];
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(()),
            got => out.write_all(&buffer[..got])?,
        }
    }
}

/// An extension with one action, which answers at once.
fn extension() -> io::Result<()> {
    let mut out = output()?;
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["method"] == "initialize" {
            let action = json!({ "name": "echo", "description": "Echo.", "kind": "question" });
            let call = json!({ "jsonrpc": "2.0", "method": "registerAction", "params": action });
            out.write_all(format!("{call}\n").as_bytes())?;
        }
        let params = &message["params"]["params"];
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": params });
        if !message["id"].is_null() {
            out.write_all(format!("{answer}\n").as_bytes())?;
        }
    }
    Ok(())
}

/// What the `echo` child prints first.
pub(crate) const READY: &[u8] = b">";

/// So many numbered lines with this at the end of each.
pub(crate) fn lines(count: u64, end: &str) -> Vec<u8> {
    (0..count).flat_map(|line| format!("{line:>6} {LINE}{end}").into_bytes()).collect()
}

/// The time as the `clock` child prints it: nanoseconds since 1970.
fn now_text() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}\n", since.as_nanos())
}
