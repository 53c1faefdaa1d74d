//! One pane in the table: what is known of it, and how to reach it.

use std::io;
use std::sync::Arc;

use paned_model::frame::Refused;
use paned_model::{
    Adopted, AgentInfo, Code, Exit, Guarantee, Instance, Meta, PaneId, PaneInfo, PaneRef, PaneView,
    Refusal, Size, Status, Substrate, Time,
};
use paned_substrate::{ANSWER, Command, Link, News, Output, Summary, Typed};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::known;
use super::lens::{Known, Lens};
use super::listed::{Kept, Locked, Printed};
use super::record::{Record, Title, about};
use super::text::Text;
use super::{shown, tail};
use crate::Kernel;
use crate::agents::AgentRecord;

/// One pane. Its parts are reached through short methods that never wait.
pub(crate) struct Pane {
    pub(crate) id: PaneId,
    pub(crate) created_at: Time,
    /// Its instance, that of the pane it was started from, and so on. Never empty.
    pub(crate) lineage: Vec<Instance>,
    state: Kept,
    /// Rises whenever it printed, ended or was resized.
    stirred: watch::Sender<u64>,
    /// Its screen, once somebody has looked at it. An async lock: parsing may take a while.
    pub(crate) lens: tokio::sync::Mutex<Lens>,
    /// Its screen as it was last shown.
    pub(crate) shown: shown::Kept,
    /// What searches found out about its output.
    pub(crate) known: known::Known,
    /// Its last line, for those who wait for it.
    pub(crate) tail: tail::Shared,
    /// Whether its files are gone and its name is free. Held while that is being done.
    pub(crate) is_forgotten: tokio::sync::Mutex<bool>,
}

/// What is known of a pane. Journal records are made under this lock, so that their order is the order of
/// the changes.
pub(crate) struct State {
    pub(crate) record: Record,
    pub(crate) size: Size,
    /// Who holds the size.
    pub(crate) held_by: Option<String>,
    pub(crate) reach: Reach,
    /// How many kills are under way.
    pub(crate) kills: usize,
    /// Whether it is being ended without its keeper's help: what is recorded then as its end was a kill.
    pub(crate) is_forced: bool,
    /// See [`Known::preamble`].
    pub(crate) preamble: Vec<u8>,
    /// See [`Known::plain_until`].
    pub(crate) plain_until: u64,
    /// See [`Known::stale_until`].
    pub(crate) stale_until: u64,
    /// See [`Known::asked_before`].
    pub(crate) asked_before: u64,
    /// What it is doing, when its program is an agent.
    pub(crate) agent: Option<AgentInfo>,
    /// Whether what follows its end is being done.
    pub(crate) is_followed_up: bool,
}

/// How far a pane can be reached.
pub(crate) enum Reach {
    /// It is being started.
    Starting,
    /// Its keeper is there.
    Linked {
        output: Arc<dyn Output>,
        commands: mpsc::Sender<Command>,
        typed: watch::Receiver<Option<u64>>,
        news: Arc<News>,
        keeper: u32,
    },
    /// Its keeper lives and does not answer; what it printed is there, unless that is damaged.
    Silent { output: Option<Arc<dyn Output>>, keeper: Option<u32> },
    /// Only what it printed is there, unless that is damaged.
    Unlinked { output: Option<Arc<dyn Output>> },
}

impl Pane {
    pub(crate) fn new(record: Record, size: Size, reach: Reach) -> Self {
        let (id, created_at) = (record.id.clone(), record.created_at);
        let ancestors = record.ancestors.iter().map(|pane| pane.instance.clone());
        let lineage = std::iter::once(record.instance.clone()).chain(ancestors).collect();
        let (held_by, kills, plain_until, stale_until) = (None, 0, 0, 0);
        let preamble = record.modes.clone().into_bytes();
        let agent = AgentRecord::known_of(&record);
        let is_followed_up = false;
        let state = State {
            record,
            size,
            held_by,
            reach,
            kills,
            is_forced: false,
            preamble,
            plain_until,
            stale_until,
            asked_before: 0,
            agent,
            is_followed_up,
        };
        let state = Kept::new(state);
        let (stirred, lens) = (watch::Sender::new(0), tokio::sync::Mutex::default());
        let (known, tail) = (known::Known::default(), tail::Shared::default());
        let (shown, is_forgotten) = (shown::Kept::default(), tokio::sync::Mutex::default());
        Self { id, created_at, lineage, state, stirred, lens, shown, known, tail, is_forgotten }
    }

