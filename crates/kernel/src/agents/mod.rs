//! Agents: panes whose program is one. A task for each follows it and says what it is doing.
//!
//! | file | idea |
//! |---|---|
//! | `record` | what is remembered of an agent, with its pane |
//! | `shelf` | the profiles: ours, and the user's files over them |
//! | `task` | the task that follows one living agent |
//! | `courier` | what is to be typed, in that same task |
//! | `greet` | questions at the start that are answered without asking |
//! | `post`, `letter` | the messages to all agents, each with what became of it |
//! | `recognition` | which profile a program is judged by: another one by its processes or its screen, the generic one when none fits |
//! | `learned` | what was learned of programs that no profile describes, kept in the state folder |
//! | `recipe` | what a profile says of how its program takes a prompt |
//! | `notify` | what is brought back to whoever asked |
//! | `seen` | what everybody may know at a moment, turns counted |
//! | `tell` | how that becomes table, journal, meta |
//! | `room` | how many there may be, and who makes room |
//! | `after` | what follows an agent's end |
//! | `log`, `cast`, `recording` | what happened and when, and a recording made of it |
//! | `last` | the last answer, from a transcript or from the screen |
//! | `worktree`, `git` | a git worktree of an agent's own |

mod after;
mod cast;
mod courier;
mod git;
mod greet;
mod last;
mod learned;
mod letter;
mod log;
mod notify;
mod post;
mod recipe;
mod recognition;
mod record;
mod recording;
mod room;
mod seen;
mod shelf;
mod task;
mod tell;
mod worktree;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Meta, PaneId, Refusal};
use paned_policy::agent::Profile;
use paned_policy::delivery::Prepared;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

pub(crate) use self::after::ended;
pub(crate) use self::courier::{Answer, Errand};
pub(crate) use self::last::{From, Last, SESSION, is_session_id, last};
use self::learned::LearnedPrograms;
pub(crate) use self::letter::{LETTER, Letter, Told, Turn};
pub(crate) use self::notify::{answer_of, hand, over};
pub(crate) use self::post::Order;
use self::post::{Post, Receipt};
pub(crate) use self::record::{AgentRecord, Made, Restart};
pub(crate) use self::recording::{Recording, record};
pub(crate) use self::room::{candidate, retire};
pub(crate) use self::seen::{Seen, Turns};
pub(crate) use self::shelf::Profiles;
use self::shelf::Shelf;
use self::task::Task;
pub(crate) use self::task::{Ask, Life, Looked, Typed};
pub(crate) use self::tell::{ended_unseen, found_again};
pub(crate) use self::worktree::{Wanted, Worktree};
use crate::Kernel;
use crate::panes::Pane;
use crate::panes::pane::gone;

/// The profile for programs that no other profile describes.
pub(crate) const GENERIC: &str = "generic";
/// What that profile was called before.
const OTHER: &str = "other";
/// How much may be asked of one agent before some of it is done.
const ASKS: usize = 64;

/// Every living agent by its pane, and the profiles they are judged by.
pub(crate) struct Agents {
    living: Mutex<HashMap<PaneId, Agent>>,
    shelf: Shelf,
    post: Post,
    learned: Arc<LearnedPrograms>,
    /// Names of agents that are about to be started.
    coming: Mutex<HashSet<PaneId>>,
}

/// A cheap handle to the task of one living agent.
#[derive(Clone)]
pub(crate) struct Agent {
    asks: mpsc::Sender<Ask>,
    seen: watch::Receiver<Seen>,
}

impl Agent {
    /// Asks its task something; the answer is lost when its program ends meanwhile.
    pub(crate) async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Somebody types this. Told before the write, so that it is judged before what the program prints because of it. Never
    /// waits: a task that is behind sees it on the screen.
    pub(crate) fn typing(&self, typed: &Typed) {
        let _ = self.asks.try_send(Ask::Typing(typed.clone()));
    }

    /// It was written. Recordings have it from now on.
    pub(crate) fn typed(&self, typed: Typed) {
        let _ = self.asks.try_send(Ask::Typed(typed));
    }

    /// What is known of it, and a way to be woken by news.
    pub(crate) fn seen(&self) -> watch::Receiver<Seen> {
        self.seen.clone()
    }
}

