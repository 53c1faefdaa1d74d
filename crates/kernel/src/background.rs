//! Changes in progress. A caller may disconnect before its change is finished; the change then
//! continues in a task of its own.

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

/// The tasks of all changes in progress.
#[derive(Default)]
pub(crate) struct BackgroundTasks {
    tasks: Mutex<JoinSet<()>>,
}

impl BackgroundTasks {
    /// Runs a future and waits for the outcome. It is spawned as a task unless the first poll
    /// completes it. Most changes complete at once, and a task costs as much as they do.
    ///
    /// # Errors
    /// When it panicked, or the server stopped before it finished.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: BoxedFuture<'static, T>,
    ) -> Result<T, Refusal> {
        let mut future = AssertUnwindSafe(future).catch_unwind();
        let first_poll = poll_fn(|cx| Poll::Ready(future.poll_unpin(cx))).await;
        if let Poll::Ready(outcome) = first_poll {
            return outcome.map_err(|_| aborted());
        }
        let (done, outcome) = oneshot::channel();
        self.spawn(async move {
            // The caller may have disconnected.
            let _ = done.send(future.await);
        });
        outcome.await.map_err(|_| aborted())?.map_err(|_| aborted())
    }

    /// Runs a future in a task of its own.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.lock();
        while let Some(ended) = tasks.try_join_next() {
            report(ended);
        }
        tasks.spawn(future);
    }

    /// Waits until all tasks have ended.
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

/// The panic hook has logged the location.
fn aborted() -> Refusal {
    tracing::error!("an action panicked or was cancelled");
    Refusal::internal("the action failed unexpectedly; see the server's log")
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "an action panicked or was cancelled");
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
        let background = BackgroundTasks::default();
        let (begun, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun_there, go) = (begun.clone(), done.clone());
        let (told, outcome) = oneshot::channel();
        let errand = background.run(Box::pin(async move {
            begun_there.notify_one();
            go.notified().await;
            told.send(7).unwrap();
        }));
        tokio::select! {
            _ = errand => unreachable!("nobody let it go on"),
            () = begun.notified() => {}
        }
        done.notify_one();
        background.finish().await;
        assert_eq!(outcome.await, Ok(7));
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let background = BackgroundTasks::default();
        let refusal = background.run::<()>(Box::pin(async { panic!("on purpose") }));
        let refusal = refusal.await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal);
        let later = background.run::<()>(Box::pin(async {
            yield_now().await;
            panic!("on purpose")
        }));
        assert_eq!(later.await.unwrap_err().code, Code::Internal);
    }

    #[tokio::test]
    async fn what_is_done_without_waiting_needs_no_task() {
        let background = BackgroundTasks::default();
        assert_eq!(background.run(Box::pin(async { 7 })).now_or_never(), Some(Ok(7)));
        assert!(background.lock().is_empty());
        assert_eq!(background.run(Box::pin(yield_now())).await, Ok(()));
        assert_eq!(background.lock().len(), 1);
    }

    #[tokio::test]
    async fn one_that_never_ends_holds_up_nobody_for_longer_than_asked() {
        let background = BackgroundTasks::default();
        background.spawn(pending());
        assert!(timeout(Duration::from_millis(1), background.finish()).await.is_err());
    }
}
