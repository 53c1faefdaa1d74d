//! `pane:rename`

use std::sync::Arc;

use paned_model::{PaneId, PaneInfo, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::pane_new::check_title;
use crate::dispatch::draft;
use crate::panes::Pane;
use crate::panes::record::Title;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct PaneRename;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// What to call it from now on, whatever its program says.
    title: String,
}

impl Action for PaneRename {
    const NAME: &'static str = "pane:rename";
    const DOC: &'static str = "Give a pane another title.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Change;
    const SECRETS: &'static [&'static str] = &["agent.dialog"];
    type Params = Params;
    type Answer = PaneInfo;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let title = Title::Given(check_title(params.title)?);
        rename(&context, &pane, title);
        kernel.stages().stirred(&pane.id);
        Ok(pane.info())
    }
}

fn rename(context: &Context, pane: &Arc<Pane>, title: Title) {
    let mut state = pane.lock();
    if state.record.title == title {
        return;
    }
    let before = std::mem::replace(&mut state.record.title, title.clone());
    let event = draft("pane:title", &pane.about(json!({ "title": title.text() })));
    let ticket = context.kernel.journal().record(vec![event], vec![state.record.put()]);
    let kernel = context.kernel.clone();
    let pane = Arc::clone(pane);
    context.undo.add(ticket, move || {
        let mut state = pane.lock();
        if state.record.title == title {
            state.record.title = before;
        }
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
        drop(state);
        kernel.stages().stirred(&pane.id);
    });
}
