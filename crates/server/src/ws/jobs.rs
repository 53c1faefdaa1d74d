//! The jobs that a socket runs for its client.
//!
//! Input, resizes and subscriptions run in the order of their requests, one at a time: typed text
//! must not be reordered. Actions by name run concurrently with those and with each other, as some
//! of them wait.
//!
//! Everything is bounded: a client that floods is not read until some of its jobs are done
//! (backpressure). But waiting must not block reading forever, or even a close frame would go
//! unread. So actions that may take long have slots of their own, and when none of these becomes
//! free for a second, further ones are refused.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use paned_kernel::{ActionAnswer, ActionKind};
use paned_model::{Code, Refusal};
use tokio::time::{Instant, sleep_until, timeout};

use super::protocol::WsRequestId;
use super::subscribe::WsSubscription;

/// How many jobs of each class may be in progress.
const MAX_JOBS: usize = 64;
/// How many actions may wait for a slot, and about how many bytes of them.
const MAX_WAITING: usize = 1024;
const MAX_WAITING_BYTES: usize = 1 << 20;
/// How long they wait while none in progress ends.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the remaining jobs may take when the client is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A job in progress.
pub(super) type WsJob = BoxFuture<'static, WsJobResult>;

/// The result of a job.
pub(super) enum WsJobResult {
    /// An action ran.
    Action(Option<WsRequestId>, Result<ActionAnswer, Refusal>),
    /// A channel can be opened.
    Subscribe(Option<WsRequestId>, Result<Box<WsSubscription>, Refusal>),
}

/// An action that runs concurrently with others.
pub(super) struct ConcurrentAction {
    pub(super) id: Option<WsRequestId>,
    /// How many bytes it takes up while it waits.
    pub(super) bytes: usize,
    pub(super) job: WsJob,
}

/// The jobs of a socket.
pub(super) struct WsJobs {
    queue: VecDeque<WsJob>,
    /// Actions that never take long. When there are too many, the client is not read; none of them
    /// is refused.
    brief: FuturesUnordered<WsJob>,
    concurrent: FuturesUnordered<WsJob>,
    /// Actions that may take long and for which there is no slot yet.
    waiting: VecDeque<ConcurrentAction>,
    waiting_bytes: usize,
    /// When an action that may take long last began or ended.
    last_progress: Instant,
}

impl Default for WsJobs {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            brief: FuturesUnordered::new(),
            concurrent: FuturesUnordered::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            last_progress: Instant::now(),
        }
    }
}

impl WsJobs {
    /// Queues a job behind the earlier ones.
    pub(super) fn enqueue(&mut self, job: WsJob) {
        self.queue.push_back(job);
    }

    /// Starts an action of this kind at once, or as soon as there is a slot for it.
    pub(super) fn start(&mut self, kind: ActionKind, action: ConcurrentAction) {
        match kind {
            ActionKind::Event | ActionKind::Input => self.brief.push(action.job),
            ActionKind::Question | ActionKind::Change => {
                self.waiting_bytes += action.bytes;
                self.waiting.push_back(action);
                self.start_waiting();
            }
        }
    }

    /// Whether no further request may be read now.
    pub(super) fn is_full(&self) -> bool {
        MAX_JOBS <= self.queue.len().max(self.brief.len())
            || MAX_WAITING <= self.waiting.len()
            || MAX_WAITING_BYTES <= self.waiting_bytes
    }

    /// The result of the next job that is done. Cancel-safe.
    pub(super) async fn next(&mut self) -> WsJobResult {
        let first = async {
            match self.queue.front_mut() {
                Some(job) => job.await,
                None => pending().await,
            }
        };
        let stalled = async { sleep_until(self.last_progress + STALL_TIMEOUT).await };
        // `biased` starves no branch: while results keep coming no request is read, so the jobs run
        // out.
        tokio::select! {
            biased;
            done = first => {
                self.queue.pop_front();
                done
            }
            Some(done) = self.brief.next() => done,
            Some(done) = self.concurrent.next() => {
                self.last_progress = Instant::now();
                self.start_waiting();
                done
            }
            () = stalled, if !self.waiting.is_empty() => self.refuse_first(),
        }
    }

    /// Finishes what a disconnected client asked for: its input is still typed and its changes are
    /// still made. Only its questions are dropped.
    pub(super) async fn drain(mut self) {
        for ConcurrentAction { job, .. } in self.waiting.drain(..) {
            // The kernel finishes a change that was begun, even if its future is dropped.
            let _ = job.now_or_never();
        }
        self.concurrent.clear();
        let rest = async {
            while let Some(job) = self.queue.pop_front() {
                job.await;
            }
            while self.brief.next().await.is_some() {}
        };
        if timeout(DRAIN_TIMEOUT, rest).await.is_err() {
            tracing::warn!("the last requests of a closed socket did not finish in time");
        }
    }

    /// Starts waiting actions, as far as there are slots.
    fn start_waiting(&mut self) {
        while self.concurrent.len() < MAX_JOBS
            && let Some(ConcurrentAction { bytes, job, .. }) = self.waiting.pop_front()
        {
            self.waiting_bytes -= bytes;
            self.concurrent.push(job);
            self.last_progress = Instant::now();
        }
    }

