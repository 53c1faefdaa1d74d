//! Sessions on a tmux server, ours or somebody's, over one control connection.
//!
//! The connection is made when it is first needed. Only [`Substrate::spawn`] starts a server, and only one of our own; to
//! everything else a server that is not there is [`Error::NoServer`], or no sessions. tmux keeps 10,000 lines of a pane
//! on a server of our own, and cannot tell `a.b` from `a_b`: while one of them is there, the other is taken.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use paned_model::Size;
use paned_term::Signals;
use rustix::fs::{FlockOperation, flock};
use tokio::net::UnixStream;
use tokio::sync::OnceCell;

use super::{
    Boxed, Direction, Error, Name, Pane, PaneRef, Program, Session, Style, Substrate, Target,
    layout, rules, text,
};
use crate::tmux::act::{self, Side, Split};
use crate::tmux::{self, query};
use crate::tmux::{Client, Command, Place, SessionName, TmuxPane, View, connect};

const ENTER: &[u8] = b"\r";

/// Sessions on one tmux server. What it has is there for everybody who looks at that server.
#[derive(Debug)]
pub struct Tmux {
    place: Place,
    client: OnceCell<Client>,
}

/// A server's sessions and panes at one moment.
struct Stage {
    sessions: Vec<(Name, query::Session)>,
    views: Vec<View>,
}

impl Tmux {
    /// Sessions on the server of this place.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self { place, client: OnceCell::new() }
    }

    /// Ends a server of our own, with every session on it. Somebody else's is left alone.
    ///
    /// # Errors
    /// When it is there and cannot be reached.
    pub async fn end_server(&self) -> Result<(), Error> {
        if self.place.is_own() && self.is_there().await {
            // Whoever would answer is gone by then.
            let _ = self.connected().await?.run(&Command::new("kill-server")).await;
        }
        Ok(())
    }

    async fn is_there(&self) -> bool {
        UnixStream::connect(self.place.socket()).await.is_ok()
    }

    /// The connection to a server that runs.
    async fn client(&self) -> Result<&Client, Error> {
        if self.is_there().await {
            return self.connected().await;
        }
        let socket = self.place.socket().display();
        Err(Error::NoServer(format!(
            "nobody listens at {socket}; it starts with the first session"
        )))
    }

    /// The connection, to a server that is started if it is our own.
    async fn connected(&self) -> Result<&Client, Error> {
        let connect = || async {
            let _turn = self.turn().await?;
            Ok(connect(self.place.clone()).await?.0)
        };
        self.client.get_or_try_init(connect).await
    }

    /// Two clients that start a tmux 3.3a at the same moment crash it, so they take turns.
    async fn turn(&self) -> Result<Option<File>, Error> {
        if !self.place.is_own() {
            return Ok(None);
        }
        let file = self.place.socket().with_file_name("start.lock");
        let turn = tokio::task::spawn_blocking(move || lock(&file)).await;
        let turn = turn.map_err(|panic| Error::Failed(panic.to_string()))?;
        let says = |error| Error::Failed(format!("cannot wait for a turn to start tmux: {error}"));
        turn.map(Some).map_err(says)
    }

    async fn stage(&self, client: &Client) -> Result<Stage, Error> {
        match Stage::look(client).await {
            Err(tmux::Error::Gone(why)) if !self.is_there().await => Err(Error::NoServer(why)),
            other => Ok(other?),
        }
    }

    async fn pick(&self, target: &Target) -> Result<(&Client, TmuxPane), Error> {
        let client = self.client().await?;
        let stage = self.stage(client).await?;
        Ok((client, stage.pick(target)?.id))
    }

    async fn open(&self, name: &Name, program: &Program, size: Size) -> Result<Session, Error> {
        rules::size(size)?;
        let program = ready(program)?;
        let client = self.connected().await?;
        let tmux_name = SessionName::new(name.as_str())?;
        let mut made = client.new_session(&tmux_name, size, &program).await;
        // The server went while we asked, and all it had; the next one has to hear it again.
        if matches!(made, Err(tmux::Error::Gone(_))) && !self.is_there().await {
            made = client.new_session(&tmux_name, size, &program).await;
        }
        match made {
            Ok(_) => Ok(Session { name: name.clone(), size, panes: 1, attached: false }),
            Err(tmux::Error::SessionExists(_)) => Err(Error::taken(name)),
            Err(error) => Err(error.into()),
        }
    }

    async fn press(&self, target: &Target, key: &str) -> Result<(), Error> {
        let key = rules::key(key)?;
        let (client, pane) = self.pick(target).await?;
        // Asked and encoded here: while a person scrolls, a key that tmux encodes would steer the scrolling.
        let ask = Command::new("display-message").word("-p").target(pane);
        let ask = ask.argument("#{keypad_cursor_flag}#{keypad_flag}");
        let replies = client.run(&ask).await?;
        let flags = replies.iter().flat_map(|reply| &reply.lines).find(|line| !line.is_empty());
        let is_set = |at: usize| flags.and_then(|flags| flags.get(at)) == Some(&b'1');
        let mut modes = text::modes(&Signals::new());
        (modes.application_cursor, modes.application_keypad) = (is_set(0), is_set(1));
        Ok(client.send(pane, &rules::bytes(key, &modes)?).await?)
    }

    async fn halve(
        &self,
        target: &Target,
        direction: Direction,
        program: &Program,
    ) -> Result<Pane, Error> {
        let program = ready(program)?;
        let client = self.client().await?;
        let stage = self.stage(client).await?;
        let pane = stage.pick(target)?;
        layout::halve(pane.size, direction)?;
        let side = match direction {
            Direction::Horizontal => Side::Right,
            Direction::Vertical => Side::Below,
        };
        let split = Split { side, size: None, focus: true };
        let made = client.split(pane.id, split, &program).await?;
        let session = stage.name_of(pane).ok_or_else(|| target.missing())?.clone();
        let views = client.views().await?;
        let view = views.iter().find(|view| view.id == made.pane);
        let says = || Error::SessionNotFound("the new pane's program has ended already".to_owned());
        Ok(shown(view.ok_or_else(says)?, session))
    }

    async fn lines(&self, target: &Target, wanted: Wanted) -> Result<Vec<String>, Error> {
        let (client, pane) = self.pick(target).await?;
        let lines = match wanted {
            Wanted::Last(lines) => client.last_lines(pane, lines, Style::Plain).await?,
            Wanted::Screen(style) => client.screen(pane, style).await?,
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

/// Which lines of a pane.
enum Wanted {
    Last(usize),
    Screen(Style),
}

impl Stage {
    async fn look(client: &Client) -> Result<Self, tmux::Error> {
        let sessions = client.sessions().await?;
        // A person may have given one a name that nobody can call here.
        let named = |session: query::Session| Some((Name::new(&session.name).ok()?, session));
        let sessions = sessions.into_iter().filter_map(named).collect();
        Ok(Self { sessions, views: client.views().await? })
    }

    fn session(&self, name: &Name) -> Result<&query::Session, Error> {
        let found = self.sessions.iter().find(|(other, _)| other == name);
        found.map(|(_, session)| session).ok_or_else(|| Error::no_session(name))
    }

    fn pick(&self, target: &Target) -> Result<&View, Error> {
        let found = match target {
            Target::Session(name) => {
                let session = self.session(name)?.id;
                self.views.iter().find(|view| view.session == session && view.focused)
            }
            Target::Pane(pane) => {
                let id = TmuxPane::parse(pane.0.as_bytes());
                // One that holds our own connection is in no session that has a name here.
                self.views.iter().find(|view| Some(view.id) == id && self.name_of(view).is_some())
            }
        };
        found.ok_or_else(|| target.missing())
    }

    fn name_of(&self, view: &View) -> Option<&Name> {
        let mut sessions = self.sessions.iter();
        sessions.find(|(_, session)| session.id == view.session).map(|(name, _)| name)
    }

    fn panes_of<'a>(&'a self, session: &query::Session) -> impl Iterator<Item = &'a View> {
        let id = session.id;
        self.views.iter().filter(move |view| view.session == id)
    }
}

