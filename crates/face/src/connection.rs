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

use crate::alarm::Clock;
use crate::doors::Door;
use crate::doors::agentmux::Lenient;
use crate::entrance::enter;
use crate::lane::{Lane, Laned};
use crate::lent::Lent;
use crate::listener::{Stream, Threshold};
use crate::map::Map;
use crate::patient::Patient;
use crate::ration::{Ration, Rationed};
use crate::seats::Seat;
use crate::shared::Shared;
use crate::when_woken::WhenWoken;
use crate::worded::Worded;
use crate::ws::Hand;

/// The most bytes of a head, and of an answer that waits to be taken. (hyper allows 100 headers.)
pub(crate) const BUFFER: usize = 64 << 10;
/// How long somebody whom nobody listens to any more is let speak, and how much of it is taken.
const PATIENCE: Duration = Duration::from_secs(1);
const REST: usize = 8 << 20;

/// How long somebody who was let in just before the end may take for a first request.
const FIRST_WORD: Duration = Duration::from_millis(300);

/// What a connection's requests go through.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) shared: Arc<Shared>,
    pub(crate) map: Arc<Map>,
    pub(crate) threshold: Arc<Threshold>,
}

/// Talks over one connection, as long as it lasts. Its seat is free when it ends.
/// Whoever was never let in may have to give it to somebody else before that.
pub(crate) async fn talk(talk: Talk, stream: Box<dyn Stream>, seat: Arc<Seat>) {
    let shared = talk.shared.clone();
    let claimed = pin!(seat.claimed());
    tokio::select! {
        biased;
        () = WhenWoken::new(claimed) => shared.metrics.turned_away(),
        () = converse(talk, stream, seat.clone()) => {}
    }
}

async fn converse(talk: Talk, stream: Box<dyn Stream>, seat: Arc<Seat>) {
    let (visit, mut visits) = mpsc::channel(1);
    let (lane, ration) = (Lane::default(), Ration::default());
    let ((stream, back), shared) = (Lent::new(stream), talk.shared.clone());
    answer(talk, Box::new(stream), Hand { visit, lane, ration, seat }).await;
    // Nobody holds a hand any more, unless the connection became a socket.
    let Some(visit) = visits.recv().await else { return };
    let parting = async {
        let Ok(stream) = back.await else { return };
        tokio::select! {
            () = hang_up(stream, REST) => {}
            () = shared.closed() => {}
        }
    };
    // Whoever visited may have something to finish when the client is gone.
    tokio::join!(visit, parting);
}

/// Ends a connection whose client may still be speaking. Nothing of that is kept.
async fn hang_up(mut stream: Box<dyn Stream>, most: usize) {
    let goodbye = async {
        stream.shutdown().await?;
        // Closing while something is unread would take back what was said.
        copy(&mut stream.take(most as u64), &mut sink()).await
    };
    // They may be gone already, or never stop talking; we have said it.
    let _ = timeout(PATIENCE, goodbye).await;
}

/// Answers the requests of one connection.
async fn answer(talk: Talk, stream: Box<dyn Stream>, hand: Hand) {
    let limits = talk.shared.limits;
    let closed = talk.shared.closed();
    let (begun, mut first) = watch::channel(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        begun.send_replace(true);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(hand.clone());
        }
        let (talk, seat) = (&talk, &hand.seat);
        async move { Ok::<_, Infallible>(enter(talk, seat, request.map(Body::new)).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(Clock::default()).header_read_timeout(limits.head).max_buf_size(BUFFER);
    let stream: Box<dyn Stream> = match talk.threshold.door {
        Some(Door::Agentmux) => Box::new(Lenient::new(stream)),
        Some(Door::Agentapi | Door::OpencodePty) | None => stream,
    };
    let stream =
        Rationed::new(Worded::new(Patient::new(stream, limits.stall)), hand.ration.clone());
    let stream = Laned::new(stream, hand.lane.clone());
    let stream = TokioIo::new(stream);
    let mut connection = pin!(http.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed => {
            // Whoever was let in and has not asked yet could not know; they are heard once.
            let first = timeout(FIRST_WORD, first.wait_for(|begun| *begun));
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
pub(crate) async fn turn_away(mut stream: Box<dyn Stream>, refusal: Refusal) {
    let answer = written(refusal.code.http(), &refusal);
    if let Ok(Ok(())) = timeout(PATIENCE, stream.write_all(answer.as_bytes())).await {
        hang_up(stream, BUFFER).await;
    }
}

/// A refusal as it goes over the wire, for those whom no route answers; the last word of a connection.
pub(crate) fn written(status: u16, refusal: &Refusal) -> String {
    let body = serde_json::to_string(refusal).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        refusal.code
    )
}
