//! The connection to the server: its session, and how it is started again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response, StatusCode};
use paned_model::Refusal;
use serde_json::{Value, json};
use tokio::sync::{Mutex as TaskMutex, mpsc};
use tokio::time::{Instant, sleep, timeout};

use super::message::ClientMessage;
use super::starter::ServerStarter;
use crate::client::sse::SseParser;
use crate::client::{ApiClient, RETRY_INTERVAL, is_connection_lost};

/// How long to wait for a server that is being restarted.
const RESTART_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an answer to a notice, or to the end of a session, may take.
const SHORT_TIMEOUT: Duration = Duration::from_secs(5);
const ACCEPTED: &str = "application/json, text/event-stream";
const SESSION_HEADER: &str = "mcp-session-id";
/// The id of requests of our own.
const OWN_ID: &str = "paned-bridge";

/// The server, as the client's session knows it.
pub(super) struct ServerConn {
    client: ApiClient,
    path: String,
    starter: ServerStarter,
    out: mpsc::Sender<Value>,
    state: Mutex<ConnState>,
    /// One task at a time starts a session; the others wait for it.
    reconnect: TaskMutex<()>,
}

#[derive(Default)]
struct ConnState {
    session: Option<ServerSession>,
    /// The request with which the client started its session.
    initialize: Option<ClientMessage>,
    subscriptions: BTreeSet<String>,
    /// Whether the session's notices are followed.
    is_followed: bool,
}

/// A session at the server.
#[derive(Clone, Debug, PartialEq)]
struct ServerSession {
    id: String,
    version: String,
}

/// How a request failed.
enum RequestError {
    /// It was not sent: it can be sent again.
    NotSent(anyhow::Error),
    /// The server has no such session; the request had no effect.
    NoSession,
    /// The answer was lost.
    Lost,
}

