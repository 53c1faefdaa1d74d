//! `GET /ws`: panes' output, input and events over one WebSocket.
//!
//! | file | idea |
//! |---|---|
//! | `protocol` | messages of both directions, and binary frames of output |
//! | `session` | one task that owns one socket |
//! | `subscribe`, `channels` | what is followed; output is pulled in turns, each up to its window |
//! | `jobs` | actions in progress |
//! | `outbound` | the queue of unsent frames, the one flush that sends them, and the close frame |
//!
//! `docs/websocket.md` is the protocol as a client sees it. This module only translates: the kernel
//! decides what a caller may do, as for every other front end. It also authenticates a socket whose
//! request had no token: by its first frame.

mod channels;
mod jobs;
pub(crate) mod outbound;
mod protocol;
mod session;
mod subscribe;

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
use tokio::time::timeout;

use crate::http::auth;
use crate::http::reply::{HandlerResult, Rejection, json};
use crate::state::ServerState;
use crate::transport::conn_limit::ConnSlot;
use crate::transport::login_limit::LoginLimit;
use crate::transport::read_limit::ReadLimit;
use outbound::{CloseReason, WsInbound, WsOutbound};
use protocol::{WsEnvelope, WsRequestId};
pub(crate) use protocol::{WsMessage, WsRequest};
use session::WsSession;

/// The protocol, as clients offer it in `Sec-WebSocket-Protocol`.
pub const PROTOCOL: &str = "paned.v1";
/// The most channels of a socket.
const MAX_CHANNELS: usize = 64;
/// The most bytes of output in a frame.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// How many bytes a channel sends unacknowledged, unless its client says otherwise.
const DEFAULT_WINDOW: u64 = 1 << 20;
/// The largest window that a client may ask for.
const MAX_WINDOW: u64 = 16 << 20;
/// The read buffer. The library zeroes all of it before each read, so a larger one would cost more.
const READ: usize = 8 << 10;
/// About how much is read of a socket before it is authenticated: room for any token.
const MAX_UNAUTHENTICATED_BYTES: usize = 8 << 10;

/// What a request needs to turn its connection into a WebSocket.
///
/// axum would run the session in a task that has no owner. The connection's own task runs it
/// instead, so that eviction, shutdown and the final close work as for every connection.
#[derive(Clone)]
pub struct UpgradeSlot {
    /// Takes the session, which the connection's task then runs.
    pub(crate) session: mpsc::Sender<BoxFuture<'static, ()>>,
    /// The connection's read limit.
    pub(crate) read_limit: ReadLimit,
    /// The connection's slot.
    pub(crate) conn_slot: Arc<ConnSlot>,
    /// The rate limit for wrong tokens of the connection's listener.
    pub(crate) login_limit: Arc<LoginLimit>,
}

/// A new socket, and what is known from its request.
struct WsConn {
    shared: Arc<ServerState>,
    caller: Option<Caller>,
    headers: HeaderMap,
    /// Lifted when the client is authenticated.
    read_limit: ReadLimit,
    conn_slot: Arc<ConnSlot>,
    login_limit: Arc<LoginLimit>,
    outbound: WsOutbound,
    heard: WsInbound,
}

/// The answer to a request without an upgrade: what the server supports.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WsProtocolInfo {
    protocol: &'static str,
    max_channels: usize,
    max_message_bytes: usize,
    window_bytes: u64,
    max_window_bytes: u64,
}

/// Upgrades the connection to a WebSocket, or describes the protocol.
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
        // A client without a token learns nothing, not even what is wrong with its request.
        Err(rejection) => {
            return Err(caller.map_or_else(|| auth::missing_token().into(), |_| rejection));
        }
    };
    let max_bytes = shared.limits.body_bytes;
    let headers = std::mem::take(&mut parts.headers);
    let upgrade_slot = UpgradeSlot::of(&mut parts)?;
    let read_limit = upgrade_slot.read_limit.clone();
    let conn_slot = upgrade_slot.conn_slot.clone();
    let login_limit = upgrade_slot.login_limit.clone();
    if caller.is_none() {
        read_limit.set(MAX_UNAUTHENTICATED_BYTES);
    }
    run_on_upgrade(upgrade_slot, upgrade, max_bytes, |outbound, heard| {
        let conn =
            WsConn { shared, caller, headers, read_limit, conn_slot, login_limit, outbound, heard };
        Box::pin(conn.run())
    })
}

impl UpgradeSlot {
    /// The upgrade slot of a request's connection.
    ///
    /// # Errors
    /// If the connection cannot become a WebSocket.
    pub fn of(parts: &mut Parts) -> Result<Self, Refusal> {
        let slot = parts.extensions.remove::<Self>();
        slot.ok_or_else(|| Refusal::internal("this connection cannot be upgraded to a WebSocket"))
    }
}

