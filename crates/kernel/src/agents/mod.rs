//! Agents: panes whose program is one. A task for each follows it and says what it is doing.
//!
//! | file | idea |
//! |---|---|
//! | `record` | what is remembered of an agent, with its pane |
//! | `profile_store` | the profiles: ours, and the user's files over them |
//! | `task` | the task that follows one living agent |
//! | `typist` | what is to be typed, in that same task |
//! | `startup` | questions at the start that are answered without asking |
//! | `outbox`, `message` | the messages to all agents, each with what became of it |
//! | `recognition` | which profile a program is judged by: another one by its processes or its screen, the generic one when none fits |
//! | `learned_programs` | what was learned of programs that no profile describes, kept in the state folder |
//! | `recipe` | what a profile says of how its program takes a prompt |
//! | `notify` | what is brought back to whoever asked |
//! | `status` | what everybody may know at a moment, turns counted |
//! | `publish` | how that becomes table, journal, meta |
//! | `admission` | how many there may be, and who makes room |
//! | `on_exit` | what follows an agent's end |
//! | `history`, `asciicast`, `recording` | what happened and when, and a recording made of it |
//! | `last_answer` | the last answer, from a transcript or from the screen |
//! | `worktree`, `git` | a git worktree of an agent's own |

mod admission;
mod asciicast;
mod git;
mod history;
mod last_answer;
mod learned_programs;
mod message;
mod notify;
mod on_exit;
mod outbox;
mod profile_store;
mod publish;
mod recipe;
mod recognition;
mod record;
mod recording;
mod startup;
mod status;
mod task;
mod typist;
mod worktree;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Meta, PaneId, Refusal};
use paned_policy::agent::Profile;
use paned_policy::delivery::PreparedText;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

pub(crate) use self::admission::{candidate, evict};
pub(crate) use self::last_answer::{AnswerSource, LastAnswer, SESSION, is_session_id, last};
use self::learned_programs::LearnedPrograms;
pub(crate) use self::message::{DeliveryStatus, MESSAGE, MessageTurn, OutboxMessage};
pub(crate) use self::notify::{answer_of, send_to_agent, wait_turn_end};
pub(crate) use self::on_exit::ended;
pub(crate) use self::outbox::NewMessage;
use self::outbox::{Outbox, Receipt};
pub(crate) use self::profile_store::ProfileSet;
use self::profile_store::ProfileStore;
pub(crate) use self::publish::{publish_exit, publish_recovered};
pub(crate) use self::record::{AgentLaunch, AgentRecord, RestartPolicy};
pub(crate) use self::recording::{AgentRecording, record};
pub(crate) use self::status::{AgentStatus, Turns};
use self::task::AgentTask;
pub(crate) use self::task::{AgentInspection, AgentOrigin, AgentRequest, TypedInput};
pub(crate) use self::typist::{DialogAnswer, TypingRequest};
pub(crate) use self::worktree::{Worktree, WorktreeRequest};
use crate::Kernel;
use crate::panes::Pane;
use crate::panes::pane::pane_gone;

/// The profile for programs that no other profile describes.
pub(crate) const GENERIC: &str = "generic";
/// What that profile was called before.
const OTHER: &str = "other";
/// How much may be asked of one agent before some of it is done.
const MAX_REQUESTS: usize = 64;

/// Every living agent by its pane, and the profiles they are judged by.
pub(crate) struct Agents {
    living: Mutex<HashMap<PaneId, AgentHandle>>,
    profile_store: ProfileStore,
    outbox: Outbox,
    learned: Arc<LearnedPrograms>,
    /// Names of agents that are about to be started.
    starting: Mutex<HashSet<PaneId>>,
}

/// A cheap handle to the task of one living agent.
#[derive(Clone)]
pub(crate) struct AgentHandle {
    requests: mpsc::Sender<AgentRequest>,
    status: watch::Receiver<AgentStatus>,
}

