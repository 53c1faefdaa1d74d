//! The kernel in this process, over real panes: for the doors that have no route yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_kernel::journal::{Batch, Journal};
use paned_kernel::{Address, Caller, Feed, Kernel, Limits, Setup};
use paned_model::{PaneId, Refusal};
use paned_substrate::native::{Native, Nursery};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::error::{Doing, Error};
use crate::limits::PATIENCE;
use crate::plan::Plan;
use crate::state::State;

/// How many events the journal keeps.
const KEEP: u64 = 10_000;

/// A kernel. Dropping it lets its panes go and then ends them.
pub(crate) struct House {
    runtime: Runtime,
    kernel: Kernel,
    owner: Caller,
    _state: State,
}

impl House {
    pub(crate) fn build(plan: &Plan) -> Result<Self, Error> {
        let state = State::new(plan)?;
        let now = paned_keeper::clock::now;
        let (journal, opened) = Journal::open(&state.path().join("journal.db"), KEEP, now)
            .map_err(|error| refused("the journal", error))?;
        let log = state.beside("log");
        let nursery = Nursery::new(plan.bench.clone(), vec!["nursery".into()], log);
        let native = Arc::new(Native::new(state.path().to_owned(), nursery));
        let runtime = Runtime::new().doing("start a runtime")?;
        let started = runtime.block_on(Kernel::start(setup(), journal, opened, native));
        let (kernel, _) = started.map_err(|error| refused("the kernel", error))?;
        let owner = kernel.owner(None);
        Ok(Self { runtime, kernel, owner, _state: state })
    }

    /// How long it takes from the answer of `pane:new` until the program has ended and its last screen was
    /// seen.
    pub(crate) fn run_and_look(&self, argv: &[String]) -> Result<Duration, Error> {
        let run = async {
            let include = "pane:exited".parse().expect("it is an event's name");
            let mut exits = self.kernel.events(None, include, &self.owner)?;
            let pane = self.open(argv).await?;
            let begun = Instant::now();
            await_exit(&mut exits).await;
            self.kernel.view(&pane, &self.owner).await?;
            let took = begun.elapsed();
            self.act("pane:remove", &json!({ "paneId": pane })).await?;
            Ok(took)
        };
        let done = self.runtime.block_on(async { timeout(PATIENCE, run).await });
        let done = done.map_err(|_| Error::Late { what: "a pane".into(), limit: PATIENCE })?;
        done.map_err(|refusal: Refusal| refused("a pane", refusal))
    }

    async fn open(&self, argv: &[String]) -> Result<PaneId, Refusal> {
        let pane = self.act("pane:new", &json!({ "argv": argv, "cwd": "/" })).await?;
        serde_json::from_value(pane["id"].clone()).map_err(Refusal::internal)
    }

    async fn act(&self, name: &str, params: &Value) -> Result<Value, Refusal> {
        let params = params.to_string();
        let answer = self.kernel.dispatch(name, params.as_bytes(), &self.owner).await?;
        serde_json::from_str(answer.get()).map_err(Refusal::internal)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.runtime.block_on(self.kernel.stop());
    }
}

fn setup() -> Setup {
    Setup {
        version: env!("CARGO_PKG_VERSION"),
        address: Address::default(),
        env: std::env::vars().collect(),
        token_file: None,
        stage: None,
        limits: Limits::default(),
        now: paned_keeper::clock::now,
    }
}

/// Waits for the next exit: there is one pane at a time.
async fn await_exit(exits: &mut Feed) {
    while !matches!(exits.next(1).await, Batch::Entries(_) | Batch::Closed) {}
}

fn refused(what: &str, error: impl ToString) -> Error {
    Error::Refused { what: what.to_owned(), answer: error.to_string() }
}
