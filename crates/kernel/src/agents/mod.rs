//! Agents: panes that run an agent program. One task per running agent follows it and publishes its
//! state.
//!
//! | module | idea |
//! |---|---|
//! | `task` | the task that follows one running agent |
//! | `handle` | requests to that task, the public status of an agent, and its turns |
//! | `typist` | types messages, answers and interrupts, in that same task |
//! | `outbox` | the messages to all agents, each with its receipt; returns answers |
//! | `publish` | writes the state of an agent to the pane, the journal and the meta |
//! | `profiles` | the profiles, and which one is used: by processes, by screen, or generic |
//! | `learned_programs` | what was learned of programs without a profile; a file |
//! | `observer` | what happens to panes, for the agents in them |
//! | `admission` | the limit of agents, and which one is evicted |
//! | `on_exit` | what is done when an agent has ended |
//! | `recording` | what happened when, and recordings of it |
//! | `last_answer` | the last answer, from a transcript or from the screen |
//! | `worktree` | a git worktree for one agent |

mod admission;
mod handle;
mod last_answer;
mod learned_programs;
mod observer;
mod on_exit;
mod outbox;
mod profiles;
mod publish;
mod recording;
mod task;
mod typist;
mod worktree;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_backend::BoxedFuture;
use paned_model::{Meta, PaneId, Refusal};
use paned_policy::agent::Profile;
use paned_policy::delivery::PreparedText;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

pub(crate) use self::admission::{NewAgent, candidate, evict};
pub(crate) use self::handle::{AgentHandle, AgentInspection, AgentRequest, AgentStatus, Turns};
pub(crate) use self::last_answer::{AnswerSource, LastAnswer, SESSION, is_session_id, last};
use self::learned_programs::LearnedPrograms;
pub(crate) use self::observer::AgentPaneObserver;
pub(crate) use self::on_exit::ended;
use self::outbox::Outbox;
pub(crate) use self::outbox::{
    MESSAGE, Message, MessageTurn, NewMessage, Receipt, answer_of, send_to_agent, wait_turn_end,
};
pub(crate) use self::profiles::ProfileSet;
use self::profiles::ProfileStore;
pub(crate) use self::recording::{AgentRecording, record, record_output};
pub(crate) use self::task::AgentOrigin;
use self::task::AgentTask;
pub(crate) use self::typist::DialogAnswer;
pub(crate) use self::worktree::WorktreeRequest;
use crate::Kernel;
use crate::names::missing_name;
use crate::panes::Pane;
use crate::panes::agent_record as record;
pub(crate) use crate::panes::agent_record::{AgentLaunch, AgentRecord, RestartPolicy, Worktree};
use crate::panes::pane::pane_gone;

/// The profile for programs that no other profile describes.
pub(crate) const GENERIC: &str = "generic";
/// The former name of that profile.
const OTHER: &str = "other";
/// How many requests to one agent may wait.
const MAX_REQUESTS: usize = 64;

/// All running agents by their panes, and the profiles.
pub(crate) struct Agents {
    living: Mutex<HashMap<PaneId, AgentHandle>>,
    profile_store: ProfileStore,
    outbox: Outbox,
    learned: Arc<LearnedPrograms>,
    /// The panes of agents that are about to be started, and the agents above each.
    starting: Mutex<HashMap<PaneId, Vec<PaneId>>>,
    restart: RestartFn,
}

/// Starts a failed agent again, in a new pane; the number says which attempt this is. Given at
/// start, because the code that starts panes is above this module.
pub(crate) type RestartFn =
    fn(Kernel, Arc<Pane>, u32) -> BoxedFuture<'static, Result<Arc<Pane>, Refusal>>;