impl ServerConn {
    pub(super) fn new(
        client: ApiClient,
        path: String,
        starter: ServerStarter,
        out: mpsc::Sender<Value>,
    ) -> Self {
        let state = Mutex::default();
        Self { client, path, starter, out, state, reconnect: TaskMutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, ConnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message to the client.
    pub(super) async fn answer(&self, message: &Value) {
        // An error means that the client is gone, which ends the bridge.
        let _ = self.out.send(message.clone()).await;
    }

    /// Starts the client's session.
    pub(super) async fn initialize(self: &Arc<Self>, message: ClientMessage) {
        let old = self.state().session.take();
        if let Some(old) = old {
            self.close(&old).await;
        }
        let answer = match self.reach(|| self.open(&message)).await {
            Ok(answer) => {
                let mut state = self.state();
                state.subscriptions.clear();
                state.initialize = Some(message);
                answer
            }
            Err(answer) => answer,
        };
        self.answer(&answer).await;
    }

    /// Passes on a message without an answer.
    pub(super) async fn notify(&self, message: &ClientMessage) {
        let session = self.state().session.clone();
        let sent = self.post(message, session.as_ref());
        // It has no answer, so there is nothing to report: the next request starts a session.
        let _ = timeout(SHORT_TIMEOUT, sent).await;
    }

    /// Passes on a request, and its answers.
    pub(super) async fn request(self: &Arc<Self>, message: &ClientMessage) {
        let answer = match self.reach(|| self.try_request(message)).await {
            Ok(()) => return self.note_subscription(message),
            Err(answer) => answer,
        };
        self.answer(&answer).await;
    }

    /// Tries until the server is reached, or does not come back in time.
    ///
    /// # Errors
    /// With the answer to the request.
    async fn reach<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, Value>
    where
        F: Future<Output = Result<T, AttemptError>>,
    {
        let deadline = Instant::now() + RESTART_TIMEOUT;
        let mut is_first = true;
        loop {
            match attempt().await {
                Ok(done) => return Ok(done),
                Err(AttemptError::Answer(answer)) => return Err(answer),
                Err(AttemptError::Retry(answer)) if deadline <= Instant::now() => {
                    return Err(answer);
                }
                Err(AttemptError::Retry(_)) => {}
            }
            if std::mem::take(&mut is_first) {
                self.starter.start().await;
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn try_request(self: &Arc<Self>, message: &ClientMessage) -> Result<(), AttemptError> {
        let session = match message.is_stateless() {
            true => None,
            false => self.session(message).await?,
        };
        match self.pass_on(message, session.as_ref()).await {
            Ok(()) => Ok(()),
            Err(RequestError::Lost) => Err(AttemptError::Answer(message.lost())),
            Err(RequestError::NotSent(error)) => {
                Err(AttemptError::Retry(message.refused(&error.to_string())))
            }
            Err(RequestError::NoSession) => {
                self.forget(session.as_ref());
                let sentence = "the server ended the session again and again";
                Err(AttemptError::Retry(message.refused(sentence)))
            }
        }
    }

    /// The session, which is started again if it was lost. `None` for a client that has not started
    /// one.
    async fn session(
        self: &Arc<Self>,
        message: &ClientMessage,
    ) -> Result<Option<ServerSession>, AttemptError> {
        let _turn = self.reconnect.lock().await;
        let (session, initialize) = {
            let state = self.state();
            (state.session.clone(), state.initialize.clone())
        };
        let (None, Some(initialize)) = (&session, initialize) else { return Ok(session) };
        let opened = self.open(&initialize.with_id(OWN_ID)).await;
        opened.map_err(|error| error.for_request(message))?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.notify(&own_message(&ready)).await;
        self.subscribe_again().await;
        Ok(self.state().session.clone())
    }

    /// Subscribes the new session to what the old one followed.
    async fn subscribe_again(self: &Arc<Self>) {
        let (session, uris) = {
            let state = self.state();
            (state.session.clone(), state.subscriptions.clone())
        };
        for uri in uris {
            let request = json!({
                "jsonrpc": "2.0", "id": OWN_ID, "method": "resources/subscribe",
                "params": { "uri": uri },
            });
            // The pane may be gone; the client learns that when it reads it.
            let request = own_message(&request);
            let sent = self.post(&request, session.as_ref());
            if let Ok(Ok(response)) = timeout(SHORT_TIMEOUT, sent).await {
                let _ = timeout(SHORT_TIMEOUT, response.into_body().collect()).await;
            }
            self.follow();
        }
    }

    /// Starts a session with this request, and returns the answer to it.
    async fn open(&self, initialize: &ClientMessage) -> Result<Value, AttemptError> {
        let response = self
            .post(initialize, None)
            .await
            .map_err(|error| AttemptError::Retry(initialize.refused(&error.to_string())))?;
        let id = response.headers().get(SESSION_HEADER);
        let id = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        let answers = read_answers(response).await;
        let lost = || AttemptError::Retry(initialize.refused("the server ended the connection"));
        let answer = answers.map_err(|_| lost())?.pop().ok_or_else(lost)?;
        let Some(id) = id else { return Err(AttemptError::Answer(with_id(answer, initialize))) };
        let version = answer["result"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
        let mut state = self.state();
        state.session = Some(ServerSession { id, version });
        state.is_followed = false;
        Ok(answer)
    }

    /// Sends a request and passes on its answers.
    async fn pass_on(
        &self,
        message: &ClientMessage,
        session: Option<&ServerSession>,
    ) -> Result<(), RequestError> {
        let response = self.post(message, session).await.map_err(|error| {
            if is_connection_lost(&error) {
                RequestError::Lost
            } else {
                RequestError::NotSent(error)
            }
        })?;
        if response.status() == StatusCode::NOT_FOUND && session.is_some() {
            return Err(RequestError::NoSession);
        }
        if !is_stream(&response) {
            let answer = read_answers(response).await.map_err(|_| RequestError::Lost)?.pop();
            self.answer(&with_id(answer.ok_or(RequestError::Lost)?, message)).await;
            return Ok(());
        }
        let mut body = response.into_body();
        let mut events = SseParser::default();
        let mut is_answered = false;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| RequestError::Lost)?;
            let bytes = frame.into_data().unwrap_or_default();
            for event in events.feed(&bytes) {
                let Ok(answer) = serde_json::from_str::<Value>(&event.data) else { continue };
                is_answered |= answer.get("method").is_none() && answer["id"] == message.id();
                self.answer(&answer).await;
            }
            if is_answered {
                return Ok(());
            }
        }
        Err(RequestError::Lost)
    }

    async fn post(
        &self,
        message: &ClientMessage,
        session: Option<&ServerSession>,
    ) -> Result<Response<Incoming>> {
        let mut request = Request::post(&self.path).header("accept", ACCEPTED);
        for (name, value) in message.headers() {
            request = request.header(name, value);
        }
        if let Some(ServerSession { id, version }) = session {
            request = request.header(SESSION_HEADER, id).header("mcp-protocol-version", version);
        }
        self.client.connect_and_send(request.body(Full::from(Bytes::from(message.text())))?).await
    }

    /// Forgets a session that the server has not any more.
    fn forget(&self, session: Option<&ServerSession>) {
        let mut state = self.state();
        if state.session.as_ref() == session {
            state.session = None;
        }
    }

    fn note_subscription(self: &Arc<Self>, message: &ClientMessage) {
        let Some((follows, uri)) = message.subscription() else { return };
        let mut state = self.state();
        if follows {
            state.subscriptions.insert(uri.to_owned());
        } else {
            state.subscriptions.remove(uri);
        }
        drop(state);
        if follows {
            self.follow();
        }
    }

    /// Follows the session's notices, if that is not done yet.
    fn follow(self: &Arc<Self>) {
        let mut state = self.state();
        let Some(session) = state.session.clone() else { return };
        if !std::mem::replace(&mut state.is_followed, true) {
            let conn = self.clone();
            tokio::spawn(async move { conn.pass_on_notices(session).await });
        }
    }

    /// Passes on the notices of a session, and starts the next one when it was lost: otherwise the
    /// client would wait for notices that nothing sends.
    async fn pass_on_notices(self: Arc<Self>, session: ServerSession) {
        let request = Request::get(&self.path)
            .header("accept", "text/event-stream")
            .header(SESSION_HEADER, &session.id)
            .header("mcp-protocol-version", &session.version)
            .body(Full::<Bytes>::default());
        let Ok(request) = request else { return };
        if let Ok(response) = self.client.connect_and_send(request).await
            && is_stream(&response)
        {
            self.pass_on_stream(response.into_body()).await;
        }
        self.restore(&session).await;
    }

    async fn pass_on_stream(&self, mut body: Incoming) {
        let mut events = SseParser::default();
        while let Some(Ok(frame)) = body.frame().await {
            let notices = events.feed(&frame.into_data().unwrap_or_default()).into_iter();
            for notice in notices.filter_map(|event| serde_json::from_str(&event.data).ok()) {
                self.answer(&notice).await;
            }
        }
    }

    async fn restore(self: &Arc<Self>, session: &ServerSession) {
        let ping = own_message(&json!({ "jsonrpc": "2.0", "id": OWN_ID, "method": "ping" }));
        loop {
            {
                let mut state = self.state();
                if state.session.as_ref().is_some_and(|held| held != session)
                    || state.subscriptions.is_empty()
                {
                    return;
                }
                state.session = None;
            }
            sleep(RETRY_INTERVAL).await;
            // Boxed, because a new session is followed by this function again.
            if Box::pin(self.session(&ping)).await.is_ok() {
                return;
            }
        }
    }

    /// Ends the session.
    pub(super) async fn end(&self) {
        let session = {
            let mut state = self.state();
            // Nothing is to be started again.
            state.subscriptions.clear();
            state.session.take()
        };
        if let Some(session) = session {
            self.close(&session).await;
        }
    }

    async fn close(&self, session: &ServerSession) {
        let request = Request::builder()
            .method(Method::DELETE)
            .uri(&self.path)
            .header(SESSION_HEADER, &session.id)
            .header("mcp-protocol-version", &session.version)
            .body(Full::<Bytes>::default());
        if let Ok(request) = request {
            // A server that is gone has no session to end.
            let _ = timeout(SHORT_TIMEOUT, self.client.connect_and_send(request)).await;
        }
    }
}

/// How an attempt failed.
enum AttemptError {
    /// It makes no sense to try again.
    Answer(Value),
    /// The server may come back.
    Retry(Value),
}

impl AttemptError {
    /// The same as the answer to another request.
    fn for_request(self, message: &ClientMessage) -> Self {
        let sentence = |answer: &Value| {
            let text = answer["error"]["message"].as_str().unwrap_or("the session has ended");
            message.refused(text)
        };
        match self {
            Self::Answer(answer) => Self::Answer(sentence(&answer)),
            Self::Retry(answer) => Self::Retry(sentence(&answer)),
        }
    }
}

fn own_message(message: &Value) -> ClientMessage {
    ClientMessage::read(&message.to_string()).expect("our own messages are JSON objects")
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let media = response.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(|media| media.starts_with("text/event-stream"))
}

/// All messages of a response.
async fn read_answers(response: Response<Incoming>) -> Result<Vec<Value>, hyper::Error> {
    let is_stream = is_stream(&response);
    let body = response.into_body().collect().await?.to_bytes();
    if !is_stream {
        return Ok(serde_json::from_slice(&body).into_iter().collect());
    }
    let events = SseParser::default().feed(&body);
    Ok(events.iter().filter_map(|event| serde_json::from_str(&event.data).ok()).collect())
}

/// An answer with the id of its request: one that was refused before it was read has none, and one
/// of the server itself is no JSON-RPC.
fn with_id(mut answer: Value, message: &ClientMessage) -> Value {
    if let Ok(refusal) = serde_json::from_value::<Refusal>(answer.clone()) {
        return message.refused(&refusal.sentence);
    }
    if answer["id"].is_null() {
        answer["id"] = message.id();
    }
    answer
}
