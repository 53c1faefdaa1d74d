//! Sessions on a tmux server, our own or a foreign one, over one control connection.
//!
//! The connection is made when it is first needed. Only [`Substrate::spawn`] starts a server, and
//! only one of our own; for every other call a server that does not run is [`Error::NoServer`], or
//! an empty list. tmux keeps 10,000 lines of a pane on a server of our own. It cannot tell `a.b`
//! from `a_b`: while one of them exists, the other name is taken.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use paned_model::Size;
use paned_term::OutputScanner;
use rustix::fs::{FlockOperation, flock};
use tokio::net::UnixStream;
use tokio::sync::OnceCell;

use super::{
    BoxedFuture, CaptureStyle, Error, Name, Program, SplitOrientation, Substrate, SubstratePane,
    SubstratePaneId, SubstrateSession, Target, layout, rules, text,
};
use paned_backend::tmux::operations::{self, SplitSide, TmuxSplit};
use paned_backend::tmux::{self, query};
use paned_backend::tmux::{
    ControlClient, SessionName, TmuxCommand, TmuxPane, TmuxPaneView, TmuxServerAddr, connect,
};

const ENTER: &[u8] = b"\r";
/// How often a query is sent again whose connection was lost while the server runs.
const MAX_RETRIES: usize = 3;

/// Sessions on one tmux server. Other clients of that server see them, too.
#[derive(Debug)]
pub struct TmuxSubstrate {
    addr: TmuxServerAddr,
    client: OnceCell<ControlClient>,
    /// Filled once a tmux was found that can be used.
    checked: OnceCell<()>,
}

/// The version of the tmux on the `PATH`, such as `3.3a`.
///
/// # Errors
/// [`Error::TmuxNotFound`] when there is none, or it is older than 3.2.
pub async fn tmux_version() -> Result<String, Error> {
    Ok(tmux::installed_version().await?)
}

/// Checks that there is a tmux on the `PATH` that can be used.
///
/// # Errors
/// [`Error::TmuxNotFound`] when there is none, or it is older than 3.2.
pub async fn check_tmux() -> Result<(), Error> {
    tmux_version().await.map(drop)
}

/// A snapshot of a server's sessions and panes.
struct TmuxServerSnapshot {
    sessions: Vec<(Name, query::TmuxSession)>,
    views: Vec<TmuxPaneView>,
}

impl TmuxSubstrate {
    /// Sessions on the server at this address.
    #[must_use]
    pub fn new(addr: TmuxServerAddr) -> Self {
        Self { addr, client: OnceCell::new(), checked: OnceCell::new() }
    }

    /// Kills a server of our own, with every session on it. A foreign server is left alone.
    ///
    /// # Errors
    /// When it runs and cannot be reached.
    pub async fn end_server(&self) -> Result<(), Error> {
        if self.addr.is_own() && self.is_there().await {
            // The server exits without a reply.
            let _ = self.connected().await?.run(&TmuxCommand::new("kill-server")).await;
        }
        Ok(())
    }

    async fn is_there(&self) -> bool {
        UnixStream::connect(self.addr.socket()).await.is_ok()
    }

    /// The connection to a running server.
    async fn client(&self) -> Result<&ControlClient, Error> {
        if self.is_there().await {
            return self.connected().await;
        }
        // Without tmux, no server will ever be there.
        self.checked.get_or_try_init(|| self.addr.check_program()).await?;
        let socket = self.addr.socket().display();
        Err(Error::NoServer(format!(
            "no tmux server at {socket}; it starts with the first session"
        )))
    }

    /// The connection; a server of our own is started first.
    async fn connected(&self) -> Result<&ControlClient, Error> {
        let connect = || async {
            let _lock = self.lock_start().await?;
            Ok(connect(self.addr.clone()).await?.0)
        };
        self.client.get_or_try_init(connect).await
    }

    /// Two clients that start a tmux 3.3a at the same moment crash it, so a lock lets one start it
    /// at a time.
    async fn lock_start(&self) -> Result<Option<File>, Error> {
        if !self.addr.is_own() {
            return Ok(None);
        }
        let file = self.addr.socket().with_file_name("start.lock");
        let locked = tokio::task::spawn_blocking(move || lock(&file)).await;
        let locked = locked.map_err(|panic| Error::Failed(panic.to_string()))?;
        let failed =
            |error| Error::Failed(format!("cannot wait for a turn to start tmux: {error}"));
        locked.map(Some).map_err(failed)
    }

