//! Every extension that was started, each with its supervisor.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use paned_kernel::{BoxedFuture, HookRegistration, Kernel, is_reserved_variable};
use paned_model::{Code, EventId, Refusal};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::calls::NounCheck;
use super::hook::ExtensionHook;
use super::node::{NodeChoice, NodeFinder};
use super::shared::{ExtensionShared, SharedHandle};
use super::supervisor::{Command, Supervisor, rules};
use crate::names::check_name;
use crate::paths::ExtensionPaths;
use crate::runner::{ExtensionRunner, ExtensionSetup, RunState};

/// Commands that wait for a supervisor.
const COMMANDS: usize = 8;
/// Changes of files that wait to be noticed.
const CHANGES: usize = 64;

/// What the runtime needs.
pub struct RuntimeSetup {
    /// The kernel that extensions extend.
    pub kernel: Kernel,
    /// Where the state of extensions is.
    pub paths: ExtensionPaths,
    /// The first event of this run of the server: extensions that never had one begin there.
    pub first_event: EventId,
    /// How long one event or one veto may take, unless the manifest says otherwise.
    pub hook_timeout: Duration,
    /// Which program runs Node packages.
    pub node: NodeChoice,
}

/// Runs the programs of extensions. Clones are the same runtime.
#[derive(Clone)]
pub struct ExtensionRuntime {
    context: Arc<RuntimeContext>,
}

/// What all supervisors share.
pub(crate) struct RuntimeContext {
    pub(crate) kernel: Kernel,
    pub(crate) paths: ExtensionPaths,
    pub(crate) first_event: EventId,
    pub(crate) hook_timeout: Duration,
    pub(crate) node: NodeFinder,
    env: Vec<(String, String)>,
    slots: Mutex<HashMap<String, RunningSlot>>,
    /// The names of all extensions in the folder.
    installed: Mutex<BTreeSet<String>>,
    /// Extensions whose files were changed.
    changes: mpsc::Sender<String>,
    /// For checks that outlive a call.
    itself: Weak<RuntimeContext>,
}

struct RunningSlot {
    shared: SharedHandle,
    commands: mpsc::Sender<Command>,
    supervisor: JoinHandle<()>,
    _hook: HookRegistration,
}

impl ExtensionRuntime {
    /// A runtime without extensions, and the names of those whose files were changed: they are to
    /// be started again.
    #[must_use]
    pub fn new(setup: RuntimeSetup) -> (Self, mpsc::Receiver<String>) {
        let RuntimeSetup { kernel, paths, first_event, hook_timeout, node } = setup;
        let env = base_environment(&kernel);
        let (changes, changed) = mpsc::channel(CHANGES);
        let context = Arc::new_cyclic(|itself| RuntimeContext {
            kernel,
            paths,
            first_event,
            hook_timeout,
            node: NodeFinder::new(node, env.clone()),
            env,
            slots: Mutex::default(),
            installed: Mutex::default(),
            changes,
            itself: itself.clone(),
        });
        (Self { context }, changed)
    }

    /// Stops every extension; returns when all their processes have ended.
    pub async fn shutdown(&self) {
        let slots: Vec<_> = self.context.lock().drain().map(|(_, slot)| slot).collect();
        join_all(slots.into_iter().map(RunningSlot::stop)).await;
    }

    /// Starts the supervisor of an extension that is not there, or returns how to reach the one
    /// that is.
    fn slot(&self, setup: &ExtensionSetup, done: oneshot::Sender<()>) -> Option<Restart> {
        let name = &setup.manifest.name;
        let mut slots = self.context.lock();
        if let Some(slot) = slots.get(name) {
            return Some(Restart { commands: slot.commands.clone(), done });
        }
        let shared = Arc::new(ExtensionShared::new(name, &self.context.paths));
        // Before the program is started, so that what it vetoes is refused from the first moment.
        let mut patterns = setup.manifest.veto.clone();
        patterns.extend(shared.place.veto());
        shared.set_veto(rules(&self.context, setup, patterns));
        let hook = self.context.kernel.add_hook(Arc::new(ExtensionHook(shared.clone())));
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let supervisor =
            Supervisor::new(self.context.clone(), shared.clone(), setup.clone(), inbox);
        let supervisor = tokio::spawn(supervisor.run(done));
        let slot = RunningSlot { shared, commands, supervisor, _hook: hook };
        slots.insert(name.clone(), slot);
        None
    }
}

