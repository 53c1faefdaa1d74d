//! Sessions on keepers: each pane is a process of its own that outlives the process that made it. A
//! session is the set of panes in a folder whose records name it.
//!
//! No state is kept here. Every call reads the folder, so any number of processes can use it at
//! once, and no server is needed. Terminal queries of a program are answered by the handle that
//! started it, while that handle lives.
//!
//! A keeper is forked by a [`ForkServer`]: a `paned fork-server` process, or any program that calls
//! `paned_keeper::fork_server::run` with its standard input before it has threads, as
//! `examples/agents.rs` does.

mod session_panes;
mod tape_text;
mod terminal_responder;
mod viewer_conn;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::try_join_all;
use paned_model::{PaneId, Size};
use tokio::task::JoinSet;

use super::{
    BoxedFuture, CaptureStyle, Error, Name, Program, SplitOrientation, Substrate, SubstratePane,
    SubstratePaneId, SubstrateSession, Target, layout, rules,
};
use paned_backend::native::{self, ForkServer, StateDir};
use paned_backend::{Backend as _, PathOwner, SpawnSpec};
use paned_keeper::tape::TapeReader;
use session_panes::{SessionMember, SessionPaneRecord, SessionPanes, SplitOrigin};
use viewer_conn::ViewerConn;

/// How many bytes of a pane's output are kept.
const TAPE_CAPACITY: u64 = 16 << 20;
/// How long a program may take to exit when its keeper asks it to.
const GRACE: Duration = Duration::from_secs(2);
const ENTER: &[u8] = b"\r";

/// Sessions on keepers, in one folder.
#[derive(Debug)]
pub struct NativeSubstrate {
    state_dir: StateDir,
    backend: native::NativeBackend,
    /// Tasks that answer the terminal queries of programs that we started; dropped with this
    /// handle.
    responders: Mutex<JoinSet<()>>,
}

impl NativeSubstrate {
    /// Sessions in this folder, with keepers from this fork server. The folder must not be a paned
    /// server's state folder. It is made with the first session, for its owner only.
    #[must_use]
    pub fn new(folder: PathBuf, fork_server: ForkServer) -> Self {
        Self {
            state_dir: StateDir::new(&folder),
            backend: native::NativeBackend::new(folder, fork_server),
            responders: Mutex::default(),
        }
    }

    async fn start(
        &self,
        program: &Program,
        record: &SessionPaneRecord,
        size: Size,
    ) -> Result<(), Error> {
        let resolved = program.find()?;
        let path = |path: PathBuf| {
            let not_utf8 = |_| Error::InvalidCommand("a path is not valid UTF-8".to_owned());
            path.into_os_string().into_string().map_err(not_utf8)
        };
        let id = record.id().ok_or_else(|| Error::Failed("too many panes".to_owned()))?;
        let spec = SpawnSpec {
            id: id.clone(),
            program: path(resolved.file)?,
            argv: resolved.argv,
            env: resolved.env,
            cwd: Some(path(resolved.cwd)?),
            size,
            capacity: TAPE_CAPACITY,
            max_lines: None,
            timeout: None,
            grace: GRACE,
            followed: false,
            piped_input: false,
            umask: None,
            path_owner: PathOwner::Caller,
            record: record.text(),
            launch_record: None,
        };
        // Disconnect at once: a connection in the role of the pane's server would apply
        // backpressure to a program that prints much.
        drop(self.backend.spawn(spec).await?);
        self.start_responder(&id).await
    }

    async fn start_responder(&self, id: &PaneId) -> Result<(), Error> {
        let conn = ViewerConn::connect(&self.state_dir, id).await?;
        // A program that has ended already sends no queries.
        let (Some(conn), Ok(tape)) = (conn, TapeReader::open(&self.state_dir.tape(id))) else {
            return Ok(());
        };
        let mut responders = self.responders.lock().unwrap_or_else(PoisonError::into_inner);
        while responders.try_join_next().is_some() {}
        responders.spawn(terminal_responder::run_responder(conn, tape));
        Ok(())
    }

    async fn open(
        &self,
        name: &Name,
        program: &Program,
        size: Size,
    ) -> Result<SubstrateSession, Error> {
        rules::size(size)?;
        if self.groups().await?.iter().any(|group| group.name == *name) {
            return Err(Error::taken(name));
        }
        let record = SessionPaneRecord {
            session: name.clone(),
            number: 0,
            origin: SplitOrigin::Window(size),
        };
        match self.start(program, &record, size).await {
            Ok(()) => Ok(SubstrateSession { name: name.clone(), size, panes: 1, attached: false }),
            Err(Error::SessionExists(_)) => Err(Error::taken(name)),
            Err(error) => Err(error),
        }
    }

