//! The SQL statements: events, records and the state row as SQLite stores them. Knows no files and
//! no threads.
//!
//! Every row has a checksum of its content, because SQLite notices a broken page but not a changed
//! letter.

use std::sync::Arc;

use paned_model::{EventId, Time};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::batch::MAX_BYTES as MAX_BATCH_BYTES;
use super::store::EventRange;
use super::wal::PAGE;
use super::{Error, JournalEntry, JournalRecord, RecordChange};

const SCHEMA: &str = "
    CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        last INTEGER NOT NULL,
        count INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        name TEXT NOT NULL,
        payload TEXT NOT NULL,
        sum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        row INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        sum INTEGER NOT NULL,
        UNIQUE (kind, key)
    ) STRICT;
    INSERT INTO state VALUES (1, 0, 0);
    PRAGMA user_version = 1;";

/// The single row that outlives all events, so that trimming them does not reset the ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JournalStateRow {
    /// The last id that was assigned.
    pub(super) last: EventId,
    /// How many events are stored.
    pub(super) count: u64,
}

/// Creates the tables.
pub(super) fn create(db: &Connection) -> Result<(), Error> {
    Ok(db.execute_batch(&format!("BEGIN; {SCHEMA} COMMIT;"))?)
}

/// Reads the state row.
pub(super) fn state(db: &Connection) -> Result<JournalStateRow, Error> {
    let mut find = db.prepare_cached("SELECT last, count FROM state")?;
    let (last, count) = find.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(JournalStateRow { last: EventId(unsigned(last)?), count: unsigned(count)? })
}

/// Writes the state row.
pub(super) fn set_state(
    db: &Connection,
    JournalStateRow { last, count }: JournalStateRow,
) -> Result<(), Error> {
    let mut update = db.prepare_cached("UPDATE state SET last = ?1, count = ?2")?;
    update.execute([signed(last.0), signed(count)])?;
    Ok(())
}

/// Writes events; idempotent.
pub(super) fn put_entries<'a>(
    db: &Connection,
    entries: impl IntoIterator<Item = &'a JournalEntry>,
) -> Result<(), Error> {
    let mut insert =
        db.prepare_cached("INSERT OR REPLACE INTO events VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for entry in entries {
        let JournalEntry { id, time, name, payload, .. } = entry;
        insert.execute(params![
            signed(id.0),
            signed(time.0),
            name,
            payload,
            entry_checksum(entry)
        ])?;
    }
    Ok(())
}

/// Writes or deletes a record.
pub(super) fn apply(db: &Connection, change: &RecordChange) -> Result<(), Error> {
    match change {
        RecordChange::Put { kind, key, value } => put_record(db, [kind, key, value]),
        RecordChange::Delete { kind, key } => {
            let mut delete =
                db.prepare_cached("DELETE FROM records WHERE kind = ?1 AND key = ?2")?;
            delete.execute([*kind, key.as_str()])?;
            Ok(())
        }
        RecordChange::Redact { pane } => redact(db, pane),
    }
}

/// An index of the events that repeat what a pane printed.
const INDEX: &str = "CREATE INDEX IF NOT EXISTS contents ON events (id)
    WHERE name IN ('pane:notice', 'pane:title', 'agent:state')";

/// The fields that repeat it.
const REDACTED_FIELDS: [&str; 3] = ["text", "title", "dialog"];

/// Adds what databases of earlier versions lack.
pub(super) fn upgrade(db: &Connection) -> Result<(), Error> {
    Ok(db.execute_batch(INDEX)?)
}

/// Removes what events repeat of a pane's output.
fn redact(db: &Connection, pane: &str) -> Result<(), Error> {
    let mut find = db.prepare_cached(
        "SELECT id, time, name, payload, sum FROM events
         WHERE name IN ('pane:notice', 'pane:title', 'agent:state') AND instr(payload, ?1)",
    )?;
    let mut rows = find.query([format!("{pane:?}")])?;
    let mut redacted = Vec::new();
    while let Some(row) = rows.next()? {
        redacted.extend(entry(row).ok().and_then(|entry| entry.without(&REDACTED_FIELDS, pane)));
    }
    drop(rows);
    put_entries(db, &redacted)
}

/// Writes a record: kind, key and value.
pub(super) fn put_record(db: &Connection, record: [&str; 3]) -> Result<(), Error> {
    let mut upsert = db.prepare_cached(
        "INSERT INTO records (kind, key, value, sum) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
    )?;
    let [kind, key, value] = record;
    upsert.execute(params![kind, key, value, checksum(&record.map(str::as_bytes))])?;
    Ok(())
}

/// Deletes the oldest events, `oldest` of them.
pub(super) fn delete_oldest(db: &Connection, oldest: u64) -> Result<(), Error> {
    let mut delete = db.prepare_cached(
        "DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY id LIMIT ?1)",
    )?;
    delete.execute([signed(oldest)])?;
    Ok(())
}

/// Reads the range's events into a list, at most one batch; on an error the list holds those before
/// it.
pub(super) fn entries(
    db: &Connection,
    range: EventRange,
    into: &mut Vec<Arc<JournalEntry>>,
) -> Result<(), Error> {
    let mut find = db.prepare_cached(
        "SELECT id, time, name, payload, sum FROM events
         WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
    )?;
    let mut rows = find.query([range.after.0, range.upto.0, range.max as u64].map(signed))?;
    let mut bytes = 0;
    while bytes < MAX_BATCH_BYTES
        && let Some(row) = rows.next()?
    {
        let entry = entry(row)?;
        bytes += entry.weight();
        into.push(Arc::new(entry));
    }
    Ok(())
}

