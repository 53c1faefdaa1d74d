//! What the names that a user types for panes and tokens mean.
//!
//! An exact name costs nothing. When the server refuses a name because nothing has it, the refusal
//! lists what may be meant; if that is one, the request is sent again with it, and later requests
//! of this command use it at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::near::alternatives;
use paned_model::{Code, PaneId, Refusal};
use serde_json::Value;

/// Parameters that hold a name.
const FIELDS: [&str; 4] = ["paneId", "paneIds", "panes", "beside"];
/// Actions that end panes. They take no title: a name that was learned from another action does
/// not count if it is one.
const ENDINGS: [&str; 5] =
    ["pane:kill", "pane:close", "pane:remove", "pane:restart", "agent:restart"];

/// Names that this command has learned. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameMemory(Arc<Mutex<BTreeMap<String, String>>>);

impl NameMemory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a name means, as far as that is known: an id, or the name itself.
    pub(crate) fn meaning(&self, typed: &str) -> String {
        self.lock().get(typed).cloned().unwrap_or_else(|| typed.to_owned())
    }

    /// Parameters with ids in place of the names that were learned; None if there are none.
    pub(super) fn apply(&self, action: &str, params: &Value) -> Option<Value> {
        let names = self.lock();
        if names.is_empty() {
            return None;
        }
        let replace = |value: &mut Value| {
            let Some(typed) = value.as_str() else { return };
            let id = names.get(typed);
            let id = id.filter(|id| !ENDINGS.contains(&action) || id.starts_with(typed));
            if let Some(id) = id {
                *value = Value::from(id.as_str());
            }
        };
        let mut params = params.clone();
        let id = Some("id").filter(|_| action == "grant:revoke");
        for field in FIELDS.into_iter().chain(id) {
            match params.get_mut(field) {
                Some(Value::Array(values)) => values.iter_mut().for_each(replace),
                Some(value) => replace(value),
                None => {}
            }
        }
        Some(params)
    }

    /// Learns the one name that a refusal offers.
    ///
    /// # Errors
    /// With the refusal, if it offers none, or several.
    pub(super) fn learn(&self, error: anyhow::Error) -> anyhow::Result<()> {
        let refusal: Refusal = error.downcast()?;
        let Some(offer) = NameOffer::of(&refusal) else { return Err(refusal.into()) };
        match offer.matches.as_slice() {
            [] => Err(refusal.into()),
            [id] => match self.lock().insert(offer.typed, id.clone()) {
                None => Ok(()),
                // It was tried, and refused again.
                Some(_) => Err(refusal.into()),
            },
            several => {
                let names = alternatives(several).unwrap_or_default();
                let typed = offer.typed.escape_debug();
                let sentence = format!("`{typed}` is ambiguous: {names}; type more of the name");
                let details = refusal.details.unwrap_or_default();
                Err(Refusal::new(Code::Conflict, sentence).with_details(details).into())
            }
        }
    }
}

/// A name that cannot be an id, such as a title, is the name of no pane. The server refuses it for
/// its characters, which is not what the user wants to know.
pub(super) fn without_pane(error: anyhow::Error, params: &Value) -> anyhow::Error {
    let is_about_name = |refusal: &Refusal| {
        let path = refusal.details.as_ref().and_then(|details| details.get("path")?.as_str());
        let is_name = |path: &str| FIELDS.into_iter().any(|field| path.starts_with(field));
        refusal.code == Code::Invalid && path.is_some_and(is_name)
    };
    if !error.downcast_ref().is_some_and(is_about_name) {
        return error;
    }
    let names = |field: &str| match params.get(field) {
        Some(Value::Array(values)) => values.clone(),
        value => value.into_iter().cloned().collect(),
    };
    let typed = FIELDS.into_iter().flat_map(names);
    let mut typed = typed.filter_map(|name| name.as_str().map(str::to_owned));
    let is_no_id = |name: &String| !name.is_empty() && name.parse::<PaneId>().is_err();
    let Some(typed) = typed.find(is_no_id) else { return error };
    let typed = typed.escape_debug();
    Refusal::not_found(format!("no pane `{typed}`; `paned ls` lists all panes")).into()
}

/// What a refusal offers in place of a name.
struct NameOffer {
    typed: String,
    matches: Vec<String>,
}

impl NameOffer {
    fn of(refusal: &Refusal) -> Option<Self> {
        let details = refusal.details.as_ref()?;
        details.get("field")?;
        let typed = details.get("name")?.as_str()?.to_owned();
        let matches = details.get("matches")?.as_array()?;
        let matches = matches.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(Self { typed, matches })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(matches: &[&str]) -> anyhow::Error {
        let details = json!({ "field": "paneId", "name": "we", "matches": matches });
        Refusal::not_found("no pane `we`").with_details(details).into()
    }

    #[test]
    fn the_only_match_is_used_from_then_on() {
        let names = NameMemory::default();
        let params = json!({ "paneId": "we", "text": "we" });
        assert_eq!(names.apply("pane:write", &params), None);
        names.learn(refusal(&["web"])).unwrap();
        let expect = json!({ "paneId": "web", "text": "we" });
        assert_eq!(names.apply("pane:write", &params), Some(expect));
        assert_eq!(names.meaning("we"), "web");
        assert!(names.learn(refusal(&["web"])).is_err(), "it is tried once");
    }

    #[test]
    fn a_name_that_cannot_be_an_id_is_the_name_of_no_pane() {
        let about = |params: Value| -> Refusal {
            let invalid = Refusal::invalid("`paneId`: invalid pane id");
            let invalid = invalid.with_details(json!({ "path": "paneId" }));
            without_pane(invalid.into(), &params).downcast().unwrap()
        };
        let refusal = about(json!({ "paneId": "a title", "text": "x" }));
        assert_eq!(refusal.code, Code::NotFound);
        assert!(refusal.sentence.starts_with("no pane `a title`; "), "{}", refusal.sentence);
        assert_eq!(about(json!({ "paneIds": ["web", "a b"] })).code, Code::NotFound);
        assert_eq!(about(json!({ "paneId": "web", "text": "a b" })).code, Code::Invalid);
        assert_eq!(about(json!({ "paneId": "" })).code, Code::Invalid);
    }

    #[test]
    fn several_matches_are_a_conflict_that_names_them() {
        let error = NameMemory::default().learn(refusal(&["web", "worker"])).unwrap_err();
        let refusal: Refusal = error.downcast().unwrap();
        assert_eq!(refusal.code, Code::Conflict);
        assert!(refusal.sentence.contains("`web` or `worker`"), "{}", refusal.sentence);
    }

    #[test]
    fn a_title_that_was_learned_ends_no_pane() {
        let names = NameMemory::default();
        let details = json!({ "field": "paneId", "name": "the server", "matches": ["web"] });
        names.learn(Refusal::not_found("no").with_details(details).into()).unwrap();
        let params = json!({ "paneId": "the server" });
        assert_eq!(names.apply("pane:close", &params), Some(params.clone()));
        assert_ne!(names.apply("pane:get", &params), Some(params));
    }
}
