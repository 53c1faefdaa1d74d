//! How the house is set up: said once, when it is built.

use std::path::PathBuf;
use std::time::Duration;

use paned_model::Time;
use paned_policy::interactive::UserRule;
use paned_policy::layout;
use paned_substrate::foreign::Foreign;
use paned_substrate::tmux::Place;

/// How the house is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The version of paned.
    pub version: &'static str,
    /// Where it can be reached.
    pub address: Address,
    /// The environment that panes start from.
    pub env: Vec<(String, String)>,
    /// The owner's token, kept in a file for programs of the same user.
    pub token_file: Option<PathBuf>,
    /// What it refuses to go beyond.
    pub limits: Limits,
    /// Where panes are shown in tmux, if anywhere.
    pub stage: Option<Stage>,
    /// The way to panes of other people's tmux, if there is one.
    pub foreign: Option<Foreign>,
    /// The user's own agent profiles, if there are any.
    pub profiles: Option<PathBuf>,
    /// Where git worktrees of agents are made, if anywhere.
    pub worktrees: Option<PathBuf>,
    /// The clock.
    pub now: fn() -> Time,
}

/// Where and how panes are shown in tmux.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Our own tmux server.
    pub place: Place,
    /// What a tmux pane runs to show a pane, whose name comes last.
    pub attach: Vec<String>,
    /// How windows are divided.
    pub limits: layout::Limits,
    /// How many panes may wait for room on one tmux server.
    pub waiting: usize,
    /// How long each of them waits at most.
    pub patience: Duration,
    /// Which commands need to be seen, before the rules that everybody has.
    pub rules: Vec<UserRule>,
    /// The command that shows a sub-agent, with `{id}`, `{url}` and `{parent}` to be filled in.
    pub subagent: Vec<String>,
    /// Where layouts are kept, a file each.
    pub layouts: PathBuf,
}

/// Where the server can be reached.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// Over TCP.
    pub url: Option<String>,
    /// The port of that.
    pub port: Option<u16>,
    /// Over a unix socket.
    pub socket: Option<String>,
}

/// What is refused beyond this.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Panes at once, ended ones included.
    pub panes: usize,
    /// Agents at once; idle ones make room.
    pub agents: usize,
    /// Bytes of output kept for each pane.
    pub tape: u64,
    /// Bytes of meta of one pane, as JSON; as many of its tags.
    pub meta: usize,
    /// Events that a grant records in a second, but for the owner's.
    pub events_per_second: u64,
    /// Streams and sockets that a grant has open at once, but for the owner's.
    pub streams: usize,
    /// Those of all such grants together.
    pub streams_in_all: usize,
    /// Bytes typed in one call.
    pub input: usize,
    /// How long a program may take to end when asked.
    pub grace: Duration,
    /// How long a hook may think.
    pub hook: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            panes: 1000,
            agents: 50,
            tape: 16 << 20,
            meta: 64 << 10,
            events_per_second: 200,
            streams: 64,
            streams_in_all: 512,
            input: 1 << 20,
            grace: Duration::from_secs(3),
            hook: Duration::from_secs(5),
        }
    }
}
