//! Sessions in memory, whose programs are played by [`Script`]s: for tests of whatever drives a substrate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::Size;
use paned_term::{Screen, Signals};

use super::layout::{self, Number, Split};
use super::text::{self, Extent};
use super::{
    Boxed, Direction, Error, Name, Pane, PaneRef, Program, Session, Style, Substrate, Target, rules,
};

const ENTER: &[u8] = b"\r";

/// Plays a program: what it prints when it starts and when something is typed.
pub trait Script: Send {
    /// What it prints at first.
    fn start(&mut self, size: Size) -> Vec<u8>;

    /// Somebody typed this by one write; its terminal has this size now.
    fn typed(&mut self, bytes: &[u8], size: Size) -> Turn;
}

/// What a program does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It prints this, or nothing, and goes on.
    Print(Vec<u8>),
    /// It ends.
    End,
}

/// Chooses who plays a program; nobody, if there is no such program.
type Cast = dyn Fn(&Program) -> Option<Box<dyn Script>> + Send + Sync;

/// A substrate in memory. Clones are the same one.
#[derive(Clone)]
pub struct Fake {
    cast: Arc<Cast>,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    sessions: BTreeMap<Name, Group>,
    born: u64,
}

struct Group {
    window: Size,
    members: BTreeMap<Number, Member>,
    /// All there were, those that have ended too.
    splits: BTreeMap<Number, Split>,
}

struct Member {
    id: PaneRef,
    script: Box<dyn Script>,
    printed: Vec<u8>,
    writes: Vec<Vec<u8>>,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake").finish_non_exhaustive()
    }
}

impl Default for Fake {
    /// Every program is played by [`Cat`].
    fn default() -> Self {
        Self::new(|_| Some(Box::new(Cat::default())))
    }
}

impl Fake {
    /// A substrate whose programs are played by whomever this chooses.
    pub fn new(cast: impl Fn(&Program) -> Option<Box<dyn Script>> + Send + Sync + 'static) -> Self {
        Self { cast: Arc::new(cast), inner: Arc::default() }
    }

    /// Everything that was written to a pane, write by write.
    ///
    /// # Errors
    /// When there is no such pane.
    pub fn writes(&self, target: &Target) -> Result<Vec<Vec<u8>>, Error> {
        self.with(target, |_, member| Ok(member.writes.clone()))
    }

