//! `GET /ws`: panes' output, input and events over one WebSocket.
//!
//! | file | idea |
//! |---|---|
//! | `request`, `say` | the protocol's two directions: text frames of JSON, and binary frames of output |
//! | `handshake`, `close` | how a socket begins and ends |
//! | `session` | one task that owns one socket |
//! | `channels`, `window`, `subscribe` | subscriptions: pulled in turns, each as far as its window goes |
//! | `jobs`, `event_feed` | actions under way; events that are followed |
//! | `outbound` | what waits to be sent, and the one flush that sends it |
//!
//! `docs/websocket.md` is the protocol as a client sees it. Like every face this one only translates: whether
//! something may be done, the kernel says, for this socket as for every other door.

mod channels;
pub(crate) mod close;
mod event_feed;
mod handshake;
mod jobs;
mod message;
pub(crate) mod outbound;
mod request;
mod session;
mod subscribe;
mod window;

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::UPGRADE;
use axum::http::request::Parts;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::auth;
use crate::conn_limit::ConnSlot;
use crate::lane::RawFrameQueue;
use crate::poll_on_wake::PollOnWake;
use crate::read_limit::ReadLimit;
use crate::reply::{HandlerResult, Rejection, json};
use crate::state::ServerState;
use close::CloseReason;
use outbound::{WsInbound, WsOutbound};
use session::WsSession;

/// The protocol, as clients offer it in `Sec-WebSocket-Protocol`.
pub(crate) const PROTOCOL: &str = "paned.v1";
/// The most channels of a socket.
const MAX_CHANNELS: usize = 64;
/// The most bytes of output in a frame.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// How many bytes a channel sends unacknowledged, unless its client says otherwise.
const DEFAULT_WINDOW: u64 = 1 << 20;
/// The most it may say.
const MAX_WINDOW: u64 = 16 << 20;
/// What is read in one go. The library clears as much before each read, so more would cost more.
const READ: usize = 8 << 10;
/// About how much is read of a socket before it is known who opened it: room for any token.
const MAX_UNAUTHENTICATED_BYTES: usize = 8 << 10;

/// How a connection becomes a socket.
#[derive(Clone)]
pub(crate) struct UpgradeSlot {
    /// Takes what is to be done with it then.
    pub(crate) visit: mpsc::Sender<BoxFuture<'static, ()>>,
    /// The connection's lane.
    pub(crate) lane: RawFrameQueue,
    /// How much is read of it.
    pub(crate) read_limit: ReadLimit,
    /// Where its client sits.
    pub(crate) conn_slot: Arc<ConnSlot>,
}

/// A socket, and what its request said of whoever opened it.
struct WsConn {
    shared: Arc<ServerState>,
    caller: Option<Caller>,
    headers: HeaderMap,
    /// How much is read, and where they sit, until they are known.
    read_limit: ReadLimit,
    conn_slot: Arc<ConnSlot>,
    outbound: WsOutbound,
    heard: WsInbound,
}

/// What is spoken here, for whoever asks without upgrading.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WsProtocolInfo {
    protocol: &'static str,
    max_channels: usize,
    max_message_bytes: usize,
    window_bytes: u64,
    max_window_bytes: u64,
}

/// Turns the connection into a socket, or says what is spoken here.
pub(crate) async fn open(
    shared: Arc<ServerState>,
    caller: Option<Caller>,
    request: Request,
) -> HandlerResult {
    let (mut parts, _) = request.into_parts();
    if !parts.headers.contains_key(UPGRADE) {
        caller.ok_or_else(auth::missing_token)?;
        return describe(&shared);
    }
    let upgrade = match upgrade(&mut parts).await {
        Ok(upgrade) => upgrade,
        // Whoever shows no token learns nothing, not even what is wrong.
        Err(rejection) => {
            return Err(caller.map_or_else(|| auth::missing_token().into(), |_| rejection));
        }
    };
    let most = shared.limits.body_bytes;
    let headers = std::mem::take(&mut parts.headers);
    let hand = UpgradeSlot::of(&mut parts)?;
    let (ration, seat) = (hand.read_limit.clone(), hand.conn_slot.clone());
    if caller.is_none() {
        ration.set(MAX_UNAUTHENTICATED_BYTES);
    }
    run_on_upgrade(hand, upgrade, most, |wire, heard| {
        Box::pin(
            WsConn {
                shared,
                caller,
                headers,
                read_limit: ration,
                conn_slot: seat,
                outbound: wire,
                heard,
            }
            .run(),
        )
    })
}