    /// Queries the server. The session that our client is attached to may just have ended, and the
    /// client with it: a query may be sent again, to the next one.
    async fn snapshot(&self, client: &ControlClient) -> Result<TmuxServerSnapshot, Error> {
        let mut tries = 0;
        loop {
            match TmuxServerSnapshot::query(client).await {
                Err(tmux::Error::Gone(why)) if !self.is_there().await => {
                    return Err(Error::NoServer(why));
                }
                Err(tmux::Error::Gone(_)) if tries < MAX_RETRIES => tries += 1,
                other => return Ok(other?),
            }
        }
    }

    async fn pick(&self, target: &Target) -> Result<(&ControlClient, TmuxPane), Error> {
        let client = self.client().await?;
        let snapshot = self.snapshot(client).await?;
        Ok((client, snapshot.pick(target)?.id))
    }

    async fn open(
        &self,
        name: &Name,
        program: &Program,
        size: Size,
    ) -> Result<SubstrateSession, Error> {
        rules::size(size)?;
        let program = tmux_program(program)?;
        let client = self.connected().await?;
        let tmux_name = SessionName::new(name.as_str())?;
        // A client whose session has just ended does not answer this, and the next one does.
        let before = self.snapshot(client).await;
        if before.is_ok_and(|before| before.session(name).is_ok()) {
            return Err(Error::taken(name));
        }
        let mut created = client.new_session(&tmux_name, size, &program).await;
        // The server exited during the request, with all its sessions; the request is sent to the
        // next one.
        if matches!(created, Err(tmux::Error::Gone(_))) && !self.is_there().await {
            created = client.new_session(&tmux_name, size, &program).await;
        }
        match created {
            Ok(_) => Ok(SubstrateSession { name: name.clone(), size, panes: 1, attached: false }),
            Err(tmux::Error::SessionExists(_)) => Err(Error::taken(name)),
            Err(error) => Err(error.into()),
        }
    }

    async fn press(&self, target: &Target, key: &str) -> Result<(), Error> {
        let key = rules::key(key)?;
        let (client, pane) = self.pick(target).await?;
        // The modes are queried and the key is encoded here: while the user scrolls, a key that
        // tmux encodes would control the scrolling.
        let query = TmuxCommand::new("display-message").word("-p").target(pane);
        let query = query.argument("#{keypad_cursor_flag}#{keypad_flag}");
        let replies = client.run(&query).await?;
        let flags = replies.iter().flat_map(|reply| &reply.lines).find(|line| !line.is_empty());
        let is_set = |at: usize| flags.and_then(|flags| flags.get(at)) == Some(&b'1');
        let mut modes = text::modes(&OutputScanner::new());
        modes.application_cursor = is_set(0);
        modes.application_keypad = is_set(1);
        Ok(client.send(pane, &rules::bytes(key, &modes)?).await?)
    }

    async fn split_pane(
        &self,
        target: &Target,
        direction: SplitOrientation,
        program: &Program,
    ) -> Result<SubstratePane, Error> {
        let program = tmux_program(program)?;
        let client = self.client().await?;
        let snapshot = self.snapshot(client).await?;
        let pane = snapshot.pick(target)?;
        layout::halve(pane.size, direction)?;
        let side = match direction {
            SplitOrientation::Horizontal => SplitSide::Right,
            SplitOrientation::Vertical => SplitSide::Below,
        };
        let split = TmuxSplit { side, size: None, focus: true };
        let created = client.split(pane.id, split, &program).await?;
        let session = snapshot.name_of(pane).ok_or_else(|| target.missing())?.clone();
        let views = client.views().await?;
        let view = views.iter().find(|view| view.id == created.pane);
        let ended =
            || Error::SessionNotFound("the new pane's program has already exited".to_owned());
        Ok(to_pane(view.ok_or_else(ended)?, session))
    }

    async fn lines(&self, target: &Target, selection: LineSelection) -> Result<Vec<String>, Error> {
        let (client, pane) = self.pick(target).await?;
        let lines = match selection {
            LineSelection::Last(lines) => {
                client.last_lines(pane, lines, CaptureStyle::Plain).await?
            }
            LineSelection::Screen(style) => client.screen(pane, style).await?,
        };
        let text = |line: Vec<u8>| String::from_utf8_lossy(&line).trim_end_matches(' ').to_owned();
        Ok(lines.into_iter().map(text).collect())
    }
}

fn lock(file: &Path) -> io::Result<File> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Which lines of a pane to read.
enum LineSelection {
    Last(usize),
    Screen(CaptureStyle),
}

impl TmuxServerSnapshot {
    async fn query(client: &ControlClient) -> Result<Self, tmux::Error> {
        let sessions = client.sessions().await?;
        // A user may have given a session a name that is not valid here.
        let named = |session: query::TmuxSession| Some((Name::new(&session.name).ok()?, session));
        let sessions = sessions.into_iter().filter_map(named).collect();
        Ok(Self { sessions, views: client.views().await? })
    }

