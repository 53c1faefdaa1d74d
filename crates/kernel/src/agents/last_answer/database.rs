//! Transcripts that are SQLite databases: queried for the last answer, opened read-only.

use std::path::Path;

use paned_policy::transcript::{TranscriptAnswer, message_text, parse_time};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde_json::{Value, json};

use super::transcript::is_same_folder;

/// How many of the last messages are searched for one with text.
const MOST: u32 = 50;
/// The folder of a session of opencode, and of goose.
const OPENCODE_FOLDER: &str = "SELECT directory FROM session WHERE id = ?1";
const GOOSE_FOLDER: &str = "SELECT working_dir FROM sessions WHERE id = ?1";

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(1))?;
    Ok(connection)
}

/// The last answer in opencode's database: of a session by its id, else of the last one in a
/// folder.
pub(super) fn opencode(
    path: &Path,
    session: Option<&str>,
    cwd: &str,
    since: i64,
) -> rusqlite::Result<Option<TranscriptAnswer>> {
    let connection = open(path)?;
    let named = session.map(|id| in_folder(&connection, OPENCODE_FOLDER, id, cwd)).transpose()?;
    let session = match named.flatten() {
        Some(session) => Some(session),
        None => connection
            .query_row(
                "SELECT id FROM session WHERE directory = ?1 AND parent_id IS NULL AND ?2 <= time_updated \
                 ORDER BY time_updated DESC LIMIT 1",
                params![cwd, since],
                |row| row.get(0),
            )
            .optional()?,
    };
    let Some(session) = session else { return Ok(None) };
    let mut messages = connection.prepare(
        "SELECT id, time_updated FROM message WHERE session_id = ?1 AND json_extract(data, '$.role') = 'assistant' \
         ORDER BY time_created DESC, id DESC LIMIT ?2",
    )?;
    let mut parts =
        connection.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let rows = messages.query_map(params![session, MOST], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    for row in rows {
        let (message, at) = row?;
        let read = parts.query_map([message], |row| row.get::<_, String>(0))?;
        let content = read.map(|part| part.map(|part| value(&part)));
        let content = content.collect::<rusqlite::Result<Vec<Value>>>()?;
        if let Some(text) = message_text(&Value::Array(content)) {
            return Ok(Some(TranscriptAnswer { text, at: parse_time(&json!(at)) }));
        }
    }
    Ok(None)
}

/// The last answer in goose's database: of a session by its id, else of the last one in a folder.
pub(super) fn goose(
    path: &Path,
    session: Option<&str>,
    cwd: &str,
) -> rusqlite::Result<Option<TranscriptAnswer>> {
    let connection = open(path)?;
    let named = session.map(|id| in_folder(&connection, GOOSE_FOLDER, id, cwd)).transpose()?;
    let session = match named.flatten() {
        Some(session) => Some(session),
        None => connection
            .query_row(
                "SELECT id FROM sessions WHERE working_dir = ?1 ORDER BY updated_at DESC, id DESC LIMIT 1",
                [cwd],
                |row| row.get(0),
            )
            .optional()?,
    };
    let Some(session) = session else { return Ok(None) };
    let mut messages = connection.prepare(
        "SELECT content_json, created_timestamp FROM messages WHERE session_id = ?1 AND role = 'assistant' \
         ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = messages.query_map(params![session, MOST], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    for row in rows {
        let (content, at) = row?;
        if let Some(text) = message_text(&value(&content)) {
            return Ok(Some(TranscriptAnswer { text, at: parse_time(&json!(at)) }));
        }
    }
    Ok(None)
}

/// The session with an id, if it belongs to this folder: the id comes from a caller and proves
/// nothing.
fn in_folder(
    connection: &Connection,
    query: &str,
    session: &str,
    cwd: &str,
) -> rusqlite::Result<Option<String>> {
    let folder =
        connection.query_row(query, [session], |row| row.get::<_, String>(0)).optional()?;
    let is_here = folder.is_some_and(|folder| is_same_folder(&folder, cwd));
    Ok(is_here.then(|| session.to_owned()))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opencode_says_the_last_message_with_words_of_the_folders_session() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("opencode.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                r#"CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_updated INTEGER);
                CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
                CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
                INSERT INTO session VALUES ('s1', NULL, '/w', 10), ('s2', 's1', '/w', 20), ('s3', NULL, '/x', 30);
                INSERT INTO message VALUES ('m1', 's1', 1, 1794802412000, '{"role":"assistant"}'),
                    ('m2', 's1', 2, 2, '{"role":"assistant"}'), ('m3', 's2', 3, 3, '{"role":"assistant"}');
                INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"Done,"}'),
                    ('p2', 'm1', '{"type":"reasoning","text":"hm"}'), ('p3', 'm2', '{"type":"tool"}'),
                    ('p4', 'm3', '{"type":"text","text":"a sub-agent"}');"#,
            )
            .unwrap();
        let answer = |session, cwd, since| opencode(&path, session, cwd, since).unwrap();
        let text = |answer: Option<TranscriptAnswer>| answer.map(|answer| answer.text);
        assert_eq!(text(answer(None, "/w", 0)), Some("Done,".into()));
        assert_eq!(text(answer(Some("s2"), "/w", 0)), Some("a sub-agent".into()));
        assert_eq!(answer(None, "/w", 11), None, "sessions from before do not count");
        assert_eq!(answer(None, "/elsewhere", 0), None);
        assert_eq!(answer(Some("s1"), "/elsewhere", 0), None, "a name opens no other folder");
    }

    #[test]
    fn goose_says_the_last_message_with_words() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sessions.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                r#"CREATE TABLE sessions (id TEXT, working_dir TEXT, updated_at TEXT);
                CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
                INSERT INTO sessions VALUES ('a', '/w', '2026-11-16 04:16:11');
                INSERT INTO messages VALUES (1, 'a', 'assistant', '[{"type":"text","text":"Done."}]', 1794802412),
                    (2, 'a', 'assistant', '[{"type":"toolRequest"}]', 1794802413);"#,
            )
            .unwrap();
        let answer = goose(&path, None, "/w").unwrap().unwrap();
        assert_eq!(goose(&path, Some("a"), "/elsewhere").unwrap(), None);
        assert_eq!((answer.text.as_str(), answer.at.unwrap().time.0), ("Done.", 1_794_802_412_000));
    }
}
