//! Panes, actions, events, journal, grants: the kernel owns all shared state.
//!
//! Panes are reached by [`Kernel::dispatch`], [`Kernel::events`], [`Kernel::output`] and
//! [`Kernel::dump`] only. Servers, extensions and tests are equal callers. What else is public
//! identifies callers, describes and extends the actions, or starts and stops the kernel.
#![forbid(unsafe_code)]

mod access;
mod actions;
mod activity;
mod agents;
mod approvals;
mod audit;
mod background;
mod budgets;
mod cached_json;
mod caller;
mod client;
mod dispatch;
mod dump;
mod event_names;
pub mod extensions;
mod grants;
mod hooks;
pub mod journal;
mod name_suggestions;
mod names;
pub mod notifications;
mod panes;
mod param_errors;
mod permissions;
pub mod proof;
mod read_api;
mod redact;
mod registry;
mod seek;
mod self_wake;
mod setup;
mod sign_in;
mod start;
mod state_folder;
mod tmux_view;
mod undo;

use std::sync::{Arc, RwLock};
use std::time::Duration;

use paned_backend::Backend;
use paned_model::{Grant, PaneId, Refusal, Time};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

pub use access::AccessRequest;
pub use activity::ActivityFeed;
pub use caller::{Caller, ExtensionGrant};
pub use client::ConnectedClient;
pub use dispatch::ActionAnswer;
pub use dump::ScreenDump;
pub use hooks::{ActionHook, HookCall, HookRegistration, HookVerdict};
use journal::{CommitTicket, Journal};
pub use paned_backend::{BoxedFuture, UnixSocket};
pub use panes::activity::PaneActivity;
pub use panes::environment::is_reserved as is_reserved_variable;

pub use read_api::{EventFeed, PaneOutput, PaneOutputChunk};
pub use registry::{
    ActionDefinition, ActionHandler, ActionKind, ActionRegistration, ActionSpec, RESERVED_NOUNS,
    Registry,
};
pub use self_wake::SelfWake;
pub use setup::{
    AdvertisedAddress, ApprovalSetup, KernelLimits, KernelSetup, PermissionSetup, TmuxViewSetup,
};
pub use sign_in::SignedIn;
pub use start::{Error, StartSummary};

use agents::Agents;
use approvals::Approvals;
use background::BackgroundTasks;
use budgets::Budgets;
pub use budgets::StreamSlot;
use extensions::ExtensionHostSlot;
use grants::Grants;
use hooks::ActionHooks;
use notifications::NotifierSlot;
use tmux_view::TmuxViews;

/// How long changes in progress may take to finish when the kernel stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A cheap handle to the kernel.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<KernelInner>,
}

struct KernelInner {
    setup: KernelSetup,
    /// The folder that state is stored in, if there is one.
    state_folder: Option<state_folder::StateFolderIdentity>,
    started_at: Time,
    /// The owner's grant: everything.
    owner: Arc<Grant>,
    journal: Journal,
    /// What was wrong with the journal when it was opened.
    journal_damage: Option<String>,
    backend: Arc<dyn Backend>,
    /// Replaced as a whole when an action is added or removed.
    registry: RwLock<Arc<Registry>>,
    panes: panes::PaneTable,
    restart_pane: panes::restart::RestartPaneFn,
    patterns: panes::PatternCache,
    grants: Grants,
    sign_in_codes: sign_in::SignInCodes,
    seek_cache: seek::SeekCache,
    hooks: ActionHooks,
    background: BackgroundTasks,
    tmux_views: TmuxViews,
    agents: Agents,
    approvals: Approvals,
    budgets: Budgets,
    extension_host: ExtensionHostSlot,
    notifier: NotifierSlot,
    command: watch::Sender<Option<ServerCommand>>,
}

/// A command for the server as a whole. The program that runs the kernel carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerCommand {
    /// Stop serving. Panes keep running.
    Stop,
    /// Replace the server process by the program that is now at its executable's path.
    Upgrade,
}

