//! One pane in the table: what is known of it, and how to reach it.

mod last_input;
mod refusals;
mod state;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paned_backend::{
    InputReport, Output, OutputFlag, PaneCommand, PaneHandle, REPLY_TIMEOUT, Summary,
};
use paned_model::frame::RefusalReason;
use paned_model::{
    AgentInfo, BackendKind, Code, Exit, Guarantee, Instance, Meta, PaneId, PaneInfo, PaneRef,
    PaneStatus, PaneView, Refusal, Size, Time, TmuxOrigin,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use self::refusals::{keeper_unresponsive, starting};
pub(crate) use self::refusals::{late, pane_gone, unreadable};
use super::PaneChange;
use super::agent_record::AgentRecord;
use super::list_cache::{OutputStats, PaneStateGuard, PaneStateLock};
use super::record::{PaneRecord, PaneTitle, event_payload};
use super::restart::RestartRecord;
use super::screen::live_screen::{LiveScreen, ScreenHints};
use super::screen::screen_cache;
use super::search::blocks;
use super::text::last_line;
use super::text::lines::OutputText;
use crate::Kernel;

/// One pane. Its state is accessed through short methods that never wait.
pub(crate) struct Pane {
    pub(crate) id: PaneId,
    pub(crate) created_at: Time,
    /// Its instance, those of its earlier runs, that of the pane it was started from, and so on.
    /// Never empty.
    pub(crate) lineage: Vec<Instance>,
    state: PaneStateLock,
    /// Rises whenever it printed, ended or was resized.
    changes: watch::Sender<u64>,
    /// Its screen, once a client has read it. An async lock: parsing may take a while.
    pub(crate) live_screen: tokio::sync::Mutex<LiveScreen>,
    /// Its screen as it was last shown.
    pub(crate) screen_cache: screen_cache::ScreenCache,
    /// What searches have learned about its output.
    pub(crate) search_index: blocks::SearchIndex,
    /// Its last line, shared by the watches of it.
    pub(crate) last_line: last_line::SharedLastLine,
    /// See [`Pane::last_input`].
    adopted_input: AtomicU64,
    /// Whether its files are removed and its name is free. Locked during the removal.
    pub(crate) is_removed: tokio::sync::Mutex<bool>,
}

/// What is known of a pane. Journal records are made under this lock, so that their order is the
/// order of the changes.
pub(crate) struct PaneState {
    pub(crate) record: PaneRecord,
    pub(crate) size: Size,
    /// The client that holds the size.
    pub(crate) size_held_by: Option<String>,
    pub(crate) connection: KeeperConnection,
    /// How many kills are under way.
    pub(crate) kills: usize,
    /// Whether it is being killed without its keeper: the exit is then recorded as a kill.
    pub(crate) is_forced: bool,
    /// See [`ScreenHints::preamble`].
    pub(crate) preamble: Vec<u8>,
    /// See [`ScreenHints::plain_until`].
    pub(crate) plain_until: u64,
    /// See [`ScreenHints::stale_until`].
    pub(crate) stale_until: u64,
    /// See [`ScreenHints::ignore_queries_before`].
    pub(crate) ignore_queries_before: u64,
    /// What it is doing, when its program is an agent.
    pub(crate) agent: Option<AgentInfo>,
    /// Whether the work that follows its exit was started.
    pub(crate) is_exit_handled: bool,
}

/// The connection to a pane's keeper.
pub(crate) enum KeeperConnection {
    /// It is being started.
    Starting,
    /// Its keeper is connected.
    Connected {
        output: Arc<dyn Output>,
        commands: mpsc::Sender<PaneCommand>,
        typed: watch::Receiver<Option<u64>>,
        news: Arc<OutputFlag>,
        keeper: u32,
    },
    /// Its keeper lives but does not answer. The output can be read, unless it is damaged.
    Unresponsive { output: Option<Arc<dyn Output>>, keeper: Option<u32> },
    /// Its keeper is gone. The output can be read, unless it is damaged.
    Detached { output: Option<Arc<dyn Output>> },
}

impl Pane {
    pub(crate) fn new(record: PaneRecord, size: Size, connection: KeeperConnection) -> Self {
        let id = record.id.clone();
        let created_at = record.created_at;
        let earlier = record.earlier.iter().cloned();
        let ancestors = record.ancestors.iter().map(|pane| pane.instance.clone());
        let lineage =
            std::iter::once(record.instance.clone()).chain(earlier).chain(ancestors).collect();
        let preamble = record.modes.clone().into_bytes();
        let agent = AgentRecord::initial_info(&record);
        let state = PaneState {
            record,
            size,
            size_held_by: None,
            connection,
            kills: 0,
            is_forced: false,
            preamble,
            plain_until: 0,
            stale_until: 0,
            ignore_queries_before: 0,
            agent,
            is_exit_handled: false,
        };
        Self {
            id,
            created_at,
            lineage,
            state: PaneStateLock::new(state),
            changes: watch::Sender::new(0),
            live_screen: tokio::sync::Mutex::default(),
            screen_cache: screen_cache::ScreenCache::default(),
            search_index: blocks::SearchIndex::default(),
            last_line: last_line::SharedLastLine::default(),
            adopted_input: AtomicU64::default(),
            is_removed: tokio::sync::Mutex::default(),
        }
    }

    /// Distinguishes it from every other pane that ever had its name.
    pub(crate) fn instance(&self) -> &Instance {
        &self.lineage[0]
    }

    /// This very pane.
    pub(crate) fn pane_ref(&self) -> PaneRef {
        PaneRef { id: self.id.clone(), instance: self.instance().clone() }
    }

    /// The payload of an event about it, see [`event_payload`].
    pub(crate) fn event_payload(&self, payload: Value) -> Value {
        event_payload(&self.pane_ref(), payload)
    }

    pub(crate) fn lock(&self) -> PaneStateGuard<'_> {
        self.state.lock()
    }

    /// Wakes all tasks that wait for a change of it.
    pub(crate) fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// How many tasks wait for a change of it.
    pub(crate) fn watchers(&self) -> usize {
        self.changes.receiver_count()
    }

    /// A counter that rises with each change of it.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Records its terminal's size. Returns whether that is a change, which is then published.
    pub(crate) fn set_size(&self, kernel: &Kernel, size: Size) -> bool {
        let changed = std::mem::replace(&mut self.lock().size, size) != size;
        if changed {
            let marks = self.output().map(|output| output.sizes(0)).unwrap_or_default();
            let mut payload = self.event_payload(json!({ "size": size }));
            // The tape keeps only the last marks.
            if let Some(mark) = marks.iter().rev().find(|mark| mark.size == size) {
                payload["offset"] = json!(mark.offset);
            }
            kernel.emit("pane:resized", &payload);
            self.notify();
        }
        changed
    }

    /// Records which client holds its terminal's size.
    pub(crate) fn set_size_holder(&self, kernel: &Kernel, holder: Option<String>) {
        let changed = {
            let mut state = self.lock();
            let changed = state.size_held_by != holder;
            state.size_held_by.clone_from(&holder);
            changed
        };
        if changed {
            kernel.emit("pane:size-held", &self.event_payload(json!({ "holder": holder })));
            // The last holder may be a view that was closed; not every tmux version reports that.
            kernel.panes().report(kernel, self, &PaneChange::View);
        }
    }

    /// Its program turned out to be an agent.
    pub(crate) fn set_agent(&self, kernel: &Kernel, agent: AgentRecord) {
        let mut state = self.lock();
        state.record.agent = Some(agent);
        state.agent = AgentRecord::initial_info(&state.record);
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    /// Waits until its program has exited.
    pub(crate) async fn ended(&self) {
        let mut changes = self.watch();
        while self.lock().status().is_live() && changes.changed().await.is_ok() {}
    }

    pub(crate) fn info(&self) -> PaneInfo {
        let state = self.lock();
        state.info(state.output_stats())
    }

    /// The same with the end of its output.
    pub(crate) fn info_with_tail(&self) -> PaneInfo {
        let state = self.lock();
        state.info_with_tail(state.output_stats())
    }

    pub(crate) fn connect(&self, handle: &PaneHandle) {
        let output = handle.output.clone();
        let commands = handle.commands.clone();
        let typed = handle.typed.clone();
        let news = handle.output_flag.clone();
        let mut state = self.lock();
        state.record.pid = Some(handle.pid);
        state.connection =
            KeeperConnection::Connected { output, commands, typed, news, keeper: handle.keeper };
        drop(state);
        self.notify();
    }

    /// The keeper lives but does not answer.
    pub(crate) fn mark_unresponsive(&self, output: Option<Arc<dyn Output>>, keeper: Option<u32>) {
        let mut state = self.lock();
        state.size_held_by = None;
        state.connection = KeeperConnection::Unresponsive { output, keeper };
        drop(state);
        self.notify();
    }

    /// The keeper is gone.
    pub(crate) fn detach(&self) {
        let output = self.output();
        self.detach_with(output);
    }

    /// The keeper is gone, and this is the output it left.
    pub(crate) fn detach_with(&self, output: Option<Arc<dyn Output>>) {
        let mut state = self.lock();
        state.size_held_by = None;
        state.connection = KeeperConnection::Detached { output };
    }

    pub(crate) fn output(&self) -> Option<Arc<dyn Output>> {
        self.lock().output()
    }

    /// What is known of it without parsing its output.
    pub(crate) fn screen_hints(&self, output: &dyn Output) -> ScreenHints {
        let is_over = self.is_over(output);
        let state = self.lock();
        // A program that has exited ends no update any more, and an unresponsive keeper reports
        // nothing.
        let is_over = is_over || matches!(state.connection, KeeperConnection::Unresponsive { .. });
        ScreenHints {
            preamble: state.preamble.clone(),
            plain_until: state.plain_until,
            stale_until: if is_over { u64::MAX } else { state.stale_until },
            ignore_queries_before: state.ignore_queries_before,
        }
    }

    /// Whether it prints nothing any more.
    pub(crate) fn is_over(&self, output: &dyn Output) -> bool {
        output.ending().is_some() || !self.lock().status().is_live()
    }

    /// Where its text ends for now, see [`OutputText::end`].
    pub(crate) fn text_end(&self, output: &dyn Output) -> io::Result<u64> {
        OutputText::new(output).end(self.is_over(output))
    }

    /// Its output, or why that cannot be read.
    pub(crate) fn readable(&self) -> Result<Arc<dyn Output>, Refusal> {
        let state = self.lock();
        state.output().ok_or_else(|| {
            if state.status() == PaneStatus::Starting {
                return starting(&self.id);
            }
            let sentence = format!("the output of pane `{}` cannot be read", self.id);
            Refusal::new(Code::Unavailable, sentence)
        })
    }

    /// Whether it is a pane of a user's tmux server.
    pub(crate) fn is_adopted(&self) -> bool {
        self.lock().record.origin.is_some()
    }

    /// A counter of typed input, also by our own callers. None while no keeper is connected.
    pub(crate) fn watch_typing(&self) -> Option<watch::Receiver<Option<u64>>> {
        match &self.lock().connection {
            KeeperConnection::Connected { typed, .. } => Some(typed.clone()),
            KeeperConnection::Starting
            | KeeperConnection::Unresponsive { .. }
            | KeeperConnection::Detached { .. } => None,
        }
    }

    /// How often input was typed into it, where its keeper counts that.
    pub(crate) fn typed(&self) -> Option<u64> {
        self.watch_typing().and_then(|count| *count.borrow())
    }

    /// How many guarded writes its keeper has done, where it counts them.
    pub(crate) fn guarded_writes(&self) -> Option<u64> {
        let state = self.lock();
        if let KeeperConnection::Connected { news, .. } = &state.connection {
            news.guarded()
        } else {
            None
        }
    }

    /// Where to send commands, while its keeper answers. Commands to an adopted pane go to tmux, so
    /// its keeper does not matter.
    pub(crate) fn commands(&self) -> Result<mpsc::Sender<PaneCommand>, Refusal> {
        let sender = self.sender()?;
        let state = self.lock();
        match &state.connection {
            KeeperConnection::Connected { news, keeper, .. }
                if news.is_unresponsive() && state.record.origin.is_none() =>
            {
                Err(keeper_unresponsive(&self.id, Some(*keeper)))
            }
            _ => Ok(sender),
        }
    }

    /// The same, also while a connected keeper does not answer: for what is to happen once it does.
    pub(crate) fn sender(&self) -> Result<mpsc::Sender<PaneCommand>, Refusal> {
        let state = self.lock();
        match &state.connection {
            KeeperConnection::Connected { commands, .. } => Ok(commands.clone()),
            KeeperConnection::Starting => Err(starting(&self.id)),
            KeeperConnection::Unresponsive { keeper, .. } => {
                Err(keeper_unresponsive(&self.id, *keeper))
            }
            KeeperConnection::Detached { .. } => Err(pane_gone(&self.id, state.status())),
        }
    }

    /// Refuses what needs the keeper while that is unresponsive.
    pub(crate) fn check_responsive(&self) -> Result<(), Refusal> {
        match &self.lock().connection {
            KeeperConnection::Unresponsive { keeper, .. } => {
                Err(keeper_unresponsive(&self.id, *keeper))
            }
            KeeperConnection::Starting
            | KeeperConnection::Connected { .. }
            | KeeperConnection::Detached { .. } => Ok(()),
        }
    }

    /// Types parts one after the other, with no other input in between.
    pub(crate) async fn type_in(
        &self,
        parts: Vec<Vec<u8>>,
    ) -> Result<Option<Result<InputReport, RefusalReason>>, Refusal> {
        self.mark_input();
        self.ask(|reply| PaneCommand::Input(parts, reply)).await
    }

    /// Sends a command to its keeper and waits for the answer. None if the keeper goes away before
    /// it answers.
    ///
    /// # Errors
    /// When there is no keeper yet, or none any more.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> PaneCommand,
    ) -> Result<Option<T>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let commands = self.commands()?;
        let asking = async {
            // A command that was not sent comes back with `reply` in it. It must be dropped:
            // waiting for the answer while holding `reply` would never end.
            match commands.send(command(reply)).await {
                Ok(()) => answer.await.ok(),
                Err(_) => None,
            }
        };
        // The backend has its own time-outs, with better messages; this one is for tmux.
        timeout(3 * REPLY_TIMEOUT, asking).await.map_err(|_| late(&self.id, "the request", false))
    }
}
