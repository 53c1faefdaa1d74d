//! `event:emit`

use paned_model::{EventId, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::EventName;
use crate::event_names;
use crate::registry::{Action, ActionContext, ActionKind};

const LONGEST_NAME: usize = 128;

pub(super) struct EventEmit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// `noun:past`, as in `build:finished`; the names of events that paned records itself are
    /// refused.
    #[schemars(with = "EventName")]
    name: String,
    /// The event's data.
    #[serde(default)]
    payload: Value,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EventEmitOutput {
    /// The event.
    id: EventId,
}

impl Action for EventEmit {
    const NAME: &'static str = "event:emit";
    const DOC: &'static str = "Record a custom event.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Event;
    type Params = Params;
    type Answer = EventEmitOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::panes(&pane_of_payload(&params.payload))
    }

    async fn run(context: ActionContext, params: Params) -> Result<EventEmitOutput, Refusal> {
        check_name(&params.name)?;
        let kernel = &context.kernel;
        let payload = if params.payload.is_null() { json!({}) } else { params.payload };
        let payload = match pane_of_payload(&payload) {
            Some(pane) => kernel.event_payload(&pane, without_instance(payload)),
            None => payload,
        };
        let bytes = || serde_json::to_string(&payload).map_or(0, |json| json.len());
        let rate = kernel.limits().events_per_second;
        kernel.budgets().event(&context.caller.grant, bytes, rate, kernel.now())?;
        let id = kernel.record_committed(&params.name, &payload).await?;
        Ok(EventEmitOutput { id })
    }
}

/// The pane that an event is about: grants that reach the pane see the event.
fn pane_of_payload(payload: &Value) -> Option<PaneId> {
    payload.get("paneId")?.as_str()?.parse().ok()
}

/// An event's payload without the pane's instance: the kernel sets that itself.
fn without_instance(mut payload: Value) -> Value {
    if let Some(fields) = payload.as_object_mut() {
        fields.remove("instance");
    }
    payload
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let shown = name.escape_debug();
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
    if name.is_empty() || LONGEST_NAME < name.len() || !name.chars().all(fits) {
        return Err(Refusal::invalid(format!(
            "invalid event name `{shown}`: use at most {LONGEST_NAME} letters, digits, `.`, `_`, \
            `-` and `:`"
        )));
    }
    // Subscribers take an event of such a name for a fact.
    if event_names::is_own(name) {
        return Err(Refusal::invalid(format!(
            "the event name `{shown}` is reserved for paned, which records such events itself; \
            use another name"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_our_own_facts_and_unprintable_ones_are_refused() {
        for name in ["build:finished", "ci", "a.b-c_d:e", "panel:opened", "pane:ready", "pane"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["pane:exited", "Pane:exited", "gap", "Gap", "server:started", "agent:state"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        for name in ["", "a b", "a\nb", "ä", "a,b", "*"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
