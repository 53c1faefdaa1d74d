//! How the house is set up: said once, when it is built.

use std::path::PathBuf;
use std::time::Duration;

use paned_backend::adopted::AdoptedPanes;
use paned_backend::tmux::TmuxServerAddr;
use paned_model::Time;
use paned_policy::interactive::UserRule;
use paned_policy::layout;

/// How the house is set up.
#[derive(Clone, Debug)]
pub struct KernelSetup {
    /// The version of paned.
    pub version: &'static str,
    /// Where it can be reached.
    pub address: AdvertisedAddress,
    /// The environment that panes start from.
    pub env: Vec<(String, String)>,
    /// The owner's token, kept in a file for programs of the same user.
    pub token_file: Option<PathBuf>,
    /// What it refuses to go beyond.
    pub limits: KernelLimits,
    /// Where panes are shown in tmux, if anywhere.
    pub tmux_view: Option<TmuxViewSetup>,
    /// The way to panes of other people's tmux, if there is one.
    pub adopted_tmux: Option<AdoptedPanes>,
    /// The user's own agent profiles, if there are any.
    pub profiles: Option<PathBuf>,
    /// Where git worktrees of agents are made, if anywhere.
    pub worktrees: Option<PathBuf>,
    /// The clock.
    pub now: fn() -> Time,
}

/// Where and how panes are shown in tmux.
#[derive(Clone, Debug)]
pub struct TmuxViewSetup {
    /// Our own tmux server.
    pub server: TmuxServerAddr,
    /// What a tmux pane runs to show a pane, whose name comes last.
    pub attach: Vec<String>,
    /// How windows are divided.
    pub limits: layout::LayoutLimits,
    /// How many panes may wait for room on one tmux server.
    pub max_waiting: usize,
    /// How long each of them waits at most.
    pub wait_timeout: Duration,
    /// Which commands need to be seen, before the rules that everybody has.
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
    /// The port of that.
    pub port: Option<u16>,
    /// Over a unix socket.
    pub socket: Option<String>,
}

/// What is refused beyond this.
#[derive(Clone, Copy, Debug)]
pub struct KernelLimits {
    /// Panes at once, ended ones included.
    pub panes: usize,
    /// Agents at once; idle ones make room.
    pub agents: usize,
    /// Bytes of output kept for each pane.
    pub tape_bytes: u64,
    /// Bytes of meta of one pane, as JSON; as many of its tags.
    pub meta: usize,
    /// Events that a grant records in a second, but for the owner's.
    pub events_per_second: u64,
    /// Streams and sockets that a grant has open at once, but for the owner's.
    pub streams_per_grant: usize,
    /// Those of all such grants together.
    pub streams_total: usize,
    /// Bytes typed in one call.
    pub input_bytes: usize,
    /// How long a program may take to end when asked.
    pub kill_grace: Duration,
    /// How long a hook may think.
    pub hook_timeout: Duration,
}

impl Default for KernelLimits {
    fn default() -> Self {
        Self {
            panes: 1000,
            agents: 50,
            tape_bytes: 16 << 20,
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
