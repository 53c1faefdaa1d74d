//! Sessions in memory, whose programs are simulated by [`Script`]s: for tests of programs that use
//! a substrate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::Size;
use paned_term::{OutputScanner, Screen};

use super::layout::{self, PaneNumber, SplitRecord};
use super::text::{self, OutputExtent};
use super::{
    BoxedFuture, CaptureStyle, Error, Name, Program, SplitOrientation, Substrate, SubstratePane,
    SubstratePaneId, SubstrateSession, Target, rules,
};

const ENTER: &[u8] = b"\r";

/// Simulates a program: what it prints when it starts and when something is typed.
pub trait Script: Send {
    /// What it prints when it starts.
    fn start(&mut self, size: Size) -> Vec<u8>;

    /// Input arrived in one write; its terminal has this size now.
    fn typed(&mut self, bytes: &[u8], size: Size) -> ScriptStep;
}

/// What a program does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// It prints this, or nothing, and continues.
    Print(Vec<u8>),
    /// It exits.
    End,
}

/// Chooses the script for a program; `None` if there is no such program.
type ScriptPicker = dyn Fn(&Program) -> Option<Box<dyn Script>> + Send + Sync;

/// A substrate in memory. Clones share one state.
#[derive(Clone)]
pub struct FakeSubstrate {
    pick_script: Arc<ScriptPicker>,
    inner: Arc<Mutex<FakeSubstrateState>>,
}

#[derive(Default)]
struct FakeSubstrateState {
    sessions: BTreeMap<Name, FakeSession>,
    next_id: u64,
}

struct FakeSession {
    window: Size,
    members: BTreeMap<PaneNumber, FakeSessionPane>,
    /// All splits, also of panes that have ended.
    splits: BTreeMap<PaneNumber, SplitRecord>,
}

struct FakeSessionPane {
    id: SubstratePaneId,
    script: Box<dyn Script>,
    printed: Vec<u8>,
    writes: Vec<Vec<u8>>,
}

impl fmt::Debug for FakeSubstrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeSubstrate").finish_non_exhaustive()
    }
}

impl Default for FakeSubstrate {
    /// Every program is simulated by [`Cat`].
    fn default() -> Self {
        Self::new(|_| Some(Box::new(Cat::default())))
    }
}

impl FakeSubstrate {
    /// A substrate whose programs are simulated by the scripts that this function chooses.
    pub fn new(
        pick_script: impl Fn(&Program) -> Option<Box<dyn Script>> + Send + Sync + 'static,
    ) -> Self {
        Self { pick_script: Arc::new(pick_script), inner: Arc::default() }
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

    fn lock(&self) -> MutexGuard<'_, FakeSubstrateState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        target: &Target,
        act: impl FnOnce(Size, &mut FakeSessionPane) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut inner = self.lock();
        let (name, number) = inner.pick(target)?;
        let group = inner.sessions.get_mut(&name).ok_or_else(|| target.missing())?;
        let size = group.size(number);
        act(size, group.members.get_mut(&number).ok_or_else(|| target.missing())?)
    }

    fn script(&self, program: &Program) -> Result<Box<dyn Script>, Error> {
        let says = || format!("no program `{}`", program.argv.join(" "));
        (self.pick_script)(program).ok_or_else(|| Error::InvalidCommand(says()))
    }

    fn open(&self, name: &Name, program: &Program, size: Size) -> Result<SubstrateSession, Error> {
        rules::size(size)?;
        let script = self.script(program)?;
        let mut inner = self.lock();
        if inner.sessions.contains_key(name) {
            return Err(Error::taken(name));
        }
        let member = inner.start(script, size);
        let members = [(0, member)].into();
        let group = FakeSession { window: size, members, splits: BTreeMap::new() };
        inner.sessions.insert(name.clone(), group);
        Ok(SubstrateSession { name: name.clone(), size, panes: 1, attached: false })
    }

    fn split_pane(
        &self,
        target: &Target,
        direction: SplitOrientation,
        program: &Program,
    ) -> Result<SubstratePane, Error> {
        let script = self.script(program)?;
        let mut inner = self.lock();
        let (name, of) = inner.pick(target)?;
        let group = inner.sessions.get(&name).ok_or_else(|| target.missing())?;
        let (_, size) = layout::halve(group.size(of), direction)?;
        let member = inner.start(script, size);
        let id = member.id.clone();
        if let Some(group) = inner.sessions.get_mut(&name) {
            let number = group.splits.keys().last().map_or(1, |last| last + 1);
            group.splits.insert(number, SplitRecord { of, direction });
            group.members.insert(number, member);
        }
        Ok(SubstratePane { id, session: name, size, active: true })
    }

