//! What the supervisor of an extension, its hook, its actions and those who ask about it share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use paned_kernel::extensions::ExtensionStatus;
use paned_kernel::{ActionRegistration, Caller};
use paned_model::{Code, EventFilter, Refusal};
use serde::Serialize;

use super::log_file::ExtensionLog;
use super::place::EventPlace;
use crate::paths::ExtensionPaths;
use crate::rpc::connection::Connection;
use crate::runner::RunState;

/// One extension, whether it runs or not.
pub(crate) struct ExtensionShared {
    /// The name in its manifest.
    pub(crate) name: String,
    pub(crate) log: ExtensionLog,
    pub(crate) place: EventPlace,
    state: Mutex<SharedState>,
    /// Read for every action of every caller.
    veto: RwLock<VetoRules>,
}

struct SharedState {
    /// The noun of its actions and events, if it is not its name.
    noun: Option<String>,
    status: ExtensionStatus,
    reason: Option<String>,
    pid: Option<u32>,
    restarts: u32,
    events: Vec<String>,
    actions: BTreeMap<String, RegisteredAction>,
    /// While it is running.
    connection: Option<Connection>,
}

/// An action of an extension. It stays registered while the program is restarted.
pub(crate) struct RegisteredAction {
    /// What was registered, as JSON: the same again needs no new registration.
    pub(crate) definition: String,
    pub(crate) _registration: ActionRegistration,
}

/// Which actions an extension is asked about.
#[derive(Clone, Debug, Default)]
pub(crate) struct VetoRules {
    pub(crate) patterns: Vec<String>,
    filter: EventFilter,
    pub(crate) is_required: bool,
    pub(crate) timeout: Duration,
    is_running: bool,
}

impl VetoRules {
    /// The rules of an extension that does not run yet. A pattern that is invalid is reported when
    /// the program is started.
    pub(crate) fn new(patterns: Vec<String>, is_required: bool, timeout: Duration) -> Self {
        let filter = filter_of(&patterns).unwrap_or_default();
        Self { patterns, filter, is_required, timeout, is_running: false }
    }
}

/// A caller as extensions see it.
#[derive(Serialize)]
pub(crate) struct CallerInfo<'a> {
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pane: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<&'a str>,
}

impl<'a> CallerInfo<'a> {
    pub(crate) fn new(caller: &'a Caller) -> Self {
        let pane = caller.pane.as_ref().map(|pane| pane.id.as_str());
        Self { label: caller.label(), pane, extension: caller.extension.as_deref() }
    }
}

