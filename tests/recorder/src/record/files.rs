//! The three files of a recording.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::session::{Label, RecordSession, round};

/// Writes a recording into a folder.
pub(super) fn write(drive: &RecordSession, case: &str, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let name = format!("{case}.{}x{}", drive.size.cols, drive.size.rows);
    fs::write(folder.join(format!("{name}.cast")), cast(drive, case)).unwrap();
    fs::write(folder.join(format!("{name}.states.json")), states(drive)).unwrap();
    fs::write(folder.join(format!("{name}.screens.txt")), screens(drive)).unwrap();
}

fn cast(drive: &RecordSession, case: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let began = now.as_secs().saturating_sub(drive.start.elapsed().as_secs());
    let head = json!({ "version": 2, "width": drive.size.cols, "height": drive.size.rows, "timestamp": began,
        "title": format!("{} {case}", drive.real.cli().name()), "command": drive.real.argv().join(" "),
        "env": { "TERM": "xterm-256color" } });
    let mut events: Vec<(Instant, &str, String)> = printed(drive);
    events.extend(drive.notes().into_iter().map(|note| (note.at, note.kind, note.text)));
    // Stable: what was printed at the same time as something was noted stays in its order.
    events.sort_by_key(|event| event.0);
    let line = |(at, kind, text): &(Instant, &str, String)| {
        let time = at.saturating_duration_since(drive.start).as_secs_f64();
        format!("[{}, {}, {}]\n", (time * 1e4).round() / 1e4, json!(kind), json!(text))
    };
    format!("{head}\n{}", events.iter().map(line).collect::<String>())
}

/// The output as text: a character that was cut in two goes with its last byte.
fn printed(drive: &RecordSession) -> Vec<(Instant, &'static str, String)> {
    let seen = drive.watcher.seen.lock().unwrap();
    let (mut events, mut rest) = (Vec::new(), Vec::new());
    for (at, bytes) in &seen.printed {
        rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => rest.len(),
        };
        let tail = rest.split_off(whole);
        if !rest.is_empty() {
            events.push((*at, "o", String::from_utf8_lossy(&rest).into_owned()));
        }
        rest = tail;
    }
    events
}

fn states(drive: &RecordSession) -> String {
    let line = |label: &Label| {
        let at = label.at.saturating_duration_since(drive.start);
        let at = round(at.max(Duration::from_millis(1)));
        let mut value = json!({ "t": at, "state": label.state, "source": label.source });
        let fields = value.as_object_mut().unwrap();
        fields.extend(label.more.iter().map(|(name, value)| (name.clone(), value.clone())));
        spaced(&value)
    };
    format!("[\n{}\n]\n", drive.labels.iter().map(line).collect::<Vec<_>>().join(",\n"))
}

/// On one line, with a blank behind each comma and colon.
fn spaced(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let fields: Vec<_> = fields.map(|(name, value)| format!("{}: {value}", json!(name))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// The screen a second into each state, or shortly before its end.
fn screens(drive: &RecordSession) -> String {
    let mut text = String::new();
    let labels = drive
        .labels
        .iter()
        .filter(|label| !matches!(label.state, "starting" | "quitting" | "exited"));
    for (n, label) in labels.enumerate() {
        let next = drive.labels.iter().map(|other| other.at).find(|at| label.at < *at);
        let at =
            (label.at + Duration::from_secs(1)).min(next.map_or(label.at, |next| {
                next.checked_sub(Duration::from_millis(30)).unwrap_or(next)
            }));
        let rows = drive.shot_at(at).rows.join("\n");
        text.push_str(&format!("=== {:02} {}\n{}\n", n + 1, label.state, rows.trim_end()));
    }
    text
}
