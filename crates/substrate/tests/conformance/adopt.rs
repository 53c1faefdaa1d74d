//! Keepers that do not answer whoever comes after their server.

use std::path::Path;
use std::time::Duration;

use paned_keeper::tape::MIN_CAPACITY;
use paned_substrate::native::{Native, Nursery};
use paned_substrate::{Command, Fact, Ground as _, Link, Order, Silent, State};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::house::{PATIENCE, SIZE, example};

fn ground(folder: &Path) -> Native {
    let nursery = Nursery::new(example(), vec!["nursery".into()], folder.join("keepers.log"));
    Native::new(folder.to_owned(), nursery)
}

/// A `cat` whose server is gone and whose keeper is stopped, as the next server finds it.
struct Stopped {
    folder: TempDir,
    program: Pid,
    keeper: Keeper,
    silent: Silent,
}

/// A keeper that goes on with nobody if its test fails is ended.
struct Keeper(Pid);

impl Drop for Keeper {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = kill_process(self.0, Signal::KILL);
        }
    }
}

impl Stopped {
    async fn new() -> Self {
        let folder = TempDir::with_prefix("paned-adopt-").unwrap();
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let order = Order {
            id: "a".parse().unwrap(),
            program: "/bin/sh".into(),
            argv: text(&["sh", "-c", "echo hello; exec cat"]),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
            size: SIZE,
            capacity: MIN_CAPACITY,
            timeout: None,
            grace: Duration::ZERO,
            followed: false,
            record: "{}".into(),
        };
        let link = ground(folder.path()).spawn(order).await.unwrap();
        let output = link.output.clone();
        let said = async {
            while output.lines() == 0 {
                crate::house::pause().await;
            }
        };
        timeout(PATIENCE, said).await.expect("it says hello");
        drop(link);
        let tape = folder.path().join("panes/a/tape");
        let tape = paned_keeper::tape::Reader::open(&tape).unwrap();
        let pid = |number: u32| Pid::from_raw(number.try_into().unwrap()).unwrap();
        let (program, keeper) = (pid(tape.pid().unwrap()), Keeper(pid(tape.keeper())));
        kill_process(keeper.0, Signal::STOP).unwrap();
        let mut found = ground(folder.path()).adopt().await.unwrap();
        let State::Silent(silent) = found.remove(0).state else { panic!("its keeper lives") };
        Self { folder, program, keeper, silent }
    }
}

#[tokio::test]
async fn a_stopped_keeper_is_waited_for_and_its_output_is_read_meanwhile() {
    let Stopped { folder, program, keeper, silent } = Stopped::new().await;
    assert_eq!(silent.pid, Some(program.as_raw_nonzero().get().unsigned_abs()));
    assert_eq!(silent.keeper, Some(keeper.0.as_raw_nonzero().get().unsigned_abs()));
    let mut bytes = [0; 64];
    let output = silent.output.unwrap();
    let read = output.read(0, &mut bytes).unwrap().unwrap();
    assert_eq!(&bytes[..read], b"hello\r\n");
    kill_process(keeper.0, Signal::CONT).unwrap();
    let state = timeout(PATIENCE, silent.later).await.expect("it answers");
    let State::Alive(link) = state else { panic!("{state:?}") };
    end(link).await;
    drop(folder);
}

/// Types into it what ends it, so that it is seen to hear.
async fn end(link: Link) {
    let Link { commands, carrier, mut facts, .. } = link;
    let carrying = tokio::spawn(carrier);
    let (reply, answer) = oneshot::channel();
    commands.send(Command::Input(vec![b"\x04".to_vec()], reply)).await.unwrap();
    assert!(timeout(PATIENCE, answer).await.unwrap().unwrap().is_ok());
    let ended = async {
        while let Some(fact) = facts.recv().await {
            if matches!(fact, Fact::Exited(_)) {
                return;
            }
        }
        panic!("it never ended");
    };
    timeout(PATIENCE, ended).await.expect("it ends");
    carrying.abort();
}

#[tokio::test]
async fn a_stopped_keeper_that_is_killed_is_lost() {
    let Stopped { folder: _folder, program, keeper, silent } = Stopped::new().await;
    kill_process(keeper.0, Signal::KILL).unwrap();
    let state = timeout(PATIENCE, silent.later).await.expect("it is gone");
    assert!(matches!(state, State::Lost(Some(_))), "{state:?}");
    // Its terminal is gone, and so may it be by now.
    let _ = kill_process(program, Signal::KILL);
}