    /// Tells it from all others that ever had its name.
    pub(crate) fn instance(&self) -> &Instance {
        &self.lineage[0]
    }

    /// This very pane.
    pub(crate) fn this(&self) -> PaneRef {
        PaneRef { id: self.id.clone(), instance: self.instance().clone() }
    }

    /// The payload of an event about it, see [`about`].
    pub(crate) fn about(&self, payload: Value) -> Value {
        about(&self.this(), payload)
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        self.state.lock()
    }

    /// Wakes whoever waits for news of it.
    pub(crate) fn stir(&self) {
        self.stirred.send_modify(|count| *count += 1);
    }

    /// How many wait for news of it.
    pub(crate) fn watchers(&self) -> usize {
        self.stirred.receiver_count()
    }

    /// A level that rises with news of it.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.stirred.subscribe()
    }

    /// Its terminal has this size now; whether that is news, which is then told.
    pub(crate) fn resized(&self, kernel: &Kernel, size: Size) -> bool {
        let changed = std::mem::replace(&mut self.lock().size, size) != size;
        if changed {
            let marks = self.output().map(|output| output.sizes(0)).unwrap_or_default();
            let mut payload = self.about(json!({ "size": size }));
            // A keeper of an older version does not know.
            if let Some(mark) = marks.iter().rev().find(|mark| mark.size == size) {
                payload["offset"] = json!(mark.offset);
            }
            kernel.emit("pane:resized", &payload);
            self.stir();
        }
        changed
    }

    /// Its terminal's size is held by this one now.
    pub(crate) fn held(&self, kernel: &Kernel, holder: Option<String>) {
        let changed = {
            let mut state = self.lock();
            let changed = state.held_by != holder;
            state.held_by.clone_from(&holder);
            changed
        };
        if changed {
            kernel.emit("pane:size-held", &self.about(json!({ "holder": holder })));
            // Whoever let it go may be a view that was closed, which not every tmux tells us of.
            kernel.stages().stirred(&self.id);
        }
    }

    /// Its program turned out to be an agent.
    pub(crate) fn take_as(&self, kernel: &Kernel, agent: AgentRecord) {
        let mut state = self.lock();
        state.record.agent = Some(agent);
        state.agent = AgentRecord::known_of(&state.record);
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// Waits until its program has ended.
    pub(crate) async fn ended(&self) {
        let mut stirred = self.watch();
        while self.lock().status().is_live() && stirred.changed().await.is_ok() {}
    }

    pub(crate) fn info(&self) -> PaneInfo {
        let state = self.lock();
        state.info(state.printed())
    }

    pub(crate) fn link(&self, link: &Link) {
        let (output, commands) = (link.output.clone(), link.commands.clone());
        let typed = link.typed.clone();
        let news = link.news.clone();
        let mut state = self.lock();
        state.record.pid = Some(link.pid);
        state.reach = Reach::Linked { output, commands, typed, news, keeper: link.keeper };
        drop(state);
        self.stir();
    }

    /// The keeper lives, and does not answer.
    pub(crate) fn hush(&self, output: Option<Arc<dyn Output>>, keeper: Option<u32>) {
        let mut state = self.lock();
        state.held_by = None;
        state.reach = Reach::Silent { output, keeper };
        drop(state);
        self.stir();
    }

    /// The keeper is gone.
    pub(crate) fn unlink(&self) {
        let output = self.output();
        self.unlink_to(output);
    }

    /// The keeper is gone, and this is what it left.
    pub(crate) fn unlink_to(&self, output: Option<Arc<dyn Output>>) {
        let mut state = self.lock();
        state.held_by = None;
        state.reach = Reach::Unlinked { output };
    }

    pub(crate) fn output(&self) -> Option<Arc<dyn Output>> {
        self.lock().output()
    }

    /// What is known of it without parsing it.
    pub(crate) fn known(&self, output: &dyn Output) -> Known {
        let is_over = self.is_over(output);
        let state = self.lock();
        // Who has ended ends no update any more; of a keeper that does not answer nobody hears.
        let is_over = is_over || matches!(state.reach, Reach::Silent { .. });
        Known {
            preamble: state.preamble.clone(),
            plain_until: state.plain_until,
            stale_until: if is_over { u64::MAX } else { state.stale_until },
            asked_before: state.asked_before,
        }
    }

    /// Whether it prints nothing any more.
    pub(crate) fn is_over(&self, output: &dyn Output) -> bool {
        output.ending().is_some() || !self.lock().status().is_live()
    }

    /// Where its text ends for now, see [`Text::end`].
    pub(crate) fn text_end(&self, output: &dyn Output) -> io::Result<u64> {
        Text::new(output).end(self.is_over(output))
    }

    /// What it printed, or why that cannot be shown.
    pub(crate) fn readable(&self) -> Result<Arc<dyn Output>, Refusal> {
        let state = self.lock();
        state.output().ok_or_else(|| {
            if state.status() == Status::Starting {
                return starting(&self.id);
            }
            let sentence = format!("the output of pane `{}` cannot be read", self.id);
            Refusal::new(Code::Unavailable, sentence)
        })
    }

    /// Whether it is a pane of somebody's tmux.
    pub(crate) fn is_adopted(&self) -> bool {
        self.lock().record.origin.is_some()
    }

    /// A level that rises when somebody types into it, where anybody counts that.
    pub(crate) fn hands(&self) -> Option<watch::Receiver<Option<u64>>> {
        match &self.lock().reach {
            Reach::Linked { typed, .. } => Some(typed.clone()),
            Reach::Starting | Reach::Silent { .. } | Reach::Unlinked { .. } => None,
        }
    }

    /// How often somebody has typed into it.
    pub(crate) fn typed(&self) -> Option<u64> {
        self.hands().and_then(|hands| *hands.borrow())
    }

    /// How many writes behind a guard its keeper has done, where it counts them.
    pub(crate) fn guarded(&self) -> Option<u64> {
        let state = self.lock();
        if let Reach::Linked { news, .. } = &state.reach { news.guarded() } else { None }
    }

    /// How to tell it something, while its keeper answers. Where tmux does what is asked, the keeper does not matter.
    pub(crate) fn commands(&self) -> Result<mpsc::Sender<Command>, Refusal> {
        let sender = self.sender()?;
        let state = self.lock();
        match &state.reach {
            Reach::Linked { news, keeper, .. }
                if news.is_unresponsive() && state.record.origin.is_none() =>
            {
                Err(silent(&self.id, Some(*keeper)))
            }
            _ => Ok(sender),
        }
    }

    /// The same, also while its keeper does not answer: for what is to happen once it does.
    pub(crate) fn sender(&self) -> Result<mpsc::Sender<Command>, Refusal> {
        let state = self.lock();
        match &state.reach {
            Reach::Linked { commands, .. } => Ok(commands.clone()),
            Reach::Starting => Err(starting(&self.id)),
            Reach::Silent { keeper, .. } => Err(silent(&self.id, *keeper)),
            Reach::Unlinked { .. } => Err(gone(&self.id, state.status())),
        }
    }

    /// Refuses what needs its keeper, while that lives and does not answer.
    pub(crate) fn check_heard(&self) -> Result<(), Refusal> {
        match &self.lock().reach {
            Reach::Silent { keeper, .. } => Err(silent(&self.id, *keeper)),
            Reach::Starting | Reach::Linked { .. } | Reach::Unlinked { .. } => Ok(()),
        }
    }

    /// Types parts one after the other, with no other input in between.
    pub(crate) async fn type_in(
        &self,
        parts: Vec<Vec<u8>>,
    ) -> Result<Option<Result<Typed, Refused>>, Refusal> {
        self.ask(|reply| Command::Input(parts, reply)).await
    }

    /// Has its keeper do something, and waits for the answer; nothing when the keeper goes away before it answers.
    ///
    /// # Errors
    /// When there is no keeper yet, or none any more.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<Option<T>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let commands = self.commands()?;
        let asking = async {
            // A command that was not taken comes back with the reply in it: who waits for that holds up themselves.
            match commands.send(command(reply)).await {
                Ok(()) => answer.await.ok(),
                Err(_) => None,
            }
        };
        // The backend has deadlines of its own, and says more when one has passed; this one is for tmux.
        timeout(3 * ANSWER, asking).await.map_err(|_| late(&self.id, "what was asked", false))
    }
}