impl Agents {
    pub(crate) fn new(profiles: Option<PathBuf>, state_folder: Option<&Path>) -> Self {
        Self {
            living: Mutex::default(),
            shelf: Shelf::new(profiles),
            post: Post::default(),
            learned: Arc::new(LearnedPrograms::new(state_folder)),
            coming: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PaneId, Agent>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The profiles as they were a moment ago at most: for what is asked often.
    pub(crate) fn profiles(&self) -> Profiles {
        self.look(false)
    }

    /// The profiles as they are now.
    pub(crate) fn profiles_now(&self) -> Profiles {
        self.look(true)
    }

    /// Looks at the profiles. Agents that are followed go on with what has changed.
    fn look(&self, in_any_case: bool) -> Profiles {
        let profiles = self.shelf.look(Instant::now(), in_any_case);
        if profiles.is_new {
            for agent in self.lock().values() {
                let name = agent.seen.borrow().info.profile.clone();
                if let Some(profile) = profiles.library.get(&name) {
                    let _ = agent.asks.try_send(Ask::Profile(profile.clone()));
                }
            }
        }
        profiles
    }

    /// The folder of the user's own profiles.
    pub(crate) fn profiles_folder(&self) -> Option<PathBuf> {
        self.shelf.folder().map(PathBuf::from)
    }

    /// What was learned of programs that no profile describes.
    pub(crate) fn learned(&self) -> &Arc<LearnedPrograms> {
        &self.learned
    }

    /// The messages to all agents.
    pub(crate) fn post(&self) -> &Post {
        &self.post
    }

    /// Accepts a message to the agent in a pane, and wakes its task. A text that cannot be typed is refused as a message
    /// is, with its reason.
    pub(crate) fn send(&self, kernel: &Kernel, order: Order) -> Result<Receipt, Refusal> {
        let pane = kernel.panes().get(&order.pane)?;
        let status = pane.lock().status();
        if !status.is_live() {
            return Err(gone(&pane.id, status));
        }
        pane.check_heard()?;
        let Some(agent) = self.listener(&order.pane) else {
            let sentence = format!("the program in pane `{}` is not followed as an agent", pane.id);
            return Err(Refusal::invalid(sentence));
        };
        let profile = self.profile(&agent.seen.borrow().info.profile)?;
        let prepared = Prepared::new(&order.text, |text| recipe::dress(&profile, text));
        let receipt = self.post.accept(kernel, order, prepared.err())?;
        // A task that is behind looks into its tray when it has caught up.
        let _ = agent.asks.try_send(Ask::Carry(Errand::Message));
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
        life: Life,
    ) -> Option<AgentRecord> {
        let library = self.profiles().library;
        let said = meta.get("agent.runtime").and_then(Value::as_str);
        let named = said.and_then(|name| library.get(name));
        let started = || library.for_command(argv);
        let profile = named.or_else(started)?;
        let new = match life {
            Life::New => AgentRecord::new,
            Life::Found => AgentRecord::found,
        };
        Some(new(&profile.name, kernel.now()))
    }

    /// Follows the agent in a pane from now on, if its record says that there is one.
    pub(crate) fn mind(&self, kernel: &Kernel, pane: &Arc<Pane>, life: Life) {
        let (info, output) = {
            let mut state = pane.lock();
            let waiting = self.post.waiting(&pane.id);
            state.agent.iter_mut().for_each(|agent| agent.queued = waiting);
            let (Some(info), Some(output)) = (state.agent.clone(), state.output()) else { return };
            (info, output)
        };
        let Ok(profile) = self.profile(&info.profile) else {
            tracing::warn!(pane = %pane.id, profile = info.profile, "no profile of an agent");
            return;
        };
        let (asks, inbox) = mpsc::channel(ASKS);
        let (seen, watched) = watch::channel(Seen { info, turns: Turns::default() });
        self.lock().insert(pane.id.clone(), Agent { asks, seen: watched });
        let task = Task::new(kernel.clone(), pane.clone(), output, profile, (seen, life));
        tokio::spawn(task.run(inbox));
    }

    /// The task of a living agent, if there is one.
    pub(crate) fn listener(&self, pane: &PaneId) -> Option<Agent> {
        self.lock().get(pane).cloned()
    }

    /// A pane is forgotten: nobody follows it any more.
    pub(crate) fn forget(&self, pane: &PaneId) {
        self.lock().remove(pane);
    }

    /// An agent has ended: its task is over. A new one in a pane of the same name stays.
    fn forget_ended(&self, pane: &PaneId, seen: &watch::Sender<Seen>) {
        let mut living = self.lock();
        if living.get(pane).is_some_and(|agent| agent.seen.same_channel(&seen.subscribe())) {
            living.remove(pane);
        }
    }
}
