//! Notifications about other panes, for the terminal that is attached to this one: a bell, and a
//! notification of the terminal program.

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use paned_model::PaneId;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::client::sse::SseParser;
use crate::client::{ApiClient, RETRY_INTERVAL};
use crate::settings::process_env;

/// How many notifications wait for a terminal that does not read.
const MAX_WAITING: usize = 16;
/// How many characters of a notification a terminal gets.
const MAX_TEXT: usize = 200;

/// The notifications for one terminal.
pub(super) struct TerminalNotices {
    sequences: Option<mpsc::Receiver<Vec<u8>>>,
}

/// `notify:sent`, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NotifyEvent {
    channel: String,
    about: String,
    #[serde(default)]
    pane_id: Option<String>,
}

impl TerminalNotices {
    /// Follows the notifications of a server that has a rule for terminals. Needs a runtime.
    pub(super) fn follow(client: Option<ApiClient>, pane: &PaneId) -> Self {
        let Some(client) = client else { return Self { sequences: None } };
        let (sender, sequences) = mpsc::channel(MAX_WAITING);
        let pane = pane.to_string();
        tokio::spawn(async move {
            if has_terminal_rule(&client).await {
                follow(&client, &pane, &sender).await;
            }
        });
        Self { sequences: Some(sequences) }
    }

    /// What to send to the terminal next.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        if let Some(sequences) = &mut self.sequences
            && let Some(sequence) = sequences.recv().await
        {
            return sequence;
        }
        // There will be none.
        self.sequences = None;
        std::future::pending().await
    }
}

async fn has_terminal_rule(client: &ApiClient) -> bool {
    let rules: Vec<Value> = client.call("notify:list", &json!({})).await.unwrap_or_default();
    let has_terminal = |rule: &Value| {
        rule["to"].as_array().is_some_and(|to| to.iter().any(|channel| channel == "terminal"))
    };
    rules.iter().any(has_terminal)
}

/// Follows the events across restarts of the server. What happened while it was down is not told
/// again: a bell is for now.
async fn follow(client: &ApiClient, pane: &str, sequences: &mpsc::Sender<Vec<u8>>) {
    while !sequences.is_closed() {
        let _ = read_stream(client, pane, sequences).await;
        sleep(RETRY_INTERVAL).await;
    }
}

async fn read_stream(
    client: &ApiClient,
    pane: &str,
    sequences: &mpsc::Sender<Vec<u8>>,
) -> Result<()> {
    let request = Request::get("/events?include=notify:sent").body(Full::<Bytes>::default())?;
    let mut body = client.send(request).await?.into_body();
    let mut stream = SseParser::default();
    while let Some(frame) = body.frame().await {
        for message in stream.feed(&frame?.into_data().unwrap_or_default()) {
            let Some(sequence) = sequence(&message.data, pane) else { continue };
            // A terminal that does not read misses it.
            let _ = sequences.try_send(sequence);
        }
    }
    Ok(())
}

/// What to send to the terminal for an event; nothing if it is for another channel, or about the
/// pane that the terminal shows.
fn sequence(event: &str, pane: &str) -> Option<Vec<u8>> {
    let event: Value = serde_json::from_str(event).ok()?;
    let payload = event.get("payload").unwrap_or(&event);
    let NotifyEvent { channel, about, pane_id } = NotifyEvent::deserialize(payload).ok()?;
    if channel != "terminal" || pane_id.as_deref() == Some(pane) {
        return None;
    }
    let text = match pane_id {
        Some(pane) => format!("{pane} {about}"),
        None => about,
    };
    let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
    let is_urxvt = process_env("TERM").is_some_and(|term| term.starts_with("rxvt"));
    Some(
        match is_urxvt {
            true => format!("\x07\x1b]777;notify;paned;{}\x07", text.replace(';', ",")),
            false => format!("\x07\x1b]9;{text}\x07"),
        }
        .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notifications_for_terminals_about_other_panes() {
        let event = |channel: &str, pane: &str| {
            json!({ "payload": { "channel": channel, "about": "asks", "paneId": pane } })
                .to_string()
        };
        let text = |event: &str| sequence(event, "mine").map(|it| String::from_utf8(it).unwrap());
        assert_eq!(text(&event("terminal", "web")).unwrap(), "\x07\x1b]9;web asks\x07");
        assert_eq!(text(&event("terminal", "mine")), None);
        assert_eq!(text(&event("desktop", "web")), None);
        assert_eq!(text("{"), None);
    }
}
