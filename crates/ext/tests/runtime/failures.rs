//! Programs that fail.

use std::time::{Duration, Instant};

use paned_ext::ExtensionRunner;
use paned_ext::manifest::Program;
use paned_kernel::extensions::ExtensionStatus;
use serde_json::json;

use crate::test_runtime::TestRuntime;

#[tokio::test]
async fn five_lines_that_are_no_json_are_too_many() {
    let server = TestRuntime::new().await;
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        print("hello", flush=True)
        notify("registerAction", name="print", description="Print.", kind="question")
        answer(message)
    elif message.get("method") == "runAction":
        print("debug", flush=True)
        answer(message, 1)
"#;
    server.start("printer", code).await;
    for _ in 0..3 {
        assert_eq!(server.act("printer:print", json!({})).await.unwrap(), 1);
    }
    assert_eq!(server.state("printer").status, ExtensionStatus::Running);
    let _ = server.act("printer:print", json!({})).await;
    let state = server.until("printer", |state| state.status == ExtensionStatus::Failed).await;
    let reason = state.reason.unwrap();
    assert!(reason.contains("standard output") && reason.contains("reload printer"), "{reason}");
    assert!(server.log("printer").contains("\"debug\""), "{}", server.log("printer"));
    server.start("printer", code).await;
}

#[tokio::test]
async fn ten_megabytes_of_standard_error_are_bounded_and_slow_nothing_down() {
    let server = TestRuntime::new().await;
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        for number in range(100000):
            sys.stderr.write("x" * 99 + "\n")
        sys.stderr.write("y" * 1000000)
        print("the end", file=sys.stderr)
        answer(message)
"#;
    server.start("noisy", code).await;
    server.runtime.stop("noisy", true).await;
    let folder = server.dir.path().join("extensions/noisy");
    let size = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |it| it.len());
    assert!(size("log") + size("log.1") < 3 << 20, "{} {}", size("log"), size("log.1"));
    assert!(1 << 20 < size("log") + size("log.1"));
}

#[tokio::test]
async fn a_stop_ends_a_program_that_ignores_it() {
    let server = TestRuntime::new().await;
    let code = r#"
import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "1000"])
for message in messages():
    if message.get("method") == "initialize":
        notify("registerAction", name="child", description="x", kind="question")
        answer(message)
    elif message.get("method") == "runAction":
        answer(message, child.pid)
while True:
    time.sleep(1)
"#;
    server.start("stubborn", code).await;
    let child = server.act("stubborn:child", json!({})).await.unwrap().as_u64().unwrap();
    let pid = server.state("stubborn").pid.unwrap();
    let started = Instant::now();
    server.runtime.stop("stubborn", true).await;
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    for pid in [u64::from(pid), child] {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = stat.is_empty() || stat.contains(") Z ");
        assert!(is_gone, "{stat}");
    }
    assert!(server.runtime.state("stubborn").is_none());
}

#[tokio::test]
async fn a_program_that_is_not_there_says_so() {
    let server = TestRuntime::new().await;
    let mut setup = server.setup("missing", "");
    setup.manifest.program = Program::Command(vec!["paned-no-such-program".into()]);
    server.runtime.start(setup).await;
    let state = server.state("missing");
    assert_eq!(state.status, ExtensionStatus::Restarting);
    let reason = state.reason.unwrap();
    assert!(reason.contains("cannot start `paned-no-such-program`"), "{reason}");
    server.runtime.shutdown().await;
}
