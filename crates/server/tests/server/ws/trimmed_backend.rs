//! Panes whose oldest output a test drops, as a real pane's ring buffer does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_backend::{
    Backend, BoxedFuture, Error, LineMark, Output, OutputGap, OutputTime, PaneHandle,
    ProcessFingerprint, RecoveredPane, RecoveredState, SpawnSpec,
};
use paned_model::frame::{ExitRecord, Survivor};
use paned_model::{PaneId, Size};
use paned_server::ServerLimits;

use crate::test_server::TestServer;

/// The panes of a fake, which keep nothing before an offset.
#[derive(Clone, Default)]
pub(crate) struct TrimmedBackend {
    fake: FakeBackend,
    first: Arc<AtomicU64>,
}

#[derive(Debug)]
struct TrimmedOutput {
    output: Arc<dyn Output>,
    first: Arc<AtomicU64>,
}

impl TrimmedBackend {
    pub(crate) async fn server(&self) -> TestServer {
        TestServer::with_backend(Arc::new(self.clone()), self.fake.clone(), ServerLimits::default())
            .await
    }

    /// The bytes before this offset are gone.
    pub(crate) fn drop_before(&self, offset: u64) {
        self.first.store(offset, SeqCst);
    }
}

impl Backend for TrimmedBackend {
    fn spawn(&self, spec: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>> {
        Box::pin(async {
            let handle = self.fake.spawn(spec).await?;
            let output =
                Arc::new(TrimmedOutput { output: handle.output, first: self.first.clone() });
            Ok(PaneHandle { output, ..handle })
        })
    }

    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>> {
        self.fake.recover()
    }

    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState> {
        self.fake.reconnect(id)
    }

    fn end(
        &self,
        id: PaneId,
        traces: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        self.fake.end(id, traces, grace)
    }

    fn launch_record(&self, id: PaneId) -> BoxedFuture<'_, Result<Option<String>, Error>> {
        self.fake.launch_record(id)
    }

    fn rename(&self, from: PaneId, to: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        self.fake.rename(from, to)
    }

    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        self.fake.remove(id)
    }
}

impl Output for TrimmedOutput {
    fn first(&self) -> u64 {
        self.first.load(SeqCst)
    }

    fn end(&self) -> u64 {
        self.output.end()
    }

    fn lines(&self) -> u64 {
        self.output.lines()
    }

    fn taken(&self) -> u64 {
        self.output.taken()
    }

    fn size(&self) -> Size {
        self.output.size()
    }

    fn ending(&self) -> Option<ExitRecord> {
        self.output.ending()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        let first = self.first();
        if offset < first {
            return Ok(Err(OutputGap { first }));
        }
        self.output.read(offset, buffer)
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        self.output.line_mark(offset)
    }

    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        self.output.time(offset)
    }
}