impl ExtensionShared {
    /// An extension that has not been started. What it vetoed when it last ran is known.
    pub(crate) fn new(name: &str, paths: &ExtensionPaths) -> Self {
        let state = SharedState {
            noun: None,
            status: ExtensionStatus::Starting,
            reason: None,
            pid: None,
            restarts: 0,
            events: Vec::new(),
            actions: BTreeMap::new(),
            connection: None,
        };
        Self {
            name: name.to_owned(),
            log: ExtensionLog::new(paths.log(name), paths.old_log(name)),
            place: EventPlace::read(&paths.place(name)),
            state: Mutex::new(state),
            veto: RwLock::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The noun of its actions and events.
    pub(crate) fn noun(&self) -> String {
        self.lock().noun.clone().unwrap_or_else(|| self.name.clone())
    }

    /// Whether this noun is its own.
    pub(crate) fn has_noun(&self, noun: &str) -> bool {
        self.name == noun || self.lock().noun.as_deref() == Some(noun)
    }

    /// The module of a Node package has a name of its own.
    pub(crate) fn set_noun(&self, noun: &str) {
        self.lock().noun = (noun != self.name).then(|| noun.to_owned());
    }

    /// The connection to the running program.
    ///
    /// # Errors
    /// When it does not run.
    pub(crate) fn connection(&self) -> Result<Connection, Refusal> {
        let state = self.lock();
        state.connection.clone().ok_or_else(|| {
            let name = &self.name;
            let sentence = format!(
                "the extension `{name}` is {}, so it cannot answer; see `paned ext info {name}`",
                state.status.as_str()
            );
            Refusal::new(Code::Unavailable, sentence)
        })
    }

    /// What is wrong with an extension that does not run.
    pub(crate) fn absence(&self) -> String {
        let state = self.lock();
        let why = state.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("it is {}{why}", state.status.as_str())
    }

    /// How it runs now.
    pub(crate) fn run_state(&self) -> RunState {
        let state = self.lock();
        RunState {
            name: state.noun.clone(),
            status: state.status,
            reason: state.reason.clone(),
            pid: state.pid,
            restarts: state.restarts,
            events: state.events.clone(),
            veto: self.veto().patterns,
            actions: state.actions.keys().cloned().collect(),
        }
    }

    /// A program is being started.
    pub(crate) fn set_starting(&self) {
        self.write_veto().is_running = false;
        let mut state = self.lock();
        state.status = ExtensionStatus::Starting;
        state.connection = None;
        state.pid = None;
    }

    pub(crate) fn set_pid(&self, pid: u32) {
        self.lock().pid = Some(pid);
    }

    pub(crate) fn set_restarts(&self, restarts: u32) {
        self.lock().restarts = restarts;
    }

    pub(crate) fn set_events(&self, events: Vec<String>) {
        self.lock().events = events;
    }

    /// The program answered `initialize`: calls reach it from now on. Actions that it did not
    /// register again are removed.
    pub(crate) fn set_running(&self, connection: Connection, registered: &BTreeSet<String>) {
        let mut state = self.lock();
        state.status = ExtensionStatus::Running;
        state.reason = None;
        state.connection = Some(connection);
        let (kept, gone) = std::mem::take(&mut state.actions)
            .into_iter()
            .partition(|(name, _)| registered.contains(name));
        state.actions = kept;
        drop(state);
        let gone: BTreeMap<String, RegisteredAction> = gone;
        drop(gone);
        self.write_veto().is_running = true;
    }

    /// The program does not take calls any more.
    pub(crate) fn set_down(&self, status: ExtensionStatus, reason: Option<String>) {
        self.write_veto().is_running = false;
        let mut state = self.lock();
        state.status = status;
        state.reason = reason;
        state.connection = None;
        state.pid = None;
        if matches!(status, ExtensionStatus::Failed | ExtensionStatus::Stopped) {
            let actions = std::mem::take(&mut state.actions);
            drop(state);
            drop(actions);
        }
    }

    /// Why the program is being ended.
    pub(crate) fn set_reason(&self, reason: &str) {
        self.lock().reason = Some(reason.to_owned());
    }

    /// The program is being ended: no new calls reach it.
    pub(crate) fn disconnect(&self) {
        self.write_veto().is_running = false;
        let mut state = self.lock();
        state.status = ExtensionStatus::Restarting;
        state.connection = None;
    }

    /// The definition of an action that is registered.
    pub(crate) fn definition_of(&self, action: &str) -> Option<String> {
        self.lock().actions.get(action).map(|found| found.definition.clone())
    }

    pub(crate) fn add_action(&self, name: &str, action: RegisteredAction) {
        self.lock().actions.insert(name.to_owned(), action);
    }

    /// Removes an action. Returns whether it was there.
    pub(crate) fn remove_action(&self, name: &str) -> bool {
        let removed = self.lock().actions.remove(name);
        removed.is_some()
    }

    /// The rules by which it is asked about actions.
    pub(crate) fn veto(&self) -> VetoRules {
        self.veto.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes these rules. Whether it runs stays as it is.
    pub(crate) fn set_veto(&self, rules: VetoRules) {
        let mut veto = self.write_veto();
        let is_running = veto.is_running;
        *veto = VetoRules { is_running, ..rules };
    }

    /// Changes the actions that it is asked about.
    pub(crate) fn set_veto_patterns(&self, patterns: Vec<String>) {
        let VetoRules { is_required, timeout, .. } = self.veto();
        self.set_veto(VetoRules::new(patterns, is_required, timeout));
    }

    fn write_veto(&self) -> std::sync::RwLockWriteGuard<'_, VetoRules> {
        self.veto.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is asked about an action of this caller. It is never asked about its own calls,
    /// nor about the actions with which users repair and remove extensions. While it does not run
    /// it is asked only if it is required.
    pub(crate) fn is_asked(&self, action: &str, caller: &Caller) -> bool {
        let veto = self.veto.read().unwrap_or_else(PoisonError::into_inner);
        (veto.is_running || (veto.is_required && !action.starts_with("ext:")))
            && veto.filter.matches(action)
            && !is_repair(action)
            && caller.extension.as_deref() != Some(self.name.as_str())
    }
}

/// Whether users see, change or end with this action what extensions do: one that could refuse it
/// could not be removed any more.
fn is_repair(action: &str) -> bool {
    const OF_EXTENSIONS: [&str; 6] =
        ["ext:info", "ext:list", "ext:logs", "ext:reload", "ext:remove", "ext:set"];
    action.starts_with("server:") || OF_EXTENSIONS.contains(&action)
}

/// The filter of these patterns.
///
/// # Errors
/// With the first pattern that is invalid.
pub(crate) fn filter_of(patterns: &[String]) -> Result<EventFilter, String> {
    let read = |text: &str| text.parse::<EventFilter>().map_err(|error| error.to_string());
    patterns.iter().try_for_each(|pattern| read(pattern).map(drop))?;
    read(&patterns.join(","))
}

/// A handle that many hold.
pub(crate) type SharedHandle = Arc<ExtensionShared>;