    /// Refuses the first waiting action.
    fn refuse_first(&mut self) -> WsJobResult {
        let first = self.waiting.pop_front();
        self.waiting_bytes -= first.as_ref().map_or(0, |action| action.bytes);
        let sentence = format!(
            "{MAX_JOBS} actions of this socket are in progress, the maximum, and none has \
            finished for {} ms; wait for one, or open another socket",
            STALL_TIMEOUT.as_millis()
        );
        let refusal = Refusal::new(Code::Limit, sentence);
        WsJobResult::Action(first.and_then(|action| action.id), Err(refusal))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    fn job(number: u32, until: Option<oneshot::Receiver<()>>) -> WsJob {
        Box::pin(async move {
            if let Some(until) = until {
                let _ = until.await;
            }
            WsJobResult::Action(None, Err(Refusal::invalid(number.to_string())))
        })
    }

    fn action(number: u32, until: Option<oneshot::Receiver<()>>) -> ConcurrentAction {
        ConcurrentAction { id: None, bytes: 10, job: job(number, until) }
    }

    fn code(done: &WsJobResult) -> Option<Code> {
        match done {
            WsJobResult::Action(_, Err(refusal)) => Some(refusal.code),
            WsJobResult::Action(..) | WsJobResult::Subscribe(..) => None,
        }
    }

    fn number(done: WsJobResult) -> String {
        match done {
            WsJobResult::Action(_, Err(refusal)) => refusal.sentence,
            WsJobResult::Action(..) | WsJobResult::Subscribe(..) => String::new(),
        }
    }

    #[tokio::test]
    async fn a_queue_keeps_its_order_and_the_rest_does_not_wait_for_it() {
        let (mut jobs, (go, held)) = (WsJobs::default(), oneshot::channel());
        jobs.enqueue(job(1, Some(held)));
        jobs.enqueue(job(2, None));
        jobs.start(ActionKind::Question, action(3, None));
        assert_eq!(number(jobs.next().await), "3");
        assert!(jobs.next().now_or_never().is_none());
        go.send(()).unwrap();
        assert_eq!(number(jobs.next().await), "1");
        assert_eq!(number(jobs.next().await), "2");
    }

    #[tokio::test]
    async fn there_is_an_end_to_what_may_be_under_way() {
        let mut jobs = WsJobs::default();
        for _ in 0..MAX_JOBS {
            assert!(!jobs.is_full());
            jobs.enqueue(job(0, None));
        }
        assert!(jobs.is_full());
        jobs.next().await;
        assert!(!jobs.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_questions_that_end_is_answered_to_the_last() {
        let mut jobs = WsJobs::default();
        for number in 0..500 {
            assert!(!jobs.is_full());
            jobs.start(ActionKind::Question, action(number, None));
        }
        for _ in 0..500 {
            assert_eq!(code(&jobs.next().await), Some(Code::Invalid));
        }
        assert!(jobs.next().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_no_place_is_refused_when_nothing_ends() {
        let mut jobs = WsJobs::default();
        let (go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            jobs.start(ActionKind::Question, action(0, Some(held)));
        }
        assert!(!jobs.is_full());
        let began = Instant::now();
        jobs.start(ActionKind::Question, action(1, None));
        jobs.start(ActionKind::Change, action(2, None));
        for _ in 0..2 {
            assert_eq!(code(&jobs.next().await), Some(Code::Limit));
            assert_eq!(began.elapsed(), STALL_TIMEOUT);
        }
        jobs.start(ActionKind::Question, action(3, None));
        assert_eq!(code(&jobs.next().await), Some(Code::Limit));
        assert_eq!((began.elapsed(), jobs.waiting_bytes), (STALL_TIMEOUT, 0));
        jobs.start(ActionKind::Event, action(4, None));
        assert_eq!(number(jobs.next().await), "4");
        drop(go);
        assert_eq!(number(jobs.next().await), "0");
        jobs.start(ActionKind::Question, action(5, None));
        while number(jobs.next().await) != "5" {}
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_an_end_to_what_is_held() {
        let mut jobs = WsJobs::default();
        let (_go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            jobs.start(ActionKind::Question, action(0, Some(held)));
        }
        jobs.start(
            ActionKind::Question,
            ConcurrentAction { bytes: MAX_WAITING_BYTES, ..action(1, None) },
        );
        assert!(jobs.is_full());
        assert_eq!(code(&jobs.next().await), Some(Code::Limit));
        assert!(!jobs.is_full());
        for _ in 0..MAX_JOBS {
            jobs.start(ActionKind::Event, action(2, None));
        }
        assert!(jobs.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_is_done_though_the_client_is_gone() {
        let mut jobs = WsJobs::default();
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let reporting = |number: u32| {
            let sender = sender.clone();
            Box::pin(async move {
                tokio::task::yield_now().await;
                sender.send(number).unwrap();
                WsJobResult::Action(None, Err(Refusal::invalid("")))
            })
        };
        for number in [1, 2] {
            jobs.enqueue(reporting(number));
        }
        jobs.start(ActionKind::Event, ConcurrentAction { id: None, bytes: 0, job: reporting(3) });
        jobs.start(ActionKind::Question, action(0, Some(oneshot::channel().1)));
        jobs.drain().await;
        for number in [1, 2, 3] {
            assert_eq!(receiver.try_recv(), Ok(number));
        }
    }
}
