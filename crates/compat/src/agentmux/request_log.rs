//! A line of the log for each request, as agentmux writes one. They are logged as `debug` under a
//! target of their own: the file of `AGENTMUX_LOG_FILE` has them, the server's own log does not.

use std::sync::Arc;
use std::time::Instant;

use paned_server::compat_api::CallHandler;

/// The target of these lines.
pub const REQUEST_LOG: &str = "bridge";

/// A handler that logs each request with its status. No body is logged: it may hold secrets.
pub(super) fn logged(handler: CallHandler) -> CallHandler {
    Arc::new(move |call| {
        let began = Instant::now();
        let method = call.parts.method.clone();
        let path = call.parts.uri.path().to_owned();
        let answer = handler(call);
        Box::pin(async move {
            let answer = answer.await;
            let status = match &answer {
                Ok(response) => response.status(),
                Err(rejection) => rejection.status,
            };
            let ms = began.elapsed().as_millis();
            let status = status.as_u16();
            let path = path.strip_prefix("/compat/agentmux").unwrap_or(&path);
            tracing::debug!(target: REQUEST_LOG, "{method} {path} {status} in {ms} ms");
            answer
        })
    })
}
