//! Sessions on keepers: each pane is a process of its own that outlives whoever made it, and a session is the panes of
//! a folder that say they belong to it.
//!
//! Nothing is remembered here. Every call looks into the folder, so any number of processes can use it at once, and no
//! server is needed. What a program asks its terminal is answered by the handle that started it, while that lives.
//!
//! A keeper is forked by a [`Nursery`]: a `paned nursery` process, or any program that calls `paned_keeper::nursery::run`
//! with its standard input before it has threads, as `examples/agents.rs` does.

mod attend;
mod group;
mod read;
mod visit;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::try_join_all;
use paned_model::{PaneId, Size};
use tokio::task::JoinSet;

use super::{
    Boxed, Direction, Error, Name, Pane, PaneRef, Program, Session, Style, Substrate, Target,
    layout, rules,
};
use crate::native::{self, Nursery, Places};
use crate::{Ground as _, Order};
use group::{Group, Member, Origin, Record};
use paned_keeper::tape::Reader;
use visit::Visit;

/// Bytes of a pane's output that are kept.
const TAPE: u64 = 16 << 20;
/// How long a program may take to end when its keeper is asked to.
const GRACE: Duration = Duration::from_secs(2);
const ENTER: &[u8] = b"\r";

/// Sessions on keepers, in one folder.
#[derive(Debug)]
pub struct Native {
    places: Places,
    ground: native::Native,
    /// Those who answer the programs that we started; they leave with us.
    attendants: Mutex<JoinSet<()>>,
}

impl Native {
    /// Sessions in this folder, with keepers from this nursery. The folder is not a server's, and is made with the first
    /// session, for its owner only.
    #[must_use]
    pub fn new(folder: PathBuf, nursery: Nursery) -> Self {
        let (places, attendants) = (Places::new(&folder), Mutex::default());
        Self { places, ground: native::Native::new(folder, nursery), attendants }
    }

    async fn start(&self, program: &Program, record: &Record, size: Size) -> Result<(), Error> {
        let ready = program.find()?;
        let path = |path: PathBuf| {
            let says = |_| Error::InvalidCommand("a path is not valid UTF-8".to_owned());
            path.into_os_string().into_string().map_err(says)
        };
        let id = record.id().ok_or_else(|| Error::Failed("too many panes".to_owned()))?;
        let order = Order {
            id: id.clone(),
            program: path(ready.file)?,
            argv: ready.argv,
            env: ready.env,
            cwd: path(ready.cwd)?,
            size,
            capacity: TAPE,
            timeout: None,
            grace: GRACE,
            followed: false,
            record: record.text(),
        };
        // Let go at once: a connection that is the pane's server would hold up a program that prints much.
        drop(self.ground.spawn(order).await?);
        self.attend(&id).await
    }

    async fn attend(&self, id: &PaneId) -> Result<(), Error> {
        let visit = Visit::to(&self.places, id).await?;
        // A program that has ended already asks nothing.
        let (Some(visit), Ok(tape)) = (visit, Reader::open(&self.places.tape(id))) else {
            return Ok(());
        };
        let mut attendants = self.attendants.lock().unwrap_or_else(PoisonError::into_inner);
        while attendants.try_join_next().is_some() {}
        attendants.spawn(attend::attend(visit, tape));
        Ok(())
    }

    async fn open(&self, name: &Name, program: &Program, size: Size) -> Result<Session, Error> {
        rules::size(size)?;
        if self.groups().await?.iter().any(|group| group.name == *name) {
            return Err(Error::taken(name));
        }
        let record = Record { session: name.clone(), number: 0, origin: Origin::Window(size) };
        match self.start(program, &record, size).await {
            Ok(()) => Ok(Session { name: name.clone(), size, panes: 1, attached: false }),
            Err(Error::SessionExists(_)) => Err(Error::taken(name)),
            Err(error) => Err(error),
        }
    }