fn starting(id: &PaneId) -> Refusal {
    Refusal::new(Code::Busy, format!("the pane `{id}` is being started; try again"))
}

/// The refusal because a keeper has not answered in time. What was not sent to it was taken back.
pub(crate) fn late(id: &PaneId, what: &str, taken_back: bool) -> Refusal {
    let fate = match taken_back {
        true => format!("{what} was taken back"),
        false => format!("{what} may still arrive"),
    };
    let sentence =
        format!("the keeper of pane `{id}` has not answered for {} s; {fate}", ANSWER.as_secs());
    Refusal::new(Code::Timeout, sentence).with(json!({ "takenBack": taken_back }))
}

fn silent(id: &PaneId, keeper: Option<u32>) -> Refusal {
    let process = keeper.map(|keeper| format!(" (process {keeper})")).unwrap_or_default();
    let sentence = format!(
        "the keeper of pane `{id}`{process} lives but does not answer; its output can be read, and all else works again \
         once it answers: it may be stopped, or the machine too busy; `pane:kill` with `force` ends it",
    );
    Refusal::new(Code::Unavailable, sentence)
}

/// The refusal to show output that cannot be read: the disk refuses, or its file is damaged.
pub(crate) fn unreadable(error: io::Error) -> Refusal {
    match error.kind() {
        // Ours, such as a panic on another thread.
        io::ErrorKind::Other => Refusal::internal(error),
        // The budget for drawing.
        io::ErrorKind::TimedOut => Refusal::new(Code::Limit, error.to_string()),
        _ => {
            let sentence = format!("the output of the pane cannot be read: {error}");
            Refusal::new(Code::Unavailable, sentence)
        }
    }
}

