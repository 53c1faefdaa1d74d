//! Names that a running server knows: panes, sessions, profiles, actions, tags, tokens.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use hyper::Method;
use serde_json::{Value, json};

use super::Candidate;
use super::source::{PaneFilter, ServerNames};
use super::walk::WordSlot;
use crate::args::Global;
use crate::client;
use crate::context::CliContext;
use crate::out::{ColourChoice, Out};

/// How long to wait for the server: a person waits for the shell.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The names, or none where no server answers.
pub(super) fn ask(names: ServerNames, slot: &WordSlot<'_>) -> Vec<Candidate> {
    let option = |id: &str| {
        let found = slot.options.iter().rev().find(|(name, _)| *name == id);
        found.map(|(_, value)| value.clone())
    };
    let global = Global {
        json: true,
        state_dir: option("state_dir").map(Into::into),
        config: option("config").map(Into::into),
        socket: option("socket").map(Into::into),
        url: option("url"),
        token: option("token"),
        color: ColourChoice::Never,
    };
    fetch(names, &CliContext::new(Out::new(true, ColourChoice::Never), global)).unwrap_or_default()
}

fn fetch(names: ServerNames, context: &CliContext) -> Result<Vec<Candidate>> {
    let client = context.client()?;
    let (action, list) = match names {
        ServerNames::Panes(_) | ServerNames::Tags => ("pane:list", ""),
        ServerNames::Sessions => ("session:list", "/sessions"),
        ServerNames::Profiles => ("agent:profiles", "/profiles"),
        ServerNames::Tokens => ("grant:list", "/grants"),
        ServerNames::Extensions => ("ext:list", ""),
        ServerNames::Actions => ("", ""),
    };
    let answer: Value = client::block_on(async {
        let answer = async {
            match names {
                ServerNames::Actions => client.request(Method::GET, "/actions", None).await,
                _ => client.action(action, &json!({})).await,
            }
        };
        tokio::time::timeout(TIMEOUT, answer).await
    })???;
    let items = answer.pointer(list).filter(|it| it.is_array()).unwrap_or(&answer);
    let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(match names {
        ServerNames::Panes(filter) => {
            items.iter().filter(|pane| fits(filter, pane)).map(pane).collect()
        }
        ServerNames::Tags => tags(items),
        ServerNames::Sessions => all(items, "name", |_| String::new()),
        ServerNames::Profiles => all(items, "name", |_| String::new()),
        ServerNames::Tokens => all(items, "id", |token| text(token, "label")),
        ServerNames::Extensions => all(items, "name", |extension| text(extension, "status")),
        ServerNames::Actions => all(items, "name", |action| text(action, "doc")),
    })
}

fn fits(filter: PaneFilter, pane: &Value) -> bool {
    let is_running = pane["status"] == "running";
    match filter {
        PaneFilter::Any => true,
        PaneFilter::Running => is_running,
        PaneFilter::Ended => !is_running,
        PaneFilter::Agents => pane["agent"].is_object(),
    }
}

/// A pane with its status, an agent with its state, and the title.
fn pane(pane: &Value) -> Candidate {
    let state = pane["agent"].get("state").and_then(Value::as_str);
    let status = state.map_or_else(|| text(pane, "status"), str::to_owned);
    Candidate::new(text(pane, "id"), format!("{status}  {}", printable(&text(pane, "title"))))
}

fn tags(panes: &[Value]) -> Vec<Candidate> {
    let tags = panes.iter().filter_map(|pane| pane["tags"].as_array()).flatten();
    let unique: BTreeSet<_> = tags.filter_map(Value::as_str).collect();
    unique.into_iter().map(|tag| Candidate::new(tag, "")).collect()
}

fn all(items: &[Value], key: &str, about: impl Fn(&Value) -> String) -> Vec<Candidate> {
    items.iter().map(|item| Candidate::new(text(item, key), printable(&about(item)))).collect()
}

fn text(item: &Value, key: &str) -> String {
    item[key].as_str().unwrap_or_default().to_owned()
}

/// Titles come from programs, and a shell prints descriptions as they are.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}
