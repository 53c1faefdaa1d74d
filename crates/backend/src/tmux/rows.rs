//! Rows of tmux formats, parsed without ambiguity.
//!
//! A folder or a program can have any name, with newlines and any separator we might choose. So the
//! separator is random for each connection, and only we know it.

use std::hash::{BuildHasher as _, RandomState};

use super::decode::TmuxReply;
use super::error::Error;
use super::ids::number;

/// Separates fields.
#[derive(Clone, Debug)]
pub(super) struct FieldSeparator(String);

impl FieldSeparator {
    pub(super) fn random() -> Self {
        let random = || RandomState::new().hash_one(0);
        Self(format!("{:016x}{:016x}", random(), random()))
    }

    /// A format that gives these variables, in this order.
    pub(super) fn format(&self, variables: &[&str]) -> String {
        variables.iter().map(|variable| format!("{}#{{{variable}}}", self.0)).collect()
    }

    /// Parses the rows of such a format.
    pub(super) fn read(&self, reply: &TmuxReply, columns: usize) -> Result<Vec<FormatRow>, Error> {
        let text = reply.lines.join(&b'\n');
        let mut fields = split(&text, self.0.as_bytes());
        let before = fields.next().unwrap_or_default();
        let fields: Vec<Vec<u8>> = fields.map(<[u8]>::to_vec).collect();
        if reply.cut || !before.is_empty() || !fields.len().is_multiple_of(columns) {
            return Err(Error::Protocol(
                String::from_utf8_lossy(&text).chars().take(200).collect(),
            ));
        }
        let mut rows: Vec<FormatRow> =
            fields.chunks(columns).map(|row| FormatRow(row.to_vec(), 0)).collect();
        let last = rows.len().saturating_sub(1);
        for row in &mut rows[..last] {
            // The line end does not belong to the last field.
            row.0[columns - 1].pop();
        }
        Ok(rows)
    }
}

/// Splits a text at each separator.
fn split<'t>(text: &'t [u8], separator: &[u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let at = text.windows(separator.len()).position(|window| window == separator);
        let (piece, after) = match at {
            Some(at) => (&text[..at], Some(&text[at + separator.len()..])),
            None => (text, None),
        };
        rest = after;
        Some(piece)
    })
}

/// One row, read from left to right.
#[derive(Debug)]
pub(super) struct FormatRow(Vec<Vec<u8>>, usize);

impl FormatRow {
    pub(super) fn bytes(&mut self) -> Vec<u8> {
        let field = self.0.get_mut(self.1).map(std::mem::take).unwrap_or_default();
        self.1 += 1;
        field
    }

    pub(super) fn text(&mut self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// A flag, which tmux writes as 1.
    pub(super) fn is_set(&mut self) -> bool {
        self.bytes() == b"1"
    }

    /// A number, if there is one.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        number(&self.bytes())
    }

    /// A field that must be valid.
    pub(super) fn need<T>(&mut self, read: fn(&[u8]) -> Option<T>) -> Result<T, Error> {
        let field = self.bytes();
        read(&field).ok_or_else(|| Error::Protocol(field.escape_ascii().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::ReplyHeader;
    use super::*;

    fn reply(text: &[u8]) -> TmuxReply {
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        TmuxReply {
            header: ReplyHeader { time: 1, number: 1, flags: 1 },
            lines,
            ok: true,
            cut: false,
        }
    }

    #[test]
    fn any_field_comes_back() {
        let mark = FieldSeparator::random();
        let fields = [&b"%1"[..], b"a\nb\t\xff\n", b"", b"\n"];
        let mut text = Vec::new();
        for (at, field) in fields.iter().chain(&fields).enumerate() {
            text.extend(if at == 4 { &b"\n"[..] } else { b"" });
            text.extend(mark.0.bytes());
            text.extend_from_slice(field);
        }
        let mut rows = mark.read(&reply(&text), 4).unwrap();
        assert_eq!(rows.len(), 2);
        for row in &mut rows {
            assert_eq!(fields.map(|_| row.bytes()), fields.map(<[u8]>::to_vec));
        }
    }

    #[test]
    fn a_row_that_is_not_whole_is_nonsense() {
        let mark = FieldSeparator::random();
        let row = mark.format(&["a", "b"]);
        assert!(mark.read(&reply(row.as_bytes()), 2).is_ok());
        assert!(mark.read(&reply(row.as_bytes()), 3).is_err());
        assert!(mark.read(&reply(format!("x{row}").as_bytes()), 2).is_err());
        let mut empty = reply(b"");
        empty.lines.clear();
        assert_eq!(mark.read(&empty, 2).unwrap().len(), 0);
    }
}