impl AgentHandle {
    /// Asks its task something; the answer is lost when its program ends meanwhile.
    pub(crate) async fn ask<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<T>) -> AgentRequest,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(ask(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Somebody types this. Told before the write, so that it is judged before what the program prints because of it. Never
    /// waits: a task that is behind sees it on the screen.
    pub(crate) fn typing(&self, typed: &TypedInput) {
        let _ = self.requests.try_send(AgentRequest::Typing(typed.clone()));
    }

    /// It was written. Recordings have it from now on.
    pub(crate) fn typed(&self, typed: TypedInput) {
        let _ = self.requests.try_send(AgentRequest::Typed(typed));
    }

    /// What is known of it, and a way to be woken by news.
    pub(crate) fn seen(&self) -> watch::Receiver<AgentStatus> {
        self.status.clone()
    }
}

impl Agents {
    pub(crate) fn new(profiles: Option<PathBuf>, state_folder: Option<&Path>) -> Self {
        Self {
            living: Mutex::default(),
            profile_store: ProfileStore::new(profiles),
            outbox: Outbox::default(),
            learned: Arc::new(LearnedPrograms::new(state_folder)),
            starting: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PaneId, AgentHandle>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The profiles as they were a moment ago at most: for what is asked often.
    pub(crate) fn profiles(&self) -> ProfileSet {
        self.reload_profiles(false)
    }

    /// The profiles as they are now.
    pub(crate) fn profiles_now(&self) -> ProfileSet {
        self.reload_profiles(true)
    }

    /// Looks at the profiles. Agents that are followed go on with what has changed.
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

    /// Accepts a message to the agent in a pane, and wakes its task. A text that cannot be typed is refused as a message
    /// is, with its reason.
    pub(crate) fn send(&self, kernel: &Kernel, order: NewMessage) -> Result<Receipt, Refusal> {
        let pane = kernel.panes().get(&order.pane)?;
        let status = pane.lock().status();
        if !status.is_live() {
            return Err(pane_gone(&pane.id, status));
        }
        pane.check_responsive()?;
        let Some(agent) = self.find(&order.pane) else {
            let sentence = format!("the program in pane `{}` is not followed as an agent", pane.id);
            return Err(Refusal::invalid(sentence));
        };
        let profile = self.profile(&agent.status.borrow().info.profile)?;
        let prepared = PreparedText::new(&order.text, |text| recipe::format_prompt(&profile, text));
        let receipt = self.outbox.accept(kernel, order, prepared.err())?;
        // A task that is behind looks into its tray when it has caught up.
        let _ = agent.requests.try_send(AgentRequest::Type(TypingRequest::Message));
        Ok(receipt)
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
            let (name, names) = (name.escape_debug(), names.join(", "));
            Refusal::not_found(format!("no profile `{name}`; there are {names}"))
        })
    }

    /// What a program is as an agent, if its command line or its pane's meta says that it is one.
    pub(crate) fn recognise(
        &self,
        kernel: &Kernel,
        argv: &[String],
        meta: &Meta,
        life: AgentOrigin,
    ) -> Option<AgentRecord> {
        let library = self.profiles().library;
        let said = meta.get("agent.runtime").and_then(Value::as_str);
        let named = said.and_then(|name| library.get(name));
        let started = || library.for_command(argv);
        let profile = named.or_else(started)?;
        let new = match life {
            AgentOrigin::New => AgentRecord::new,
            AgentOrigin::Recovered => AgentRecord::recovered,
        };
        Some(new(&profile.name, kernel.now()))
    }

    /// Follows the agent in a pane from now on, if its record says that there is one.
    pub(crate) fn spawn_task(&self, kernel: &Kernel, pane: &Arc<Pane>, life: AgentOrigin) {
        let (info, output) = {
            let mut state = pane.lock();
            let waiting = self.outbox.waiting(&pane.id);
            state.agent.iter_mut().for_each(|agent| agent.queued = waiting);
            let (Some(info), Some(output)) = (state.agent.clone(), state.output()) else { return };
            (info, output)
        };
        let Ok(profile) = self.profile(&info.profile) else {
            tracing::warn!(pane = %pane.id, profile = info.profile, "no profile of an agent");
            return;
        };
        let (asks, inbox) = mpsc::channel(MAX_REQUESTS);
        let (seen, watched) = watch::channel(AgentStatus { info, turns: Turns::default() });
        self.lock().insert(pane.id.clone(), AgentHandle { requests: asks, status: watched });
        let task = AgentTask::new(kernel.clone(), pane.clone(), output, profile, (seen, life));
        tokio::spawn(task.run(inbox));
    }

    /// The task of a living agent, if there is one.
    pub(crate) fn find(&self, pane: &PaneId) -> Option<AgentHandle> {
        self.lock().get(pane).cloned()
    }

    /// A pane is forgotten: nobody follows it any more.
    pub(crate) fn forget(&self, pane: &PaneId) {
        self.lock().remove(pane);
    }

    /// An agent has ended: its task is over. A new one in a pane of the same name stays.
    fn forget_ended(&self, pane: &PaneId, seen: &watch::Sender<AgentStatus>) {
        let mut living = self.lock();
        if living.get(pane).is_some_and(|agent| agent.status.same_channel(&seen.subscribe())) {
            living.remove(pane);
        }
    }
}