impl UpgradeSlot {
    /// The hand of the connection that a request came by.
    ///
    /// # Errors
    /// When the connection cannot become a socket.
    pub(crate) fn of(parts: &mut Parts) -> Result<Self, Refusal> {
        let hand = parts.extensions.remove::<Self>();
        hand.ok_or_else(|| Refusal::internal("this connection cannot be a socket"))
    }
}

/// Has the connection talked to as a socket, by its own task.
///
/// # Errors
/// When the connection cannot become one.
pub(crate) fn run_on_upgrade(
    UpgradeSlot { visit, lane, .. }: UpgradeSlot,
    upgrade: WebSocketUpgrade,
    most: usize,
    talk: impl FnOnce(WsOutbound, WsInbound) -> BoxFuture<'static, ()> + Send + 'static,
) -> HandlerResult {
    // Somewhat longer ones are refused with a sentence; far longer ones end the socket.
    let upgrade = upgrade.max_message_size(2 * most).max_frame_size(2 * most);
    Ok(upgrade.read_buffer_size(READ).on_upgrade(async move |socket| {
        let (sink, heard) = socket.split();
        // The connection may have been cut meanwhile.
        let _ = visit.send(talk(WsOutbound::new(sink, lane), PollOnWake::new(heard))).await;
    }))
}

async fn upgrade(parts: &mut Parts) -> Result<WebSocketUpgrade, Rejection> {
    let upgrade = WebSocketUpgrade::from_request_parts(parts, &()).await;
    let upgrade = upgrade.map_err(|rejection| {
        Rejection::new(rejection.status(), Code::Invalid, rejection.body_text())
    })?;
    let upgrade = upgrade.protocols([PROTOCOL]);
    let none_wanted = upgrade.requested_protocols().next().is_none();
    if none_wanted || upgrade.selected_protocol().is_some() {
        return Ok(upgrade);
    }
    // A client would hang up on an answer that names none of its protocols.
    Err(Refusal::invalid(format!("offer `{PROTOCOL}` in `Sec-WebSocket-Protocol` too")).into())
}

fn describe(shared: &ServerState) -> HandlerResult {
    let spoken = WsProtocolInfo {
        protocol: PROTOCOL,
        max_channels: MAX_CHANNELS,
        max_message_bytes: shared.limits.body_bytes,
        window_bytes: DEFAULT_WINDOW,
        max_window_bytes: MAX_WINDOW,
    };
    Ok(json(serde_json::to_vec(&spoken).map_err(Refusal::internal)?))
}

impl WsConn {
    /// Talks over the socket until it ends.
    async fn run(self) {
        let Self {
            shared,
            caller,
            headers,
            read_limit: ration,
            conn_slot: seat,
            outbound: wire,
            mut heard,
        } = self;
        let _counted = shared.metrics.socket();
        let caller = match caller {
            Some(caller) => Ok((caller, None)),
            None => handshake::authenticate(&shared, &headers, &mut heard).await,
        };
        let slot = match &caller {
            Ok((caller, _)) => shared.kernel.stream(caller).map(Some),
            Err(_) => Ok(None),
        };
        let caller = match (caller, &slot) {
            (Ok((_, asked)), Err(refusal)) => Err(CloseReason::Refused(asked, refusal.clone())),
            (caller, _) => caller,
        };
        match caller {
            Ok((caller, asked)) => {
                ration.remove();
                seat.mark_authenticated(&caller.grant);
                let caller = caller.connected(&shared.kernel, "websocket");
                WsSession::new(shared, caller, wire, heard).run(asked).await;
            }
            Err(farewell) => farewell.send(wire, heard).await,
        }
    }
}
