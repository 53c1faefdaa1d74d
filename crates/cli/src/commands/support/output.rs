//! A pane's output as `pane:read` answers it, and how it is shown.

use std::borrow::Cow;

use anyhow::{Context as _, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::Time;
use paned_term::lines;
use serde::{Deserialize, Serialize};

use crate::out::{Out, units};

/// An answer of `pane:read`.
#[derive(Deserialize)]
pub(crate) struct PaneReadReply {
    #[serde(default)]
    pub(crate) lines: Vec<CliOutputLine>,
    raw: Option<String>,
    base64: Option<String>,
    /// The cursor for the next read.
    pub(crate) next: u64,
    pub(crate) total: u64,
    /// How many came before the first one that is kept, if that is known.
    pub(crate) dropped: Option<u64>,
    pub(crate) truncated: bool,
    /// The part of the request that is no longer kept.
    pub(crate) gap: Option<ReadGapReply>,
    /// When the bytes of the view `raw` were printed, where that was asked for.
    #[serde(default)]
    pub(crate) times: Vec<PrintedAtReply>,
}

/// From this offset on, bytes were printed at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct PrintedAtReply {
    pub(crate) offset: u64,
    pub(crate) time: Time,
}

/// Bytes of a pane, and when they were printed.
#[derive(Debug, Default)]
pub(crate) struct TimedBytes {
    /// The offset of the first of them.
    pub(crate) first: u64,
    pub(crate) bytes: Vec<u8>,
    /// Empty where it was not asked for.
    pub(crate) times: Vec<PrintedAtReply>,
}

impl TimedBytes {
    /// The bytes in pieces that were printed at one time each.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Option<Time>, &[u8])> {
        let index = |offset: u64| {
            let index = usize::try_from(offset.saturating_sub(self.first)).unwrap_or(usize::MAX);
            index.min(self.bytes.len())
        };
        let head = self.times.first().map_or(self.bytes.len(), |mark| index(mark.offset));
        let ends = self.times.iter().skip(1).map(move |mark| index(mark.offset));
        let ends = ends.chain([self.bytes.len()]);
        let timed = self.times.iter().zip(ends).map(move |(mark, end)| {
            (Some(mark.time), &self.bytes[index(mark.offset).min(end)..end])
        });
        std::iter::once((None, &self.bytes[..head])).chain(timed)
    }
}

/// Bytes that are no longer kept.
#[derive(Deserialize)]
pub(crate) struct ReadGapReply {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Marks a missing part of a line.
pub(crate) const MISSING: char = '…';

/// A line of a pane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CliOutputLine {
    pub(crate) n: u64,
    pub(crate) text: String,
    /// Whether there is more of it than is shown.
    #[serde(default)]
    pub(crate) cut: bool,
    /// Whether its end was not printed yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
    /// Whether its start may be missing, because it is no longer kept.
    #[serde(default, rename = "truncatedStart", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated_start: bool,
    /// When it was printed, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Time>,
    /// Whether the pattern matches, where there is one.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<bool>,
}

impl PaneReadReply {
    /// The bytes of the view `raw`.
    ///
    /// # Errors
    /// When they are not valid base64.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        match (&self.raw, &self.base64) {
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some(base64)) => {
                BASE64_STANDARD.decode(base64).context("the server's base64 is none")
            }
            (None, None) => Ok(Vec::new()),
        }
    }
}

impl CliOutputLine {
    /// Its text, with a mark in place of a start that is no longer kept.
    pub(crate) fn with_missing_mark(&self) -> Cow<'_, str> {
        match self.truncated_start {
            true => format!("{MISSING}{}", self.text).into(),
            false => self.text.as_str().into(),
        }
    }

    /// The line after its number, as grep prints it: `12:` is a match, `11-` a line beside one.
    pub(crate) fn numbered(&self) -> String {
        let mark = if self.matches == Some(false) { '-' } else { ':' };
        format!("{}{mark}{}", self.n, self.with_missing_mark())
    }
}

/// Prints bytes: to a terminal as escaped lines unless `raw`, elsewhere unchanged.
pub(crate) fn show_bytes(out: Out, bytes: &[u8], raw: bool) -> Result<()> {
    if raw || !out.is_terminal() {
        return Ok(out.bytes(bytes)?);
    }
    for line in lines::split(bytes) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        out.program_line(&String::from_utf8_lossy(line))?;
    }
    Ok(())
}

/// Prints how many lines were cut.
pub(crate) fn note_cut_lines(out: Out, lines: usize) -> Result<()> {
    match lines {
        0 => Ok(()),
        _ => {
            Ok(out.note(format!("paned: {} cut at 2000 characters", units::count(lines, "line")))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_as_text_or_as_base64() {
        let rest = r#""next":3,"total":3,"dropped":0,"truncated":false}"#;
        let bytes = |begin: &str| {
            let answer: PaneReadReply = serde_json::from_str(&format!("{{{begin}{rest}")).unwrap();
            answer.bytes().ok()
        };
        assert_eq!(bytes(r#""raw":"a\n","#), Some(b"a\n".to_vec()));
        assert_eq!(bytes(r#""base64":"/wA=","#), Some(vec![0xff, 0]));
        assert_eq!(bytes(r#""base64":"?","#), None);
    }

    #[test]
    fn bytes_come_in_pieces_of_one_time_each() {
        let mark = |offset, time| PrintedAtReply { offset, time: Time(time) };
        let bytes = b"abcdef".to_vec();
        let timed = TimedBytes { first: 10, bytes, times: vec![mark(10, 1), mark(14, 2)] };
        let pieces: Vec<_> = timed.pieces().filter(|(_, bytes)| !bytes.is_empty()).collect();
        assert_eq!(pieces, [(Some(Time(1)), &b"abcd"[..]), (Some(Time(2)), b"ef")]);
        let untimed = TimedBytes { times: Vec::new(), ..timed };
        assert_eq!(untimed.pieces().collect::<Vec<_>>(), [(None, &b"abcdef"[..])]);
    }

    #[test]
    fn a_number_tells_a_match_from_what_stands_beside_it() {
        let line =
            |matches| CliOutputLine { n: 7, text: "x".into(), matches, ..CliOutputLine::default() };
        let shown = [None, Some(true), Some(false)].map(|matches| line(matches).numbered());
        assert_eq!(shown, ["7:x", "7:x", "7-x"]);
        let torn = CliOutputLine { truncated_start: true, ..line(None) };
        assert_eq!((torn.with_missing_mark().as_ref(), torn.numbered().as_str()), ("…x", "7:…x"));
    }
}
