//! Transcripts in JSON Lines.

use serde_json::Value;

use super::{TranscriptAnswer, TranscriptSummary, message_text, parse_time};

/// Reads every line; a partial line at either end is skipped. A text that is one JSON document
/// counts as one line.
pub(super) fn read(text: &str, take: fn(&mut TranscriptSummary, &Value)) -> TranscriptSummary {
    let mut summary = TranscriptSummary::default();
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        take(&mut summary, &whole);
        return summary;
    }
    for line in text.lines() {
        if let Ok(value) = serde_json::from_str::<Value>(line) {
            take(&mut summary, &value);
        }
    }
    summary
}

fn set_text(target: &mut Option<String>, value: &Value) {
    if let Some(text) = value.as_str() {
        *target = Some(text.to_owned());
    }
}

fn set_answer(summary: &mut TranscriptSummary, content: &Value, at: &Value) {
    if let Some(text) = message_text(content) {
        summary.answer = Some(TranscriptAnswer { text, at: parse_time(at) });
    }
}

pub(super) fn codex(summary: &mut TranscriptSummary, line: &Value) {
    let payload = &line["payload"];
    match (line["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => {
            set_text(&mut summary.session, &payload["id"]);
            set_text(&mut summary.cwd, &payload["cwd"]);
        }
        (Some("turn_context"), _) => set_text(&mut summary.cwd, &payload["cwd"]),
        (Some("response_item"), Some("message")) if payload["role"] == "assistant" => {
            set_answer(summary, &payload["content"], &line["timestamp"]);
        }
        (Some("event_msg"), Some("task_complete")) => {
            set_answer(summary, &payload["last_agent_message"], &line["timestamp"]);
        }
        _ => {}
    }
}

/// One message may span several lines of the same id, each with some of its parts.
pub(super) fn claude(summary: &mut TranscriptSummary, line: &Value) {
    if line["isSidechain"] == true {
        return;
    }
    set_text(&mut summary.session, &line["sessionId"]);
    set_text(&mut summary.cwd, &line["cwd"]);
    if line["type"] != "assistant" {
        return;
    }
    set_answer(summary, &line["message"]["content"], &line["timestamp"]);
}

/// A message may be written again with the same id; the last one counts. `$set` lines replace the
/// whole list.
pub(super) fn gemini(summary: &mut TranscriptSummary, line: &Value) {
    set_text(&mut summary.session, &line["sessionId"]);
    let lists = [&line["messages"], &line["$set"]["messages"]];
    for message in lists.into_iter().filter_map(Value::as_array).flatten() {
        gemini(summary, message);
    }
    if line["type"] == "gemini" {
        set_answer(summary, &line["content"], &line["timestamp"]);
    }
}

pub(super) fn qwen(summary: &mut TranscriptSummary, line: &Value) {
    set_text(&mut summary.session, &line["sessionId"]);
    set_text(&mut summary.cwd, &line["cwd"]);
    if line["type"] == "assistant" {
        set_answer(summary, &line["message"]["parts"], &line["timestamp"]);
    }
}