impl Agents {
    pub(crate) fn new(
        profiles: Option<PathBuf>,
        state_folder: Option<&Path>,
        restart: RestartFn,
    ) -> Self {
        Self {
            living: Mutex::default(),
            profile_store: ProfileStore::new(profiles),
            outbox: Outbox::default(),
            learned: Arc::new(LearnedPrograms::new(state_folder)),
            starting: Mutex::default(),
            restart,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PaneId, AgentHandle>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The profiles, at most a second old: for frequent calls.
    pub(crate) fn profiles(&self) -> ProfileSet {
        self.reload_profiles(false)
    }

    /// The profiles as they are now.
    pub(crate) fn profiles_now(&self) -> ProfileSet {
        self.reload_profiles(true)
    }

    /// Reads changed profiles. Running agents continue with the new versions.
    fn reload_profiles(&self, in_any_case: bool) -> ProfileSet {
        let profiles = self.profile_store.look(Instant::now(), in_any_case);
        if profiles.is_new {
            for agent in self.lock().values() {
                let name = agent.status.borrow().info.profile.clone();
                if let Some(profile) = profiles.library.get(&name) {
                    let _ = agent.requests.try_send(AgentRequest::Profile(profile.clone()));
                }
            }
        }
        profiles
    }

    /// The folder of the user's own profiles.
    pub(crate) fn profiles_folder(&self) -> Option<PathBuf> {
        self.profile_store.folder().map(PathBuf::from)
    }

    /// What was learned of programs that no profile describes.
    pub(crate) fn learned(&self) -> &Arc<LearnedPrograms> {
        &self.learned
    }

    /// The messages to all agents.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Accepts a message to the agent in a pane, and wakes its task. A text that cannot be typed is
    /// accepted as a message whose outcome is a refusal with the reason.
    pub(crate) fn send(
        &self,
        kernel: &Kernel,
        message: NewMessage,
    ) -> Result<watch::Receiver<Receipt>, Refusal> {
        let pane = kernel.panes().get(&message.pane)?;
        let status = pane.lock().status();
        if !status.is_live() {
            return Err(pane_gone(&pane.id, status));
        }
        pane.check_responsive()?;
        let agent = self.find(&message.pane).ok_or_else(|| not_followed(&pane.id))?;
        let profile = self.profile(&agent.status.borrow().info.profile)?;
        let prepared = PreparedText::new(&message.text, |text| profile.submit.escape_prompt(text));
        let receipt = self.outbox.accept(kernel, message, prepared.err())?;
        // A task that is behind reads the outbox when it has caught up.
        let _ = agent.requests.try_send(AgentRequest::Message);
        Ok(receipt)
    }

    /// Cancels a queued message. The agent's task does that between two writes; where there is no
    /// task, nothing is being typed.
    pub(crate) async fn cancel(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        message: &str,
    ) -> Result<(), Refusal> {
        let number = message.strip_prefix('m').and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| outbox::no_message(pane, message))?;
        if let Some(agent) = self.find(pane)
            && let Some(cancelled) = agent.ask(|reply| AgentRequest::Cancel(number, reply)).await
        {
            return cancelled;
        }
        self.outbox.cancel(kernel, pane, number, false)
    }

    /// A profile by its name.
    pub(crate) fn profile(&self, name: &str) -> Result<Arc<Profile>, Refusal> {
        if let Some(known) = self.profiles().library.get(name) {
            return Ok(known.clone());
        }
        if name == OTHER {
            return self.profile(GENERIC);
        }
        let library = self.profiles_now().library;
        library.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = library.names().collect();
            let all = names.join(", ");
            let sentence = format!("no profile `{}`; the profiles are {all}", name.escape_debug());
            missing_name(sentence, name, names)
        })
    }

    /// The profile of the agent in a pane.
    pub(crate) fn profile_of(&self, pane: &Pane) -> Result<Arc<Profile>, Refusal> {
        let name = pane.lock().record.agent.as_ref().map(|agent| agent.profile.clone());
        let name = name.ok_or_else(|| not_followed(&pane.id))?;
        self.profile(&name)
    }

    /// The record of a new agent, if the command line or the meta of the pane names one.
    pub(crate) fn recognise(
        &self,
        kernel: &Kernel,
        argv: &[String],
        meta: &Meta,
        origin: AgentOrigin,
    ) -> Option<AgentRecord> {
        let library = self.profiles().library;
        let runtime = meta.get("agent.runtime").and_then(Value::as_str);
        let named = runtime.and_then(|name| library.get(name));
        let by_command = || library.for_command(argv);
        let profile = named.or_else(by_command)?;
        let new = match origin {
            AgentOrigin::New => AgentRecord::new,
            AgentOrigin::Recovered => AgentRecord::recovered,
        };
        Some(new(&profile.name, kernel.now()))
    }

    /// Starts the task that follows the agent in a pane, if the pane has an agent.
    pub(crate) fn spawn_task(&self, kernel: &Kernel, pane: &Arc<Pane>, origin: AgentOrigin) {
        let (info, output) = {
            let mut state = pane.lock();
            let waiting = self.outbox.waiting(&pane.id);
            state.agent.iter_mut().for_each(|agent| agent.queued = waiting);
            let (Some(info), Some(output)) = (state.agent.clone(), state.output()) else { return };
            (info, output)
        };
        let Ok(profile) = self.profile(&info.profile) else {
            tracing::warn!(pane = %pane.id, profile = info.profile, "the profile of an agent is missing");
            return;
        };
        let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
        let (publisher, status) = watch::channel(AgentStatus { info, turns: Turns::default() });
        self.lock().insert(pane.id.clone(), AgentHandle { requests, status });
        let task = AgentTask::new(kernel.clone(), pane.clone(), output, profile, publisher, origin);
        tokio::spawn(task.run(inbox));
    }

    /// The handle of a running agent, if there is one.
    pub(crate) fn find(&self, pane: &PaneId) -> Option<AgentHandle> {
        self.lock().get(pane).cloned()
    }

    /// A pane is removed: its agent is not followed any more.
    pub(crate) fn forget(&self, pane: &PaneId) {
        self.lock().remove(pane);
    }

    /// An agent has ended: removes its handle, but not that of a new agent in a pane of the same
    /// name.
    fn forget_ended(&self, pane: &PaneId, status: &watch::Sender<AgentStatus>) {
        let mut living = self.lock();
        if living.get(pane).is_some_and(|agent| agent.status.same_channel(&status.subscribe())) {
            living.remove(pane);
        }
    }
}

fn not_followed(id: &PaneId) -> Refusal {
    Refusal::invalid(format!("the program in pane `{id}` is not tracked as an agent"))
}
