//! The file in which the agent records its answers, in codex's format, for `agent:last` to read.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

/// Where it is, in the folder that the agent was started in.
const PATH: &str = "transcript.jsonl";

/// Answers that are written later than they were given, as real programs do it.
#[derive(Default)]
pub(crate) struct Transcript {
    waiting: Vec<(Instant, String)>,
}

impl Transcript {
    /// An answer was given; its line is written after a delay and carries the time of the answer.
    pub(crate) fn answered(&mut self, text: &str, late: Duration, now: Instant) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let content = json!([{ "type": "output_text", "text": text }]);
        let line = json!({
            "timestamp": u64::try_from(at).unwrap_or(u64::MAX),
            "type": "response_item",
            "payload": { "type": "message", "role": "assistant", "content": content },
        });
        self.waiting.push((now + late, format!("{line}\n")));
    }

    /// Writes the lines whose delay is over.
    pub(crate) fn tick(&mut self, now: Instant) -> io::Result<()> {
        let due = self.waiting.extract_if(.., |(at, _)| *at <= now);
        let text: String = due.map(|(_, line)| line).collect();
        if text.is_empty() {
            return Ok(());
        }
        File::options().create(true).append(true).open(PATH)?.write_all(text.as_bytes())
    }
}
