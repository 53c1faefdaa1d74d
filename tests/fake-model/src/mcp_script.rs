//! A conversation over MCP: the model starts a server process, waits for its port, reads its output
//! and kills it. Each step follows from the result of the one before. Pure.

use serde_json::{Value, json};

use super::request::Tool;

/// What the server process prints once it is up.
pub const PORT_LINE: &str = "listening on port 4321";

/// A call: the tool's name without what a program puts before it, and the arguments.
type ScriptedCall = (&'static str, Value);

/// The first call.
pub(super) fn first() -> ScriptedCall {
    let script = format!("echo starting; sleep 1; echo '{PORT_LINE}'; sleep 600");
    ("pty_spawn", json!({ "command": "sh", "args": ["-c", script], "description": "a server" }))
}

/// The call that follows a result; none at the end, and after a result that is of no step.
pub(super) fn next(result: &str) -> Option<ScriptedCall> {
    // Programs put results into JSON, some of them twice.
    let text = result.replace("\\\\", "\\").replace("\\n", "\n").replace("\\\"", "\"");
    let id = id(&text)?;
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["<pty_killed>", "\"wasRunning\""]) {
        None
    } else if has(&["<pty_output", "\"totalLines\""]) {
        Some(("pty_kill", json!({ "id": id })))
    } else if has(&["<pty_waited>", "\"met\""]) {
        Some(("pty_read", json!({ "id": id })))
    } else {
        has(&["<pty_spawned>", "\"workdir\""])
            .then(|| ("pty_wait", json!({ "id": id, "pattern": "port (\\d+)" })))
    }
}

/// The session that a result is about.
fn id(text: &str) -> Option<String> {
    let marks = ["\nID: ", "\"id\":\"", "\"id\": \"", " id=\"", "\nKilled: "];
    let at = marks.iter().find_map(|mark| Some(text.find(mark)? + mark.len()))?;
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id: String = text[at..].chars().take_while(is_part).collect();
    (!id.is_empty()).then_some(id)
}

/// The tool of this name among those that a program offers, which it may have put its own words
/// before.
pub(super) fn offered<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|tool| tool.name.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, expect: Option<&str>) {
        let called = next(result);
        assert_eq!(called.as_ref().map(|(name, _)| *name), expect, "{result}");
        if let Some((_, args)) = called {
            assert_eq!(args["id"], "p-1", "{result}");
        }
    }

    #[test]
    fn each_result_leads_to_the_next_call() {
        check("<pty_spawned>\nID: p-1\nTitle: x", Some("pty_wait"));
        check(r#"{"id":"p-1","workdir":"/"}"#, Some("pty_wait"));
        check(r#"{"output":"<pty_waited>\nID: p-1\nMet: pattern"}"#, Some("pty_read"));
        check("<pty_output id=\"p-1\" status=\"running\">", Some("pty_kill"));
        check("<pty_killed>\nKilled: p-1 (session retained)", None);
        check("anything else", None);
    }
}
