//! `layout:save`

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use paned_model::{Refusal, Scope};
use paned_policy::layout::SavedLayout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apply::layout_file;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    LayoutName, SessionNameText, TmuxPaneName, TmuxServer, tmux_location,
};
use crate::actions::support::visibility::LocationParams;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::ViewRequest;

pub(in crate::actions) struct LayoutSave;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// The layout's name: letters, digits, `_` and `-`.
    #[schemars(with = "LayoutName")]
    name: String,
    /// The session on paned's own tmux server; defaults to `main`.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane in the window: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct LayoutSaveOutput {
    /// The path of the saved file.
    file: String,
    /// The content of the file.
    toml: String,
}

impl Action for LayoutSave {
    const NAME: &'static str = "layout:save";
    const DOC: &'static str = "Save the layout of a tmux window under a name.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = LayoutSaveOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::all_panes().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<LayoutSaveOutput, Refusal> {
        let Params { name, session, beside, tmux } = params;
        let kernel = &context.kernel;
        let location = LocationParams { session, beside, tmux }.resolve(kernel)?;
        let file = layout_file(kernel, &name)?;
        let ask = |answer| ViewRequest::Snapshot(location.clone(), answer);
        let snapshot = kernel.tmux_views().ask_at(kernel, &location, ask).await?;
        let limits = kernel.setup().tmux_view.as_ref().map(|view| view.limits.clone());
        let role = |id| snapshot.role(kernel, id);
        let saved = SavedLayout::of(&snapshot.window, &limits.unwrap_or_default(), role);
        let toml = toml::to_string(&saved).map_err(Refusal::internal)?;
        let failed = |error| Refusal::internal(format!("cannot write {}: {error}", file.display()));
        if let Some(folder) = file.parent() {
            let make = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            make.map_err(failed)?;
        }
        let fresh = file.with_extension("new");
        let mut open = fs::OpenOptions::new();
        let written = open.write(true).create(true).truncate(true).mode(0o600).open(&fresh);
        let written = written.and_then(|mut file| file.write_all(toml.as_bytes()));
        written.and_then(|()| fs::rename(&fresh, &file)).map_err(failed)?;
        Ok(LayoutSaveOutput { file: file.to_string_lossy().into_owned(), toml })
    }
}
