//! What all threads of a run share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Outcome};
use super::ledger::Ledger;
use crate::SeededRng;

/// The variable that marks every process of a pane.
pub(super) const MARKER: &str = "PANED_CHAOS_PANE";

/// The server's folder, the ledger, and whether the run goes on.
pub(super) struct ChaosRun {
    pub(super) ledger: Ledger,
    pub(super) seed: u64,
    /// The server's home: its state folder and its log are in it.
    pub(super) home: PathBuf,
    pub(super) socket: PathBuf,
    /// In the marker of every process of this run.
    pub(super) run: String,
    /// How many panes there are to be.
    pub(super) panes: usize,
    is_over: AtomicBool,
    made: AtomicU64,
}

impl ChaosRun {
    pub(super) fn new(ledger: Ledger, seed: u64, home: PathBuf, socket: PathBuf) -> Self {
        let run = format!("{}-{seed}", std::process::id());
        let is_over = AtomicBool::new(false);
        Self { ledger, seed, home, socket, run, panes: 50, is_over, made: AtomicU64::new(0) }
    }

    /// Whether faults and load go on.
    pub(super) fn is_running(&self) -> bool {
        !self.is_over.load(Ordering::SeqCst) && !self.ledger.has_failed()
    }

    /// Ends faults and load.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// The choices of one thread: the same for the same seed and number.
    pub(super) fn rng(&self, thread: u64) -> SeededRng {
        SeededRng::seeded(self.seed ^ (thread + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn client(&self) -> Client<'_> {
        Client { socket: self.socket.clone(), ledger: &self.ledger }
    }

    pub(super) fn call(&self, name: &str, params: &Value) -> Outcome {
        self.client().call(name, params)
    }

    /// The folder of a pane's files.
    pub(super) fn folder(&self, pane: &str) -> PathBuf {
        self.home.join("state/panes").join(pane)
    }

    /// The marker of a pane's processes.
    pub(super) fn marker(&self, pane: &str) -> String {
        format!("{MARKER}={}-{pane}.", self.run)
    }

    /// A name that no pane had before.
    pub(super) fn name(&self) -> String {
        format!("p{}", self.made.fetch_add(1, Ordering::SeqCst))
    }

    /// The parameters of `pane:new` for a program of this binary.
    pub(super) fn spawn_params(&self, id: &str, words: &[&str]) -> Value {
        let program = std::env::current_exe().unwrap_or_default();
        let mut argv = vec![program.to_string_lossy().into_owned(), super::program::WORD.into()];
        argv.extend(words.iter().map(|word| (*word).to_owned()));
        let marker = format!("{}-{id}.", self.run);
        json!({ "id": id, "argv": argv, "env": { MARKER: marker } })
    }
}

/// A pause between two operations. It is part of the load, and waits for nothing.
pub(super) fn pause(dice: &mut SeededRng, most: u64) {
    let pause = Duration::from_millis(dice.below(most.max(1)));
    std::thread::sleep(pause);
}
