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
use paned_kernel::{Answer, Kind};
use paned_model::{Code, Refusal};
use tokio::time::{Instant, sleep_until, timeout};

use super::ask::Id;
use super::opening::Opened;

/// How much of each sort may be under way.
const MAX_JOBS: usize = 64;
/// How many actions may be held until others end, and about how many bytes of them.
const MAX_HELD: usize = 1024;
const MAX_HELD_BYTES: usize = 1 << 20;
/// How long they are held while none ends.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long what is left may take when the client is gone.
const WIND_UP: Duration = Duration::from_secs(5);

/// Something under way.
pub(super) type Job = BoxFuture<'static, Done>;

/// What became of a job.
pub(super) enum Done {
    /// An action ran.
    Answered(Option<Id>, Result<Answer, Refusal>),
    /// A channel can be opened.
    Opened(Option<Id>, Result<Box<Opened>, Refusal>),
}

/// An action that is to run beside others.
pub(super) struct Beside {
    pub(super) id: Option<Id>,
    /// How many bytes it holds while it is held.
    pub(super) bytes: usize,
    pub(super) job: Job,
}

/// What is under way.
pub(super) struct Work {
    queue: VecDeque<Job>,
    /// Actions that never wait for long: for these a client is not read, and none of them is refused.
    brief: FuturesUnordered<Job>,
    beside: FuturesUnordered<Job>,
    /// Actions that may take long and for which there is no place yet.
    held: VecDeque<Beside>,
    held_bytes: usize,
    /// When one of those that may take long last began or ended.
    moved_at: Instant,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            brief: FuturesUnordered::new(),
            beside: FuturesUnordered::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            moved_at: Instant::now(),
        }
    }
}

impl Work {
    /// Has it done after what was asked before.
    pub(super) fn line_up(&mut self, job: Job) {
        self.queue.push_back(job);
    }

    /// Has an action of this kind run at once, or as soon as there is a place for it.
    pub(super) fn start(&mut self, kind: Kind, beside: Beside) {
        match kind {
            Kind::Event | Kind::Input => self.brief.push(beside.job),
            Kind::Question | Kind::Change => {
                self.held_bytes += beside.bytes;
                self.held.push_back(beside);
                self.fill();
            }
        }
    }

    /// Whether nothing more may be asked for now.
    pub(super) fn is_full(&self) -> bool {
        MAX_JOBS <= self.queue.len().max(self.brief.len())
            || MAX_HELD <= self.held.len()
            || MAX_HELD_BYTES <= self.held_bytes
    }

