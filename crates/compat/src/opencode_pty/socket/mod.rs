//! `/ws`: opencode-pty's protocol, text frames of JSON both ways.
//!
//! | file | idea |
//! |---|---|
//! | `protocol` | requests and messages |
//! | `session` | one task that owns one socket |
//! | `subscriptions` | sessions whose output the client receives |

mod protocol;
mod session;
mod subscriptions;

use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::StatusCode;
use axum::http::header::UPGRADE;
use axum::response::{IntoResponse, Response};
use paned_server::compat_api::{Call, HandlerResult, PROTOCOL, UpgradeSlot, run_on_upgrade, text};

use super::sessions::PtyCompatSessions;
use session::PtyCompatSocket;

const TEXT: &str = "text/plain; charset=utf-8";

/// Upgrades the connection to a WebSocket.
pub(super) async fn open(sessions: PtyCompatSessions, mut call: Call) -> HandlerResult {
    if !call.parts.headers.contains_key(UPGRADE) {
        let sentence = "WebSocket endpoint - use WebSocket upgrade";
        return Ok(no_socket(StatusCode::UPGRADE_REQUIRED, sentence));
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut call.parts, &()).await {
        // A browser sends its token as a subprotocol, and closes the connection if the response
        // selects none of those it offers.
        Ok(upgrade) => upgrade.protocols([PROTOCOL]),
        Err(rejection) => {
            let sentence = format!("WebSocket upgrade failed: {}", rejection.body_text());
            return Ok(no_socket(StatusCode::BAD_REQUEST, &sentence));
        }
    };
    let max_bytes = call.shared.limits.body_bytes;
    run_on_upgrade(UpgradeSlot::of(&mut call.parts)?, upgrade, max_bytes, |outbound, inbound| {
        Box::pin(PtyCompatSocket::new(sessions, outbound, inbound).run())
    })
}

/// The plain-text response to a request that is not upgraded, as clients expect it.
fn no_socket(status: StatusCode, sentence: &str) -> Response {
    (status, text(TEXT, sentence.to_owned())).into_response()
}
