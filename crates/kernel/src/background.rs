//! Changes under way: whoever asked may go away in the middle, and the change is finished all the same, in a task of
//! its own.

use std::future::poll_fn;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::FutureExt;
use paned_backend::BoxedFuture;
use paned_model::Refusal;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The tasks of all changes under way.
#[derive(Default)]
pub(crate) struct BackgroundTasks {
    tasks: Mutex<JoinSet<()>>,
}

impl BackgroundTasks {
    /// Does it and waits for the outcome: in a task of its own, unless it is done before it waits for anything. Most
    /// changes are, and a task costs as much as they do.
    ///
    /// # Errors
    /// When it panicked, or the server stopped before it was done.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        errand: BoxedFuture<'static, T>,
    ) -> Result<T, Refusal> {
        let mut errand = AssertUnwindSafe(errand).catch_unwind();
        let begun = poll_fn(|cx| Poll::Ready(errand.poll_unpin(cx))).await;
        if let Poll::Ready(outcome) = begun {
            return outcome.map_err(|_| aborted());
        }
        let (done, outcome) = oneshot::channel();
        self.spawn(async move {
            // Whoever asked may be gone.
            let _ = done.send(errand.await);
        });
        outcome.await.map_err(|_| aborted())?.map_err(|_| aborted())
    }

    /// Does it in a task of its own.
    pub(crate) fn spawn(&self, errand: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.lock();
        while let Some(ended) = tasks.try_join_next() {
            report(ended);
        }
        tasks.spawn(errand);
    }

    /// Waits until nothing is under way.
    pub(crate) async fn finish(&self) {
        let mut tasks = mem::take(&mut *self.lock());
        while let Some(ended) = tasks.join_next().await {
            report(ended);
        }
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The panic hook has said where.
fn aborted() -> Refusal {
    tracing::error!("an action broke off");
    Refusal::internal("the action broke off; the server's log says more")
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "an action broke off");
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::time::Duration;

    use paned_model::Code;
    use tokio::sync::Notify;
    use tokio::task::yield_now;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn an_errand_is_finished_though_nobody_waits_for_it() {
        let errands = BackgroundTasks::default();
        let (begun, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun_there, go) = (begun.clone(), done.clone());
        let (told, outcome) = oneshot::channel();
        let errand = errands.run(Box::pin(async move {
            begun_there.notify_one();
            go.notified().await;
            told.send(7).unwrap();
        }));
        tokio::select! {
            _ = errand => unreachable!("nobody let it go on"),
            () = begun.notified() => {}
        }
        done.notify_one();
        errands.finish().await;
        assert_eq!(outcome.await, Ok(7));
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let errands = BackgroundTasks::default();
        let refusal = errands.run::<()>(Box::pin(async { panic!("on purpose") }));
        let refusal = refusal.await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal);
        let later = errands.run::<()>(Box::pin(async {
            yield_now().await;
            panic!("on purpose")
        }));
        assert_eq!(later.await.unwrap_err().code, Code::Internal);
    }

    #[tokio::test]
    async fn what_is_done_without_waiting_needs_no_task() {
        let errands = BackgroundTasks::default();
        assert_eq!(errands.run(Box::pin(async { 7 })).now_or_never(), Some(Ok(7)));
        assert!(errands.lock().is_empty());
        assert_eq!(errands.run(Box::pin(yield_now())).await, Ok(()));
        assert_eq!(errands.lock().len(), 1);
    }

    #[tokio::test]
    async fn one_that_never_ends_holds_up_nobody_for_longer_than_asked() {
        let errands = BackgroundTasks::default();
        errands.spawn(pending());
        assert!(timeout(Duration::from_millis(1), errands.finish()).await.is_err());
    }
}
