//! Panes, actions, events, journal, grants: the kernel owns all shared state.
//!
//! Above it there are four doors only: [`Kernel::dispatch`], [`Kernel::events`], [`Kernel::output`] and
//! [`Kernel::view`]. Faces, extensions and tests are equal callers.
#![forbid(unsafe_code)]

mod actions;
mod agents;
mod at_once;
mod budgets;
mod caller;
mod dispatch;
mod doors;
mod dump;
mod errands;
mod folder;
mod grants;
mod hooks;
pub mod journal;
mod mistake;
mod panes;
mod presence;
pub mod proof;
mod ready;
mod registry;
mod setup;
mod shown;
mod stage;
mod start;
mod touches;
mod undo;

use std::sync::Arc;
use std::time::Duration;

use paned_model::{Grant, PaneId, Refusal, Time};
use paned_substrate::Ground;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

pub use at_once::AtOnce;
pub use caller::Caller;
pub use dispatch::Answer;
pub use doors::{Feed, Piece, Printed};
pub use dump::Dump;
pub use grants::Token;
pub use hooks::{Hook, Start, Verdict};
use journal::{Journal, Ticket};
pub use paned_substrate::Socket;
pub use paned_term::View;
pub use presence::Presence;
pub use registry::{Action, Context, Definition, Kind, Registry};
pub use setup::{Address, Limits, Setup, Stage};
pub use start::{Error, Started};
pub use touches::Touches;

use agents::Agents;
use budgets::Budgets;
pub use budgets::StreamSlot;
use errands::Errands;
use grants::Grants;
use hooks::Hooks;
use stage::Stages;

/// How long changes under way have to end by themselves when the house is stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// A cheap handle to the house.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
    /// Where everything is kept, unless that is nowhere.
    folder: Option<folder::Folder>,
    started_at: Time,
    /// What whoever owns all of this may do: everything.
    owner: Arc<Grant>,
    journal: Journal,
    /// What was wrong with the journal when it was opened.
    recovered: Option<String>,
    ground: Arc<dyn Ground>,
    registry: Registry,
    panes: panes::Table,
    patterns: panes::Patterns,
    grants: Grants,
    hooks: Hooks,
    errands: Errands,
    stages: Stages,
    agents: Agents,
    budgets: Budgets,
    wish: watch::Sender<Option<Wish>>,
}

/// What somebody wants of the server as a whole. Whoever built the house fulfils it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Stop serving. Panes live on.
    Stop,
    /// Go on as the program that is now in our file's place.
    Upgrade,
}

impl Kernel {
    /// Every action there is.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// How the house was set up.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.inner.setup
    }

    /// Has somebody asked before actions run.
    pub fn add_hook(&self, hook: Arc<dyn Hook>) {
        self.inner.hooks.add(hook);
    }

    /// Waits until somebody wants something of the server as a whole.
    pub async fn wished(&self) -> Wish {
        let mut wishes = self.inner.wish.subscribe();
        loop {
            if let Some(wish) = *wishes.borrow_and_update() {
                return wish;
            }
            if wishes.changed().await.is_err() {
                return Wish::Stop;
            }
        }
    }

    /// Finishes what is under way, says goodbye and closes the journal. Panes live on.
    pub async fn stop(&self) {
        if timeout(FAREWELL, self.inner.errands.finish()).await.is_err() {
            tracing::warn!("changes still under way were cut short");
        }
        self.emit("server:shutdown", &serde_json::json!({}));
        if let Err(error) = self.inner.journal.close().await {
            tracing::error!(%error, "the journal was not closed cleanly");
        }
    }

    pub(crate) fn wish(&self, wish: Wish) {
        self.inner.wish.send_replace(Some(wish));
    }

    pub(crate) fn now(&self) -> Time {
        (self.inner.setup.now)()
    }

    pub(crate) fn started_at(&self) -> Time {
        self.inner.started_at
    }

    pub(crate) fn owner_grant(&self) -> &Arc<Grant> {
        &self.inner.owner
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.inner.journal
    }

    /// What was wrong with the journal when it was opened.
    pub(crate) fn recovered(&self) -> Option<&str> {
        self.inner.recovered.as_deref()
    }

    pub(crate) fn panes(&self) -> &panes::Table {
        &self.inner.panes
    }

    pub(crate) fn patterns(&self) -> &panes::Patterns {
        &self.inner.patterns
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.inner.grants
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.inner.hooks
    }

    pub(crate) fn errands(&self) -> &Errands {
        &self.inner.errands
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.inner.stages
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.inner.budgets
    }

    /// Counts a stream or a socket that a caller opens, until it is dropped.
    ///
    /// # Errors
    /// When the caller's grant has too many.
    pub fn stream(&self, caller: &Caller) -> Result<StreamSlot, Refusal> {
        let Limits { streams, streams_in_all, .. } = *self.limits();
        self.budgets().stream(&caller.grant, streams, streams_in_all)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.setup.limits
    }

    pub(crate) fn ground(&self) -> &dyn Ground {
        self.inner.ground.as_ref()
    }

    /// Records an event. Never waits.
    pub(crate) fn record(&self, name: &str, payload: &impl Serialize) -> Ticket {
        self.journal().record(vec![dispatch::draft(name, payload)], Vec::new())
    }

    /// The payload of an event about the pane that has this name now, with its instance.
    pub(crate) fn about(&self, pane: &PaneId, mut payload: Value) -> Value {
        match self.panes().get(pane) {
            Ok(pane) => pane.about(payload),
            Err(_) => {
                payload["paneId"] = serde_json::json!(pane);
                payload
            }
        }
    }

    /// The same, for those who need not know when it is in the journal.
    pub(crate) fn emit(&self, name: &str, payload: &impl Serialize) {
        self.record(name, payload);
    }

    pub(crate) fn check_alive(&self, caller: &Caller) -> Result<(), Refusal> {
        if self.is_let_in(caller) { Ok(()) } else { Err(doors::unauthorized()) }
    }
}
