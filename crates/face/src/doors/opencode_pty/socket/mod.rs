//! `/ws`: opencode-pty's protocol, text frames of JSON both ways.
//!
//! | file | idea |
//! |---|---|
//! | `ask`, `say` | the protocol's two directions |
//! | `session` | one task that owns one socket |
//! | `subscriptions` | sessions whose output is passed on |

mod ask;
mod say;
mod session;
mod subscriptions;

use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::header::UPGRADE;
use paned_model::Refusal;

use super::rest::{no_upgrade, sessions};
use crate::call::Call;
use crate::reply::Outcome;
use crate::ws::{Hand, hand_over};
use session::Session;

/// Turns the connection into a socket.
pub(super) async fn open(mut call: Call) -> Outcome {
    if !call.parts.headers.contains_key(UPGRADE) {
        return Err(no_upgrade("WebSocket endpoint - use WebSocket upgrade".to_owned()));
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut call.parts, &()).await;
    let upgrade = upgrade.map_err(|rejection| Refusal::invalid(rejection.body_text()))?;
    let (sessions, most) = (sessions(&call), call.shared.limits.body_bytes);
    hand_over(Hand::of(&mut call.parts)?, upgrade, most, |wire, heard| {
        Box::pin(Session::new(sessions, wire, heard).run())
    })
}