    /// A pane's program prints.
    ///
    /// # Errors
    /// When there is no such pane.
    pub fn print(&self, target: &Target, bytes: &[u8]) -> Result<(), Error> {
        self.with(target, |_, member| {
            member.printed.extend_from_slice(bytes);
            Ok(())
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        target: &Target,
        act: impl FnOnce(Size, &mut Member) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut inner = self.lock();
        let (name, number) = inner.pick(target)?;
        let group = inner.sessions.get_mut(&name).ok_or_else(|| target.missing())?;
        let size = group.size(number);
        act(size, group.members.get_mut(&number).ok_or_else(|| target.missing())?)
    }

    fn script(&self, program: &Program) -> Result<Box<dyn Script>, Error> {
        let says = || format!("there is no program `{}`", program.argv.join(" "));
        (self.cast)(program).ok_or_else(|| Error::InvalidCommand(says()))
    }

    fn open(&self, name: &Name, program: &Program, size: Size) -> Result<Session, Error> {
        rules::size(size)?;
        let script = self.script(program)?;
        let mut inner = self.lock();
        if inner.sessions.contains_key(name) {
            return Err(Error::taken(name));
        }
        let member = inner.bear(script, size);
        let members = [(0, member)].into();
        let group = Group { window: size, members, splits: BTreeMap::new() };
        inner.sessions.insert(name.clone(), group);
        Ok(Session { name: name.clone(), size, panes: 1, attached: false })
    }

    fn halve(
        &self,
        target: &Target,
        direction: Direction,
        program: &Program,
    ) -> Result<Pane, Error> {
        let script = self.script(program)?;
        let mut inner = self.lock();
        let (name, of) = inner.pick(target)?;
        let group = inner.sessions.get(&name).ok_or_else(|| target.missing())?;
        let (_, size) = layout::halve(group.size(of), direction)?;
        let member = inner.bear(script, size);
        let id = member.id.clone();
        if let Some(group) = inner.sessions.get_mut(&name) {
            let number = group.splits.keys().last().map_or(1, |last| last + 1);
            group.splits.insert(number, Split { of, direction });
            group.members.insert(number, member);
        }
        Ok(Pane { id, session: name, size, active: true })
    }

    /// Writes go one by one; a program that ends takes its pane, and the last its session, with it.
    fn write(&self, target: &Target, writes: &[&[u8]]) -> Result<(), Error> {
        let ended = self.with(target, |size, member| {
            for bytes in writes.iter().filter(|bytes| !bytes.is_empty()) {
                member.writes.push(bytes.to_vec());
                match member.script.typed(bytes, size) {
                    Turn::Print(bytes) => member.printed.extend(bytes),
                    Turn::End => return Ok(true),
                }
            }
            Ok(false)
        })?;
        if ended {
            self.lock().end(target)?;
        }
        Ok(())
    }

    fn modes(&self, target: &Target) -> Result<paned_term::screen::view::Modes, Error> {
        self.with(target, |_, member| {
            let mut signals = Signals::new();
            signals.feed(&member.printed, |_| {});
            Ok(text::modes(&signals))
        })
    }
}

impl Inner {
    fn bear(&mut self, mut script: Box<dyn Script>, size: Size) -> Member {
        self.born += 1;
        let printed = script.start(size);
        Member { id: PaneRef(format!("fake-{}", self.born)), script, printed, writes: Vec::new() }
    }

    fn pick(&self, target: &Target) -> Result<(Name, Number), Error> {
        let found = match target {
            Target::Session(name) => {
                let group = self.sessions.get(name);
                group.and_then(|group| Some((name, *group.members.keys().last()?)))
            }
            Target::Pane(id) => self.sessions.iter().find_map(|(name, group)| {
                let number = group.members.iter().find(|(_, member)| member.id == *id)?.0;
                Some((name, *number))
            }),
        };
        found.map(|(name, number)| (name.clone(), number)).ok_or_else(|| target.missing())
    }

    fn end(&mut self, target: &Target) -> Result<(), Error> {
        let (name, number) = self.pick(target)?;
        let Some(group) = self.sessions.get_mut(&name) else { return Ok(()) };
        group.members.remove(&number);
        if group.members.is_empty() {
            self.sessions.remove(&name);
        }
        Ok(())
    }
}

impl Group {
    fn sizes(&self) -> BTreeMap<Number, Size> {
        let living: BTreeSet<Number> = self.members.keys().copied().collect();
        layout::sizes(self.window, &self.splits, &living)
    }

    fn size(&self, number: Number) -> Size {
        self.sizes().get(&number).copied().unwrap_or(self.window)
    }
}

impl Substrate for Fake {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> Boxed<'a, Result<Session, Error>> {
        Box::pin(async move { self.open(name, program, size) })
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<(), Error>> {
        let removed = self.lock().sessions.remove(name);
        Box::pin(async move { removed.map(drop).ok_or_else(|| Error::no_session(name)) })
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            self.write(target, &[text.as_bytes(), ENTER])
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            let key = rules::key(key)?;
            self.write(target, &[&rules::bytes(key, &self.modes(target)?)?])
        })
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.with(target, |_, member| {
                Ok(text::last_lines(&member.printed, Extent::Whole, lines).unwrap_or_default())
            })
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: Style,
    ) -> Boxed<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            self.with(target, |size, member| {
                let mut screen = Screen::new(size);
                screen.feed(&member.printed);
                Ok(text::rows(&screen, style))
            })
        })
    }

    fn list(&self) -> Boxed<'_, Result<Vec<Session>, Error>> {
        Box::pin(async {
            let session = |(name, group): (&Name, &Group)| Session {
                name: name.clone(),
                size: group.window,
                panes: group.members.len(),
                attached: false,
            };
            Ok(self.lock().sessions.iter().map(session).collect())
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> Boxed<'a, Result<Vec<Pane>, Error>> {
        Box::pin(async move {
            let inner = self.lock();
            let group = inner.sessions.get(name).ok_or_else(|| Error::no_session(name))?;
            let last = group.members.keys().last();
            let pane = |(number, member): (&Number, &Member)| Pane {
                id: member.id.clone(),
                session: name.clone(),
                size: group.size(*number),
                active: Some(number) == last,
            };
            Ok(group.members.iter().map(pane).collect())
        })
    }

    fn split<'a>(
        &'a self,
        target: &'a Target,
        direction: Direction,
        program: &'a Program,
    ) -> Boxed<'a, Result<Pane, Error>> {
        Box::pin(async move { self.halve(target, direction, program) })
    }

    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> Boxed<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::size(size)?;
            let mut inner = self.lock();
            let group = inner.sessions.get_mut(name).ok_or_else(|| Error::no_session(name))?;
            group.window = size;
            Ok(())
        })
    }
}

/// Plays `cat` in a terminal: what is typed is shown, and each line comes back. Ctrl+c and ctrl+d end it.
#[derive(Clone, Debug, Default)]
pub struct Cat {
    line: Vec<u8>,
}

impl Script for Cat {
    fn start(&mut self, _: Size) -> Vec<u8> {
        Vec::new()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> Turn {
        let mut printed = Vec::new();
        for byte in bytes {
            match byte {
                0x03 | 0x04 => return Turn::End,
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    printed.extend([b"\r\n", &line[..], b"\r\n"].concat());
                }
                byte => {
                    self.line.push(*byte);
                    printed.push(*byte);
                }
            }
        }
        Turn::Print(printed)
    }
}
