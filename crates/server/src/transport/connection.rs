//! One connection: serves its requests until either side closes it.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::UPGRADE;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use paned_model::Refusal;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::http::request::{handle_request, plain_http_response};
use crate::http::router::ListenerRouter;
use crate::state::ServerState;
use crate::transport::conn_limit::ConnSlot;
use crate::transport::listener::{AcceptedStream, ConnStream, Ingress};
use crate::transport::peer_user::LoopbackConn;
use crate::transport::read_limit::{LimitedReader, ReadLimit};
use crate::transport::reclaim::ReclaimOnDrop;
use crate::transport::tls::TlsOpening;
use crate::transport::write_timeout::WriteTimeout;
use crate::ws::UpgradeSlot;

/// The most bytes of a request head, and of a response that waits to be written. (hyper allows 100
/// headers.)
pub(crate) const MAX_BUFFER: usize = 64 << 10;
/// How long, and how many bytes, we read and discard from a client after we have closed our side.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_LINGER_BYTES: usize = 8 << 20;

/// How long a connection that was accepted just before shutdown may take for its first request.
const FIRST_REQUEST_GRACE: Duration = Duration::from_millis(300);

/// What the requests of a connection need.
#[derive(Clone)]
pub(crate) struct ConnContext {
    pub(crate) shared: Arc<ServerState>,
    pub(crate) router: ListenerRouter,
    pub(crate) ingress: Arc<Ingress>,
    /// Both ends, where both are on this machine.
    pub(crate) loopback: Option<LoopbackConn>,
}

/// Serves one connection until it ends, which frees its slot. A connection that never authenticated
/// can be evicted before that.
pub(crate) async fn talk(context: ConnContext, stream: AcceptedStream, slot: Arc<ConnSlot>) {
    let shared = context.shared.clone();
    let evicted = pin!(slot.evicted());
    tokio::select! {
        biased;
        () = evicted => shared.metrics.count_refused(),
        () = serve_accepted(context, stream, slot.clone()) => {}
    }
}

/// Opens the TLS session first, on a listener with TLS.
async fn serve_accepted(context: ConnContext, stream: AcceptedStream, slot: Arc<ConnSlot>) {
    let stream = match stream {
        AcceptedStream::Plain(stream) => stream,
        AcceptedStream::Tls(stream) => {
            let time_limit = context.shared.limits.head_timeout;
            match timeout(time_limit, stream.open()).await {
                Ok(Ok(TlsOpening::Open(stream))) => stream,
                Ok(Ok(TlsOpening::PlainHttp(stream))) => {
                    let _ = timeout(time_limit, redirect_to_tls(stream, &context)).await;
                    return;
                }
                Ok(Err(error)) => return tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => return tracing::debug!("a TLS handshake took too long"),
            }
        }
    };
    serve_connection(context, stream, slot).await;
}

/// Answers a request that came without TLS to a port with TLS. Nothing of it is used but its
/// address: it may hold a token, which was readable on the network.
async fn redirect_to_tls(stream: TcpStream, context: &ConnContext) {
    let service = service_fn(|request: Request<Incoming>| {
        let request = request.map(Body::new);
        let response = plain_http_response(&context.ingress, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.keep_alive(false).max_buf_size(MAX_BUFFER);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection without TLS was closed by an error");
    }
}

async fn serve_connection(
    context: ConnContext,
    stream: Box<dyn ConnStream>,
    conn_slot: Arc<ConnSlot>,
) {
    let (session, mut sessions) = mpsc::channel(1);
    let read_limit = ReadLimit::default();
    let (stream, reclaimed) = ReclaimOnDrop::new(stream);
    let shared = context.shared.clone();
    let login_limit = shared.login_limit(&context.ingress).clone();
    let upgrade_slot = UpgradeSlot { session, read_limit, conn_slot, login_limit };
    serve_http(context, Box::new(stream), upgrade_slot).await;
    // All upgrade slots are dropped by now, unless the connection became a WebSocket.
    let Some(session) = sessions.recv().await else { return };
    let closing = async {
        let Ok(stream) = reclaimed.await else { return };
        tokio::select! {
            () = linger_close(stream, MAX_LINGER_BYTES) => {}
            () = shared.closed() => {}
        }
    };
    // The session may have work to finish after the client is gone.
    tokio::join!(session, closing);
}

/// Closes a connection whose client may still be sending. What it sends is discarded.
async fn linger_close(mut stream: Box<dyn ConnStream>, max_bytes: usize) {
    let close = async {
        stream.shutdown().await?;
        // Closing with unread input would reset the connection, and the client would lose our last
        // response.
        copy(&mut stream.take(max_bytes as u64), &mut sink()).await
    };
    // The client may be gone already or never stop sending; our response is sent either way.
    let _ = timeout(LINGER_TIMEOUT, close).await;
}

/// Answers the requests of one connection.
async fn serve_http(context: ConnContext, stream: Box<dyn ConnStream>, upgrade_slot: UpgradeSlot) {
    let limits = context.shared.limits;
    let closed = context.shared.closed();
    let (begun, mut first) = watch::channel(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        begun.send_replace(true);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(upgrade_slot.clone());
        }
        let context = &context;
        let conn_slot = &upgrade_slot.conn_slot;
        async move {
            Ok::<_, Infallible>(handle_request(context, conn_slot, request.map(Body::new)).await)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_timeout).max_buf_size(MAX_BUFFER);
    let stream = match &context.ingress.compat {
        Some(api) => api.wrap(stream),
        None => stream,
    };
    let stream = WriteTimeout::new(stream, limits.write_timeout);
    let stream = LimitedReader::new(stream, upgrade_slot.read_limit.clone());
    let stream = TokioIo::new(stream);
    let mut connection = pin!(http.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed => {
            // A client that has connected but sent nothing yet cannot know that we stop: serve its
            // first request.
            let first = timeout(FIRST_REQUEST_GRACE, first.wait_for(|begun| *begun));
            tokio::select! {
                _ = connection.as_mut() => return,
                _ = first => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection was closed by an error");
    }
}

/// Answers a connection that is not accepted with the reason, and closes it.
pub(crate) async fn reject(mut stream: Box<dyn ConnStream>, refusal: Refusal) {
    let response = raw_response(refusal.code.http(), &refusal);
    if let Ok(Ok(())) = timeout(LINGER_TIMEOUT, stream.write_all(response.as_bytes())).await {
        linger_close(stream, MAX_BUFFER).await;
    }
}

/// A refusal as a raw HTTP response, for clients that reach no route. It closes the connection.
pub(crate) fn raw_response(status: u16, refusal: &Refusal) -> String {
    let body = serde_json::to_string(refusal).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        refusal.code
    )
}