    async fn halve(
        &self,
        target: &Target,
        direction: Direction,
        program: &Program,
    ) -> Result<Pane, Error> {
        let group = self.group(target).await?;
        let (pane, _) = pick(&group, target)?;
        let size = group.sizes().get(&pane.record.number).copied().unwrap_or_default();
        let (_, size) = layout::halve(size, direction)?;
        let origin = Origin::Split(pane.record.number, direction);
        let mut record = Record { session: group.name.clone(), number: group.next(), origin };
        // Somebody else may split the session at the same time.
        while let Err(error) = self.start(program, &record, size).await {
            let Error::SessionExists(_) = error else { return Err(error) };
            record.number += 1;
        }
        self.settle(&self.group(target).await?).await?;
        let id = record.id().map(|id| PaneRef(id.to_string())).ok_or_else(|| target.missing())?;
        Ok(Pane { id, session: record.session, size, active: true })
    }

    async fn end(&self, name: &Name) -> Result<(), Error> {
        let group = self.group(&name.into()).await?;
        // Those that have ended too: what they started may still run.
        try_join_all(group.members.iter().map(|member| self.kill(&member.id))).await?;
        let (places, name) = (self.places.clone(), name.clone());
        blocking(move || group::bury(&places, &name)).await
    }

    async fn kill(&self, id: &PaneId) -> Result<(), Error> {
        match Visit::to(&self.places, id).await? {
            Some(mut visit) => visit.kill().await,
            None => Ok(()),
        }
    }

    async fn write(&self, target: &Target, pieces: &[&[u8]]) -> Result<(), Error> {
        let group = self.group(target).await?;
        let visit = Visit::to(&self.places, &pick(&group, target)?.0.id).await?;
        visit.ok_or_else(|| target.missing())?.write(pieces).await
    }

    async fn read<T: Send + 'static>(
        &self,
        target: &Target,
        read: impl FnOnce(&Reader) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let mut group = self.group(target).await?;
        let id = pick(&group, target)?.0.id.clone();
        let member = group.members.iter_mut().find(|member| member.id == id);
        let life = member.map(|member| std::mem::replace(&mut member.life, group::Life::Ended));
        let Some(group::Life::Alive(tape)) = life else { return Err(target.missing()) };
        blocking(move || read(&tape)).await
    }

    /// Makes the terminals as large as they are to be: a neighbour may have come or gone.
    async fn settle(&self, group: &Group) -> Result<(), Error> {
        let sizes = group.sizes();
        for (member, tape) in group.living() {
            let Some(size) = sizes.get(&member.record.number) else { continue };
            if *size == tape.size() {
                continue;
            }
            if let Some(mut visit) = Visit::to(&self.places, &member.id).await? {
                visit.resize(*size).await?;
            }
        }
        Ok(())
    }

    async fn session(&self, group: &Group) -> Result<Session, Error> {
        self.settle(group).await?;
        let held = try_join_all(group.living().map(|(member, _)| self.is_held(&member.id))).await?;
        let (name, size) = (group.name.clone(), group.window());
        Ok(Session { name, size, panes: held.len(), attached: held.contains(&true) })
    }

    async fn is_held(&self, id: &PaneId) -> Result<bool, Error> {
        match Visit::to(&self.places, id).await? {
            Some(mut visit) => visit.is_held().await,
            None => Ok(false),
        }
    }

    async fn groups(&self) -> Result<Vec<Group>, Error> {
        let places = self.places.clone();
        blocking(move || group::tidy(&places)).await
    }

    /// The session that a target is, or is in.
    async fn group(&self, target: &Target) -> Result<Group, Error> {
        let groups = self.groups().await?;
        let found = groups.into_iter().find(|group| match target {
            Target::Session(name) => group.name == *name,
            Target::Pane(_) => pick(group, target).is_ok(),
        });
        found.ok_or_else(|| target.missing())
    }
}

