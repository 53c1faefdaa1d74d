//! Classifies escape sequences by whether a terminal answers them. Stateless.

use super::QueryResponder;
use crate::vt::{Csi, StringKind, osc};

/// The OSC numbers whose payload is free text: a `?` in it is not a query.
const TEXT_OSCS: [u32; 12] = [0, 1, 2, 3, 7, 8, 9, 66, 133, 633, 777, 1337];
/// The clipboard of xterm and of kitty, and kitty's file transfer.
const FORBIDDEN_OSCS: [u32; 3] = [52, 5522, 5113];
/// The largest OSC number that has a meaning.
const MAX_NUMBER: u32 = 99_999;
/// Commands of iTerm2 that concern the clipboard, files or the state of its sessions.
const FORBIDDEN_ITERM: [&str; 5] =
    ["RequestUpload", "ReportVariable", "Copy", "EndCopy", "PasteFromClipboard"];

/// The effect of a sequence on the user's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequenceClass {
    /// No terminal answers it.
    Harmless,
    /// It queries the terminal.
    Query,
    /// It shows graphics, and the terminal reports the result unless asked not to.
    Graphics,
    /// It reads or changes something that a program must not reach.
    Forbidden,
}

impl SequenceClass {
    /// Whether a sequence reaches the user's terminal when this side answers queries.
    pub(super) fn passes(self, responder: QueryResponder) -> bool {
        match (self, responder) {
            (Self::Harmless | Self::Graphics, _) | (Self::Query, QueryResponder::Terminal) => true,
            (Self::Query, QueryResponder::Elsewhere) | (Self::Forbidden, _) => false,
        }
    }
}

/// Classifies an escape sequence.
pub(super) fn classify_escape(sequence: &[u8]) -> SequenceClass {
    if sequence == b"\x1bZ" { SequenceClass::Query } else { SequenceClass::Harmless }
}

/// Classifies a string.
pub(super) fn classify_string(kind: StringKind, content: &[u8]) -> SequenceClass {
    match (kind, content) {
        (StringKind::Osc, [b' ' | b'+' | b'-', ..]) => {
            // Not a number; but terminals that skip a sign or a blank would read one.
            SequenceClass::Forbidden
        }
        (StringKind::Osc, content) => osc(content)
            .map_or(SequenceClass::Harmless, |(number, text)| classify_osc(number, &text)),
        (StringKind::Dcs, content) => classify_dcs(content),
        (StringKind::Apc, [b'G', keys @ ..]) => classify_graphics(keys),
        (StringKind::Apc | StringKind::Sos | StringKind::Pm | StringKind::Title, _) => {
            SequenceClass::Harmless
        }
    }
}

/// Classifies a string that is too long to be buffered. If its end may be a query, it does not
/// pass.
pub(super) fn classify_start(kind: StringKind, content: &[u8]) -> SequenceClass {
    match osc(content).filter(|_| kind == StringKind::Osc) {
        Some((number, _)) if !TEXT_OSCS.contains(&number) => SequenceClass::Forbidden,
        Some(_) | None => classify_string(kind, content),
    }
}

/// The same graphics command with the terminal's reply suppressed.
pub(super) fn without_answer(content: &[u8]) -> Vec<u8> {
    let body = content.get(1..).unwrap_or_default();
    let end = body.iter().position(|byte| *byte == b';').unwrap_or(body.len());
    let (keys, rest) = body.split_at(end);
    let others = keys.split(|byte| *byte == b',').filter(|key| !key.starts_with(b"q="));
    let mut out = b"Gq=2".to_vec();
    for key in others.filter(|key| !key.is_empty()) {
        out.push(b',');
        out.extend(key);
    }
    out.extend(rest);
    out
}

/// Classifies a control sequence.
pub(super) fn classify_csi(csi: &Csi<'_>) -> SequenceClass {
    let is_query = match (csi.prefix(), csi.intermediate(), csi.last()) {
        // The title, a checksum of the screen, the printer, and macros, which may hold anything.
        (0, 0, b't') if matches!(csi.number(0), 20 | 21) => return SequenceClass::Forbidden,
        (0, b'*', b'y' | b'z') | (0 | b'?', 0, b'i') => return SequenceClass::Forbidden,
        // Locking the keyboard, or switching to VT52 mode, in which these sequences mean nothing.
        (0, 0, b'h') | (b'?', 0, b'l') if csi.has_number(2) => {
            return SequenceClass::Forbidden;
        }
        // Device attributes, version, status reports, terminal parameters.
        (0 | b'>' | b'=', 0, b'c') | (b'>', 0, b'q') | (0 | b'?', 0, b'n') | (0, 0, b'x') => true,
        // Window and cell sizes.
        (0, 0, b't') => matches!(csi.number(0), 11 | 13..=16 | 18 | 19),
        // Modes, keyboard flags and formats.
        (0 | b'?', b'$', b'p') | (b'?', 0, b'u' | b'm' | b'f' | b'g') => true,
        // State, character sets, page information, colours, attributes, graphics, the locator.
        (_, b'$', b'w' | b'u') | (_, b'&', b'u') | (_, b'"', b'v') => true,
        (_, b'#', b'R' | b'S' | b'|') | (b'?', 0, b'S') | (_, b'\'', b'|' | b'z') => true,
        _ => false,
    };
    if is_query { SequenceClass::Query } else { SequenceClass::Harmless }
}

fn classify_osc(number: u32, text: &str) -> SequenceClass {
    let is_query = match number {
        number if FORBIDDEN_OSCS.contains(&number) => return SequenceClass::Forbidden,
        // Terminals parse such a number modulo 2^32, so 4294967348 is 52.
        number if MAX_NUMBER < number => return SequenceClass::Forbidden,
        1337 if FORBIDDEN_ITERM.iter().any(|word| text.starts_with(word)) => {
            return SequenceClass::Forbidden;
        }
        1337 => text.starts_with("Report") || text.starts_with("Request"),
        60 | 61 => true,
        99 => text.split([';', ':']).any(requests_report),
        number if TEXT_OSCS.contains(&number) => false,
        _ => text.split(';').any(|field| field.starts_with('?') || field.contains("=?")),
    };
    if is_query { SequenceClass::Query } else { SequenceClass::Harmless }
}

/// Whether a key of a notification queries it, or asks for a report when it is clicked or closed.
fn requests_report(key: &str) -> bool {
    let reports = key.starts_with("a=") && key.contains("report");
    reports || matches!(key, "p=?" | "p=alive" | "c=1")
}

fn classify_dcs(body: &[u8]) -> SequenceClass {
    if body.starts_with(b"tmux;") {
        return SequenceClass::Forbidden;
    }
    let params = body.iter().position(|byte| !(0x30..0x40).contains(byte)).unwrap_or(body.len());
    match &body[params..] {
        // Settings, terminfo capabilities, configuration.
        [b'$', b'q', ..] | [b'+', b'q' | b'Q', ..] => SequenceClass::Query,
        // Remote control of kitty and iTerm2, ReGIS with its reports, user-defined keys.
        [b'@' | b'p' | b'|', ..] => SequenceClass::Forbidden,
        _ => SequenceClass::Harmless,
    }
}

fn classify_graphics(body: &[u8]) -> SequenceClass {
    let keys = body.split(|byte| *byte == b';').next().unwrap_or_default();
    match keys.split(|byte| *byte == b',').any(|key| key == b"a=q") {
        true => SequenceClass::Query,
        false => SequenceClass::Graphics,
    }
}