/// The refusal to do something to a pane that has ended.
pub(crate) fn gone(id: &PaneId, status: Status) -> Refusal {
    // Its end may not be written down yet.
    let how = if status.is_live() { "it has just ended".to_owned() } else { status.to_string() };
    Refusal::new(Code::Gone, format!("the program in pane `{id}` is not running any more ({how})"))
}

impl State {
    pub(crate) fn status(&self) -> Status {
        match (&self.record.end, &self.reach) {
            (Some(end), _) => end.status,
            (None, Reach::Starting) => Status::Starting,
            (None, Reach::Linked { .. } | Reach::Silent { .. } | Reach::Unlinked { .. }) => {
                Status::Running
            }
        }
    }

    pub(crate) fn output(&self) -> Option<Arc<dyn Output>> {
        self.tape().cloned()
    }

    fn tape(&self) -> Option<&Arc<dyn Output>> {
        match &self.reach {
            Reach::Starting => None,
            Reach::Linked { output, .. } => Some(output),
            Reach::Silent { output, .. } | Reach::Unlinked { output } => output.as_ref(),
        }
    }

    /// What its tape has now.
    pub(super) fn printed(&self) -> Printed {
        let Some(output) = self.tape() else {
            return Printed { size: self.size, lines: 0, bytes: 0, dropped: 0, damage: None };
        };
        // The tape has its size before the news of it is here.
        let Summary { first, end, lines, size, damage } = output.summary();
        Printed { size, lines, bytes: end, dropped: first, damage }
    }

    pub(super) fn info(&self, printed: Printed) -> PaneInfo {
        let record = &self.record;
        let end = record.end;
        let exit = end.and_then(|end| end.exit);
        PaneInfo {
            id: record.id.clone(),
            instance: record.instance.clone(),
            title: record.title.text().to_owned(),
            argv: record.argv.clone(),
            cwd: record.cwd.clone(),
            pid: record.pid,
            size: printed.size,
            size_held_by: self.held_by.clone(),
            status: self.status(),
            killing: 0 < self.kills && end.is_none(),
            exit_code: exit.and_then(Exit::code),
            exit_signal: exit.and_then(Exit::signal),
            timed_out: end.is_some_and(|end| end.timed_out),
            created_at: record.created_at,
            ended_at: end.map(|end| end.at),
            substrate: match (&record.wish, &record.origin) {
                (None, None) => Substrate::Pty,
                (Some(_), _) | (_, Some(_)) => Substrate::Tmux,
            },
            view: record.wish.as_ref().map(PaneView::from),
            adopted: record.origin.as_ref().map(Adopted::from),
            guarantee: match record.origin {
                None => Guarantee::Exact,
                Some(_) => Guarantee::BestEffort,
            },
            meta: record.meta.clone(),
            tags: record.tags.clone(),
            persist: record.persist,
            parent: record.parent().map(|parent| parent.id.clone()),
            lines: printed.lines,
            bytes: printed.bytes,
            dropped: printed.dropped,
            damage: printed.damage.map(|damage| damage.to_string()),
            agent: self.agent.clone(),
        }
    }

    /// Takes the program's word for its title; answers whether that changed anything.
    pub(crate) fn retitle(&mut self, title: String) -> bool {
        let changed = match &self.record.title {
            Title::Given(_) => false,
            Title::Command(_) => !title.is_empty(),
            Title::Program(current) => *current != title && !title.is_empty(),
        };
        if changed {
            self.record.title = Title::Program(title);
        }
        changed
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.record.meta
    }
}
