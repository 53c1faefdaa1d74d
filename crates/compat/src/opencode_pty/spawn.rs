//! A request for a session, and its translation to parameters of `pane:new`.

use std::collections::BTreeMap;

use paned_model::{Meta, PaneId, Refusal, Size};
use serde::Deserialize;
use serde_json::{Value, json};

use super::NAME;
use super::info::{DESCRIPTION, NOTIFY, PARENT, PARENT_AGENT, TIMEOUT};
use crate::client::random;

/// The size of every session's terminal, as opencode-pty's clients draw it.
const SIZE: Size = Size { cols: 120, rows: 40 };
/// The longest title of a pane.
const LONGEST_TITLE: usize = 256;

/// A request for a session. Unknown fields are ignored, as upstream does.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PtyCompatSpawn {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    workdir: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    notify_on_exit: bool,
    timeout_seconds: Option<u32>,
    parent_session_id: Option<String>,
    parent_agent: Option<String>,
}

impl PtyCompatSpawn {
    /// Parses a request; `null` counts as missing.
    ///
    /// # Errors
    /// With the text that clients know.
    pub(super) fn read(mut request: Value) -> Result<Self, Refusal> {
        if let Some(fields) = request.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        if request["command"].as_str().is_none_or(str::is_empty) {
            return Err(Refusal::invalid("Command is required"));
        }
        let is_valid = |seconds: &Value| seconds.as_u64().is_some_and(|n| n != 0 && n < 1 << 32);
        if request.get("timeoutSeconds").is_some_and(|seconds| !is_valid(seconds)) {
            let sentence = "timeoutSeconds must be a positive integer in seconds";
            return Err(Refusal::invalid(sentence));
        }
        serde_json::from_value(request).map_err(|error| spawn_failed(&error.to_string()))
    }

    /// Uses the description as the title if there is none. Only the REST API does that.
    pub(super) fn titled_by_description(mut self) -> Self {
        self.title = self.title.or_else(|| self.description.clone());
        self
    }

    /// The parameters of `pane:new`.
    pub(super) fn params(self, id: &PaneId) -> Value {
        let title = self.title(id);
        let argv: Vec<String> = [self.command].into_iter().chain(self.args).collect();
        let description = self.description;
        let described = description.as_ref().map(|text| (DESCRIPTION, json!(text)));
        let timeout = self.timeout_seconds.map(|seconds| (TIMEOUT, json!(seconds)));
        let notify = self.notify_on_exit.then_some((NOTIFY, json!(true)));
        let parent = self.parent_session_id.as_ref().map(|id| (PARENT, json!(id)));
        let agent = self.parent_agent.as_ref().map(|agent| (PARENT_AGENT, json!(agent)));
        let recipient = self
            .parent_session_id
            .as_ref()
            .map(|id| json!({ "sessionId": id, "agent": self.parent_agent }));
        let meta = [described, timeout, notify, parent, agent].into_iter().flatten();
        let meta: Meta = meta.map(|(key, value)| (key.to_owned(), value)).collect();
        json!({
            "id": id,
            "argv": argv,
            "cwd": self.workdir,
            "env": self.env,
            "size": SIZE,
            "title": title,
            "meta": meta,
            "tags": [NAME],
            "notifyOnExit": self.notify_on_exit,
            "notice": { "words": "pty", "description": description, "recipient": recipient },
            "timeoutSeconds": self.timeout_seconds,
            "visible": "never",
        })
    }

    /// The pane's title: one line, not too long, never empty.
    fn title(&self, id: &PaneId) -> String {
        let command = || format!("{} {}", self.command, self.args.join(" "));
        let title = self.title.clone().unwrap_or_else(command).replace(char::is_control, " ");
        match title.trim() {
            "" => {
                let id = id.as_str();
                format!("Terminal {}", &id[id.len().saturating_sub(4)..])
            }
            title => title.chars().take(LONGEST_TITLE).collect(),
        }
    }
}

/// The refusal of a failed spawn: the text that clients know, with the cause as a detail for
/// people.
pub(super) fn spawn_failed(cause: &str) -> Refusal {
    Refusal::invalid("PTY spawn failed").with_details(json!({ "cause": cause }))
}

/// A refusal with its cause as one text, for protocols without details. The text that clients look
/// for comes first.
pub(super) fn with_cause(refusal: Refusal) -> String {
    let cause = refusal.details.as_ref().and_then(|details| details["cause"].as_str());
    match cause {
        Some(cause) => format!("{}: {cause}", refusal.sentence),
        None => refusal.sentence,
    }
}

/// A random id.
pub(super) fn fresh_id() -> PaneId {
    format!("pty_{:08x}", random()).parse().expect("letters, `_` and digits are an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_title(request: Value, title: &str) {
        let spawn = PtyCompatSpawn::read(request).unwrap();
        assert_eq!(spawn.params(&"pty_0000abcd".parse().unwrap())["title"], title);
    }

    #[test]
    fn a_title_is_given_or_the_command_or_made_up() {
        check_title(json!({ "command": "ls", "args": ["-l"], "title": "List" }), "List");
        check_title(json!({ "command": "ls", "args": ["-l"], "description": "x" }), "ls -l");
        check_title(json!({ "command": "ls", "title": null }), "ls");
        check_title(json!({ "command": "ls", "title": "a\nb" }), "a b");
        check_title(json!({ "command": " " }), "Terminal abcd");
    }

    #[track_caller]
    fn check_refused(request: Value, sentence: &str) {
        assert_eq!(PtyCompatSpawn::read(request).unwrap_err().sentence, sentence);
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_known_words() {
        for request in [json!({}), json!([]), json!({ "command": 7 }), json!({ "command": "" })] {
            check_refused(request, "Command is required");
        }
        for seconds in [json!(0), json!(-1), json!(1.5), json!("5"), json!(1_u64 << 32)] {
            let sentence = "timeoutSeconds must be a positive integer in seconds";
            check_refused(json!({ "command": "ls", "timeoutSeconds": seconds }), sentence);
        }
        check_refused(json!({ "command": "ls", "args": "-l" }), "PTY spawn failed");
    }

    #[test]
    fn the_cause_comes_after_the_words_that_are_known() {
        assert_eq!(with_cause(spawn_failed("no such folder")), "PTY spawn failed: no such folder");
        assert_eq!(with_cause(Refusal::invalid("Command is required")), "Command is required");
    }

    #[test]
    fn ids_are_eight_hex_digits_and_differ() {
        let (one, two) = (fresh_id(), fresh_id());
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), "pty_".len() + 8);
    }
}
