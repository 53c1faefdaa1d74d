//! Helpers shared by the actions on a pane's meta.

use std::sync::Arc;

use paned_model::{Code, Meta, PaneId, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Kernel;
use crate::agents::SESSION;
use crate::panes::Pane;
use crate::registry::ActionContext;

/// A pane's meta before and after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct MetaChangeOutput {
    /// The pane.
    id: PaneId,
    /// Its meta before the change.
    previous_meta: Meta,
    /// Its meta after the change.
    meta: Meta,
    /// Whether they differ.
    changed: bool,
}

impl MetaChangeOutput {
    /// The same, compared with an earlier state.
    pub(in crate::actions) fn since(self, before: Meta) -> Self {
        let changed = before != self.meta;
        Self { previous_meta: before, changed, ..self }
    }
}

/// Changes a pane's meta for a caller. The agent's session id leads to a transcript, so a caller
/// must not set it here.
pub(in crate::actions) fn edit(
    context: &ActionContext,
    id: &PaneId,
    edit: impl FnOnce(&mut Meta),
) -> Result<MetaChangeOutput, Refusal> {
    change(context, id, |meta| {
        let session = meta.get(SESSION).cloned();
        edit(meta);
        if meta.get(SESSION) == session.as_ref() { Ok(()) } else { Err(session_is_reserved()) }
    })
}

/// Refuses a new pane's meta where it is too large or sets a reserved key.
pub(in crate::actions) fn check_new_meta(meta: &Meta, limit: usize) -> Result<(), Refusal> {
    if meta.contains_key(SESSION) {
        return Err(session_is_reserved());
    }
    check(meta, limit)
}

fn session_is_reserved() -> Refusal {
    Refusal::invalid(format!(
        "the key `{SESSION}` of `meta` can be set only with \
                             `agent:set-state`"
    ))
}

/// Changes a pane's meta atomically, and records it if anything is different.
pub(in crate::actions) fn change(
    context: &ActionContext,
    id: &PaneId,
    edit: impl FnOnce(&mut Meta) -> Result<(), Refusal>,
) -> Result<MetaChangeOutput, Refusal> {
    let kernel = &context.kernel;
    let pane = kernel.panes().get(id)?;
    let mut state = pane.lock();
    let previous_meta = state.meta().clone();
    let mut meta = previous_meta.clone();
    edit(&mut meta)?;
    check(&meta, kernel.limits().meta)?;
    let changed = meta != previous_meta;
    if changed {
        state.record.meta = meta.clone();
        let ticket = kernel.journal().record(Vec::new(), vec![state.record.put()]);
        let kernel = kernel.clone();
        let pane = Arc::clone(&pane);
        let undo = MetaUndo { before: previous_meta.clone(), after: meta.clone() };
        context.undo.add(ticket, move || undo.restore(&kernel, &pane));
    }
    Ok(MetaChangeOutput { id: id.clone(), previous_meta, meta, changed })
}

/// A change of a pane's meta that may have to be undone.
struct MetaUndo {
    before: Meta,
    after: Meta,
}

impl MetaUndo {
    /// Restores each entry that still has the value of this change; entries that changed since
    /// stay.
    fn restore(self, kernel: &Kernel, pane: &Pane) {
        let mut state = pane.lock();
        let keys: Vec<String> = self.before.keys().chain(self.after.keys()).cloned().collect();
        for key in keys {
            if state.record.meta.get(&key) != self.after.get(&key) {
                continue;
            }
            match self.before.get(&key) {
                Some(value) => state.record.meta.insert(key, value.clone()),
                None => state.record.meta.remove(&key),
            };
        }
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }
}

/// Refuses tags beyond the size limit.
pub(in crate::actions) fn check_tags(tags: &[String], limit: usize) -> Result<(), Refusal> {
    let length: usize = tags.iter().map(String::len).sum();
    if limit < length {
        let sentence = format!(
            "the tags have {length} bytes, more than the limit of {limit} (`limits.meta_bytes` \
            in config.toml)"
        );
        return Err(Refusal::new(Code::Limit, sentence));
    }
    Ok(())
}

/// Refuses empty keys, and meta beyond the size limit.
fn check(meta: &Meta, limit: usize) -> Result<(), Refusal> {
    if meta.keys().any(String::is_empty) {
        return Err(Refusal::invalid("keys of `meta` must not be empty"));
    }
    let length = serde_json::to_string(meta).map_or(usize::MAX, |json| json.len());
    if limit < length {
        let sentence = format!(
            "`meta` has {length} bytes as JSON, more than the limit of \
                               {limit} (`limits.meta_bytes` in config.toml)"
        );
        return Err(Refusal::new(Code::Limit, sentence));
    }
    Ok(())
}