/// The first event after this row number.
pub(super) fn entry_after(db: &Connection, row: i64) -> Result<Option<(i64, JournalEntry)>, Error> {
    let mut find = db.prepare_cached(
        "SELECT id, time, name, payload, sum FROM events WHERE id > ?1 ORDER BY id LIMIT 1",
    )?;
    let mut rows = find.query([row])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some((row.get(0)?, entry(row)?)))
}

/// The first record after this row number.
pub(super) fn record_after(
    db: &Connection,
    row: i64,
) -> Result<Option<(i64, JournalRecord)>, Error> {
    let mut find = db.prepare_cached(
        "SELECT row, kind, key, value, sum FROM records WHERE row > ?1 ORDER BY row LIMIT 1",
    )?;
    let mut rows = find.query([row])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some((row.get(0)?, record(row)?)))
}

/// All records, by kind and key.
pub(super) fn records(db: &Connection) -> Result<Vec<JournalRecord>, Error> {
    let mut find =
        db.prepare_cached("SELECT row, kind, key, value, sum FROM records ORDER BY kind, key")?;
    let mut rows = find.query([])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

/// The ids of the oldest and of the newest event.
pub(super) fn first_and_last(db: &Connection) -> Result<Option<(EventId, EventId)>, Error> {
    let oldest = entry_after(db, i64::MIN)?.map(|(_, entry)| entry.id);
    let mut find = db.prepare_cached(
        "SELECT id, time, name, payload, sum FROM events ORDER BY id DESC LIMIT 1",
    )?;
    let newest = find.query_row([], |row| Ok(entry(row))).optional()?.transpose()?;
    Ok(oldest.zip(newest.map(|entry| entry.id)))
}

fn entry(row: &Row<'_>) -> Result<JournalEntry, Error> {
    let id = EventId(unsigned(row.get(0)?)?);
    let time = Time(unsigned(row.get(1)?)?);
    let entry = JournalEntry::new(id, time, row.get(2)?, row.get(3)?);
    verify(row, entry_checksum(&entry))?;
    Ok(entry)
}

fn record(row: &Row<'_>) -> Result<JournalRecord, Error> {
    let record = JournalRecord { kind: row.get(1)?, key: row.get(2)?, value: row.get(3)? };
    verify(
        row,
        checksum(&[record.kind.as_bytes(), record.key.as_bytes(), record.value.as_bytes()]),
    )?;
    Ok(record)
}

/// An event that was parsed without SQLite, if it matches its checksum.
pub(super) fn verified_entry(
    id: u64,
    time: i64,
    name: String,
    payload: String,
    sum: i64,
) -> Option<JournalEntry> {
    let entry = JournalEntry::new(EventId(id), Time(u64::try_from(time).ok()?), name, payload);
    (entry_checksum(&entry) == sum).then_some(entry)
}

/// The same for a record.
pub(super) fn verified_record(record: JournalRecord, sum: i64) -> Option<JournalRecord> {
    let parts = [&record.kind, &record.key, &record.value].map(|part| part.as_bytes());
    (checksum(&parts) == sum).then_some(record)
}

/// Writes an event unless its id exists. Returns whether it did.
pub(super) fn add_entry(db: &Connection, entry: &JournalEntry) -> Result<bool, Error> {
    let mut find = db.prepare_cached("SELECT 1 FROM events WHERE id = ?1")?;
    if find.exists([signed(entry.id.0)])? {
        return Ok(false);
    }
    put_entries(db, [entry])?;
    Ok(true)
}

/// Writes a record unless its kind and key exist.
pub(super) fn add_record(db: &Connection, record: &JournalRecord) -> Result<(), Error> {
    let mut find = db.prepare_cached("SELECT 1 FROM records WHERE kind = ?1 AND key = ?2")?;
    if !find.exists([&record.kind, &record.key])? {
        put_record(db, [&record.kind, &record.key, &record.value])?;
    }
    Ok(())
}

/// The last event and the number of events in the tables.
pub(super) fn count_events(db: &Connection) -> Result<JournalStateRow, Error> {
    let mut find = db.prepare_cached("SELECT coalesce(max(id), 0), count(*) FROM events")?;
    let (last, count) = find.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(JournalStateRow { last: EventId(unsigned(last)?), count: unsigned(count)? })
}

/// The bytes of the pages in use.
pub(super) fn used_bytes(db: &Connection) -> Result<u64, Error> {
    let number = |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    Ok(unsigned(pages)? * PAGE as u64)
}

/// Deletes grants that were revoked by an event: an older version of their page may have restored
/// them.
pub(super) fn delete_revoked_grants(db: &Connection) -> Result<(), Error> {
    db.execute(
        "DELETE FROM records WHERE kind = 'grant' AND key IN (
            SELECT json_extract(payload, '$.id') FROM events
            WHERE name = 'grant:revoked' AND json_valid(payload))",
        [],
    )?;
    Ok(())
}

fn verify(row: &Row<'_>, sum: i64) -> Result<(), Error> {
    match row.get::<_, i64>(4)? == sum {
        true => Ok(()),
        false => Err(Error::Damaged("a row does not match its checksum")),
    }
}

fn entry_checksum(JournalEntry { id, time, name, payload, .. }: &JournalEntry) -> i64 {
    let id = id.0.to_be_bytes();
    let time = signed(time.0).to_be_bytes();
    checksum(&[&id, &time, name.as_bytes(), payload.as_bytes()])
}

/// FNV-1a over the parts and their lengths: detects accidents, not attacks.
fn checksum(parts: &[&[u8]]) -> i64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: &u8| sum = (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    for part in parts {
        part.iter().for_each(&mut add);
        (part.len() as u64).to_be_bytes().iter().for_each(&mut add);
    }
    sum.cast_signed()
}

/// SQLite's numbers are signed. Only the time of a broken clock does not fit, and it must not stop
/// the writer.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::Damaged("a number is negative"))
}