    /// Writes are passed one by one. When a program exits its pane is removed, and with the last
    /// pane the session.
    fn write(&self, target: &Target, writes: &[&[u8]]) -> Result<(), Error> {
        let ended = self.with(target, |size, member| {
            for bytes in writes.iter().filter(|bytes| !bytes.is_empty()) {
                member.writes.push(bytes.to_vec());
                match member.script.typed(bytes, size) {
                    ScriptStep::Print(bytes) => member.printed.extend(bytes),
                    ScriptStep::End => return Ok(true),
                }
            }
            Ok(false)
        })?;
        if ended {
            self.lock().end(target)?;
        }
        Ok(())
    }

    fn modes(&self, target: &Target) -> Result<paned_term::screen::view::ScreenModes, Error> {
        self.with(target, |_, member| {
            let mut scanner = OutputScanner::new();
            scanner.feed(&member.printed, |_| {});
            Ok(text::modes(&scanner))
        })
    }
}

impl FakeSubstrateState {
    fn start(&mut self, mut script: Box<dyn Script>, size: Size) -> FakeSessionPane {
        self.next_id += 1;
        let printed = script.start(size);
        FakeSessionPane {
            id: SubstratePaneId(format!("fake-{}", self.next_id)),
            script,
            printed,
            writes: Vec::new(),
        }
    }

    fn pick(&self, target: &Target) -> Result<(Name, PaneNumber), Error> {
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

impl FakeSession {
    fn sizes(&self) -> BTreeMap<PaneNumber, Size> {
        let living: BTreeSet<PaneNumber> = self.members.keys().copied().collect();
        layout::sizes(self.window, &self.splits, &living)
    }

    fn size(&self, number: PaneNumber) -> Size {
        self.sizes().get(&number).copied().unwrap_or(self.window)
    }
}

impl Substrate for FakeSubstrate {
    fn spawn<'a>(
        &'a self,
        name: &'a Name,
        program: &'a Program,
        size: Size,
    ) -> BoxedFuture<'a, Result<SubstrateSession, Error>> {
        Box::pin(async move { self.open(name, program, size) })
    }

    fn destroy<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<(), Error>> {
        let removed = self.lock().sessions.remove(name);
        Box::pin(async move { removed.map(drop).ok_or_else(|| Error::no_session(name)) })
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::text(text)?;
            self.write(target, &[text.as_bytes(), ENTER])
        })
    }

    fn key<'a>(&'a self, target: &'a Target, key: &'a str) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let key = rules::key(key)?;
            self.write(target, &[&rules::bytes(key, &self.modes(target)?)?])
        })
    }

    fn capture<'a>(
        &'a self,
        target: &'a Target,
        lines: usize,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            rules::lines(lines)?;
            self.with(target, |_, member| {
                Ok(text::last_lines(&member.printed, OutputExtent::Whole, lines)
                    .unwrap_or_default())
            })
        })
    }

    fn screen<'a>(
        &'a self,
        target: &'a Target,
        style: CaptureStyle,
    ) -> BoxedFuture<'a, Result<Vec<String>, Error>> {
        Box::pin(async move {
            self.with(target, |size, member| {
                let mut screen = Screen::new(size);
                screen.feed(&member.printed);
                Ok(text::rows(&screen, style))
            })
        })
    }

    fn list(&self) -> BoxedFuture<'_, Result<Vec<SubstrateSession>, Error>> {
        Box::pin(async {
            let session = |(name, group): (&Name, &FakeSession)| SubstrateSession {
                name: name.clone(),
                size: group.window,
                panes: group.members.len(),
                attached: false,
            };
            Ok(self.lock().sessions.iter().map(session).collect())
        })
    }

    fn panes<'a>(&'a self, name: &'a Name) -> BoxedFuture<'a, Result<Vec<SubstratePane>, Error>> {
        Box::pin(async move {
            let inner = self.lock();
            let group = inner.sessions.get(name).ok_or_else(|| Error::no_session(name))?;
            let last = group.members.keys().last();
            let pane = |(number, member): (&PaneNumber, &FakeSessionPane)| SubstratePane {
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
        direction: SplitOrientation,
        program: &'a Program,
    ) -> BoxedFuture<'a, Result<SubstratePane, Error>> {
        Box::pin(async move { self.split_pane(target, direction, program) })
    }

    fn resize<'a>(&'a self, name: &'a Name, size: Size) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            rules::size(size)?;
            let mut inner = self.lock();
            let group = inner.sessions.get_mut(name).ok_or_else(|| Error::no_session(name))?;
            group.window = size;
            Ok(())
        })
    }
}

/// Simulates `cat` in a terminal: input is echoed, and each line is printed again. Ctrl+c and
/// ctrl+d end it.
#[derive(Clone, Debug, Default)]
pub struct Cat {
    line: Vec<u8>,
}

impl Script for Cat {
    fn start(&mut self, _: Size) -> Vec<u8> {
        Vec::new()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> ScriptStep {
        let mut printed = Vec::new();
        for byte in bytes {
            match byte {
                0x03 | 0x04 => return ScriptStep::End,
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
        ScriptStep::Print(printed)
    }
}