fn shown(view: &View, session: Name) -> Pane {
    Pane { id: PaneRef(view.id.to_string()), session, size: view.size, active: view.focused }
}

/// The program for tmux: looked for first, because tmux would start a session that ends at once.
fn ready(program: &Program) -> Result<act::Program, Error> {
    let found = program.find()?;
    let bytes = |text: &String| text.as_bytes().to_vec();
    Ok(act::Program {
        argv: found.argv.iter().map(bytes).collect(),
        env: program.env.iter().map(|(name, value)| (name.clone(), bytes(value))).collect(),
        cwd: Some(found.cwd),
    })
}

impl Substrate for Tmux {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> Boxed<'a, Result<Session, Error>> {
        Box::pin(self.open(name, program, size))
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            let client = self.client().await?;
            let session = self.stage(client).await?.session(name)?.id;
            Ok(client.kill_session(session).await?)
        })
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            let (client, pane) = self.pick(target).await?;
            client.send(pane, text.as_bytes()).await?;
            Ok(client.send(pane, ENTER).await?)
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(self.press(target, key))
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.lines(target, Wanted::Last(lines)).await
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: Style,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(self.lines(target, Wanted::Screen(style)))
    }

    fn list(&self) -> Boxed<'_, Result<Vec<Session>, Error>> {
        Box::pin(async {
            let stage = match self.client().await {
                Ok(client) => self.stage(client).await,
                Err(error) => Err(error),
            };
            let stage = match stage {
                Err(Error::NoServer(_)) => return Ok(Vec::new()),
                other => other?,
            };
            let session = |(name, session): &(Name, query::Session)| Session {
                name: name.clone(),
                size: session.size,
                panes: stage.panes_of(session).count(),
                attached: 0 < session.people,
            };
            let mut sessions: Vec<Session> = stage.sessions.iter().map(session).collect();
            sessions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(sessions)
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<Vec<Pane>, Error>> {
        Box::pin(async move {
            let stage = self.stage(self.client().await?).await?;
            let mut views: Vec<&View> = stage.panes_of(stage.session(name)?).collect();
            views.sort_by_key(|view| view.id);
            Ok(views.into_iter().map(|view| shown(view, name.clone())).collect())
        })
    }

    fn split<'a>(
        &'a self,
        target: &'a Target,
        direction: Direction,
        program: &'a Program,
    ) -> Boxed<'a, Result<Pane, Error>> {
        Box::pin(self.halve(target, direction, program))
    }

    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::size(size)?;
            let client = self.client().await?;
            let stage = self.stage(client).await?;
            let window = stage.pick(&name.into())?.window;
            Ok(client.resize_window(window, size).await?)
        })
    }
}
