//! Panes shown on a real tmux: how often it is asked.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_backend::tmux::TmuxServerAddr;
use paned_kernel::{KernelSetup, TmuxViewSetup};
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::test_kernel::{TestKernel, setup};

/// Counts the command lines that the control client sends: each is one round trip.
#[derive(Clone, Default)]
struct RoundTrips(Arc<AtomicUsize>);

impl Subscriber for RoundTrips {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "paned_backend::tmux::client"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if event.metadata().fields().field("parts").is_some() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl RoundTrips {
    /// How many there were since the last call.
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }

    /// The same, when tmux has reported everything.
    async fn settled(&self) -> usize {
        let mut all = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            match self.take() {
                0 => return all,
                more => all += more,
            }
        }
    }
}

/// A private tmux server, killed on drop.
struct TmuxSocket(tempfile::TempDir);

impl TmuxSocket {
    fn setup(&self) -> KernelSetup {
        let attach = ["/bin/sh", "-c", "exec cat", "attach"].map(str::to_owned);
        let view = TmuxViewSetup {
            server: TmuxServerAddr::own(&self.0.path().join("tmux")),
            attach: attach.into(),
            limits: Default::default(),
            max_waiting: 20,
            wait_timeout: Duration::from_secs(300),
            rules: Vec::new(),
            subagent_command: Vec::new(),
            layouts: self.0.path().to_owned(),
        };
        KernelSetup { tmux_view: Some(view), ..setup() }
    }

    fn run(&self, args: &[&str]) {
        let socket: &Path = &self.0.path().join("tmux/tmux.sock");
        let mut tmux = Command::new("tmux");
        let _ = tmux.arg("-S").arg(socket).args(args).stderr(Stdio::null()).status();
    }
}

impl Drop for TmuxSocket {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[tokio::test]
async fn a_pane_is_shown_in_at_most_five_round_trips() {
    let trips = RoundTrips::default();
    let _guard = tracing::subscriber::set_default(trips.clone());
    let tmux = TmuxSocket(tempfile::tempdir().unwrap());
    let server = TestKernel::with_setup(tmux.setup(), FakeBackend::default(), Vec::new()).await;
    let mut counts = Vec::new();
    for id in ["first", "second", "third"] {
        let params = json!({ "id": id, "argv": ["cat"], "substrate": "tmux" });
        let shown = server.act("pane:new", params).await.unwrap();
        assert_eq!(shown["view"]["state"], "shown", "{shown}");
        counts.push((id, trips.take(), trips.settled().await));
    }
    println!("until shown, and after that: {counts:?}");
    // The first answers a connection, too, which is a query of its own.
    assert!(counts.iter().all(|(_, trips, _)| *trips <= 5), "{counts:?}");
    server.act("layout:hide", json!({ "paneId": "second" })).await.unwrap();
    println!("until hidden, and after that: {} {}", trips.take(), trips.settled().await);
}
