//! Panes whose oldest output is dropped by a test's hand, as the ring of a real one drops it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use paned_face::Limits;
use paned_model::frame::{Ending, Survivor};
use paned_model::{PaneId, Size};
use paned_substrate::fake::Fake;
use paned_substrate::{
    Boxed, Error, Found, Gap, Ground, Link, Mark, Order, Output, Stamp, State, Traces,
};

use crate::house::House;

/// The panes of a fake, which keep nothing before an offset.
#[derive(Clone, Default)]
pub(crate) struct Ring {
    fake: Fake,
    first: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Kept {
    output: Arc<dyn Output>,
    first: Arc<AtomicU64>,
}

impl Ring {
    pub(crate) async fn house(&self) -> House {
        House::over(Arc::new(self.clone()), self.fake.clone(), Limits::default()).await
    }

    /// The bytes before this offset are gone.
    pub(crate) fn drop_before(&self, offset: u64) {
        self.first.store(offset, SeqCst);
    }
}

impl Ground for Ring {
    fn spawn(&self, order: Order) -> Boxed<'_, Result<Link, Error>> {
        Box::pin(async {
            let link = self.fake.spawn(order).await?;
            let output = Arc::new(Kept { output: link.output, first: self.first.clone() });
            Ok(Link { output, ..link })
        })
    }

    fn adopt(&self) -> Boxed<'_, Result<Vec<Found>, Error>> {
        self.fake.adopt()
    }

    fn reach(&self, id: PaneId) -> Boxed<'_, State> {
        self.fake.reach(id)
    }

    fn end(
        &self,
        id: PaneId,
        traces: Traces,
        grace: Duration,
    ) -> Boxed<'_, Result<Vec<Survivor>, Error>> {
        self.fake.end(id, traces, grace)
    }

    fn forget(&self, id: PaneId) -> Boxed<'_, Result<(), Error>> {
        self.fake.forget(id)
    }
}

impl Output for Kept {
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

    fn ending(&self) -> Option<Ending> {
        self.output.ending()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>> {
        let first = self.first();
        if offset < first {
            return Ok(Err(Gap { first }));
        }
        self.output.read(offset, buffer)
    }

    fn mark(&self, offset: u64) -> io::Result<Result<Mark, Gap>> {
        self.output.mark(offset)
    }

    fn time(&self, offset: u64) -> io::Result<Result<Stamp, Gap>> {
        self.output.time(offset)
    }
}
