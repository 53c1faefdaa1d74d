//! Who opened a socket: known from its request, or told by its first frame.

use axum::http::HeaderMap;
use futures_util::StreamExt;
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use tokio::time::timeout;

use super::ask::{Asked, Request};
use super::farewell::Farewell;
use super::wire::Heard;
use crate::shared::Shared;
use crate::who;

/// Waits for the first frame and lets in whoever's token it shows.
///
/// # Errors
/// With how to part, when it shows none in time.
pub(super) async fn listen(
    shared: &Shared,
    headers: &HeaderMap,
    heard: &mut Heard,
) -> Result<Caller, Farewell> {
    let first = tokio::select! {
        first = timeout(shared.limits.hello, heard.next()) => first,
        () = shared.closed() => return Err(Farewell::Stopping),
    };
    let message = match first {
        Ok(Some(Ok(message))) => message,
        Ok(Some(Err(error))) => return Err(Farewell::Broken(error)),
        Ok(None) => return Err(Farewell::Left),
        Err(_) => return Err(Farewell::Refused(silent(shared))),
    };
    let text = message.to_text().unwrap_or_default();
    let caller = match Asked::read(text).request {
        Ok(Request::Auth(token)) => who::admit(&shared.kernel, headers, &token),
        Ok(_) | Err(_) => Err(unknown()),
    };
    caller.map_err(Farewell::Refused)
}

fn unknown() -> Refusal {
    let sentence = r#"this needs a grant: send {"type":"auth","token":…} first"#;
    Refusal::new(Code::Unauthorized, sentence)
}

fn silent(shared: &Shared) -> Refusal {
    let limit = shared.limits.hello.as_millis();
    Refusal::new(Code::Timeout, format!("nobody said who opened this socket within {limit} ms"))
}