pub(super) fn pi(summary: &mut TranscriptSummary, line: &Value) {
    match line["type"].as_str() {
        Some("session") => {
            set_text(&mut summary.session, &line["id"]);
            set_text(&mut summary.cwd, &line["cwd"]);
        }
        Some("message") if line["message"]["role"] == "assistant" => {
            set_answer(summary, &line["message"]["content"], &line["timestamp"]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TranscriptFormat, read};
    use paned_model::Time;
    use proptest::prelude::*;

    #[track_caller]
    fn check(kind: TranscriptFormat, text: &str, answer: &str, cwd: Option<&str>) {
        let summary = read(kind, text);
        assert_eq!(summary.answer.as_ref().map(|answer| answer.text.as_str()), Some(answer));
        assert_eq!(summary.cwd.as_deref(), cwd);
    }

    const CODEX: &str = concat!(
        r#"{"timestamp":"2026-11-16T04:13:28.960Z","type":"session_meta","payload":{"id":"01a1","cwd":"/w/demo"}}"#,
        "\n",
        r#"{"timestamp":"2026-11-16T04:13:29.004Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"make it"}]}}"#,
        "\n",
        r#"{"timestamp":"2026-11-16T04:13:30.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I begin."}]}}"#,
        "\n",
        r#"{"timestamp":"2026-11-16T04:13:31.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command"}}"#,
        "\n",
        r#"{"timestamp":"2026-11-16T04:13:32.369Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done,\nthe fox"}]}}"#,
        "\n",
    );

    #[test]
    fn codex_says_its_last_message() {
        check(TranscriptFormat::Codex, CODEX, "Done,\nthe fox", Some("/w/demo"));
        let summary = read(TranscriptFormat::Codex, CODEX);
        assert_eq!(summary.session.as_deref(), Some("01a1"));
        assert_eq!(summary.answer.unwrap().at, Some(Time(1_794_802_412_369).into()));
    }

    #[test]
    fn claude_says_its_last_text_and_sub_agents_nothing() {
        let text = concat!(
            r#"{"type":"user","sessionId":"s","cwd":"/w","message":{"role":"user","content":"hi"}}"#,
            "\n",
            r#"{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"2026-11-16T04:13:32.369Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hello."}]}}"#,
            "\n",
            r#"{"type":"assistant","sessionId":"s","cwd":"/w","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","name":"Bash"}]}}"#,
            "\n",
            r#"{"type":"assistant","isSidechain":true,"sessionId":"s","cwd":"/w","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"a sub-agent"}]}}"#,
        );
        check(TranscriptFormat::Claude, text, "Hello.", Some("/w"));
    }

    #[test]
    fn gemini_says_its_last_message_in_both_forms() {
        let lines = concat!(
            r#"{"sessionId":"fc15","projectHash":"1","kind":"main"}"#,
            "\n",
            r#"{"$set":{"messages":[{"id":"d","type":"user","content":[{"text":"context"}]}]}}"#,
            "\n",
            r#"{"id":"8e","timestamp":"2026-11-16T04:15:07.681Z","type":"gemini","content":"","toolCalls":[]}"#,
            "\n",
            r#"{"id":"17","timestamp":"2026-11-16T04:15:11.713Z","type":"gemini","content":"Done, the fox"}"#,
            "\n",
            r#"{"$set":{"lastUpdated":"2026-11-16T04:15:11.713Z"}}"#,
        );
        check(TranscriptFormat::Gemini, lines, "Done, the fox", None);
        let whole = r#"{"sessionId":"x","messages":[{"type":"user","content":"q"},{"type":"gemini","content":"an answer"}]}"#;
        check(TranscriptFormat::Gemini, whole, "an answer", None);
    }

    #[test]
    fn qwen_and_pi_say_their_last_message() {
        let qwen = concat!(
            r#"{"type":"user","cwd":"/w","sessionId":"q","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
            "\n",
            r#"{"type":"assistant","cwd":"/w","sessionId":"q","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Hello."}]}}"#,
        );
        check(TranscriptFormat::Qwen, qwen, "Hello.", Some("/w"));
        let pi = concat!(
            r#"{"type":"session","id":"p","cwd":"/w"}"#,
            "\n",
            r#"{"type":"message","timestamp":"2026-11-16T04:15:11.713Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hello."}]}}"#,
        );
        check(TranscriptFormat::Pi, pi, "Hello.", Some("/w"));
    }

    proptest! {
        /// However it is cut and whatever follows: an answer is one that the transcript holds, and
        /// nothing panics.
        #[test]
        fn a_cut_transcript_gives_an_answer_of_its_own_or_none(from in 0..CODEX.len(), to in 0..CODEX.len(), noise in ".{0,40}") {
            let (from, to) = (from.min(to), from.max(to));
            let cut = format!("{}{noise}", &CODEX[from..to]);
            let answer = read(TranscriptFormat::Codex, &cut).answer.map(|answer| answer.text);
            prop_assert!([None, Some("I begin."), Some("Done,\nthe fox")].contains(&answer.as_deref()));
            for kind in [TranscriptFormat::Claude, TranscriptFormat::Gemini, TranscriptFormat::Qwen, TranscriptFormat::Pi, TranscriptFormat::Aider] {
                let _ = read(kind, &cut);
            }
        }
    }
}