/// The living pane that a target means in its session.
fn pick<'a>(group: &'a Group, target: &Target) -> Result<(&'a Member, &'a Reader), Error> {
    let found = match target {
        Target::Session(_) => group.active(),
        Target::Pane(pane) => group.living().find(|(member, _)| member.id.as_str() == pane.0),
    };
    found.ok_or_else(|| target.missing())
}

/// Runs what waits for the disk where it holds nobody up.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|panic| Error::Failed(panic.to_string()))?;
    done.map_err(|error| Error::Failed(format!("the files of the sessions: {error}")))
}

impl Substrate for Native {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> Boxed<'a, Result<Session, Error>> {
        Box::pin(self.open(name, program, size))
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<(), Error>> {
        Box::pin(self.end(name))
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            self.write(target, &[text.as_bytes(), ENTER]).await
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            let key = rules::key(key)?;
            let modes = self.read(target, read::modes).await?;
            self.write(target, &[&rules::bytes(key, &modes)?]).await
        })
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.read(target, move |tape| read::last_lines(tape, lines)).await
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: Style,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(self.read(target, move |tape| read::rows(tape, style)))
    }

    fn list(&self) -> Boxed<'_, Result<Vec<Session>, Error>> {
        Box::pin(async {
            let groups = self.groups().await?;
            let mut sessions = try_join_all(groups.iter().map(|group| self.session(group))).await?;
            sessions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(sessions)
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<Vec<Pane>, Error>> {
        Box::pin(async move {
            let group = self.group(&name.into()).await?;
            self.settle(&group).await?;
            let active = group.active().map(|(member, _)| member.record.number);
            let pane = |(member, tape): (&Member, &Reader)| Pane {
                id: PaneRef(member.id.to_string()),
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
        direction: Direction,
        program: &'a Program,
    ) -> Boxed<'a, Result<Pane, Error>> {
        Box::pin(self.halve(target, direction, program))
    }

    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::size(size)?;
            let target = name.into();
            let (group, places) = (self.group(&target).await?, self.places.clone());
            blocking(move || group::set_window(&places, &group, size)).await?;
            self.settle(&self.group(&target).await?).await
        })
    }
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::Writer;
    use paned_model::Time;
    use paned_model::frame::{Done, Frames, FromKeeper, Message as _, ToKeeper, VERSION, Welcome};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    use super::*;

    /// Plays the keeper of one pane for one visit; answers what was typed, write by write.
    async fn keep(listener: UnixListener) -> Vec<Vec<u8>> {
        let (mut frames, mut bytes, mut writes) = (Frames::default(), [0; 4096], Vec::new());
        // Those who only look whether somebody listens say nothing.
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
            typed: None,
            served: None,
            ahead: false,
            frames: None,
            guarded: None,
        };
        match message {
            ToKeeper::Hello(_) => FromKeeper::Welcome(welcome),
            ToKeeper::Input(id, typed) => {
                writes.push(typed);
                FromKeeper::Done(Done::well(id))
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn enter_is_a_write_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let native = Native::new(
            folder.path().to_owned(),
            Nursery::new("/no/such".into(), Vec::new(), "/dev/null".into()),
        );
        let name = Name::new("a").unwrap();
        let record =
            Record { session: name.clone(), number: 0, origin: Origin::Window(Size::default()) };
        let id = record.id().unwrap();
        std::fs::create_dir_all(native.places.folder(&id)).unwrap();
        std::fs::write(native.places.record(&id), record.text()).unwrap();
        let tape = Writer::create(&native.places.tape(&id), TAPE, Time(1)).unwrap();
        let listener = UnixListener::bind(native.places.socket(&id)).unwrap();
        let target = Target::from(&name);
        let (sent, writes) = tokio::join!(native.send(&target, "one\ntwo"), keep(listener));
        assert_eq!((sent, writes), (Ok(()), vec![b"one\ntwo".to_vec(), b"\r".to_vec()]));
        drop(tape);
    }
}
