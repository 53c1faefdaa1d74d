//! Our side of a connection: requests that wait for their answers, and a bounded queue of lines to
//! write.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::MAX_LINE;
use super::message::{RpcError, answer_line, call_line};

/// Lines that wait to be written.
const QUEUE: usize = 256;
/// Bytes of lines that wait to be written, in units of [`UNIT`].
const QUEUE_UNITS: usize = 2 * MAX_LINE / UNIT;
const UNIT: usize = 1024;

/// The id of the first request on a connection, which is `initialize`.
pub(crate) const FIRST_REQUEST: u64 = 1;

/// The answer to a request.
pub(crate) type Reply = Result<Box<RawValue>, RpcError>;

/// What is wrong with a program that still runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It has not answered this often in a row.
    Unresponsive(u32),
    /// It does not read its standard input, or has closed it.
    NotReading,
    /// It wrote a line that is no JSON or too long.
    InvalidLine,
}

/// Requests in a row that may go unanswered.
const MAX_MISSES: u32 = 3;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The program ended, or the request was cancelled.
    Closed,
    /// The message is longer than a line may be.
    TooLong,
    /// The extension answered with an error.
    Refused(RpcError),
}

/// A line in the queue. It counts against the size of the queue until it is dropped.
pub(crate) struct QueuedLine {
    pub(crate) bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

/// Our side of a connection. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct Connection {
    inner: Arc<ConnectionInner>,
}

struct ConnectionInner {
    state: Mutex<ConnectionState>,
    room: Arc<Semaphore>,
    faults: mpsc::Sender<Fault>,
    /// Requests in a row that were not answered in time.
    misses: AtomicU32,
}

struct ConnectionState {
    next_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Reply>>,
    /// None once nothing more is written.
    queue: Option<mpsc::Sender<QueuedLine>>,
}

/// A place in the queue.
pub(crate) struct QueueSlot {
    slot: mpsc::OwnedPermit<QueuedLine>,
    room: OwnedSemaphorePermit,
}

/// The answer to a request that is in the queue. Dropping it cancels the request.
pub(crate) struct PendingReply {
    pub(crate) id: u64,
    connection: Connection,
    reply: oneshot::Receiver<Reply>,
}

impl Connection {
    /// A connection that reports faults of the other side, and the lines to write.
    pub(crate) fn new(faults: mpsc::Sender<Fault>) -> (Self, mpsc::Receiver<QueuedLine>) {
        let (queue, lines) = mpsc::channel(QUEUE);
        let waiting = HashMap::new();
        let state = ConnectionState { next_id: FIRST_REQUEST, waiting, queue: Some(queue) };
        let inner = ConnectionInner {
            state: Mutex::new(state),
            room: Arc::new(Semaphore::new(QUEUE_UNITS)),
            faults,
            misses: AtomicU32::new(0),
        };
        (Self { inner: Arc::new(inner) }, lines)
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request and waits for its answer. Dropping the future cancels the request.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Box<RawValue>, CallError> {
        let params = serde_json::to_string(params).map_err(|_| CallError::TooLong)?;
        let slot = self.reserve(params.len()).await?;
        self.send(slot, method, &params)?.await
    }

    /// Waits for a place in the queue for a request with parameters of this length. Cancel-safe.
    pub(crate) async fn reserve(&self, length: usize) -> Result<QueueSlot, CallError> {
        // The rest of the line is short.
        if MAX_LINE < length + UNIT {
            return Err(CallError::TooLong);
        }
        let queue = self.lock().queue.clone().ok_or(CallError::Closed)?;
        let units = u32::try_from(length / UNIT + 1).map_err(|_| CallError::TooLong)?;
        let room = self.inner.room.clone().acquire_many_owned(units).await;
        let slot = queue.reserve_owned().await.map_err(|_| CallError::Closed)?;
        Ok(QueueSlot { slot, room: room.map_err(|_| CallError::Closed)? })
    }

    /// Sends a request at once. `params` is JSON.
    pub(crate) fn send(
        &self,
        QueueSlot { slot, room }: QueueSlot,
        method: &str,
        params: &str,
    ) -> Result<PendingReply, CallError> {
        let (answer, reply) = oneshot::channel();
        let mut state = self.lock();
        if state.queue.is_none() {
            return Err(CallError::Closed);
        }
        let id = state.next_id;
        state.next_id += 1;
        state.waiting.insert(id, answer);
        drop(state);
        slot.send(QueuedLine { bytes: call_line(Some(id), method, params), _room: room });
        Ok(PendingReply { id, connection: self.clone(), reply })
    }

    /// Answers a request of the extension. `id` is JSON.
    pub(crate) async fn answer(&self, id: &str, outcome: Reply) {
        let mut line = answer_line(id, &outcome);
        if MAX_LINE < line.len() {
            let sentence = "the answer is longer than a message of 8 MiB; ask for less";
            line = answer_line(id, &Err(RpcError::new(super::message::REFUSED, sentence)));
        }
        if let Ok(QueueSlot { slot, room }) = self.reserve(line.len().min(MAX_LINE - UNIT)).await {
            slot.send(QueuedLine { bytes: line, _room: room });
        }
    }

    /// Sends a notification if there is room: it may get lost when the program does not read.
    pub(crate) fn notify(&self, method: &str, params: &str) {
        self.try_write(call_line(None, method, params));
    }

    /// Answers what is no message, if there is room.
    pub(crate) fn answer_invalid(&self, error: RpcError) {
        self.try_write(answer_line("null", &Err(error)));
    }

    fn try_write(&self, bytes: Vec<u8>) {
        let units = u32::try_from(bytes.len() / UNIT + 1).unwrap_or(u32::MAX);
        let Ok(room) = self.inner.room.clone().try_acquire_many_owned(units) else { return };
        let queue = self.lock().queue.clone();
        if let Some(queue) = queue {
            let _ = queue.try_send(QueuedLine { bytes, _room: room });
        }
    }

    /// Whether a request waits for its answer.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.lock().waiting.contains_key(&id)
    }

