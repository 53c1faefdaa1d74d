//! Keepers that do not answer the next server.

use std::path::Path;
use std::time::Duration;

use paned_backend::native::{ForkServer, NativeBackend};
use paned_backend::{
    Backend as _, PaneCommand, PaneEvent, PaneHandle, PathOwner, RecoveredState, SpawnSpec,
    UnresponsivePane,
};
use paned_keeper::tape::MIN_CAPACITY;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::test_substrate::{SIZE, TIMEOUT, example};

fn backend(folder: &Path) -> NativeBackend {
    let fork_server =
        ForkServer::new(example(), vec!["fork-server".into()], folder.join("keepers.log"));
    NativeBackend::new(folder.to_owned(), fork_server)
}

/// A `cat` whose server is gone and whose keeper is stopped, as the next server finds it.
struct StoppedKeeper {
    folder: TempDir,
    program: Pid,
    keeper: KeeperKillGuard,
    unresponsive: UnresponsivePane,
}

/// Kills the keeper if its test fails.
struct KeeperKillGuard(Pid);

impl Drop for KeeperKillGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = kill_process(self.0, Signal::KILL);
        }
    }
}

impl StoppedKeeper {
    async fn new() -> Self {
        let folder = TempDir::with_prefix("paned-adopt-").unwrap();
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let spec = SpawnSpec {
            id: "a".parse().unwrap(),
            program: "/bin/sh".into(),
            argv: text(&["sh", "-c", "echo hello; exec cat"]),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: Some("/".into()),
            size: SIZE,
            capacity: MIN_CAPACITY,
            max_lines: None,
            timeout: None,
            grace: Duration::ZERO,
            followed: false,
            piped_input: false,
            umask: None,
            path_owner: PathOwner::Caller,
            record: "{}".into(),
            launch_record: None,
        };
        let handle = backend(folder.path()).spawn(spec).await.unwrap();
        let output = handle.output.clone();
        let printed = async {
            while output.lines() == 0 {
                crate::test_substrate::pause().await;
            }
        };
        timeout(TIMEOUT, printed).await.expect("it says hello");
        drop(handle);
        let tape = folder.path().join("panes/a/tape");
        let tape = paned_keeper::tape::TapeReader::open(&tape).unwrap();
        let pid = |number: u32| Pid::from_raw(number.try_into().unwrap()).unwrap();
        let (program, keeper) = (pid(tape.pid().unwrap()), KeeperKillGuard(pid(tape.keeper())));
        kill_process(keeper.0, Signal::STOP).unwrap();
        let mut found = backend(folder.path()).recover().await.unwrap();
        let RecoveredState::Unresponsive(unresponsive) = found.remove(0).state else {
            panic!("its keeper lives")
        };
        Self { folder, program, keeper, unresponsive }
    }
}

#[tokio::test]
async fn a_stopped_keeper_is_waited_for_and_its_output_is_read_meanwhile() {
    let StoppedKeeper { folder, program, keeper, unresponsive } = StoppedKeeper::new().await;
    assert_eq!(unresponsive.pid, Some(program.as_raw_nonzero().get().unsigned_abs()));
    assert_eq!(unresponsive.keeper, Some(keeper.0.as_raw_nonzero().get().unsigned_abs()));
    let mut bytes = [0; 64];
    let output = unresponsive.output.unwrap();
    let read = output.read(0, &mut bytes).unwrap().unwrap();
    assert_eq!(&bytes[..read], b"hello\r\n");
    kill_process(keeper.0, Signal::CONT).unwrap();
    let state = timeout(TIMEOUT, unresponsive.pending).await.expect("it answers");
    let RecoveredState::Alive(handle) = state else { panic!("{state:?}") };
    end(handle).await;
    drop(folder);
}

/// Types the end-of-file key, which shows that the keeper reads.
async fn end(handle: PaneHandle) {
    let PaneHandle { commands, driver, mut events, .. } = handle;
    let driving = tokio::spawn(driver);
    let (reply, answer) = oneshot::channel();
    commands.send(PaneCommand::Input(vec![b"\x04".to_vec()], reply)).await.unwrap();
    assert!(timeout(TIMEOUT, answer).await.unwrap().unwrap().is_ok());
    let ended = async {
        while let Some(event) = events.recv().await {
            if matches!(event, PaneEvent::Exited(_)) {
                return;
            }
        }
        panic!("it never ended");
    };
    timeout(TIMEOUT, ended).await.expect("it ends");
    driving.abort();
}

#[tokio::test]
async fn a_stopped_keeper_that_is_killed_is_lost() {
    let StoppedKeeper { folder: _folder, program, keeper, unresponsive } =
        StoppedKeeper::new().await;
    kill_process(keeper.0, Signal::KILL).unwrap();
    let state = timeout(TIMEOUT, unresponsive.pending).await.expect("it is gone");
    assert!(matches!(state, RecoveredState::Lost(Some(_))), "{state:?}");
    // Its terminal is gone, and the program may be, too.
    let _ = kill_process(program, Signal::KILL);
}
