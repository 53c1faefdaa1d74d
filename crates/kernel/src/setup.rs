//! The kernel's setup, given once at its start.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use paned_backend::adopted::AdoptedPanes;
use paned_backend::tmux::TmuxServerAddr;
use paned_model::Time;
use paned_policy::interactive::UserRule;
use paned_policy::layout;
use paned_policy::permissions::{PermissionDecision, PermissionRules};

/// The kernel's setup.
#[derive(Clone, Debug)]
pub struct KernelSetup {
    /// The version of paned.
    pub version: &'static str,
    /// Where it can be reached.
    pub address: AdvertisedAddress,
    /// The environment that panes start from.
    pub env: Vec<(String, String)>,
    /// The folder of the paned program, which is appended to the `PATH` of panes.
    pub program_folder: Option<PathBuf>,
    /// The file with the owner's token, for programs of the same user.
    pub token_file: Option<PathBuf>,
    /// Its limits.
    pub limits: KernelLimits,
    /// Which actions need the approval of a person, and how long requests wait for one.
    pub approvals: ApprovalSetup,
    /// Which programs callers may start.
    pub permissions: PermissionSetup,
    /// Where panes are shown in tmux, if anywhere.
    pub tmux_view: Option<TmuxViewSetup>,
    /// The backend for adopted panes of the user's tmux servers, if there is one.
    pub adopted_tmux: Option<AdoptedPanes>,
    /// The user's own agent profiles, if there are any.
    pub profiles: Option<PathBuf>,
    /// Where git worktrees of agents are made, if anywhere.
    pub worktrees: Option<PathBuf>,
    /// The clock.
    pub now: fn() -> Time,
}

/// When a person is asked, and how long requests wait.
#[derive(Clone, Debug)]
pub struct ApprovalSetup {
    /// Actions that need an approval unless the owner calls them: names, or their start and `*`.
    pub actions: Vec<String>,
    /// How long a person has to decide.
    pub expires_after: Duration,
    /// How long a request waits for that at most, until it is answered that there is no answer yet.
    pub wait_limit: Duration,
}

impl Default for ApprovalSetup {
    fn default() -> Self {
        Self {
            actions: Vec::new(),
            expires_after: Duration::from_secs(1800),
            wait_limit: Duration::from_secs(240),
        }
    }
}

/// Where and how panes are shown in tmux.
#[derive(Clone, Debug)]
pub struct TmuxViewSetup {
    /// Our own tmux server.
    pub server: TmuxServerAddr,
    /// The session that requests mean which name none.
    pub session: String,
    /// The command that a tmux pane runs to show a pane, whose name is appended.
    pub attach: Vec<String>,
    /// How windows are divided.
    pub limits: layout::LayoutLimits,
    /// How many panes may wait for space on one tmux server.
    pub max_waiting: usize,
    /// How long each of them waits at most.
    pub wait_timeout: Duration,
    /// After how long without output a pane whose state is not known may be replaced by one that
    /// may replace others; never when left out.
    pub quiet_after: Option<Duration>,
    /// The user's rules for which commands need a visible terminal; they precede the built-in
    /// rules.
    pub rules: Vec<UserRule>,
    /// The command that shows a sub-agent, with `{id}`, `{url}` and `{parent}` to be filled in.
    pub subagent_command: Vec<String>,
    /// Where layouts are kept, a file each.
    pub layouts: PathBuf,
}

/// Where the server can be reached.
#[derive(Clone, Debug, Default)]
pub struct AdvertisedAddress {
    /// Over TCP.
    pub url: Option<String>,
    /// Over a unix socket.
    pub socket: Option<String>,
    /// For clients of Poly, if they have a listener of their own.
    pub poly_url: Option<String>,
}

impl AdvertisedAddress {
    /// The variables by which a program that is not a pane's finds the server.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let poly_url = self.poly_url.as_ref().or(self.url.as_ref());
        let poly_port = poly_url.and_then(|url| Some(url.rsplit_once(':')?.1.to_owned()));
        let variables = [
            ("PANED_SOCKET", self.socket.clone()),
            ("PANED_URL", self.url.clone()),
            ("POLY_PORT", poly_port),
            ("POLY_BASE_URL", poly_url.cloned()),
        ];
        variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Limits; requests beyond them are refused.
#[derive(Clone, Copy, Debug)]
pub struct KernelLimits {
    /// Panes at once, ended ones included.
    pub panes: usize,
    /// Agents at once; idle ones are evicted for new ones.
    pub agents: usize,
    /// How many agents in a row may start each other; 0 keeps agents from starting any.
    pub agent_depth: usize,
    /// Agents at once that one agent has started, itself or through others.
    pub agents_per_agent: usize,
    /// Bytes of output kept for each pane.
    pub tape_bytes: u64,
    /// How many of the last lines of each pane can be read; all that are kept when left out.
    pub lines: Option<NonZeroU64>,
    /// Bytes of meta of one pane, as JSON; the same limit holds for its tags.
    pub meta: usize,
    /// Events per second that a grant may record, except the owner's.
    pub events_per_second: u64,
    /// Streams and sockets that a grant may have open at once, except the owner's.
    pub streams_per_grant: usize,
    /// Streams and sockets of all such grants together.
    pub streams_total: usize,
    /// Bytes typed in one call.
    pub input_bytes: usize,
    /// How long a program may take to exit when asked.
    pub kill_grace: Duration,
    /// How long a hook may take.
    pub hook_timeout: Duration,
}

impl Default for KernelLimits {
    fn default() -> Self {
        Self {
            panes: 1000,
            agents: 50,
            agent_depth: 3,
            agents_per_agent: 10,
            tape_bytes: 16 << 20,
            lines: None,
            meta: 64 << 10,
            events_per_second: 200,
            streams_per_grant: 64,
            streams_total: 512,
            input_bytes: 1 << 20,
            kill_grace: Duration::from_secs(3),
            hook_timeout: Duration::from_secs(5),
        }
    }
}

/// The user's rules, and what is done about commands that none of them matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionSetup {
    /// The rules.
    pub rules: PermissionRules,
    /// The default for the owner's own command line.
    pub owner: PermissionDecision,
    /// The default for what agents start.
    pub agents: PermissionDecision,
    /// The default for other tokens, and for extensions.
    pub tokens: PermissionDecision,
    /// Whether OpenCode's files apply to clients of the opencode-pty listener.
    pub opencode_files: bool,
    /// OpenCode's own configuration file of the user.
    pub opencode_config: Option<PathBuf>,
}
