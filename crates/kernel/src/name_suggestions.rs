//! What a caller may have meant by a pane that does not exist: `details` of a refusal.
//!
//! Names are exact here. A refusal about a missing pane lists the panes that may be meant, so that
//! the command line can take the only one, or ask. Only panes that the caller may see are listed:
//! those that its grant reaches, with the scope `read`.

use paned_model::{Code, PaneId, Refusal, Scope};
use paned_policy::names::{NameCandidate, NameMatches, NameRule};
use paned_policy::permit;
use serde_json::{Value, json};

use crate::names::ask;
use crate::panes::record::PaneTitle;
use crate::registry::ActionDefinition;
use crate::{Caller, Kernel};

/// Parameters that name a pane, most important first.
const PANE_FIELDS: [&str; 4] = ["paneId", "paneIds", "beside", "panes"];

/// Actions that end a pane's program, beside those that need the scope `kill`.
const RESTARTS: [&str; 2] = ["agent:restart", "pane:restart"];

impl Kernel {
    /// Adds the panes that may be meant to a refusal about a pane that does not exist, or that the
    /// grant does not reach. A title does not count for an action that ends
    /// panes.
    pub(crate) fn suggest_panes(
        &self,
        refusal: Refusal,
        params: &[u8],
        action: &ActionDefinition,
        caller: &Caller,
    ) -> Refusal {
        let Some(typed) = missing_name_of(&refusal, params) else { return refusal };
        if permit::scope(&caller.grant, Scope::Read).is_err() {
            return refusal;
        }
        let ends = action.scope == Scope::Kill || RESTARTS.contains(&action.name.as_ref());
        let rule = if ends { NameRule::IdsOnly } else { NameRule::Any };
        let candidates = self.name_candidates(caller);
        let found = NameMatches::find(&typed, &candidates, rule);
        if refusal.code == Code::Invalid && found.matches.is_empty() && found.near.is_empty() {
            return refusal;
        }
        let is_title = ends && candidates.iter().any(|it| it.title == typed);
        let why = if is_title { "panes are ended by their id; " } else { "" };
        let (code, sentence) = match (found.question(), refusal.code) {
            (Some(question), Code::Invalid) => {
                let sentence = format!("no pane `{}`; {why}{question}", typed.escape_debug());
                (Code::NotFound, sentence)
            }
            (Some(question), code) => (code, ask(&refusal.sentence, &format!("{why}{question}"))),
            (None, code) => (code, refusal.sentence),
        };
        let mut details = json!({
            "name": typed, "matches": found.matches, "near": found.near,
        });
        if let Some(field) = field_of(&typed, params) {
            details["field"] = field.into();
        }
        Refusal::new(code, sentence).with_details(details)
    }

    /// The panes that a caller may mean. A title that a program has set itself does not count, as
    /// otherwise a program could choose to be the one that is meant.
    fn name_candidates(&self, caller: &Caller) -> Vec<NameCandidate> {
        let panes = self.panes().list();
        let reached = panes.iter().filter(|pane| self.reaches(&pane.id, caller));
        let candidates = reached.map(|pane| {
            let title = match &pane.lock().record.title {
                PaneTitle::Given(title) | PaneTitle::Command(title) => title.clone(),
                PaneTitle::Program(_) | PaneTitle::Own(_) => String::new(),
            };
            NameCandidate { id: pane.id.to_string(), title }
        });
        candidates.collect()
    }
}

/// The name that a refusal is about, if it is about a missing pane.
fn missing_name_of(refusal: &Refusal, params: &[u8]) -> Option<String> {
    match (refusal.code, &refusal.details) {
        (Code::NotFound | Code::Forbidden, Some(details)) if details.get("near").is_none() => {
            Some(details.get("name")?.as_str()?.to_owned())
        }
        // A title is mostly no id, so it is refused before any pane is looked up.
        (Code::Invalid, details)
            if details.as_ref().is_none_or(|details| details.get("near").is_none()) =>
        {
            let params: Value = serde_json::from_slice(params).ok()?;
            let typed = params.get("paneId")?.as_str()?;
            typed.parse::<PaneId>().is_err().then(|| typed.to_owned())
        }
        _ => None,
    }
}

/// The parameter that holds a name.
fn field_of(typed: &str, params: &[u8]) -> Option<&'static str> {
    let params: Value = serde_json::from_slice(params).ok()?;
    let holds = |value: &Value| match value {
        Value::Array(values) => values.iter().any(|value| value == typed),
        value => value == typed,
    };
    PANE_FIELDS.into_iter().find(|field| params.get(*field).is_some_and(holds))
}
