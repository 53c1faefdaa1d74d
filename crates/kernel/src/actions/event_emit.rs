//! `event:emit`

use paned_model::{EventId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::registry::{Action, Context, Kind};

/// Nouns whose events are facts that only the house itself can know.
const OURS: [&str; 13] = [
    "action",
    "agent",
    "approval",
    "ext",
    "extensions",
    "grant",
    "handler",
    "journal",
    "layout",
    "pane",
    "server",
    "session",
    "shell",
];
const LONGEST_NAME: usize = 128;

pub(super) struct EventEmit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// `noun:past`, as in `build:finished`; nouns of paned's own events are refused.
    name: String,
    /// What happened to what.
    #[serde(default)]
    payload: Value,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Emitted {
    /// The event.
    id: EventId,
}

impl Action for EventEmit {
    const NAME: &'static str = "event:emit";
    const DOC: &'static str = "Record an event of your own.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Event;
    type Params = Params;
    type Answer = Emitted;

    async fn run(context: Context, params: Params) -> Result<Emitted, Refusal> {
        check_name(&params.name)?;
        let payload = if params.payload.is_null() { serde_json::json!({}) } else { params.payload };
        let ticket = context.kernel.record(&params.name, &payload);
        context.kernel.settle(ticket).await;
        Ok(Emitted { id: ticket.last })
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let shown = name.escape_debug();
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
    if name.is_empty() || LONGEST_NAME < name.len() || !name.chars().all(fits) {
        return Err(Refusal::invalid(format!(
            "`{shown}` is no event name: use letters, digits, `.`, `_`, `-` and `:`, at most {LONGEST_NAME}"
        )));
    }
    let noun = name.split(':').next().unwrap_or(name);
    if name == "gap" || OURS.contains(&noun) {
        return Err(Refusal::invalid(format!(
            "`{shown}` is for paned itself to say; choose a noun of your own"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_our_own_facts_and_unprintable_ones_are_refused() {
        for name in ["build:finished", "ci", "a.b-c_d:e", "panel:opened"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in
            ["", "pane:exited", "pane", "gap", "server:started", "a b", "a\nb", "ä", "a,b", "*"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
