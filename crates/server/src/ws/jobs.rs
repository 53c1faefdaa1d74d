//! What a socket has under way for its client.
//!
//! What is done to panes is done in the order in which it was asked for, one after the other: typed text must
//! not overtake itself. Actions by name run beside that and beside each other, as some of them wait.
//!
//! There is an end to all of it, and a client that floods is read again when some of it is done. But no client may
//! become unheard by waiting: it could not even hang up. Those actions that may take long have places of their own, and
//! when none of these becomes free for a second, whatever else is asked is refused instead.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use paned_kernel::{ActionAnswer, ActionKind};
use paned_model::{Code, Refusal};
use tokio::time::{Instant, sleep_until, timeout};

use super::request::WsRequestId;
use super::subscribe::WsSubscription;

/// How much of each sort may be under way.
const MAX_JOBS: usize = 64;
/// How many actions may be held until others end, and about how many bytes of them.
const MAX_WAITING: usize = 1024;
const MAX_WAITING_BYTES: usize = 1 << 20;
/// How long they are held while none ends.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);
/// How long what is left may take when the client is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Something under way.
pub(super) type WsJob = BoxFuture<'static, WsJobResult>;

/// What became of a job.
pub(super) enum WsJobResult {
    /// An action ran.
    Action(Option<WsRequestId>, Result<ActionAnswer, Refusal>),
    /// A channel can be opened.
    Subscribe(Option<WsRequestId>, Result<Box<WsSubscription>, Refusal>),
}

/// An action that is to run beside others.
pub(super) struct ConcurrentAction {
    pub(super) id: Option<WsRequestId>,
    /// How many bytes it holds while it is held.
    pub(super) bytes: usize,
    pub(super) job: WsJob,
}

/// What is under way.
pub(super) struct WsJobs {
    queue: VecDeque<WsJob>,
    /// Actions that never wait for long: for these a client is not read, and none of them is refused.
    brief: FuturesUnordered<WsJob>,
    concurrent: FuturesUnordered<WsJob>,
    /// Actions that may take long and for which there is no place yet.
    waiting: VecDeque<ConcurrentAction>,
    waiting_bytes: usize,
    /// When one of those that may take long last began or ended.
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
    /// Has it done after what was asked before.
    pub(super) fn enqueue(&mut self, job: WsJob) {
        self.queue.push_back(job);
    }

    /// Has an action of this kind run at once, or as soon as there is a place for it.
    pub(super) fn start(&mut self, kind: ActionKind, beside: ConcurrentAction) {
        match kind {
            ActionKind::Event | ActionKind::Input => self.brief.push(beside.job),
            ActionKind::Question | ActionKind::Change => {
                self.waiting_bytes += beside.bytes;
                self.waiting.push_back(beside);
                self.start_waiting();
            }
        }
    }

    /// Whether nothing more may be asked for now.
    pub(super) fn is_full(&self) -> bool {
        MAX_JOBS <= self.queue.len().max(self.brief.len())
            || MAX_WAITING <= self.waiting.len()
            || MAX_WAITING_BYTES <= self.waiting_bytes
    }