/// Upgrades the connection. The connection's own task then runs the session.
///
/// # Errors
/// Never; the result is that of a handler.
pub fn run_on_upgrade(
    UpgradeSlot { session: slot, .. }: UpgradeSlot,
    upgrade: WebSocketUpgrade,
    max_bytes: usize,
    session: impl FnOnce(WsOutbound, WsInbound) -> BoxFuture<'static, ()> + Send + 'static,
) -> HandlerResult {
    // A message up to twice the limit is refused with an error; a longer one ends the socket.
    let upgrade = upgrade.max_message_size(2 * max_bytes).max_frame_size(2 * max_bytes);
    Ok(upgrade.read_buffer_size(READ).on_upgrade(async move |socket| {
        let (sink, stream) = socket.split();
        let session = session(WsOutbound::new(sink), stream);
        // The connection may have been closed meanwhile.
        let _ = slot.send(session).await;
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
    // A client closes the connection if the response names none of its protocols.
    Err(Refusal::invalid(format!("also offer `{PROTOCOL}` in `Sec-WebSocket-Protocol`")).into())
}

fn describe(shared: &ServerState) -> HandlerResult {
    let info = WsProtocolInfo {
        protocol: PROTOCOL,
        max_channels: MAX_CHANNELS,
        max_message_bytes: shared.limits.body_bytes,
        window_bytes: DEFAULT_WINDOW,
        max_window_bytes: MAX_WINDOW,
    };
    Ok(json(serde_json::to_vec(&info).map_err(Refusal::internal)?))
}

impl WsConn {
    /// Authenticates the client and runs the session until it ends.
    async fn run(self) {
        let Self {
            shared,
            caller,
            headers,
            read_limit,
            conn_slot,
            login_limit,
            outbound,
            mut heard,
        } = self;
        let _counted = shared.metrics.socket();
        let caller = match caller {
            Some(caller) => Ok((caller, None)),
            None => authenticate(&shared, &login_limit, &headers, &mut heard).await,
        };
        let slot = match &caller {
            Ok((caller, _)) => shared.kernel.stream(caller).map(Some),
            Err(_) => Ok(None),
        };
        let caller = match (caller, &slot) {
            (Ok((_, id)), Err(refusal)) => Err(CloseReason::Refused(id, refusal.clone())),
            (caller, _) => caller,
        };
        match caller {
            Ok((caller, id)) => {
                read_limit.remove();
                conn_slot.mark_authenticated(&caller.grant);
                let caller = caller.connected(&shared.kernel, "websocket");
                WsSession::new(shared, caller, outbound, heard).run(id).await;
            }
            Err(reason) => reason.send(outbound, heard).await,
        }
    }
}

/// Waits for the first frame and authenticates its token. Also returns the `id` of that frame, for
/// the answer.
///
/// # Errors
/// With the reason to close, if no valid token arrives in time.
async fn authenticate(
    shared: &ServerState,
    login_limit: &LoginLimit,
    headers: &HeaderMap,
    inbound: &mut WsInbound,
) -> Result<(Caller, Option<WsRequestId>), CloseReason> {
    let first = tokio::select! {
        first = timeout(shared.limits.auth_timeout, inbound.next()) => first,
        () = shared.closed() => return Err(CloseReason::ServerStopping),
    };
    let message = match first {
        Ok(Some(Ok(message))) => message,
        Ok(Some(Err(error))) => return Err(CloseReason::Broken(error)),
        Ok(None) => return Err(CloseReason::ClientClosed),
        Err(_) => return Err(CloseReason::Refused(None, auth_timed_out(shared))),
    };
    let text = message.to_text().unwrap_or_default();
    let WsEnvelope { id, request } = WsEnvelope::read(text);
    let caller = match request {
        Ok(WsRequest::Auth { token }) => auth::authenticate(&shared.kernel, headers, &token)
            .map_err(|refusal| login_limit.refuse(rejected_token(refusal))),
        Ok(_) | Err(_) => Err(missing_auth()),
    };
    match caller {
        Ok(caller) => Ok((caller, id)),
        Err(refusal) => Err(CloseReason::Refused(id, refusal)),
    }
}

/// The kernel's refusal tells the client to set a header, which a web page cannot do.
fn rejected_token(refusal: Refusal) -> Refusal {
    match refusal.code {
        Code::Unauthorized => {
            let sentence = "the `token` of this `auth` is invalid, expired or revoked: open a \
                           new socket and send a valid one";
            Refusal { sentence: sentence.to_owned(), ..refusal }
        }
        _ => refusal,
    }
}

fn missing_auth() -> Refusal {
    let sentence = r#"a token is required: send {"type":"auth","token":…} first"#;
    Refusal::new(Code::Unauthorized, sentence)
}

fn auth_timed_out(shared: &ServerState) -> Refusal {
    let limit = shared.limits.auth_timeout.as_millis();
    Refusal::new(Code::Timeout, format!("no `auth` message arrived within {limit} ms"))
}
