//! A kernel over the fake backend, and helpers to use it.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::fake::{FakeBackend, FakePane};
use paned_kernel::journal::{
    FakeDisk, Journal, JournalEntry, JournalRead, JournalRecord, OpenedJournal,
};
use paned_kernel::{
    AdvertisedAddress, ApprovalSetup, Caller, EventFeed, Kernel, KernelLimits, KernelSetup,
};
use paned_model::{Code, EventId, Refusal, Time};
use serde_json::Value;

use crate::schema;

pub(crate) struct TestKernel {
    pub(crate) kernel: Kernel,
    pub(crate) fake: FakeBackend,
    pub(crate) owner: Caller,
}

pub(crate) fn setup() -> KernelSetup {
    KernelSetup {
        version: "0.0.0",
        address: AdvertisedAddress::default(),
        env: vec![("PATH".into(), "/bin:/usr/bin".into()), ("HOME".into(), "/".into())],
        program_folder: None,
        token_file: None,
        limits: KernelLimits {
            panes: 5,
            hook_timeout: Duration::from_secs(5),
            ..KernelLimits::default()
        },
        approvals: ApprovalSetup::default(),
        permissions: paned_kernel::PermissionSetup::default(),
        tmux_view: None,
        adopted_tmux: None,
        profiles: None,
        worktrees: None,
        now: || Time(1_000),
    }
}

pub(crate) fn empty() -> OpenedJournal {
    OpenedJournal { records: Vec::new(), first: None, last: EventId(0), recovery: None }
}

impl TestKernel {
    pub(crate) async fn new() -> Self {
        Self::with_records(FakeBackend::default(), Vec::new()).await
    }

    /// A kernel that recovers these panes and has these records.
    pub(crate) async fn with_records(fake: FakeBackend, records: Vec<JournalRecord>) -> Self {
        Self::with_setup(setup(), fake, records).await
    }

    pub(crate) async fn with_setup(
        setup: KernelSetup,
        fake: FakeBackend,
        records: Vec<JournalRecord>,
    ) -> Self {
        let opened = OpenedJournal { records, ..empty() };
        let started = Kernel::start(setup, Journal::memory(), opened, Arc::new(fake.clone())).await;
        let (kernel, _) = started.unwrap();
        let owner = kernel.owner(None);
        Self { kernel, fake, owner }
    }

    /// A kernel whose journal is on this disk.
    pub(crate) async fn on_disk(disk: &FakeDisk) -> Self {
        let fake = FakeBackend::default();
        let journal = Journal::on_disk(disk).unwrap();
        let started = Kernel::start(setup(), journal, empty(), Arc::new(fake.clone())).await;
        let (kernel, _) = started.unwrap();
        let owner = kernel.owner(None);
        Self { kernel, fake, owner }
    }

    pub(crate) async fn act(&self, name: &str, params: Value) -> Result<Value, Refusal> {
        self.act_as(&self.owner, name, params).await
    }

    /// Runs an action, and checks that the answer matches its schema.
    pub(crate) async fn act_as(
        &self,
        who: &Caller,
        name: &str,
        params: Value,
    ) -> Result<Value, Refusal> {
        let answer = self.kernel.dispatch(name, params.to_string().as_bytes(), who).await?;
        let answer = serde_json::from_str(answer.get()).unwrap();
        let (_, schema) = self.kernel.action(name)?.schemas();
        schema::check(name, &schema, &answer);
        Ok(answer)
    }

    /// A pane's screen, as `pane:screen` answers it.
    pub(crate) async fn screen(&self, id: &str) -> Value {
        self.act("pane:screen", serde_json::json!({ "paneId": id })).await.unwrap()
    }

    #[track_caller]
    pub(crate) fn feed(&self, include: &str) -> EventFeed {
        self.kernel.events(Some(EventId(0)), include.parse().unwrap(), &self.owner).unwrap()
    }

    /// The token that a pane's program was given.
    pub(crate) fn token_in(&self, id: &str) -> String {
        let pane = self.pane(id);
        let mut variables = pane.spec.env.iter();
        variables.find(|(name, _)| name == "PANED_TOKEN").unwrap().1.clone()
    }

    pub(crate) fn pane(&self, id: &str) -> Arc<FakePane> {
        self.fake.pane(id).unwrap()
    }

    /// Waits until the kernel has read everything that a pane has printed.
    pub(crate) async fn heard(&self, id: &str) {
        let pane = self.pane(id);
        let end = paned_backend::Output::end(pane.as_ref());
        while pane.taken() < end {
            tokio::task::yield_now().await;
        }
    }
}

/// The next event, which must come soon.
pub(crate) async fn next(feed: &mut EventFeed) -> Arc<JournalEntry> {
    let batch = tokio::time::timeout(Duration::from_secs(60), feed.next(1)).await;
    match batch.expect("an event within a minute") {
        JournalRead::Entries(entries) => entries[0].clone(),
        other => panic!("no event but {other:?}"),
    }
}

/// The names of the next events.
pub(crate) async fn names(feed: &mut EventFeed, count: usize) -> Vec<String> {
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(next(feed).await.name.clone());
    }
    names
}

#[track_caller]
pub(crate) fn code(outcome: Result<Value, Refusal>) -> (Code, String) {
    let refusal = outcome.unwrap_err();
    (refusal.code, refusal.sentence)
}