    /// The next job that is done. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> WsJobResult {
        let first = async {
            match self.queue.front_mut() {
                Some(job) => job.await,
                None => pending().await,
            }
        };
        let patience = async { sleep_until(self.last_progress + STALL_TIMEOUT).await };
        // Nothing waits for ever behind the first: the client is read again when nothing here is ready.
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
            () = patience, if !self.waiting.is_empty() => self.refuse_first(),
        }
    }

    /// The client is gone, and what it asked for is not: what it typed is typed, what it changes is changed. Only
    /// what it wanted to know is nobody's any more.
    pub(super) async fn drain(mut self) {
        for ConcurrentAction { job, .. } in self.waiting.drain(..) {
            // A change that was begun is finished without us.
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
            tracing::warn!("what a socket asked for last was not done in time");
        }
    }

    /// Starts those that are held, as far as there are places.
    fn start_waiting(&mut self) {
        while self.concurrent.len() < MAX_JOBS
            && let Some(ConcurrentAction { bytes, job, .. }) = self.waiting.pop_front()
        {
            self.waiting_bytes -= bytes;
            self.concurrent.push(job);
            self.last_progress = Instant::now();
        }
    }

    /// Refuses the first that is held.
    fn refuse_first(&mut self) -> WsJobResult {
        let first = self.waiting.pop_front();
        self.waiting_bytes -= first.as_ref().map_or(0, |held| held.bytes);
        let sentence = format!(
            "{MAX_JOBS} actions of this socket are under way and none has ended for {} ms; wait for one, or open \
             another socket",
            STALL_TIMEOUT.as_millis()
        );
        let refusal = Refusal::new(Code::Limit, sentence);
        WsJobResult::Action(first.and_then(|held| held.id), Err(refusal))
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

    fn beside(number: u32, until: Option<oneshot::Receiver<()>>) -> ConcurrentAction {
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
        let (mut work, (go, held)) = (WsJobs::default(), oneshot::channel());
        work.enqueue(job(1, Some(held)));
        work.enqueue(job(2, None));
        work.start(ActionKind::Question, beside(3, None));
        assert_eq!(number(work.next().await), "3");
        assert!(work.next().now_or_never().is_none());
        go.send(()).unwrap();
        assert_eq!(number(work.next().await), "1");
        assert_eq!(number(work.next().await), "2");
    }

    #[tokio::test]
    async fn there_is_an_end_to_what_may_be_under_way() {
        let mut work = WsJobs::default();
        for _ in 0..MAX_JOBS {
            assert!(!work.is_full());
            work.enqueue(job(0, None));
        }
        assert!(work.is_full());
        work.next().await;
        assert!(!work.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_questions_that_end_is_answered_to_the_last() {
        let mut work = WsJobs::default();
        for number in 0..500 {
            assert!(!work.is_full());
            work.start(ActionKind::Question, beside(number, None));
        }
        for _ in 0..500 {
            assert_eq!(code(&work.next().await), Some(Code::Invalid));
        }
        assert!(work.next().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_no_place_is_refused_when_nothing_ends() {
        let mut work = WsJobs::default();
        let (go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            work.start(ActionKind::Question, beside(0, Some(held)));
        }
        assert!(!work.is_full());
        let began = Instant::now();
        work.start(ActionKind::Question, beside(1, None));
        work.start(ActionKind::Change, beside(2, None));
        for _ in 0..2 {
            assert_eq!(code(&work.next().await), Some(Code::Limit));
            assert_eq!(began.elapsed(), STALL_TIMEOUT);
        }
        work.start(ActionKind::Question, beside(3, None));
        assert_eq!(code(&work.next().await), Some(Code::Limit));
        assert_eq!((began.elapsed(), work.waiting_bytes), (STALL_TIMEOUT, 0));
        work.start(ActionKind::Event, beside(4, None));
        assert_eq!(number(work.next().await), "4");
        drop(go);
        assert_eq!(number(work.next().await), "0");
        work.start(ActionKind::Question, beside(5, None));
        while number(work.next().await) != "5" {}
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_an_end_to_what_is_held() {
        let mut work = WsJobs::default();
        let (_go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            work.start(ActionKind::Question, beside(0, Some(held)));
        }
        work.start(
            ActionKind::Question,
            ConcurrentAction { bytes: MAX_WAITING_BYTES, ..beside(1, None) },
        );
        assert!(work.is_full());
        assert_eq!(code(&work.next().await), Some(Code::Limit));
        assert!(!work.is_full());
        for _ in 0..MAX_JOBS {
            work.start(ActionKind::Event, beside(2, None));
        }
        assert!(work.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_is_done_though_the_client_is_gone() {
        let mut work = WsJobs::default();
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let telling = |number: u32| {
            let told = told.clone();
            Box::pin(async move {
                tokio::task::yield_now().await;
                told.send(number).unwrap();
                WsJobResult::Action(None, Err(Refusal::invalid("")))
            })
        };
        for number in [1, 2] {
            work.enqueue(telling(number));
        }
        work.start(ActionKind::Event, ConcurrentAction { id: None, bytes: 0, job: telling(3) });
        work.start(ActionKind::Question, beside(0, Some(oneshot::channel().1)));
        work.drain().await;
        for number in [1, 2, 3] {
            assert_eq!(heard.try_recv(), Ok(number));
        }
    }
}
