//! `tmux:list`

use std::path::PathBuf;

use paned_backend::adopted::discover::{self, SocketSurvey, TmuxSurvey};
use paned_backend::tmux::query;
use paned_model::{PaneId, Refusal, Scope, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pane::adopt::{adopted_as, adopted_tmux, socket};
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::TmuxServer;
use crate::registry::{Action, ActionContext, ActionKind};

pub(super) struct TmuxList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// An additional server to list: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
}

/// A tmux server of this user.
#[derive(Serialize, JsonSchema)]
pub(super) struct TmuxListServer {
    /// Its socket.
    socket: String,
    /// Whether it is paned's own tmux server.
    own: bool,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Its sessions.
    sessions: Vec<TmuxListSession>,
}

/// A session.
#[derive(Serialize, JsonSchema)]
struct TmuxListSession {
    /// Its tmux id, as in `$1`.
    id: String,
    /// Its name.
    name: String,
    /// How many clients are attached.
    attached: usize,
    /// Its windows.
    windows: Vec<TmuxListWindow>,
}

/// A window. One that belongs to several sessions is in each.
#[derive(Serialize, JsonSchema)]
struct TmuxListWindow {
    /// Its tmux id, as in `@2`.
    id: String,
    /// Its index in the session.
    index: u32,
    /// Its name.
    name: String,
    /// Whether it is the current window.
    active: bool,
    /// Its size in character cells.
    size: Size,
    /// Its panes.
    panes: Vec<TmuxListPane>,
}

/// A pane.
#[derive(Serialize, JsonSchema)]
struct TmuxListPane {
    /// Its tmux id, as in `%3`: what `pane:adopt` takes.
    id: String,
    /// Its index in the window.
    index: u32,
    /// Its size in character cells.
    size: Size,
    /// Its title.
    title: String,
    /// The foreground program.
    command: String,
    /// Its working directory.
    cwd: String,
    /// The pid of the program that it was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Whether it has the focus in its window.
    active: bool,
    /// Whether its program has exited.
    dead: bool,
    /// The paned pane that it shows, or is adopted as.
    #[serde(skip_serializing_if = "Option::is_none")]
    paned: Option<PaneId>,
}

impl Action for TmuxList {
    const NAME: &'static str = "tmux:list";
    const DOC: &'static str = "List this user's tmux servers with their sessions, windows and \
                              panes. Starts no tmux server.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = Vec<TmuxListServer>;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::all_panes().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(
        context: ActionContext,
        Params { tmux }: Params,
    ) -> Result<Vec<TmuxListServer>, Refusal> {
        let kernel = &context.kernel;
        let named = tmux.as_deref().map(socket).transpose()?;
        let surveys = adopted_tmux(kernel)?.survey(sockets(kernel, named)).await;
        Ok(surveys.into_iter().map(|survey| server(kernel, survey)).collect())
    }
}

/// The sockets to query, each once.
fn sockets(kernel: &Kernel, named: Option<PathBuf>) -> Vec<PathBuf> {
    let tmpdir = kernel.setup().env.iter().find(|(name, _)| name == "TMUX_TMPDIR");
    let usual = discover::sockets(tmpdir.map(|(_, folder)| folder.as_str()));
    let own = own(kernel).filter(|socket| socket.exists());
    let mut sockets: Vec<PathBuf> = usual.into_iter().chain(own).chain(named).collect();
    for socket in &mut sockets {
        *socket = socket.canonicalize().unwrap_or_else(|_| socket.clone());
    }
    sockets.sort();
    sockets.dedup();
    sockets
}

fn own(kernel: &Kernel) -> Option<PathBuf> {
    kernel.setup().tmux_view.as_ref().map(|view| view.server.socket().to_owned())
}

fn server(kernel: &Kernel, SocketSurvey { socket, result }: SocketSurvey) -> TmuxListServer {
    let own = own(kernel).is_some_and(|own| own.canonicalize().is_ok_and(|own| own == socket));
    let socket = socket.to_string_lossy().into_owned();
    match result {
        Err(error) => TmuxListServer {
            socket,
            own,
            pid: None,
            version: None,
            error: Some(error.to_string()),
            sessions: Vec::new(),
        },
        Ok(survey) => {
            let sessions = survey.sessions.iter().map(|it| session(kernel, &survey, it)).collect();
            TmuxListServer {
                socket,
                own,
                pid: Some(survey.pid),
                version: Some(survey.version),
                error: None,
                sessions,
            }
        }
    }
}

fn session(kernel: &Kernel, survey: &TmuxSurvey, session: &query::TmuxSession) -> TmuxListSession {
    let windows = survey.windows.iter().filter(|window| window.session == session.id);
    TmuxListSession {
        id: session.id.to_string(),
        name: session.name.clone(),
        attached: session.attached_clients,
        windows: windows.map(|it| window(kernel, survey, it)).collect(),
    }
}

fn window(kernel: &Kernel, survey: &TmuxSurvey, window: &query::TmuxWindow) -> TmuxListWindow {
    let here =
        |pane: &&query::TmuxPaneInfo| pane.window == window.id && pane.session == window.session;
    let panes = survey.panes.iter().filter(here);
    TmuxListWindow {
        id: window.id.to_string(),
        index: window.index,
        name: window.name.clone(),
        active: window.active,
        size: window.size,
        panes: panes.map(|it| pane(kernel, survey, it)).collect(),
    }
}

fn pane(kernel: &Kernel, survey: &TmuxSurvey, pane: &query::TmuxPaneInfo) -> TmuxListPane {
    let view = survey.views.iter().find(|view| view.id == pane.id);
    let shows = view.and_then(|view| view.shows.clone());
    let shows = shows.filter(|shows| kernel.panes().contains(shows));
    TmuxListPane {
        id: pane.id.to_string(),
        index: pane.index,
        size: pane.size,
        title: pane.title.clone(),
        command: pane.command.clone(),
        cwd: pane.cwd.to_string_lossy().into_owned(),
        pid: pane.pid,
        active: pane.active,
        dead: pane.life != query::TmuxProgramState::Alive,
        paned: shows.or_else(|| adopted_as(kernel, survey.pid, pane.id)),
    }
}
