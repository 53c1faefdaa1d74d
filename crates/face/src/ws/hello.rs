//! Who opened a socket: known from its request, or told by its first frame.

use axum::http::HeaderMap;
use futures_util::StreamExt;
use paned_kernel::Caller;
use paned_model::{Code, Refusal};
use tokio::time::timeout;

use super::ask::{Asked, Id, Request};
use super::farewell::Farewell;
use super::wire::Heard;
use crate::shared::Shared;
use crate::who;

/// Waits for the first frame and lets in whoever's token it shows. The `id` of that frame is for its answer.
///
/// # Errors
/// With how to part, when it shows none in time.
pub(super) async fn listen(
    shared: &Shared,
    headers: &HeaderMap,
    heard: &mut Heard,
) -> Result<(Caller, Option<Id>), Farewell> {
    let first = tokio::select! {
        first = timeout(shared.limits.hello, heard.next()) => first,
        () = shared.closed() => return Err(Farewell::Stopping),
    };
    let message = match first {
        Ok(Some(Ok(message))) => message,
        Ok(Some(Err(error))) => return Err(Farewell::Broken(error)),
        Ok(None) => return Err(Farewell::Left),
        Err(_) => return Err(Farewell::Refused(None, silent(shared))),
    };
    let text = message.to_text().unwrap_or_default();
    let Asked { id, request } = Asked::read(text);
    let caller = match request {
        Ok(Request::Auth(token)) => who::admit(&shared.kernel, headers, &token)
            .map_err(|refusal| shared.logins.refuse(no_good(refusal))),
        Ok(_) | Err(_) => Err(unknown()),
    };
    match caller {
        Ok(caller) => Ok((caller, id)),
        Err(refusal) => Err(Farewell::Refused(id, refusal)),
    }
}

/// The kernel speaks of headers; whoever is here may be a page, which cannot send any.
fn no_good(refusal: Refusal) -> Refusal {
    match refusal.code {
        Code::Unauthorized => {
            let sentence = "the `token` of this `auth` is not good, or no more: open a new socket and send another";
            Refusal { sentence: sentence.to_owned(), ..refusal }
        }
        _ => refusal,
    }
}

fn unknown() -> Refusal {
    let sentence = r#"this needs a grant: send {"type":"auth","token":…} first"#;
    Refusal::new(Code::Unauthorized, sentence)
}

fn silent(shared: &Shared) -> Refusal {
    let limit = shared.limits.hello.as_millis();
    Refusal::new(Code::Timeout, format!("nobody said who opened this socket within {limit} ms"))
}
