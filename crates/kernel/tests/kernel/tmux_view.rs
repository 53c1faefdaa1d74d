//! Panes shown on a real tmux: how often it is asked.

use std::fmt::Debug;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_backend::tmux::TmuxServerAddr;
use paned_kernel::{KernelSetup, TmuxViewSetup};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::test_kernel::{TestKernel, setup};

/// How many commands a query has; no other line has so many.
const QUERY: u64 = 5;

/// The command lines that the control client sends, by how many commands each has. Each line is one
/// round trip.
#[derive(Clone, Default)]
struct RoundTrips(Arc<Mutex<Vec<u64>>>);

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
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for RoundTrips {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "parts" {
            self.0.lock().unwrap().push(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

impl RoundTrips {
    /// All since the last call, when tmux has reported everything.
    async fn take(&self) -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            // not a wait: that nothing more is sent for a while is what is tested.
            tokio::time::sleep(Duration::from_millis(500)).await;
            match std::mem::take(&mut *self.0.lock().unwrap()) {
                more if more.is_empty() => return all,
                more => all.extend(more),
            }
        }
    }
}

/// How many round trips it took until the last change was seen in a query. Queries in a row count
/// once: tmux has reported something in between.
fn until_seen(trips: &[u64]) -> usize {
    let mut trips = trips.to_vec();
    trips.dedup_by(|next, last| *next == QUERY && *last == QUERY);
    trips.iter().rposition(|parts| *parts != QUERY).map_or(0, |at| at + 2)
}

/// A private tmux server, killed on drop.
struct TmuxSocket(tempfile::TempDir);

impl TmuxSocket {
    fn setup(&self) -> KernelSetup {
        let attach = ["/bin/sh", "-c", "exec cat", "attach"].map(str::to_owned);
        let view = TmuxViewSetup {
            session: "main".to_owned(),
            server: TmuxServerAddr::own(&self.0.path().join("tmux")),
            attach: attach.into(),
            limits: Default::default(),
            max_waiting: 20,
            wait_timeout: Duration::from_secs(300),
            quiet_after: None,
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
    for id in ["first", "second", "third"] {
        let params = json!({ "id": id, "argv": ["cat"], "substrate": "tmux" });
        let shown = server.act("pane:new", params).await.unwrap();
        assert_eq!(shown["view"]["state"], "shown", "{shown}");
        let trips = trips.take().await;
        println!("shown: {trips:?}");
        assert!((1..=5).contains(&until_seen(&trips)), "{trips:?}");
        assert!(trips.len() <= 8, "what that makes tmux report is queried a few times: {trips:?}");
    }
    server.act("layout:hide", json!({ "paneId": "second" })).await.unwrap();
    let trips = trips.take().await;
    println!("hidden: {trips:?}");
    assert!((1..=6).contains(&until_seen(&trips)), "{trips:?}");
}