    async fn split_pane(
        &self,
        target: &Target,
        direction: SplitOrientation,
        program: &Program,
    ) -> Result<SubstratePane, Error> {
        let group = self.group(target).await?;
        let (pane, _) = pick(&group, target)?;
        let size = group.sizes().get(&pane.record.number).copied().unwrap_or_default();
        let (_, size) = layout::halve(size, direction)?;
        let origin = SplitOrigin::Split(pane.record.number, direction);
        let mut record =
            SessionPaneRecord { session: group.name.clone(), number: group.next(), origin };
        // Another process may split the session at the same time.
        while let Err(error) = self.start(program, &record, size).await {
            let Error::SessionExists(_) = error else { return Err(error) };
            record.number += 1;
        }
        self.apply_sizes(&self.group(target).await?).await?;
        let id = record
            .id()
            .map(|id| SubstratePaneId(id.to_string()))
            .ok_or_else(|| target.missing())?;
        Ok(SubstratePane { id, session: record.session, size, active: true })
    }

    async fn end(&self, name: &Name) -> Result<(), Error> {
        let group = self.group(&name.into()).await?;
        // Ended panes too: what they started may still run.
        try_join_all(group.members.iter().map(|member| self.kill(&member.id))).await?;
        let state_dir = self.state_dir.clone();
        let name = name.clone();
        blocking(move || session_panes::cleanup(&state_dir, &name)).await
    }

    async fn kill(&self, id: &PaneId) -> Result<(), Error> {
        match ViewerConn::connect(&self.state_dir, id).await? {
            Some(mut conn) => conn.kill().await,
            None => Ok(()),
        }
    }

    async fn write(&self, target: &Target, pieces: &[&[u8]]) -> Result<(), Error> {
        let group = self.group(target).await?;
        let conn = ViewerConn::connect(&self.state_dir, &pick(&group, target)?.0.id).await?;
        conn.ok_or_else(|| target.missing())?.write(pieces).await
    }

    async fn read<T: Send + 'static>(
        &self,
        target: &Target,
        read: impl FnOnce(&TapeReader) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let mut group = self.group(target).await?;
        let id = pick(&group, target)?.0.id.clone();
        let member = group.members.iter_mut().find(|member| member.id == id);
        let state = member
            .map(|member| std::mem::replace(&mut member.state, session_panes::MemberState::Ended));
        let Some(session_panes::MemberState::Alive(tape)) = state else {
            return Err(target.missing());
        };
        blocking(move || read(&tape)).await
    }

    /// Sets the terminals to their computed sizes: a neighbour may have been added or have ended.
    async fn apply_sizes(&self, group: &SessionPanes) -> Result<(), Error> {
        let sizes = group.sizes();
        for (member, tape) in group.living() {
            let Some(size) = sizes.get(&member.record.number) else { continue };
            if *size == tape.size() {
                continue;
            }
            if let Some(mut conn) = ViewerConn::connect(&self.state_dir, &member.id).await? {
                conn.resize(*size).await?;
            }
        }
        Ok(())
    }

    async fn session(&self, group: &SessionPanes) -> Result<SubstrateSession, Error> {
        self.apply_sizes(group).await?;
        let held = try_join_all(group.living().map(|(member, _)| self.is_held(&member.id))).await?;
        Ok(SubstrateSession {
            name: group.name.clone(),
            size: group.window(),
            panes: held.len(),
            attached: held.contains(&true),
        })
    }

    async fn is_held(&self, id: &PaneId) -> Result<bool, Error> {
        match ViewerConn::connect(&self.state_dir, id).await? {
            Some(mut conn) => conn.is_held().await,
            None => Ok(false),
        }
    }

    async fn groups(&self) -> Result<Vec<SessionPanes>, Error> {
        let state_dir = self.state_dir.clone();
        blocking(move || session_panes::list_and_cleanup(&state_dir)).await
    }

    /// The session that a target names, or whose pane it names.
    async fn group(&self, target: &Target) -> Result<SessionPanes, Error> {
        let groups = self.groups().await?;
        let found = groups.into_iter().find(|group| match target {
            Target::Session(name) => group.name == *name,
            Target::Pane(_) => pick(group, target).is_ok(),
        });
        found.ok_or_else(|| target.missing())
    }
}

/// The live pane that a target means in its session.
fn pick<'a>(
    group: &'a SessionPanes,
    target: &Target,
) -> Result<(&'a SessionMember, &'a TapeReader), Error> {
    let found = match target {
        Target::Session(_) => group.active(),
        Target::Pane(pane) => group.living().find(|(member, _)| member.id.as_str() == pane.0),
    };
    found.ok_or_else(|| target.missing())
}

