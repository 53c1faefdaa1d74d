//! `agent:create`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use paned_model::{AgentState, Meta, PaneId, PaneInfo, Refusal, Scope, Size};
use paned_policy::agent::{Permissions, Profile, Wanted};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::pane_new;
use super::visible::Visible;
use crate::Kernel;
use crate::agents::{AgentRecord, Made};
use crate::panes::Pane;
use crate::registry::{Action, Context, Kind};
use crate::stage::OnViewClosed;

/// How long an agent may take until it takes a prompt.
const PATIENCE: u64 = 60_000;
const LONGEST: u64 = 600_000;

pub(super) struct AgentCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// What to start and how to read its screens: `codex`, `opencode`, … `agent:profiles` shows them all.
    profile: Option<String>,
    /// The program and its arguments, in place of the profile's own; alone, it must be one that a profile knows.
    #[schemars(length(min = 1))]
    argv: Option<Vec<String>>,
    /// The model, by the name or alias that the program knows.
    model: Option<String>,
    /// Whether it asks before it acts.
    #[serde(default)]
    permissions: Asks,
    /// The first prompt.
    prompt: Option<String>,
    /// Whether to wait until it takes a prompt, or asks something.
    #[serde(default = "yes")]
    wait_ready: bool,
    /// How long to wait for that, in milliseconds (60000 when left out).
    timeout_ms: Option<u64>,
    /// Its pane's name; one is made up when left out.
    id: Option<PaneId>,
    /// Where to start it, absolute; the user's home when left out.
    cwd: Option<String>,
    /// Variables on top of the server's environment.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// How large its terminal is; 120 columns and 40 rows when left out.
    size: Option<Size>,
    /// What to call it; the program's own title, or the command, when left out.
    title: Option<String>,
    /// Free data.
    #[serde(default)]
    meta: Meta,
    /// Free labels.
    #[serde(default)]
    tags: Vec<String>,
    /// Whether automatic clean-up leaves it alone.
    #[serde(default)]
    persist: bool,
    /// Whether its end is told by one `pane:notice`, with a text for whoever started it.
    #[serde(default)]
    notify_on_exit: bool,
    /// Whether it is shown in tmux.
    #[serde(default)]
    visible: Visible,
    /// The session to show it in; `main` when nothing is said. It is started if there is none.
    session: Option<String>,
    /// A tmux pane of somebody's to show it beside: `$TMUX_PANE`, as in `%3`.
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    tmux: Option<String>,
    /// What happens when a person closes the tmux pane; it is closed when left out.
    on_view_closed: Option<OnViewClosed>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Asks {
    /// It asks.
    #[default]
    Ask,
    /// It does what it wants.
    Auto,
}

fn yes() -> bool {
    true
}

/// The size of an agent's terminal when nobody says.
const ROOMY: Size = Size { cols: 120, rows: 40 };

impl Action for AgentCreate {
    const NAME: &'static str = "agent:create";
    const DOC: &'static str = "Start an agent in a new pane, and wait until it takes a prompt.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: Kind = Kind::Change;
    const SECRETS: &'static [&'static str] = &["env"];
    type Params = Params;
    type Answer = PaneInfo;

    async fn run(context: Context, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let profile = choose(kernel, &params)?;
        let patience = Duration::from_millis(params.timeout_ms.unwrap_or(PATIENCE).min(LONGEST));
        let wait_ready = params.wait_ready;
        let pane = pane_new::create(&context, request(kernel, &profile, params)?).await?;
        kernel.emit("agent:created", &json!({ "paneId": pane.id, "profile": profile.name }));
        if wait_ready {
            let _ = timeout(patience, is_up(kernel, &pane)).await;
        }
        Ok(pane.info())
    }
}

/// The profile that was named, or that knows the program.
fn choose(kernel: &Kernel, params: &Params) -> Result<Arc<Profile>, Refusal> {
    match (&params.profile, &params.argv) {
        (Some(name), _) => kernel.agents().profile(name),
        (None, Some(argv)) => {
            let library = kernel.agents().profiles().library;
            library.for_command(argv).cloned().ok_or_else(|| {
                let program = argv.first().map_or("", String::as_str).escape_debug().to_string();
                Refusal::invalid(format!(
                    "no profile knows the program `{program}`; say which one to read it by, as `profile`"
                ))
            })
        }
        (None, None) => Err(Refusal::invalid("say what to start, as `profile` or as `argv`")),
    }
}

fn request(
    kernel: &Kernel,
    profile: &Profile,
    params: Params,
) -> Result<pane_new::Params, Refusal> {
    let permissions = match params.permissions {
        Asks::Ask => Permissions::Ask,
        Asks::Auto => Permissions::Auto,
    };
    let wanted = Wanted {
        argv: params.argv.clone(),
        model: params.model.clone(),
        permissions,
        prompt: params.prompt,
    };
    let argv = profile.command_line(&wanted).map_err(Refusal::invalid)?;
    let made =
        Made { argv: params.argv, model: params.model, permissions, env: params.env.clone() };
    let agent = AgentRecord { made: Some(made), ..AgentRecord::new(&profile.name, kernel.now()) };
    let mut meta = params.meta;
    meta.insert("agent.runtime".into(), json!(profile.name));
    meta.insert("agent.status".into(), json!("running"));
    Ok(pane_new::Params {
        id: params.id,
        argv: Some(argv),
        cwd: params.cwd,
        env: params.env,
        size: Some(params.size.unwrap_or(ROOMY)),
        title: params.title,
        meta,
        tags: params.tags,
        persist: params.persist,
        notify_on_exit: params.notify_on_exit,
        visible: params.visible,
        session: params.session,
        beside: params.beside,
        tmux: params.tmux,
        on_view_closed: params.on_view_closed,
        agent: Some(agent),
        ..pane_new::Params::default()
    })
}

/// Waits until an agent takes a prompt, asks something, or has ended.
async fn is_up(kernel: &Kernel, pane: &Pane) {
    let Some(agent) = kernel.agents().listener(&pane.id) else { return };
    let up = |state| !matches!(state, AgentState::Starting | AgentState::Unknown);
    let _ = agent.seen().wait_for(|seen| up(seen.info.state)).await;
}
