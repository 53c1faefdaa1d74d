//! Authentication of a socket whose request had no token: by its first frame.

use axum::http::HeaderMap;
use futures_util::StreamExt;
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use tokio::time::timeout;

use super::close::CloseReason;
use super::outbound::WsInbound;
use super::request::{WsEnvelope, WsRequest, WsRequestId};
use crate::http::auth;
use crate::state::ServerState;

/// Waits for the first frame and authenticates its token. Also returns the `id` of that frame, for
/// the answer.
///
/// # Errors
/// With the reason to close, if no valid token arrives in time.
pub(super) async fn authenticate(
    shared: &ServerState,
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
            .map_err(|refusal| shared.login_limit.refuse(rejected_token(refusal))),
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
            let sentence = "the `token` of this `auth` is not good, or no more: open a new socket and send another";
            Refusal { sentence: sentence.to_owned(), ..refusal }
        }
        _ => refusal,
    }
}

fn missing_auth() -> Refusal {
    let sentence = r#"this needs a grant: send {"type":"auth","token":…} first"#;
    Refusal::new(Code::Unauthorized, sentence)
}

fn auth_timed_out(shared: &ServerState) -> Refusal {
    let limit = shared.limits.auth_timeout.as_millis();
    Refusal::new(Code::Timeout, format!("nobody said who opened this socket within {limit} ms"))
}
