//! A runtime over a kernel with the fake backend, and extensions in Python.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paned_backend::fake::FakeBackend;
use paned_ext::manifest::Program;
use paned_ext::{
    ExtensionPaths, ExtensionRunner, ExtensionRuntime, ExtensionSetup, Manifest, NodeChoice,
    RunState, RuntimeSetup,
};
use paned_kernel::extensions::ExtensionStatus;
use paned_kernel::journal::{Journal, JournalEntry, JournalRead, OpenedJournal};
use paned_kernel::{AdvertisedAddress, Caller, EventFeed, Kernel, KernelLimits, KernelSetup};
use paned_model::{EventId, Refusal, Scope, Time};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// How long a test waits for anything.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// How often files and states, which announce no change, are looked at.
const POLL: Duration = Duration::from_millis(5);

/// Functions that every extension of these tests begins with.
const PRELUDE: &str = r#"
import json, os, sys, time
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def notify(method, **params):
    send(method=method, params=params)
def answer(message, result=None):
    send(id=message["id"], result=result)
def messages():
    for line in sys.stdin:
        yield json.loads(line)
"#;

pub(crate) struct TestRuntime {
    pub(crate) kernel: Kernel,
    pub(crate) runtime: ExtensionRuntime,
    pub(crate) owner: Caller,
    pub(crate) dir: TempDir,
}

fn kernel_setup() -> KernelSetup {
    let path = std::env::var("PATH").unwrap();
    KernelSetup {
        version: "0.0.0",
        address: AdvertisedAddress { url: Some("http://x".into()), ..AdvertisedAddress::default() },
        env: vec![("PATH".into(), path), ("PANED_PANE".into(), "outer".into())],
        program_folder: None,
        token_file: None,
        limits: KernelLimits { hook_timeout: DEADLINE, ..KernelLimits::default() },
        approvals: paned_kernel::ApprovalSetup::default(),
        permissions: paned_kernel::PermissionSetup::default(),
        tmux_view: None,
        adopted_tmux: None,
        profiles: None,
        worktrees: None,
        now: || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            Time(u64::try_from(now.as_millis()).unwrap())
        },
    }
}

impl TestRuntime {
    pub(crate) async fn new() -> Self {
        let opened =
            OpenedJournal { records: Vec::new(), first: None, last: EventId(0), recovery: None };
        let backend = Arc::new(FakeBackend::default());
        let started = Kernel::start(kernel_setup(), Journal::memory(), opened, backend).await;
        let (kernel, summary) = started.unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (runtime, _) = ExtensionRuntime::new(RuntimeSetup {
            kernel: kernel.clone(),
            paths: ExtensionPaths::new(dir.path()),
            first_event: summary.started,
            hook_timeout: DEADLINE,
            node: NodeChoice::default(),
        });
        let owner = kernel.owner(None);
        Self { kernel, runtime, owner, dir }
    }

    /// The setup of an extension with this code.
    pub(crate) fn setup(&self, name: &str, code: &str) -> ExtensionSetup {
        let folder = self.dir.path().join("ext").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.py"), format!("{PRELUDE}{code}")).unwrap();
        let scopes = BTreeSet::from([Scope::Read]);
        let manifest = Manifest {
            name: name.to_owned(),
            version: None,
            description: None,
            program: Program::Command(vec!["python3".into(), "main.py".into()]),
            scopes: scopes.clone(),
            subscribe: Vec::new(),
            veto: Vec::new(),
            required: false,
            timeout: None,
            folder,
            missing: Vec::new(),
        };
        ExtensionSetup { manifest, scopes }
    }

    /// Starts an extension with this code, which must come up.
    pub(crate) async fn start(&self, name: &str, code: &str) {
        self.start_setup(self.setup(name, code)).await;
    }

    pub(crate) async fn start_setup(&self, setup: ExtensionSetup) {
        let name = setup.manifest.name.clone();
        timeout(DEADLINE, self.runtime.start(setup)).await.expect("an outcome of the start");
        let state = self.state(&name);
        assert_eq!(state.status, ExtensionStatus::Running, "{state:?} {}", self.log(&name));
    }

    pub(crate) fn state(&self, name: &str) -> RunState {
        self.runtime.state(name).unwrap()
    }

    pub(crate) async fn until(&self, name: &str, is_there: impl Fn(&RunState) -> bool) -> RunState {
        let look = || Some(self.state(name)).filter(&is_there);
        match wait_for(look).await {
            Some(state) => state,
            None => panic!("{:?} {}", self.state(name), self.log(name)),
        }
    }

    pub(crate) fn log(&self, name: &str) -> String {
        let path: PathBuf = ExtensionPaths::new(self.dir.path()).log(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }

    pub(crate) async fn act(&self, name: &str, params: Value) -> Result<Value, Refusal> {
        let params = params.to_string();
        let answer = self.kernel.dispatch(name, params.as_bytes(), &self.owner);
        let answer = timeout(DEADLINE, answer).await.expect("an answer")?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    }

    pub(crate) fn feed(&self, include: &str) -> EventFeed {
        self.kernel.events(Some(EventId(0)), include.parse().unwrap(), &self.owner).unwrap()
    }
}

/// Looks again and again until there is something; none after the deadline.
pub(crate) async fn wait_for<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let until_there = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            sleep(POLL).await;
        }
    };
    timeout(DEADLINE, until_there).await.ok()
}

/// The next event, which must come soon.
pub(crate) async fn next(feed: &mut EventFeed) -> Arc<JournalEntry> {
    match timeout(DEADLINE, feed.next(1)).await.expect("an event") {
        JournalRead::Entries(entries) => entries[0].clone(),
        other => panic!("no event but {other:?}"),
    }
}

pub(crate) async fn payload(feed: &mut EventFeed) -> Value {
    serde_json::from_str(&next(feed).await.payload).unwrap()
}