    /// An answer came. Returns whether a request waited for it.
    pub(crate) fn complete(&self, id: u64, outcome: Reply) -> bool {
        self.inner.misses.store(0, Ordering::Relaxed);
        let waiting = self.lock().waiting.remove(&id);
        waiting.is_some_and(|waiting| waiting.send(outcome).is_ok())
    }

    /// A request was not answered in time.
    pub(crate) fn note_miss(&self) {
        let misses = self.inner.misses.fetch_add(1, Ordering::Relaxed) + 1;
        if MAX_MISSES <= misses {
            self.report(Fault::Unresponsive(misses));
        }
    }

    /// Reports what is wrong with the program. Many reports at once are as good as a few.
    pub(crate) fn report(&self, fault: Fault) {
        let _ = self.inner.faults.try_send(fault);
    }

    /// Stops waiting for an answer and tells the extension so.
    pub(crate) fn cancel(&self, id: u64) {
        let waited = self.lock().waiting.remove(&id).is_some();
        if waited {
            self.notify("cancel", &format!(r#"{{"id":{id}}}"#));
        }
    }

    /// Writes what is in the queue and nothing more. Answers can still come.
    pub(crate) fn end_writing(&self) {
        self.lock().queue = None;
    }

    /// Ends the connection: requests without an answer get none.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.queue = None;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
    }
}

impl Future for PendingReply {
    type Output = Result<Box<RawValue>, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.reply).poll(context).map(|reply| match reply {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(CallError::Refused(error)),
            Err(_) => Err(CallError::Closed),
        })
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.connection.cancel(self.id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::task::yield_now;

    use super::*;

    fn text(line: Option<QueuedLine>) -> String {
        String::from_utf8(line.unwrap().bytes).unwrap()
    }

    #[tokio::test]
    async fn answers_find_their_requests_in_any_order() {
        let (connection, mut lines) = Connection::new(mpsc::channel(1).0);
        let ask = |word: &'static str| {
            let connection = connection.clone();
            tokio::spawn(async move { connection.request("runAction", &json!(word)).await })
        };
        let first = ask("a");
        assert!(text(lines.recv().await).contains(r#""id":1"#));
        let second = ask("b");
        assert!(text(lines.recv().await).contains(r#""params":"b""#));
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        assert!(connection.complete(2, Ok(raw("22"))));
        assert!(connection.complete(1, Err(RpcError::new(5, "no"))));
        assert!(!connection.complete(1, Ok(raw("1"))), "it has its answer");
        assert_eq!(second.await.unwrap().unwrap().get(), "22");
        let refused = first.await.unwrap().unwrap_err();
        assert!(matches!(refused, CallError::Refused(error) if error.code == 5));
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_is_cancelled() {
        let (connection, mut lines) = Connection::new(mpsc::channel(1).0);
        let asking = connection.clone();
        let asked = tokio::spawn(async move { asking.request("runAction", &json!({})).await });
        text(lines.recv().await);
        asked.abort();
        assert!(text(lines.recv().await).contains(r#""method":"cancel","params":{"id":1}"#));
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_an_end_is_an_answer() {
        let (connection, mut lines) = Connection::new(mpsc::channel(1).0);
        let asking = connection.clone();
        let long = "x".repeat(MAX_LINE / 2);
        let task = tokio::spawn(async move {
            let ask = || asking.request("runAction", &long);
            tokio::join!(ask(), ask(), ask(), ask(), ask())
        });
        while lines.len() < 3 {
            yield_now().await;
        }
        for _ in 0..100 {
            yield_now().await;
        }
        assert_eq!(lines.len(), 3, "three lines of half the limit and their ends fill the queue");
        while lines.recv().await.is_some() {
            connection.close();
        }
        let (first, .., last) = task.await.unwrap();
        assert!(matches!(first, Err(CallError::Closed)));
        assert!(matches!(last, Err(CallError::Closed)));
        let too_long = "x".repeat(MAX_LINE);
        assert!(matches!(connection.request("a", &too_long).await, Err(CallError::TooLong)));
    }
}
