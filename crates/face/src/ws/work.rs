//! What a socket has under way for its client.
//!
//! What is done to panes is done in the order in which it was asked for, one after the other: typed text must
//! not overtake itself. Actions by name run beside that and beside each other, as some of them wait.

use std::collections::VecDeque;
use std::future::pending;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use paned_kernel::Answer;
use paned_model::Refusal;

use super::ask::Id;
use super::opening::Opened;

/// How much may be under way; a client that asks for more is read again when some of it is done.
const MAX_JOBS: usize = 64;

/// Something under way.
pub(super) type Job = BoxFuture<'static, Done>;

/// What became of a job.
pub(super) enum Done {
    /// An action ran.
    Answered(Option<Id>, Result<Answer, Refusal>),
    /// A channel can be opened.
    Opened(Option<Id>, Result<Box<Opened>, Refusal>),
}

/// What is under way.
#[derive(Default)]
pub(super) struct Work {
    queue: VecDeque<Job>,
    beside: FuturesUnordered<Job>,
}

impl Work {
    /// Has it done after what was asked before.
    pub(super) fn line_up(&mut self, job: Job) {
        self.queue.push_back(job);
    }

    /// Has it done at once.
    pub(super) fn start(&mut self, job: Job) {
        self.beside.push(job);
    }

    /// Whether nothing more may be asked for now.
    pub(super) fn is_full(&self) -> bool {
        MAX_JOBS <= self.queue.len().max(self.beside.len())
    }

    /// The next job that is done. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Done {
        let first = async {
            match self.queue.front_mut() {
                Some(job) => job.await,
                None => pending().await,
            }
        };
        tokio::select! {
            done = first => {
                self.queue.pop_front();
                done
            }
            Some(done) = self.beside.next() => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    fn job(number: u32, until: Option<oneshot::Receiver<()>>) -> Job {
        Box::pin(async move {
            if let Some(until) = until {
                let _ = until.await;
            }
            Done::Answered(None, Err(Refusal::invalid(number.to_string())))
        })
    }

    fn number(done: Done) -> String {
        match done {
            Done::Answered(_, Err(refusal)) => refusal.sentence,
            Done::Answered(..) | Done::Opened(..) => String::new(),
        }
    }

    #[tokio::test]
    async fn a_queue_keeps_its_order_and_the_rest_does_not_wait_for_it() {
        let (mut work, (go, held)) = (Work::default(), oneshot::channel());
        work.line_up(job(1, Some(held)));
        work.line_up(job(2, None));
        work.start(job(3, None));
        assert_eq!(number(work.next().await), "3");
        assert!(work.next().now_or_never().is_none());
        go.send(()).unwrap();
        assert_eq!(number(work.next().await), "1");
        assert_eq!(number(work.next().await), "2");
    }

    #[tokio::test]
    async fn there_is_an_end_to_what_may_be_under_way() {
        let mut work = Work::default();
        for _ in 0..MAX_JOBS {
            assert!(!work.is_full());
            work.line_up(job(0, None));
        }
        assert!(work.is_full());
        work.next().await;
        assert!(!work.is_full());
    }
}
