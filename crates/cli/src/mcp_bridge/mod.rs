//! The bridge between an MCP client on standard input and output, and the server's `/mcp`.
//!
//! It passes messages on as they are. When the server was restarted, it starts the client's session
//! anew, so that the client notices nothing but the calls that were lost.

mod message;
mod session;
mod starter;
mod stdio;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use self::message::{ClientMessage, MessageKind};
use self::session::ServerConn;
pub(crate) use self::starter::ServerStarter;
use crate::client::ApiClient;

/// How many requests run at once; more are refused.
const MAX_RUNNING: usize = 64;
/// How many answers may wait for the client to read them.
const MAX_WAITING: usize = 64;
/// How long requests may still run when the client closes its end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the bridge until the client closes standard input.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) async fn run(client: ApiClient, path: String, starter: ServerStarter) -> Result<()> {
    let (out, answers) = mpsc::channel(MAX_WAITING);
    let mut lines = stdio::read_lines();
    let mut written = stdio::write_lines(answers);
    let bridge = Bridge {
        conn: Arc::new(ServerConn::new(client, path, starter, out)),
        running: Arc::default(),
        room: Arc::new(Semaphore::new(MAX_RUNNING)),
    };
    let mut requests = JoinSet::new();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = &mut written => return Ok(()),
            Some(_) = requests.join_next() => continue,
        };
        let Some(line) = line else { break };
        bridge.handle(&line, &mut requests).await;
    }
    let finished = async { while requests.join_next().await.is_some() {} };
    let _ = timeout(END_TIMEOUT, finished).await;
    requests.abort_all();
    while requests.join_next().await.is_some() {}
    bridge.conn.end().await;
    drop(bridge);
    let _ = timeout(END_TIMEOUT, written).await;
    Ok(())
}

/// The requests of the client that are not answered yet, by their id.
type RunningRequests = Arc<Mutex<HashMap<String, AbortHandle>>>;

struct Bridge {
    conn: Arc<ServerConn>,
    running: RunningRequests,
    room: Arc<Semaphore>,
}

impl Bridge {
    fn running(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn handle(&self, line: &str, requests: &mut JoinSet<()>) {
        if line.trim().is_empty() {
            return;
        }
        let message = match ClientMessage::read(line) {
            Ok(message) => message,
            Err(answer) => return self.conn.answer(&answer).await,
        };
        match message.kind() {
            // In order, so that nothing is sent before the session is there.
            MessageKind::Initialize => self.conn.initialize(message).await,
            MessageKind::Notice => self.conn.notify(&message).await,
            MessageKind::Cancel(key) => {
                self.conn.notify(&message).await;
                // The server ends a request whose stream is closed.
                if let Some(request) = self.running().remove(&key) {
                    request.abort();
                }
            }
            MessageKind::Request(key) => self.start(key, message, requests).await,
        }
    }

    async fn start(&self, key: String, message: ClientMessage, requests: &mut JoinSet<()>) {
        // Not waited for: the line after this one may cancel a request.
        let Ok(room) = self.room.clone().try_acquire_owned() else {
            let sentence = format!("{MAX_RUNNING} requests are running; wait for one of them");
            return self.conn.answer(&message.refused(&sentence)).await;
        };
        let conn = self.conn.clone();
        let running = self.running.clone();
        let own_key = key.clone();
        // Held until the request is listed, so that one that ends at once is not listed afterwards.
        let mut listed = self.running();
        let request = requests.spawn(async move {
            conn.request(&message).await;
            running.lock().unwrap_or_else(PoisonError::into_inner).remove(&own_key);
            drop(room);
        });
        listed.insert(key, request);
    }
}
