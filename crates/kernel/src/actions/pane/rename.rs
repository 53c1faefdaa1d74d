//! `pane:rename`

use std::sync::Arc;

use paned_model::{PaneId, PaneInfo, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::new::check_title;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::Title;
use crate::journal::draft;
use crate::panes::Pane;
use crate::panes::record::PaneTitle;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneRename;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The new title; titles that the program sets are ignored from then on.
    #[schemars(with = "Title")]
    title: String,
}

impl Action for PaneRename {
    const NAME: &'static str = "pane:rename";
    const DOC: &'static str = "Change a pane's title.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["agent.dialog", "lastLine"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let title = check_title(params.title)?;
        let own = context.caller.pane.as_ref();
        let is_own = own.is_some_and(|own| own.instance == *pane.instance());
        let title = if is_own { PaneTitle::Own(title) } else { PaneTitle::Given(title) };
        rename(&context, &pane, title);
        kernel.tmux_views().pane_changed(&pane.id);
        Ok(pane.info())
    }
}

fn rename(context: &ActionContext, pane: &Arc<Pane>, title: PaneTitle) {
    let mut state = pane.lock();
    if state.record.title == title {
        return;
    }
    let before = std::mem::replace(&mut state.record.title, title.clone());
    let event = draft("pane:title", &pane.event_payload(json!({ "title": title.text() })));
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
        kernel.tmux_views().pane_changed(&pane.id);
    });
}
