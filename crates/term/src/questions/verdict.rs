//! Which escape sequences ask. Keeps nothing.

use crate::sequences::{Csi, ESC, osc};

/// The numbers of the OSC sequences whose text is a person's to read: a `?` in it asks nothing.
const TEXTS: [u32; 12] = [0, 1, 2, 3, 7, 8, 9, 66, 133, 633, 777, 1337];
/// The clipboard as xterm and as kitty have it, and kitty's file transfer.
const PRIVATE: [u32; 3] = [52, 5522, 5113];
/// The largest number of an OSC sequence that means anything.
const MAX_NUMBER: u32 = 99_999;
/// What iTerm2 may be told that concerns the clipboard, files or what it knows of its sessions.
const PRIVATE_ITERM: [&str; 5] =
    ["RequestUpload", "ReportVariable", "Copy", "EndCopy", "PasteFromClipboard"];

/// What a sequence is to somebody's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is answered by nobody.
    Harmless,
    /// It asks about the terminal.
    Question,
    /// It shows something, and the terminal says how that went unless it is told not to.
    Graphics,
    /// It is about what is none of a program's business.
    Never,
}

/// What a sequence is, from its ESC to its end.
pub(super) fn of(sequence: &[u8]) -> Verdict {
    if let Some(csi) = Csi::read(sequence) {
        return of_csi(&csi);
    }
    if let Some((number, text)) = osc(sequence) {
        return of_osc(number, &text);
    }
    match sequence {
        // No number begins so; terminals that skip a sign or a blank would read one.
        [ESC, b']', b' ' | b'+' | b'-', ..] => Verdict::Never,
        [ESC, b'Z'] => Verdict::Question,
        [ESC, b'P', body @ ..] => of_dcs(body),
        [ESC, b'_', b'G', body @ ..] => of_graphics(body),
        _ => Verdict::Harmless,
    }
}

/// The same of one that is too long to be held. One that may ask at its end is not shown.
pub(super) fn of_beginning(sequence: &[u8]) -> Verdict {
    match osc(sequence) {
        Some((number, _)) if !TEXTS.contains(&number) => Verdict::Never,
        Some(_) | None => of(sequence),
    }
}

/// The same graphics, of which the terminal says nothing.
pub(super) fn without_answer(sequence: &[u8]) -> Vec<u8> {
    let body = sequence.get(3..).unwrap_or_default();
    let end = body.iter().position(|byte| matches!(*byte, b';' | ESC)).unwrap_or(body.len());
    let (keys, rest) = body.split_at(end);
    let others = keys.split(|byte| *byte == b',').filter(|key| !key.starts_with(b"q="));
    let mut out = b"\x1b_Gq=2".to_vec();
    for key in others.filter(|key| !key.is_empty()) {
        out.push(b',');
        out.extend(key);
    }
    out.extend(rest);
    out
}

fn of_csi(csi: &Csi) -> Verdict {
    let asks = match (csi.prefix, csi.middle, csi.last) {
        // The title, a checksum of what is shown, the printer, and macros, which may hold anything.
        (0, 0, b't') if matches!(csi.param(0), 20 | 21) => return Verdict::Never,
        (0, b'*', b'y' | b'z') | (0 | b'?', 0, b'i') => return Verdict::Never,
        // A keyboard that is locked, or of a terminal that understands nothing of this.
        (0, 0, b'h') | (b'?', 0, b'l') if csi.params.contains(&Some(2)) => return Verdict::Never,
        // Device attributes, version, status reports, terminal parameters.
        (0 | b'>' | b'=', 0, b'c') | (b'>', 0, b'q') | (0 | b'?', 0, b'n') | (0, 0, b'x') => true,
        // Window and cell sizes.
        (0, 0, b't') => matches!(csi.param(0), 11 | 13..=16 | 18 | 19),
        // Modes, the keyboard's flags and formats.
        (0 | b'?', b'$', b'p') | (b'?', 0, b'u' | b'm' | b'f' | b'g') => true,
        // States, character sets, what is shown of the page, colours, looks, graphics, the locator.
        (_, b'$', b'w' | b'u') | (_, b'&', b'u') | (_, b'"', b'v') => true,
        (_, b'#', b'R' | b'S' | b'|') | (b'?', 0, b'S') | (_, b'\'', b'|' | b'z') => true,
        _ => false,
    };
    if asks { Verdict::Question } else { Verdict::Harmless }
}

fn of_osc(number: u32, text: &str) -> Verdict {
    let asks = match number {
        number if PRIVATE.contains(&number) => return Verdict::Never,
        // Terminals read such a number modulo 2^32, and 4294967348 is 52 then.
        number if MAX_NUMBER < number => return Verdict::Never,
        1337 if PRIVATE_ITERM.iter().any(|word| text.starts_with(word)) => return Verdict::Never,
        1337 => text.starts_with("Report") || text.starts_with("Request"),
        60 | 61 => true,
        99 => text.split([';', ':']).any(wants_to_hear),
        number if TEXTS.contains(&number) => false,
        _ => text.split(';').any(|field| field.starts_with('?') || field.contains("=?")),
    };
    if asks { Verdict::Question } else { Verdict::Harmless }
}

/// Whether a key of a notification asks about it, or to be told when it is clicked or closed.
fn wants_to_hear(key: &str) -> bool {
    let reports = key.starts_with("a=") && key.contains("report");
    reports || matches!(key, "p=?" | "p=alive" | "c=1")
}

fn of_dcs(body: &[u8]) -> Verdict {
    if body.starts_with(b"tmux;") {
        return Verdict::Never;
    }
    let params = body.iter().position(|byte| !(0x30..0x40).contains(byte)).unwrap_or(body.len());
    match &body[params..] {
        // What a terminal was set to, what its terminfo says, what it was configured to.
        [b'$', b'q', ..] | [b'+', b'q' | b'Q', ..] => Verdict::Question,
        // Remote control of kitty and iTerm2, ReGIS with its reports, keys that type what a program wants.
        [b'@' | b'p' | b'|', ..] => Verdict::Never,
        _ => Verdict::Harmless,
    }
}

fn of_graphics(body: &[u8]) -> Verdict {
    let keys = body.split(|byte| matches!(*byte, b';' | ESC)).next().unwrap_or_default();
    match keys.split(|byte| *byte == b',').any(|key| key == b"a=q") {
        true => Verdict::Question,
        false => Verdict::Graphics,
    }
}
