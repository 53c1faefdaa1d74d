//! The client of a running server: one connection per request.
//!
//! Over the unix socket the server knows the user of the calling process. Inside a pane the pane's
//! token is sent too, so that the server knows which pane calls.

mod actions;
mod early_reply;
mod endpoint;
mod names;
mod open_connection;
pub(crate) mod sse;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use paned_kernel::proof::{CHALLENGE, Challenge, PROOF};
use paned_model::{Code, Refusal};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::settings::Env;

use early_reply::EarlyReplyStream;

pub(crate) use actions::{ActionInfoReply, params, read};
pub(crate) use endpoint::{EndpointSource, ServerEndpoint};
pub(crate) use names::NameMemory;
pub(crate) use open_connection::OpenConnection;

/// How long to wait before connecting again to a server that is down.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// Says which pane a request comes from.
const OWN_PANE: &str = "x-paned-pane";
/// Proves it.
const OWN_TOKEN: &str = "x-paned-token";
/// The largest answer to `GET /health` that is read.
const MAX_HEALTH: usize = 64 << 10;

type HttpRequestSender = http1::SendRequest<Full<Bytes>>;

/// A client of one server.
#[derive(Clone)]
pub(crate) struct ApiClient {
    endpoint: ServerEndpoint,
    /// Why this endpoint was chosen.
    endpoint_source: EndpointSource,
    headers: HeaderMap,
    names: NameMemory,
    open: OpenConnection,
}

/// Runs a future on a single-threaded runtime of its own.
pub(crate) fn block_on<F: Future>(future: F) -> Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.context("cannot start a runtime")?.block_on(future))
}

impl ApiClient {
    /// A client of the server at this endpoint, calling from the pane that the environment names.
    pub(crate) fn new(
        endpoint: ServerEndpoint,
        endpoint_source: EndpointSource,
        env: Env<'_>,
    ) -> Self {
        let headers = headers(&endpoint, env);
        let names = NameMemory::default();
        Self { endpoint, endpoint_source, headers, names, open: OpenConnection::default() }
    }

    /// The same client, which uses and extends these names.
    pub(crate) fn with_names(self, names: NameMemory) -> Self {
        Self { names, ..self }
    }

    /// The same client, whose first request goes over this connection.
    pub(crate) fn with_connection(self, open: OpenConnection) -> Self {
        Self { open, ..self }
    }

    /// The same client with only the rights of the pane that this command runs in, if it is one of
    /// the server's: for commands that another program directs.
    pub(crate) fn with_grant_of_pane(mut self) -> Self {
        let token = self.headers.remove(OWN_TOKEN);
        let token = token.and_then(|token| token.to_str().ok().map(|it| format!("Bearer {it}")));
        if let Some(token) = token.and_then(|token| HeaderValue::try_from(token).ok()) {
            self.headers.insert(AUTHORIZATION, token);
        }
        self
    }

    /// The pane that this command runs in, if it is one of the server's.
    pub(crate) fn own_pane(&self) -> Option<&str> {
        self.headers.get(OWN_PANE).and_then(|id| id.to_str().ok())
    }

    /// Whether the server may be on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.endpoint, ServerEndpoint::Tcp { .. })
    }

    /// The address of the server for a browser, if that is how we reach it.
    pub(crate) fn web_url(&self) -> Option<String> {
        match &self.endpoint {
            ServerEndpoint::Tcp { authority, .. } => Some(format!("http://{authority}")),
            ServerEndpoint::Unix(_) => None,
        }
    }

    /// Whether the server is on this machine, so that our folders and variables mean the same
    /// there.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        match &self.endpoint {
            ServerEndpoint::Unix(_) => true,
            ServerEndpoint::Tcp { authority, .. } => is_loopback(authority),
        }
    }

    /// Sends one request and reads the whole answer.
    ///
    /// # Errors
    /// As [`ApiClient::action`].
    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value> {
        json(self.send(request(method, path, body)?).await?).await
    }

    /// Sends one request. The answer's body is still to be read.
    ///
    /// # Errors
    /// As [`ApiClient::action`].
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
        let response = self.connect_and_send(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = response.into_body().collect().await.map_err(connection_lost)?.to_bytes();
        match serde_json::from_slice::<Refusal>(&body) {
            Ok(refusal) => Err(explain(&self.endpoint, refusal).into()),
            Err(_) => Err(anyhow::anyhow!("the server answered {status}")),
        }
    }
}

impl ApiClient {
    /// Sends a request in another tool's protocol, whose errors have a format of their own.
    ///
    /// # Errors
    /// When the server cannot be reached, or its answer is no JSON.
    pub(crate) async fn request_with_status(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        let response = self.connect_and_send(request(method, path, body)?).await?;
        Ok((response.status(), json(response).await?))
    }

