//! `pane:rename`

use paned_model::{PaneId, PaneInfo, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::pane_new::check_title;
use crate::dispatch::draft;
use crate::panes::record::Title;
use crate::registry::{Action, Context, Kind};

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
    type Params = Params;
    type Answer = PaneInfo;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let title = Title::Given(check_title(params.title)?);
        {
            let mut state = pane.lock();
            if state.record.title != title {
                state.record.title = title;
                let told = json!({ "paneId": pane.id, "title": state.record.title.text() });
                let told = draft("pane:title", &told);
                kernel.journal().record(vec![told], vec![state.record.put()]);
            }
        }
        kernel.stages().stirred(&pane.id);
        Ok(pane.info())
    }
}
