//! `layout:apply`

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use paned_model::{Code, Refusal, Scope};
use paned_policy::layout::SavedLayout;
use schemars::JsonSchema;
use serde::Deserialize;

use super::get::{LayoutGetOutput, window};
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    LayoutName, LayoutToml, SessionNameText, TmuxPaneName, TmuxServer, exactly_one, tmux_location,
};
use crate::actions::support::visibility::LocationParams;
use crate::names::missing_name;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::ViewRequest;

/// The longest name of a layout.
const LONGEST: usize = 64;

pub(in crate::actions) struct LayoutApply;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
#[schemars(transform = exactly_one(&["name", "toml"]))]
pub(in crate::actions) struct Params {
    /// The name of a saved layout.
    #[schemars(with = "Option<LayoutName>")]
    name: Option<String>,
    /// A layout in TOML, as `layout:save` writes it.
    #[schemars(with = "Option<LayoutToml>")]
    toml: Option<String>,
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

impl Action for LayoutApply {
    const NAME: &'static str = "layout:apply";
    const DOC: &'static str = "Arrange the panes of a tmux window in a saved layout.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = LayoutGetOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::all_panes().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<LayoutGetOutput, Refusal> {
        let Params { name, toml, session, beside, tmux } = params;
        let kernel = &context.kernel;
        let location = LocationParams { session, beside, tmux }.resolve(kernel)?;
        let text = match (name, toml) {
            (Some(name), None) => read_layout(kernel, &name)?,
            (None, Some(toml)) => toml,
            _ => return Err(Refusal::invalid("pass `name` or `toml` to specify the layout")),
        };
        let saved: SavedLayout = toml::from_str(&text).map_err(|error| {
            Refusal::invalid(format!("cannot parse the layout: {}", error.message()))
        })?;
        let ask = |answer| ViewRequest::Arrange(location.clone(), saved, answer);
        Ok(window(kernel, &kernel.tmux_views().ask_at(kernel, &location, ask).await?))
    }
}

fn read_layout(kernel: &Kernel, name: &str) -> Result<String, Refusal> {
    let file = layout_file(kernel, name)?;
    fs::read_to_string(&file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let sentence = format!("no layout `{name}`; save one with `layout:save`");
            let saved = saved_layouts(&file);
            missing_name(sentence, name, saved.iter().map(String::as_str))
        }
        _ => Refusal::internal(format!("cannot read {}: {error}", file.display())),
    })
}

/// The names of the layouts in the folder of this file.
fn saved_layouts(file: &Path) -> Vec<String> {
    let entries = file.parent().map(fs::read_dir).and_then(Result::ok).into_iter().flatten();
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.strip_suffix(".toml").map(str::to_owned)
    });
    names.collect()
}

/// The file of a layout of this name.
pub(in crate::actions) fn layout_file(kernel: &Kernel, name: &str) -> Result<PathBuf, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !(1..=LONGEST).contains(&name.len()) || !name.chars().all(plain) {
        let sentence = "invalid layout name: use at most 64 letters, digits, `_` and `-`";
        return Err(Refusal::invalid(sentence));
    }
    let view = kernel
        .setup()
        .tmux_view
        .as_ref()
        .ok_or_else(|| Refusal::new(Code::Unavailable, "this server runs without tmux"))?;
    Ok(view.layouts.join(format!("{name}.toml")))
}