impl Kernel {
    /// How the kernel was set up.
    #[must_use]
    pub fn setup(&self) -> &KernelSetup {
        &self.inner.setup
    }

    /// Waits for a command to the server as a whole.
    pub async fn next_command(&self) -> ServerCommand {
        let mut commands = self.inner.command.subscribe();
        loop {
            if let Some(command) = *commands.borrow_and_update() {
                return command;
            }
            if commands.changed().await.is_err() {
                return ServerCommand::Stop;
            }
        }
    }

    /// Finishes changes in progress, records `server:shutdown` and closes the journal. Panes keep
    /// running.
    pub async fn stop(&self) {
        if timeout(SHUTDOWN_TIMEOUT, self.inner.background.finish()).await.is_err() {
            tracing::warn!("changes in progress were aborted");
        }
        self.drop_extension_host();
        self.drop_notifier();
        self.emit("server:shutdown", &serde_json::json!({}));
        if let Err(error) = self.inner.journal.close().await {
            tracing::error!(%error, "the journal was not closed cleanly");
        }
    }

    pub(crate) fn send_command(&self, command: ServerCommand) {
        self.inner.command.send_replace(Some(command));
    }

    /// The time, by the kernel's clock.
    #[must_use]
    pub fn time(&self) -> Time {
        self.now()
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

    /// Starts the program of a pane again.
    pub(crate) fn restart_pane(&self) -> panes::restart::RestartPaneFn {
        self.inner.restart_pane
    }

    /// What was wrong with the journal when it was opened.
    pub(crate) fn journal_damage(&self) -> Option<&str> {
        self.inner.journal_damage.as_deref()
    }

    pub(crate) fn panes(&self) -> &panes::PaneTable {
        &self.inner.panes
    }

    pub(crate) fn patterns(&self) -> &panes::PatternCache {
        &self.inner.patterns
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.inner.grants
    }

    pub(crate) fn sign_in_codes(&self) -> &sign_in::SignInCodes {
        &self.inner.sign_in_codes
    }

    pub(crate) fn hooks(&self) -> &ActionHooks {
        &self.inner.hooks
    }

    pub(crate) fn background(&self) -> &BackgroundTasks {
        &self.inner.background
    }

    pub(crate) fn tmux_views(&self) -> &TmuxViews {
        &self.inner.tmux_views
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        &self.inner.approvals
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.inner.budgets
    }

    /// Counts a stream or a socket that a caller opens, until it is dropped.
    ///
    /// # Errors
    /// When the caller's grant has too many.
    pub fn stream(&self, caller: &Caller) -> Result<StreamSlot, Refusal> {
        let KernelLimits { streams_per_grant, streams_total, .. } = *self.limits();
        self.budgets().stream(&caller.grant, streams_per_grant, streams_total)
    }

    pub(crate) fn limits(&self) -> &KernelLimits {
        &self.inner.setup.limits
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.inner.backend.as_ref()
    }

    /// Records an event of a caller's, whose name must not be one of ours. Never waits.
    pub(crate) fn record_custom(&self, name: &str, payload: &impl Serialize) -> CommitTicket {
        self.journal().record(vec![journal::custom_draft(name, payload)], Vec::new())
    }

    /// The payload of an event about the pane that has this name now, with its instance.
    pub(crate) fn event_payload(&self, pane: &PaneId, mut payload: Value) -> Value {
        match self.panes().get(pane) {
            Ok(pane) => pane.event_payload(payload),
            Err(_) => {
                payload["paneId"] = serde_json::json!(pane);
                payload
            }
        }
    }

    /// Records an event of paned's own. Never waits.
    pub(crate) fn emit(&self, name: &str, payload: &impl Serialize) {
        self.journal().record(vec![journal::draft(name, payload)], Vec::new());
    }

    pub(crate) fn check_authorized(&self, caller: &Caller) -> Result<(), Refusal> {
        if self.is_authorized(caller) { Ok(()) } else { Err(read_api::unauthorized()) }
    }
}
