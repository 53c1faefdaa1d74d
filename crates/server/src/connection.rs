//! One connection: it is talked to until either side has enough.

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
use hyper_util::rt::TokioIo;
use paned_model::Refusal;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::compat::CompatProtocol;
use crate::compat::agentmux::ContentLengthRewriter;
use crate::conn_limit::ConnSlot;
use crate::error_rewriter::ErrorRewriter;
use crate::http_timer::HttpTimer;
use crate::lane::{RawFrameQueue, RawFrameStream};
use crate::listener::{ConnStream, Ingress};
use crate::poll_on_wake::PollOnWake;
use crate::read_limit::{LimitedReader, ReadLimit};
use crate::reclaim::ReclaimOnDrop;
use crate::request::handle_request;
use crate::router::ListenerRouter;
use crate::state::ServerState;
use crate::write_timeout::WriteTimeout;
use crate::ws::UpgradeSlot;

/// The most bytes of a head, and of an answer that waits to be taken. (hyper allows 100 headers.)
pub(crate) const MAX_BUFFER: usize = 64 << 10;
/// How long somebody whom nobody listens to any more is let speak, and how much of it is taken.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_LINGER_BYTES: usize = 8 << 20;

/// How long somebody who was let in just before the end may take for a first request.
const FIRST_REQUEST_GRACE: Duration = Duration::from_millis(300);

/// What a connection's requests go through.
#[derive(Clone)]
pub(crate) struct ConnContext {
    pub(crate) shared: Arc<ServerState>,
    pub(crate) map: Arc<ListenerRouter>,
    pub(crate) ingress: Arc<Ingress>,
}

/// Talks over one connection, as long as it lasts. Its seat is free when it ends.
/// Whoever was never let in may have to give it to somebody else before that.
pub(crate) async fn talk(talk: ConnContext, stream: Box<dyn ConnStream>, seat: Arc<ConnSlot>) {
    let shared = talk.shared.clone();
    let claimed = pin!(seat.evicted());
    tokio::select! {
        biased;
        () = PollOnWake::new(claimed) => shared.metrics.count_refused(),
        () = serve_connection(talk, stream, seat.clone()) => {}
    }
}

async fn serve_connection(talk: ConnContext, stream: Box<dyn ConnStream>, seat: Arc<ConnSlot>) {
    let (visit, mut visits) = mpsc::channel(1);
    let (lane, ration) = (RawFrameQueue::default(), ReadLimit::default());
    let ((stream, back), shared) = (ReclaimOnDrop::new(stream), talk.shared.clone());
    serve_http(
        talk,
        Box::new(stream),
        UpgradeSlot { visit, lane, read_limit: ration, conn_slot: seat },
    )
    .await;
    // Nobody holds a hand any more, unless the connection became a socket.
    let Some(visit) = visits.recv().await else { return };
    let parting = async {
        let Ok(stream) = back.await else { return };
        tokio::select! {
            () = linger_close(stream, MAX_LINGER_BYTES) => {}
            () = shared.closed() => {}
        }
    };
    // Whoever visited may have something to finish when the client is gone.
    tokio::join!(visit, parting);
}

/// Ends a connection whose client may still be speaking. Nothing of that is kept.
async fn linger_close(mut stream: Box<dyn ConnStream>, most: usize) {
    let goodbye = async {
        stream.shutdown().await?;
        // Closing while something is unread would take back what was said.
        copy(&mut stream.take(most as u64), &mut sink()).await
    };
    // They may be gone already, or never stop talking; we have said it.
    let _ = timeout(LINGER_TIMEOUT, goodbye).await;
}

/// Answers the requests of one connection.
async fn serve_http(talk: ConnContext, stream: Box<dyn ConnStream>, hand: UpgradeSlot) {
    let limits = talk.shared.limits;
    let closed = talk.shared.closed();
    let (begun, mut first) = watch::channel(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        begun.send_replace(true);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(hand.clone());
        }
        let (talk, seat) = (&talk, &hand.conn_slot);
        async move { Ok::<_, Infallible>(handle_request(talk, seat, request.map(Body::new)).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(HttpTimer::default())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(MAX_BUFFER);
    let stream: Box<dyn ConnStream> = match talk.ingress.door {
        Some(CompatProtocol::Agentmux) => Box::new(ContentLengthRewriter::new(stream)),
        Some(CompatProtocol::Agentapi | CompatProtocol::OpencodePty) | None => stream,
    };
    let stream = LimitedReader::new(
        ErrorRewriter::new(WriteTimeout::new(stream, limits.write_timeout)),
        hand.read_limit.clone(),
    );
    let stream = RawFrameStream::new(stream, hand.lane.clone());
    let stream = TokioIo::new(stream);
    let mut connection = pin!(http.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed => {
            // Whoever was let in and has not asked yet could not know; they are heard once.
            let first = timeout(FIRST_REQUEST_GRACE, first.wait_for(|begun| *begun));
            tokio::select! {
                _ = connection.as_mut() => return,
                _ = first => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Tells somebody why they may not come in, and hangs up.
pub(crate) async fn reject(mut stream: Box<dyn ConnStream>, refusal: Refusal) {
    let answer = raw_response(refusal.code.http(), &refusal);
    if let Ok(Ok(())) = timeout(LINGER_TIMEOUT, stream.write_all(answer.as_bytes())).await {
        linger_close(stream, MAX_BUFFER).await;
    }
}

/// A refusal as it goes over the wire, for those whom no route answers; the last word of a connection.
pub(crate) fn raw_response(status: u16, refusal: &Refusal) -> String {
    let body = serde_json::to_string(refusal).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        refusal.code
    )
}