/// A supervisor that is asked to start its program anew.
struct Restart {
    commands: mpsc::Sender<Command>,
    done: oneshot::Sender<()>,
}

impl ExtensionRunner for ExtensionRuntime {
    fn state(&self, name: &str) -> Option<RunState> {
        let shared = self.context.lock().get(name).map(|slot| slot.shared.clone());
        shared.map(|shared| shared.run_state())
    }

    fn set_installed(&self, names: BTreeSet<String>) {
        *self.context.lock_installed() = names;
    }

    fn start(&self, setup: ExtensionSetup) -> BoxedFuture<'_, ()> {
        let (done, outcome) = oneshot::channel();
        // At once, not when the future is polled: a veto must not come too late.
        let restart = self.slot(&setup, done);
        Box::pin(async move {
            if let Some(Restart { commands, done }) = restart {
                let _ = commands.send(Command::Start(Box::new(setup), done)).await;
            }
            // An error means that the supervisor has ended.
            let _ = outcome.await;
        })
    }

    fn stop<'a>(&'a self, name: &'a str, keep_place: bool) -> BoxedFuture<'a, ()> {
        let slot = self.context.lock().remove(name);
        Box::pin(async move {
            if let Some(slot) = slot {
                let shared = slot.shared.clone();
                slot.stop().await;
                if !keep_place {
                    shared.place.forget();
                }
            }
        })
    }
}

impl RunningSlot {
    async fn stop(self) {
        let Self { commands, supervisor, .. } = self;
        let _ = commands.send(Command::Stop).await;
        drop(commands);
        if let Err(error) = supervisor.await {
            tracing::error!(%error, "the supervisor of an extension failed");
        }
    }
}

impl RuntimeContext {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunningSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_installed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.installed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files of an extension were changed.
    pub(crate) fn note_change(&self, extension: &str) {
        if self.changes.try_send(extension.to_owned()).is_err() {
            tracing::debug!(extension, "a change of an extension's files is ignored");
        }
    }

    /// The environment of an extension: the server's, without what is about the server itself.
    pub(crate) fn environment(&self, name: &str) -> Vec<(String, String)> {
        let data = self.paths.data(name).to_string_lossy().into_owned();
        let address = &self.kernel.setup().address;
        let mut env = self.env.clone();
        let mut add = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
        add("PANED_EXTENSION", name);
        add("PANED_EXTENSION_DATA", &data);
        if let Some(url) = &address.url {
            add("PANED_URL", url);
        }
        if let Some(socket) = &address.socket {
            add("PANED_SOCKET", socket);
        }
        env
    }

    /// Decides whether the module of this Node package may have another name.
    pub(crate) fn noun_check(&self, extension: &str) -> NounCheck {
        let context = self.itself.clone();
        let extension = extension.to_owned();
        Box::new(move |noun| {
            check_name(noun)?;
            let Some(context) = context.upgrade() else { return Ok(()) };
            let refuse = |name: &str| {
                let sentence = format!("the name `{noun}` is taken by the extension `{name}`");
                Err(Refusal::new(Code::Conflict, sentence))
            };
            // Also of one that is turned off, which would not get its name back.
            if noun != extension && context.lock_installed().contains(noun) {
                return refuse(noun);
            }
            let slots = context.lock();
            let others = slots.values().map(|slot| &slot.shared);
            let taken = others.filter(|other| other.name != extension).find(|it| it.has_noun(noun));
            taken.map_or(Ok(()), |other| refuse(&other.name))
        })
    }
}

fn base_environment(kernel: &Kernel) -> Vec<(String, String)> {
    let env = kernel.setup().env.iter().filter(|(name, _)| !is_reserved_variable(name));
    env.cloned().collect()
}