    /// The next job that is done. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Done {
        let first = async {
            match self.queue.front_mut() {
                Some(job) => job.await,
                None => pending().await,
            }
        };
        let patience = async { sleep_until(self.moved_at + PATIENCE).await };
        // Nothing waits for ever behind the first: the client is read again when nothing here is ready.
        tokio::select! {
            biased;
            done = first => {
                self.queue.pop_front();
                done
            }
            Some(done) = self.brief.next() => done,
            Some(done) = self.beside.next() => {
                self.moved_at = Instant::now();
                self.fill();
                done
            }
            () = patience, if !self.held.is_empty() => self.give_up(),
        }
    }

    /// The client is gone, and what it asked for is not: what it typed is typed, what it changes is changed. Only
    /// what it wanted to know is nobody's any more.
    pub(super) async fn wind_up(mut self) {
        for Beside { job, .. } in self.held.drain(..) {
            // A change that was begun is finished without us.
            let _ = job.now_or_never();
        }
        self.beside.clear();
        let rest = async {
            while let Some(job) = self.queue.pop_front() {
                job.await;
            }
            while self.brief.next().await.is_some() {}
        };
        if timeout(WIND_UP, rest).await.is_err() {
            tracing::warn!("what a socket asked for last was not done in time");
        }
    }

    /// Starts those that are held, as far as there are places.
    fn fill(&mut self) {
        while self.beside.len() < MAX_JOBS
            && let Some(Beside { bytes, job, .. }) = self.held.pop_front()
        {
            self.held_bytes -= bytes;
            self.beside.push(job);
            self.moved_at = Instant::now();
        }
    }

    /// Refuses the first that is held.
    fn give_up(&mut self) -> Done {
        let first = self.held.pop_front();
        self.held_bytes -= first.as_ref().map_or(0, |held| held.bytes);
        let sentence = format!(
            "{MAX_JOBS} actions of this socket are under way and none has ended for {} ms; wait for one, or open \
             another socket",
            PATIENCE.as_millis()
        );
        let refusal = Refusal::new(Code::Limit, sentence);
        Done::Answered(first.and_then(|held| held.id), Err(refusal))
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

    fn beside(number: u32, until: Option<oneshot::Receiver<()>>) -> Beside {
        Beside { id: None, bytes: 10, job: job(number, until) }
    }

    fn code(done: &Done) -> Option<Code> {
        match done {
            Done::Answered(_, Err(refusal)) => Some(refusal.code),
            Done::Answered(..) | Done::Opened(..) => None,
        }
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
        work.start(Kind::Question, beside(3, None));
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

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_questions_that_end_is_answered_to_the_last() {
        let mut work = Work::default();
        for number in 0..500 {
            assert!(!work.is_full());
            work.start(Kind::Question, beside(number, None));
        }
        for _ in 0..500 {
            assert_eq!(code(&work.next().await), Some(Code::Invalid));
        }
        assert!(work.next().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_no_place_is_refused_when_nothing_ends() {
        let mut work = Work::default();
        let (go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            work.start(Kind::Question, beside(0, Some(held)));
        }
        assert!(!work.is_full());
        let began = Instant::now();
        work.start(Kind::Question, beside(1, None));
        work.start(Kind::Change, beside(2, None));
        for _ in 0..2 {
            assert_eq!(code(&work.next().await), Some(Code::Limit));
            assert_eq!(began.elapsed(), PATIENCE);
        }
        work.start(Kind::Question, beside(3, None));
        assert_eq!(code(&work.next().await), Some(Code::Limit));
        assert_eq!((began.elapsed(), work.held_bytes), (PATIENCE, 0));
        work.start(Kind::Event, beside(4, None));
        assert_eq!(number(work.next().await), "4");
        drop(go);
        assert_eq!(number(work.next().await), "0");
        work.start(Kind::Question, beside(5, None));
        while number(work.next().await) != "5" {}
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_an_end_to_what_is_held() {
        let mut work = Work::default();
        let (_go, held): (Vec<_>, Vec<_>) = (0..MAX_JOBS).map(|_| oneshot::channel()).unzip();
        for held in held {
            work.start(Kind::Question, beside(0, Some(held)));
        }
        work.start(Kind::Question, Beside { bytes: MAX_HELD_BYTES, ..beside(1, None) });
        assert!(work.is_full());
        assert_eq!(code(&work.next().await), Some(Code::Limit));
        assert!(!work.is_full());
        for _ in 0..MAX_JOBS {
            work.start(Kind::Event, beside(2, None));
        }
        assert!(work.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_is_done_though_the_client_is_gone() {
        let mut work = Work::default();
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let telling = |number: u32| {
            let told = told.clone();
            Box::pin(async move {
                tokio::task::yield_now().await;
                told.send(number).unwrap();
                Done::Answered(None, Err(Refusal::invalid("")))
            })
        };
        for number in [1, 2] {
            work.line_up(telling(number));
        }
        work.start(Kind::Event, Beside { id: None, bytes: 0, job: telling(3) });
        work.start(Kind::Question, beside(0, Some(oneshot::channel().1)));
        work.wind_up().await;
        for number in [1, 2, 3] {
            assert_eq!(heard.try_recv(), Ok(number));
        }
    }
}