/// Runs blocking disk access on the blocking thread pool.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|panic| Error::Failed(panic.to_string()))?;
    done.map_err(|error| Error::Failed(format!("the files of the sessions: {error}")))
}

impl Substrate for NativeSubstrate {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> BoxedFuture<'a, Result<SubstrateSession, Error>> {
        Box::pin(self.open(name, program, size))
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(self.end(name))
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            self.write(target, &[text.as_bytes(), ENTER]).await
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let key = rules::key(key)?;
            let modes = self.read(target, tape_text::modes).await?;
            self.write(target, &[&rules::bytes(key, &modes)?]).await
        })
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.read(target, move |tape| tape_text::last_lines(tape, lines)).await
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: CaptureStyle,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(self.read(target, move |tape| tape_text::rows(tape, style)))
    }

    fn list(&self) -> BoxedFuture<'_, Result<Vec<SubstrateSession>, Error>> {
        Box::pin(async {
            let groups = self.groups().await?;
            let mut sessions = try_join_all(groups.iter().map(|group| self.session(group))).await?;
            sessions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(sessions)
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<Vec<SubstratePane>, Error>> {
        Box::pin(async move {
            let group = self.group(&name.into()).await?;
            self.apply_sizes(&group).await?;
            let active = group.active().map(|(member, _)| member.record.number);
            let pane = |(member, tape): (&SessionMember, &TapeReader)| SubstratePane {
                id: SubstratePaneId(member.id.to_string()),
                session: name.clone(),
                size: tape.size(),
                active: Some(member.record.number) == active,
            };
            Ok(group.living().map(pane).collect())
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
            let target = name.into();
            let group = self.group(&target).await?;
            let state_dir = self.state_dir.clone();
            blocking(move || session_panes::set_window(&state_dir, &group, size)).await?;
            self.apply_sizes(&self.group(&target).await?).await
        })
    }
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::TapeWriter;
    use paned_model::Time;
    use paned_model::frame::{
        FrameDecoder, FrameMessage as _, FromKeeper, KeeperResponse, NOTIFY_WINDOW, ToKeeper,
        VERSION, Welcome,
    };
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    use super::*;

    /// Simulates the keeper of one pane for one connection; returns what was typed, write by write.
    async fn keep(listener: UnixListener) -> Vec<Vec<u8>> {
        let (mut frames, mut bytes, mut writes) = (FrameDecoder::default(), [0; 4096], Vec::new());
        // Connections that only check whether a keeper listens send nothing.
        while writes.is_empty() {
            let (mut visitor, _) = listener.accept().await.unwrap();
            while let Ok(got @ 1..) = visitor.read(&mut bytes).await {
                frames.push(&bytes[..got]);
                let mut answers = Vec::new();
                while let Some(message) = frames.take().unwrap() {
                    answer(message, &mut writes).encode(&mut answers);
                }
                visitor.write_all(&answers).await.unwrap();
            }
        }
        writes
    }

    fn answer(message: ToKeeper, writes: &mut Vec<Vec<u8>>) -> FromKeeper {
        let welcome = Welcome {
            version: VERSION,
            keeper: 1,
            pid: 1,
            started: Time(1),
            typed: Some(0),
            served: true,
            frames: NOTIFY_WINDOW.frames,
            guarded: Some(0),
        };
        match message {
            ToKeeper::Hello(_) => FromKeeper::Welcome(welcome),
            ToKeeper::Input(id, typed) => {
                writes.push(typed);
                FromKeeper::Response(KeeperResponse::ok(id))
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn enter_is_a_write_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let native = NativeSubstrate::new(
            folder.path().to_owned(),
            ForkServer::new("/no/such".into(), Vec::new(), "/dev/null".into()),
        );
        let name = Name::new("a").unwrap();
        let record = SessionPaneRecord {
            session: name.clone(),
            number: 0,
            origin: SplitOrigin::Window(Size::default()),
        };
        let id = record.id().unwrap();
        std::fs::create_dir_all(native.state_dir.pane_dir(&id)).unwrap();
        std::fs::write(native.state_dir.record(&id), record.text()).unwrap();
        let tape = TapeWriter::create(&native.state_dir.tape(&id), TAPE_CAPACITY, Time(1)).unwrap();
        let listener = UnixListener::bind(native.state_dir.socket(&id)).unwrap();
        let target = Target::from(&name);
        let (sent, writes) = tokio::join!(native.send(&target, "one\ntwo"), keep(listener));
        assert_eq!((sent, writes), (Ok(()), vec![b"one\ntwo".to_vec(), b"\r".to_vec()]));
        drop(tape);
    }
}
