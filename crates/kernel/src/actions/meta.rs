//! What the actions on a pane's meta have in common.

use paned_model::{Code, Meta, PaneId, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Kernel;

/// A pane's meta before and after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    /// The pane.
    id: PaneId,
    /// What it was.
    previous_meta: Meta,
    /// What it is.
    meta: Meta,
    /// Whether that differs.
    changed: bool,
}

impl Changed {
    /// The same, seen from an earlier moment.
    pub(super) fn since(self, before: Meta) -> Self {
        let changed = before != self.meta;
        Self { previous_meta: before, changed, ..self }
    }
}

/// Changes a pane's meta, all of it or nothing, and remembers it if anything is different.
pub(super) fn change(
    kernel: &Kernel,
    id: &PaneId,
    edit: impl FnOnce(&mut Meta),
) -> Result<Changed, Refusal> {
    let pane = kernel.panes().get(id)?;
    let mut state = pane.lock();
    let previous_meta = state.meta().clone();
    let mut meta = previous_meta.clone();
    edit(&mut meta);
    check(&meta, kernel.limits().meta)?;
    let changed = meta != previous_meta;
    if changed {
        state.record.meta = meta.clone();
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }
    Ok(Changed { id: id.clone(), previous_meta, meta, changed })
}

/// Refuses meta that is too large to be carried around.
pub(super) fn check(meta: &Meta, limit: usize) -> Result<(), Refusal> {
    if meta.keys().any(String::is_empty) {
        return Err(Refusal::invalid("a key of `meta` is empty"));
    }
    let length = serde_json::to_string(meta).map_or(usize::MAX, |json| json.len());
    if limit < length {
        let sentence = format!("this meta has {length} bytes as JSON; the limit is {limit}");
        return Err(Refusal::new(Code::Limit, sentence));
    }
    Ok(())
}
