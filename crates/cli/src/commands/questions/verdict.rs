//! Which escape sequences ask. Keeps nothing.

use super::ESC;

/// The numbers of the OSC sequences whose text is a person's to read: a `?` in it asks nothing.
const TEXTS: [u32; 12] = [0, 1, 2, 3, 7, 8, 9, 66, 133, 633, 777, 1337];
/// The clipboard as xterm and as kitty have it, and kitty's file transfer.
const PRIVATE: [u32; 3] = [52, 5522, 5113];
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

/// The two kinds of strings, which differ in what ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Ended by BEL or ST.
    Osc,
    /// DCS, SOS, PM and APC: ended by ST only.
    Other,
}

/// What a sequence is, from its ESC to its end.
pub(super) fn of(sequence: &[u8]) -> Verdict {
    match sequence {
        [ESC, b'Z'] => Verdict::Question,
        [ESC, b'[', body @ .., last] => csi(body, *last),
        [ESC, b']', body @ ..] => osc(&text(body)),
        [ESC, b'P', body @ ..] => dcs(body),
        [ESC, b'_', b'G', body @ ..] => graphics(&text(body)),
        _ => Verdict::Harmless,
    }
}

/// The same of one that is too long to be held. One that may ask at its end is not shown.
pub(super) fn of_beginning(sequence: &[u8]) -> Verdict {
    match sequence {
        [ESC, b']', body @ ..] => match number(&text(body)) {
            Some(number) if TEXTS.contains(&number) => of(sequence),
            Some(_) | None => Verdict::Never,
        },
        _ => of(sequence),
    }
}

/// Whether a string is for a terminal behind the one that is shown it.
pub(super) fn is_passed_through(sequence: &[u8]) -> bool {
    sequence.starts_with(b"\x1bPtmux;")
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

fn csi(body: &[u8], last: u8) -> Verdict {
    // What terminals skip inside a sequence does not make it another one.
    let body: Vec<u8> = body.iter().copied().filter(|byte| (0x20..0x40).contains(byte)).collect();
    let (prefix, body) = match body.as_slice() {
        [prefix @ b'<'..=b'?', rest @ ..] => (*prefix, rest),
        body => (0, body),
    };
    let middle = body.iter().copied().find(|byte| (0x20..0x30).contains(byte)).unwrap_or(0);
    let asks = match (prefix, middle, last) {
        // The title, a checksum of what is shown, the printer, and macros, which may hold anything.
        (0, 0, b't') if matches!(number(&text(body)), Some(20 | 21)) => return Verdict::Never,
        (0, b'*', b'y' | b'z') | (0 | b'?', 0, b'i') => return Verdict::Never,
        // Device attributes, version, status reports, terminal parameters.
        (0 | b'>' | b'=', 0, b'c') | (b'>', 0, b'q') | (0 | b'?', 0, b'n') | (0, 0, b'x') => true,
        // Window and cell sizes.
        (0, 0, b't') => matches!(number(&text(body)), Some(11 | 13..=16 | 18 | 19)),
        // Modes, the keyboard's flags and formats.
        (0 | b'?', b'$', b'p') | (b'?', 0, b'u' | b'm' | b'f' | b'g') => true,
        // States, character sets, what is shown of the page, colours, looks, graphics, the locator.
        (_, b'$', b'w' | b'u')
        | (_, b'&', b'u')
        | (_, b'"', b'v')
        | (_, b'#', b'R' | b'S' | b'|') => true,
        (b'?', 0, b'S') | (_, b'\'', b'|' | b'z') => true,
        _ => false,
    };
    if asks { Verdict::Question } else { Verdict::Harmless }
}

fn osc(body: &str) -> Verdict {
    let body = body.trim_end_matches(['\x07', '\x18', '\x1a', '\\', '\x1b']);
    let (Some(number), rest) = (number(body), body.split_once(';').map_or("", |(_, rest)| rest))
    else {
        return Verdict::Harmless;
    };
    let asks = match number {
        number if PRIVATE.contains(&number) => return Verdict::Never,
        1337 if PRIVATE_ITERM.iter().any(|word| rest.starts_with(word)) => return Verdict::Never,
        1337 => rest.starts_with("Report") || rest.starts_with("Request"),
        60 | 61 => true,
        // A notification that is asked about, or that says when it is clicked or closed.
        99 => rest.split([';', ':']).any(|key| {
            matches!(key, "p=?" | "p=alive" | "c=1")
                || key.starts_with("a=") && key.contains("report")
        }),
        number if TEXTS.contains(&number) => false,
        _ => rest.split(';').any(|field| field.starts_with('?') || field.contains("=?")),
    };
    if asks { Verdict::Question } else { Verdict::Harmless }
}

fn dcs(body: &[u8]) -> Verdict {
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

fn graphics(body: &str) -> Verdict {
    let keys = body.split([';', '\x1b']).next().unwrap_or_default();
    match keys.split(',').any(|key| key == "a=q") {
        true => Verdict::Question,
        false => Verdict::Graphics,
    }
}

/// The number that a sequence begins with, as terminals read it.
fn number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = text[..end].trim_start_matches('0');
    (0 < end).then(|| if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u32::MAX) })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