    /// Sends a request and returns whatever answer there is.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub(crate) async fn connect_and_send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>> {
        request.headers_mut().extend(self.headers.clone());
        let failed = |error| unreachable(&self.endpoint, self.endpoint_source, &error);
        match &self.endpoint {
            ServerEndpoint::Unix(path) => {
                let stream = match self.open.take() {
                    Some(open) => {
                        open.set_nonblocking(true).and_then(|()| UnixStream::from_std(open))
                    }
                    None => UnixStream::connect(path).await,
                };
                let stream = stream.map_err(failed)?;
                check_user(&self.endpoint, stream.peer_cred().map_err(failed)?.uid())?;
                send_over(open(stream).await?, request).await
            }
            ServerEndpoint::Tcp { authority, token } => {
                let stream = TcpStream::connect(authority).await.map_err(failed)?;
                let address = stream.peer_addr().map_err(failed)?;
                let mut connection = open(stream).await?;
                if let Some(token) = token {
                    self.check_proof(&mut connection, token, authority, address).await?;
                }
                send_over(connection, request).await
            }
        }
    }
}

impl ApiClient {
    /// Makes the server prove that it knows our token, before the token is sent: while the server
    /// is down, any program on this machine can bind its port. The request itself goes over the
    /// same connection.
    async fn check_proof(
        &self,
        connection: &mut HttpRequestSender,
        token: &str,
        authority: &str,
        address: SocketAddr,
    ) -> Result<()> {
        let not_proven = || {
            let sentence = format!(
                "{0} could not prove that it is the server of this token, so the token was not \
                sent; pass another with `--token` or PANED_TOKEN",
                self.endpoint
            );
            Refusal::new(Code::Unauthorized, sentence)
        };
        let challenge = Challenge::new(token).ok_or_else(not_proven)?;
        let request = Request::get("/health").header(HOST, authority);
        let request = request.header(CHALLENGE, challenge.header()).body(Full::default())?;
        let response = connection.send_request(request).await.map_err(connection_lost)?;
        let proof = response.headers().get(PROOF).and_then(|proof| proof.to_str().ok());
        let is_proven = proof.is_some_and(|proof| challenge.verify(proof, &address.to_string()));
        if !is_proven {
            return Err(not_proven().into());
        }
        let body = Limited::new(response.into_body(), MAX_HEALTH);
        body.collect().await.map_err(|_| not_proven())?;
        Ok(connection.ready().await.map_err(connection_lost)?)
    }
}

/// Whether this `host:port` is of this machine.
fn is_loopback(authority: &str) -> bool {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: IpAddr| address.is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

fn request(method: Method, path: &str, body: Option<&Value>) -> Result<Request<Full<Bytes>>> {
    let body = body.map(serde_json::to_vec).transpose()?.unwrap_or_default();
    Ok(Request::builder().method(method).uri(path).body(Full::from(body))?)
}

async fn json(response: Response<Incoming>) -> Result<Value> {
    let bytes = response.into_body().collect().await.map_err(connection_lost)?.to_bytes();
    serde_json::from_slice(&bytes).context("the server's answer is not valid JSON")
}

/// Over the socket only the peer's user authenticates the server: it must be root or our own user.
fn check_user(endpoint: &ServerEndpoint, peer: u32) -> Result<(), Refusal> {
    if peer == 0 || peer == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let sentence =
        format!("another user (uid {peer}) listens at {endpoint}; nothing was sent there");
    Err(Refusal::new(Code::Forbidden, sentence))
}

async fn open<S>(stream: S) -> Result<HttpRequestSender>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = EarlyReplyStream::new(stream);
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(connection_lost)?;
    // The task ends with the connection, whose errors the request itself reports.
    tokio::spawn(connection);
    Ok(sender)
}

