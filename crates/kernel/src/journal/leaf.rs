//! Parses rows of a table's leaf page without SQLite: for pages that no tree reaches any more.
//!
//! Trusts nothing: every length is checked, and a row counts only if it matches its checksum.

use super::rows;
use super::wal::PAGE;
use super::{JournalEntry, JournalRecord};

/// The type of a table's leaf page.
const LEAF: u8 = 0x0d;
/// The longest row without overflow pages.
const MAX_LOCAL: usize = PAGE - 35;
/// The minimum part of a longer row that is in its leaf page.
const MIN_LOCAL: usize = (PAGE - 12) * 32 / 255 - 23;
/// The part that is in each overflow page.
const OVERFLOW: usize = PAGE - 4;
/// The longest row that is reassembled.
const MAX_ROW: u64 = 64 << 20;

/// A row of one of our tables.
pub(super) enum RecoveredRow {
    Event(JournalEntry),
    Record(JournalRecord),
}

/// One value of a row.
enum SqliteValue {
    Null,
    Number(i64),
    Text(String),
}

/// The rows in a page. `page_at` finds the overflow pages of long rows.
pub(super) fn rows(page: &[u8], page_at: &dyn Fn(u32) -> Option<Vec<u8>>) -> Vec<RecoveredRow> {
    let is_leaf = page.len() == PAGE && page[0] == LEAF;
    let count = if is_leaf { usize::from(page[3]) << 8 | usize::from(page[4]) } else { 0 };
    let pointers = page.get(8..).unwrap_or_default().chunks_exact(2).take(count);
    let offsets = pointers.map(|pointer| usize::from(pointer[0]) << 8 | usize::from(pointer[1]));
    offsets.filter_map(|at| row(page, at, page_at)).collect()
}

fn row(page: &[u8], at: usize, page_at: &dyn Fn(u32) -> Option<Vec<u8>>) -> Option<RecoveredRow> {
    let mut cell = page.get(at..)?;
    let length = varint(&mut cell)?;
    let id = varint(&mut cell)?;
    if MAX_ROW < length {
        return None;
    }
    let payload = payload(cell, usize::try_from(length).ok()?, page_at)?;
    let mut values = values(&payload)?.into_iter();
    match (values.next()?, values.next()?, values.next()?, values.next()?, values.next()?) {
        (
            SqliteValue::Null,
            SqliteValue::Number(time),
            SqliteValue::Text(name),
            SqliteValue::Text(text),
            SqliteValue::Number(sum),
        ) => rows::verified_entry(id, time, name, text, sum).map(RecoveredRow::Event),
        (
            SqliteValue::Null,
            SqliteValue::Text(kind),
            SqliteValue::Text(key),
            SqliteValue::Text(value),
            SqliteValue::Number(sum),
        ) => {
            rows::verified_record(JournalRecord { kind, key, value }, sum).map(RecoveredRow::Record)
        }
        _ => None,
    }
}

/// The bytes of a row, from its page and its overflow pages.
fn payload(
    cell: &[u8],
    length: usize,
    page_at: &dyn Fn(u32) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    if length <= MAX_LOCAL {
        return cell.get(..length).map(<[u8]>::to_vec);
    }
    let fitting = MIN_LOCAL + (length - MIN_LOCAL) % OVERFLOW;
    let local = if fitting <= MAX_LOCAL { fitting } else { MIN_LOCAL };
    let mut bytes = cell.get(..local)?.to_vec();
    let mut next = u32::from_be_bytes(cell.get(local..local + 4)?.try_into().ok()?);
    while bytes.len() < length {
        let page = page_at(next)?;
        next = u32::from_be_bytes(page.get(..4)?.try_into().ok()?);
        let rest = (length - bytes.len()).min(OVERFLOW);
        bytes.extend(page.get(4..4 + rest)?);
    }
    Some(bytes)
}

/// The values of a row: the header has the type of each, then come the values.
fn values(payload: &[u8]) -> Option<Vec<SqliteValue>> {
    let mut header = payload;
    let length = usize::try_from(varint(&mut header)?).ok()?;
    let mut body = payload.get(length..)?;
    let mut kinds = payload.get(payload.len() - header.len()..length)?;
    let mut values = Vec::new();
    while !kinds.is_empty() {
        values.push(value(varint(&mut kinds)?, &mut body)?);
    }
    Some(values)
}

fn value(kind: u64, body: &mut &[u8]) -> Option<SqliteValue> {
    let mut take = |length: usize| {
        let (taken, rest) = body.split_at_checked(length)?;
        *body = rest;
        Some(taken)
    };
    match kind {
        0 => Some(SqliteValue::Null),
        1..=6 => take([1, 2, 3, 4, 6, 8][usize::try_from(kind).ok()? - 1]).map(integer),
        8 | 9 => Some(SqliteValue::Number(i64::from(kind == 9))),
        13.. if kind % 2 == 1 => {
            let bytes = take(usize::try_from((kind - 13) / 2).ok()?)?;
            Some(SqliteValue::Text(String::from_utf8(bytes.to_vec()).ok()?))
        }
        _ => None,
    }
}

/// A signed big-endian number of any length.
fn integer(bytes: &[u8]) -> SqliteValue {
    let start = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    SqliteValue::Number(bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte)))
}

/// A varint of one to nine bytes.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for at in 0..9 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        if at == 8 {
            return Some(number << 8 | u64::from(*first));
        }
        number = number << 7 | u64::from(first & 0x7f);
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
