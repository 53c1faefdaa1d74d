//! Changes under way, each in a task of its own: whoever asked may go away in the middle, and the change is
//! finished all the same.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::Refusal;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The tasks of all changes under way.
#[derive(Default)]
pub(crate) struct Errands {
    tasks: Mutex<JoinSet<()>>,
}

impl Errands {
    /// Does it in a task of its own and waits for the outcome.
    ///
    /// # Errors
    /// When it panicked, or the server stopped before it was done.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        errand: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (done, outcome) = oneshot::channel();
        self.spawn(async move {
            // Whoever asked may be gone.
            let _ = done.send(errand.await);
        });
        outcome
            .await
            .map_err(|_| Refusal::internal("the action broke off; the server's log says more"))
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
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn an_errand_is_finished_though_nobody_waits_for_it() {
        let errands = Errands::default();
        let (begun, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun_there, go) = (begun.clone(), done.clone());
        let (told, outcome) = oneshot::channel();
        let errand = errands.run(async move {
            begun_there.notify_one();
            go.notified().await;
            told.send(7).unwrap();
        });
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
        let errands = Errands::default();
        let refusal = errands.run::<()>(async { panic!("on purpose") }).await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal);
    }

    #[tokio::test]
    async fn one_that_never_ends_holds_up_nobody_for_longer_than_asked() {
        let errands = Errands::default();
        errands.spawn(pending());
        assert!(timeout(Duration::from_millis(1), errands.finish()).await.is_err());
    }
}