    fn session(&self, name: &Name) -> Result<&query::TmuxSession, Error> {
        let found = self.sessions.iter().find(|(other, _)| other == name);
        found.map(|(_, session)| session).ok_or_else(|| Error::no_session(name))
    }

    fn pick(&self, target: &Target) -> Result<&TmuxPaneView, Error> {
        let found = match target {
            Target::Session(name) => {
                let session = self.session(name)?.id;
                self.views.iter().find(|view| view.session == session && view.focused)
            }
            Target::Pane(pane) => {
                let id = TmuxPane::parse(pane.0.as_bytes());
                // The pane of our own client is in no session that is listed here.
                self.views.iter().find(|view| Some(view.id) == id && self.name_of(view).is_some())
            }
        };
        found.ok_or_else(|| target.missing())
    }

    fn name_of(&self, view: &TmuxPaneView) -> Option<&Name> {
        let mut sessions = self.sessions.iter();
        sessions.find(|(_, session)| session.id == view.session).map(|(name, _)| name)
    }

    fn panes_of<'a>(
        &'a self,
        session: &query::TmuxSession,
    ) -> impl Iterator<Item = &'a TmuxPaneView> {
        let id = session.id;
        self.views.iter().filter(move |view| view.session == id)
    }
}

fn to_pane(view: &TmuxPaneView, session: Name) -> SubstratePane {
    SubstratePane {
        id: SubstratePaneId(view.id.to_string()),
        session,
        size: view.size,
        active: view.focused,
    }
}

/// The program for tmux. It is resolved first, because tmux would start a session that ends at
/// once.
fn tmux_program(program: &Program) -> Result<operations::TmuxProgram, Error> {
    let found = program.find()?;
    let bytes = |text: &String| text.as_bytes().to_vec();
    Ok(operations::TmuxProgram {
        argv: found.argv.iter().map(bytes).collect(),
        env: program.env.iter().map(|(name, value)| (name.clone(), bytes(value))).collect(),
        cwd: Some(found.cwd),
    })
}

impl Substrate for TmuxSubstrate {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> BoxedFuture<'a, Result<SubstrateSession, Error>> {
        Box::pin(self.open(name, program, size))
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let client = self.client().await?;
            let session = self.snapshot(client).await?.session(name)?.id;
            match client.kill_session(session).await {
                // Our client was attached to it, or it was the last one of its server.
                Err(tmux::Error::Gone(why)) => match self.snapshot(client).await {
                    Ok(after) if after.session(name).is_ok() => Err(tmux::Error::Gone(why).into()),
                    Ok(_) | Err(Error::NoServer(_)) => Ok(()),
                    Err(error) => Err(error),
                },
                done => Ok(done?),
            }
        })
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            let (client, pane) = self.pick(target).await?;
            client.send(pane, text.as_bytes()).await?;
            Ok(client.send(pane, ENTER).await?)
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(self.press(target, key))
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.lines(target, LineSelection::Last(lines)).await
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: CaptureStyle,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(self.lines(target, LineSelection::Screen(style)))
    }

    fn list(&self) -> BoxedFuture<'_, Result<Vec<SubstrateSession>, Error>> {
        Box::pin(async {
            let snapshot = match self.client().await {
                Ok(client) => self.snapshot(client).await,
                Err(error) => Err(error),
            };
            let snapshot = match snapshot {
                Err(Error::NoServer(_)) => return Ok(Vec::new()),
                other => other?,
            };
            let session = |(name, session): &(Name, query::TmuxSession)| SubstrateSession {
                name: name.clone(),
                size: session.size,
                panes: snapshot.panes_of(session).count(),
                attached: 0 < session.attached_clients,
            };
            let mut sessions: Vec<SubstrateSession> =
                snapshot.sessions.iter().map(session).collect();
            sessions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(sessions)
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<Vec<SubstratePane>, Error>> {
        Box::pin(async move {
            let snapshot = self.snapshot(self.client().await?).await?;
            let mut views: Vec<&TmuxPaneView> =
                snapshot.panes_of(snapshot.session(name)?).collect();
            views.sort_by_key(|view| view.id);
            Ok(views.into_iter().map(|view| to_pane(view, name.clone())).collect())
        })
    }

    fn split<'a>(
        &'a self,
        target: &'a Target,
        direction: SplitOrientation,
        program: &'a Program,
    ) -> BoxedFuture<'a, Result<SubstratePane, Error>> {
        Box::pin(self.split_pane(target, direction, program))
    }

    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::size(size)?;
            let client = self.client().await?;
            let snapshot = self.snapshot(client).await?;
            let window = snapshot.pick(&name.into())?.window;
            Ok(client.resize_window(window, size).await?)
        })
    }
}
