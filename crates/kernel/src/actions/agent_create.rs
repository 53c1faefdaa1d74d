//! `agent:create`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use paned_model::{Meta, PaneId, PaneInfo, Refusal, Scope, Size};
use paned_policy::agent::{Permissions, Profile};
use schemars::JsonSchema;
use serde::Deserialize;

use super::agent_start::{self, Start};
use super::pane_new;
use super::visible::Visible;
use crate::Kernel;
use crate::agents::{Made, Restart, Wanted};
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
    /// Whether it is started again, in a new pane, when it fails.
    #[serde(default)]
    restart: Restart,
    /// A git worktree of its own to work in; it is removed at the end if nothing in it would be lost.
    worktree: Option<Tree>,
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

/// A git worktree for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Tree {
    /// One on a new branch, or none.
    Usual(bool),
    /// One like this.
    Like(TreeLike),
}

/// What is wanted of a worktree.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TreeLike {
    /// The branch, which is made where there is none; a new name when left out.
    branch: Option<String>,
    /// Where a new branch begins; at the commit of `cwd` when left out.
    base: Option<String>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Asks {
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
        let pane = agent_start::start(&context, params.start(profile)).await?;
        if wait_ready {
            agent_start::is_up(kernel, &pane, patience).await;
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

impl Params {
    fn start(self, profile: Arc<Profile>) -> Start {
        let permissions = match self.permissions {
            Asks::Ask => Permissions::Ask,
            Asks::Auto => Permissions::Auto,
        };
        let worktree = self.worktree.and_then(|tree| match tree {
            Tree::Usual(wanted) => wanted.then(Wanted::default),
            Tree::Like(TreeLike { branch, base }) => Some(Wanted { branch, base }),
        });
        let made = Made {
            argv: self.argv,
            model: self.model,
            permissions,
            env: self.env,
            restart: self.restart,
            ..Made::default()
        };
        let pane = pane_new::Params {
            id: self.id,
            cwd: self.cwd,
            size: Some(self.size.unwrap_or(ROOMY)),
            title: self.title,
            meta: self.meta,
            tags: self.tags,
            persist: self.persist,
            notify_on_exit: self.notify_on_exit,
            visible: self.visible,
            session: self.session,
            beside: self.beside,
            tmux: self.tmux,
            on_view_closed: self.on_view_closed,
            ..pane_new::Params::default()
        };
        Start { profile, made, prompt: self.prompt, worktree, pane }
    }
}