async fn send_over(
    mut connection: HttpRequestSender,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>> {
    Ok(connection.send_request(request).await.map_err(connection_lost)?)
}

fn headers(endpoint: &ServerEndpoint, env: Env<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: Option<String>| {
        let value = value.and_then(|value| HeaderValue::try_from(value).ok());
        if let Some(value) = value {
            headers.insert(name, value);
        }
    };
    put(CONTENT_TYPE, Some("application/json".into()));
    match endpoint {
        ServerEndpoint::Unix(path) => {
            put(HOST, Some("localhost".into()));
            // Another server does not know our pane, and refuses a claim that it cannot check.
            if env("PANED_SOCKET").is_some_and(|own| path.as_os_str() == own.as_str()) {
                put(HeaderName::from_static(OWN_PANE), env("PANED_PANE"));
                put(HeaderName::from_static(OWN_TOKEN), env("PANED_TOKEN"));
            }
        }
        ServerEndpoint::Tcp { authority, token } => {
            put(HOST, Some(authority.clone()));
            put(AUTHORIZATION, token.as_ref().map(|token| format!("Bearer {token}")));
        }
    }
    headers
}

/// Names the endpoint that was tried, unless it is the default one, and says what to do.
fn unreachable(endpoint: &ServerEndpoint, source: EndpointSource, error: &io::Error) -> Refusal {
    use io::ErrorKind::{ConnectionRefused, NotFound};
    let why = match error.kind() {
        NotFound => "the socket does not exist".to_owned(),
        ConnectionRefused => "connection refused".to_owned(),
        _ => {
            let sentence = format!("cannot reach the server at {endpoint}: {error}");
            return Refusal::new(Code::Unavailable, sentence);
        }
    };
    let sentence = match source {
        EndpointSource::Default => return not_running(),
        EndpointSource::StateDir => format!(
            "no paned server is running at {endpoint}; start one with `paned server start` and the same `--state-dir`"
        ),
        EndpointSource::Named(name) => {
            format!("no paned server at {endpoint}, which {name} names: {why}")
        }
    };
    Refusal::new(Code::Unavailable, sentence)
}

/// The refusal when no server is running.
pub(crate) fn not_running() -> Refusal {
    let sentence = "no paned server is running; start one with `paned server start`";
    Refusal::new(Code::Unavailable, sentence)
}

/// Rewords the server's refusals about headers: a user of the command line has flags and variables.
fn explain(endpoint: &ServerEndpoint, refusal: Refusal) -> Refusal {
    let sentence = match (refusal.code, endpoint) {
        (Code::Unauthorized, ServerEndpoint::Tcp { token: None, .. }) => format!(
            "the server at {endpoint} requires a token: pass one with `--token` or PANED_TOKEN; \
            create it on that machine with `paned token create`"
        ),
        (Code::Unauthorized, ServerEndpoint::Tcp { token: Some(_), .. }) => format!(
            "{endpoint} rejected the token (invalid, expired or revoked); pass another with \
            `--token` or PANED_TOKEN"
        ),
        _ => return refusal,
    };
    Refusal { sentence, ..refusal }
}

/// How the refusal for a lost connection begins.
const CONNECTION_LOST: &str = "lost the connection before the server answered";

fn connection_lost(error: hyper::Error) -> Refusal {
    Refusal::new(Code::Unavailable, format!("{CONNECTION_LOST}: {error}"))
}

/// Whether a request was sent and the server exited before it answered.
pub(crate) fn is_connection_lost(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<Refusal>();
    refusal.is_some_and(|refusal| refusal.sentence.starts_with(CONNECTION_LOST))
}

/// Text as one segment of a path or one value of a query.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b'*' => {
                escaped.push(char::from(byte));
            }
            _ => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_an_address_is_escaped() {
        assert_eq!(escape("pane:new"), "pane:new");
        assert_eq!(escape("a/b?c=d&e#f ä\r\n"), "a%2Fb%3Fc%3Dd%26e%23f%20%C3%A4%0D%0A");
    }

    #[test]
    fn a_pane_says_who_it_is_to_its_own_server_only() {
        let env = |name: &str| Some(format!("/{name}"));
        let own = headers(&ServerEndpoint::Unix("/PANED_SOCKET".into()), &env);
        assert_eq!(own["x-paned-token"], "/PANED_TOKEN");
        assert_eq!(own["x-paned-pane"], "/PANED_PANE");
        let other = headers(&ServerEndpoint::Unix("/other".into()), &env);
        assert!(!other.contains_key("x-paned-pane"));
    }

    /// The refusal for an endpoint where no server listens.
    fn away(place: &ServerEndpoint, reason: EndpointSource) -> String {
        unreachable(place, reason, &io::ErrorKind::ConnectionRefused.into()).sentence
    }

    #[test]
    fn a_place_that_was_named_is_named_and_only_elsewhere_a_server_is_to_be_started() {
        let (unix, tcp) = (
            ServerEndpoint::Unix("/s/paned.sock".into()),
            ServerEndpoint::Tcp { authority: "h:1".into(), token: None },
        );
        assert_eq!(
            away(&tcp, EndpointSource::Named("`--url`")),
            "no paned server at http://h:1, which `--url` names: connection refused"
        );
        let usual = away(&unix, EndpointSource::Default);
        assert!(usual.contains("`paned server start`") && !usual.contains("/s/"), "{usual}");
        let folder = away(&unix, EndpointSource::StateDir);
        assert!(folder.contains("at /s/paned.sock; start one"), "{folder}");
    }

    #[test]
    fn whoever_types_a_command_is_told_of_flags_and_not_of_headers() {
        let told = |token: Option<&str>, code| {
            let place =
                ServerEndpoint::Tcp { authority: "h:1".into(), token: token.map(Into::into) };
            explain(&place, Refusal::new(code, "send `Authorization: Bearer <token>`")).sentence
        };
        for token in [None, Some("bad")] {
            let sentence = told(token, Code::Unauthorized);
            assert!(sentence.contains("`--token` or PANED_TOKEN"), "{sentence}");
            assert!(sentence.contains("http://h:1") && !sentence.contains("Bearer"), "{sentence}");
        }
        assert!(told(None, Code::Forbidden).contains("Bearer"));
        let refusal = Refusal::new(Code::Unauthorized, "as it is");
        assert_eq!(explain(&ServerEndpoint::Unix("/s".into()), refusal).sentence, "as it is");
    }

    #[test]
    fn over_tcp_a_token_is_shown() {
        let place = ServerEndpoint::Tcp { authority: "h:1".into(), token: Some("t".into()) };
        let headers = headers(&place, &|_| None);
        assert_eq!(headers["authorization"], "Bearer t");
        assert_eq!(headers["host"], "h:1");
    }
}
