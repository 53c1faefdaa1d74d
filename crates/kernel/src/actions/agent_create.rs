//! `agent:create`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paned_model::{Meta, PaneId, PaneInfo, Refusal, Scope, Size};
use paned_policy::agent::{Permissions, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent_start::{self, Start};
use super::pane_new::{self, Power};
use super::patience::patience;
use super::visible::Visible;
use crate::agents::{GENERIC, Made, Restart, Wanted};
use crate::panes::Pane;
use crate::registry::{Action, Context, Kind};
use crate::stage::OnViewClosed;
use crate::touches::Touches;
use crate::{Caller, Kernel};

/// How long an agent may take until it takes a prompt.
const PATIENCE: u64 = 60_000;
const LONGEST: u64 = 600_000;

pub(super) struct AgentCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// What to start and how to read its screens: `codex`, `opencode`, … `agent:profiles` shows them all.
    profile: Option<String>,
    /// The program and its arguments, in place of the profile's own. Of one that no profile knows, only its hooks tell
    /// what it does.
    #[schemars(length(min = 1))]
    argv: Option<Vec<String>>,
    /// The model, by the name or alias that the program knows.
    model: Option<String>,
    /// Whether it asks before it acts: `ask` when left out, or what `argv` says.
    permissions: Option<Asks>,
    /// The first prompt.
    prompt: Option<String>,
    /// Whether to wait until it takes a prompt, or asks something.
    #[serde(default = "yes")]
    wait_ready: bool,
    /// How long to wait for that, in milliseconds (60000 when left out, up to 600000).
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
    /// Whether questions at its start (is this folder trusted?) are answered as its profile says.
    #[serde(default)]
    trust: bool,
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
    /// What the token of its program may do besides reading and typing; what its profile says when left out, which is
    /// mostly to start panes.
    can: Option<BTreeSet<Power>>,
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
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Asks {
    /// It asks.
    Ask,
    /// It does what it wants.
    Auto,
}

impl From<Asks> for Permissions {
    fn from(asks: Asks) -> Self {
        match asks {
            Asks::Ask => Self::Ask,
            Asks::Auto => Self::Auto,
        }
    }
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
    const SECRETS: &'static [&'static str] = &["env", "prompt", "argv", "agent.dialog"];
    type Params = Params;
    type Answer = Created;

    fn touches(params: &Params) -> Touches {
        Touches::reached().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: Context, params: Params) -> Result<Created, Refusal> {
        let kernel = &context.kernel;
        let profile = choose(kernel, &params)?;
        let patience = patience(params.timeout_ms, PATIENCE, LONGEST)?;
        // One without a composer is never seen to be ready.
        let wait_ready = params.wait_ready && profile.composer.is_some();
        let prompt = params.prompt.clone();
        let prompt = prompt.filter(|_| !profile.takes_prompt());
        let pane = agent_start::start(&context, params.start(profile)).await?;
        if wait_ready {
            agent_start::is_up(kernel, &pane, patience).await;
        }
        let prompt = match prompt {
            Some(prompt) => Some(hand_over(&context, &pane, &prompt, wait_ready).await),
            None => None,
        };
        Ok(Created { pane: pane.info(), prompt })
    }
}

/// An agent that was started.
#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    /// Its pane.
    #[serde(flatten)]
    pane: PaneInfo,
    /// What became of the first prompt, where it was not an argument of the command: as `agent:message` answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Value>,
}

/// Hands the first prompt over as a message; an agent that does not take it is there all the same.
async fn hand_over(context: &Context, pane: &Pane, prompt: &str, wait: bool) -> Value {
    let kernel = &context.kernel;
    let wait = if wait { "submitted" } else { "none" };
    let params = json!({ "paneId": pane.id, "text": prompt, "wait": wait }).to_string();
    // Whoever may start an agent with a prompt may give it that prompt.
    let caller = Caller { pane: context.caller.pane.clone(), ..kernel.owner(None) };
    match kernel.dispatch("agent:message", params.as_bytes(), &caller).await {
        Ok(answer) => serde_json::from_str(answer.get()).unwrap_or_default(),
        Err(refusal) => json!({ "outcome": "refused", "evidence": [refusal.sentence] }),
    }
}

/// The profile that was named, or that knows the program.
fn choose(kernel: &Kernel, params: &Params) -> Result<Arc<Profile>, Refusal> {
    let library = kernel.agents().profiles_now().library;
    match (&params.profile, &params.argv) {
        (Some(name), _) => kernel.agents().profile(name),
        (None, Some(argv)) => match library.for_command(argv) {
            Some(profile) => Ok(profile.clone()),
            None => kernel.agents().profile(GENERIC),
        },
        (None, None) => Err(Refusal::invalid("say what to start, as `profile` or as `argv`")),
    }
}

impl Params {
    fn start(self, profile: Arc<Profile>) -> Start {
        let permissions = self.permissions.map(Permissions::from);
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
            trust: self.trust,
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
            can: self.can,
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
