//! Responses that end with the caller's grant and with the server, and requests that end when the
//! client closes their stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use paned_kernel::StreamSlot;
use paned_server::compat_api::{GaugeGuard, JSON, text};
use rmcp::model::RequestId;
use serde_json::{Value, json};

use crate::sessions::SessionUse;

/// The request that a stream answers.
pub(crate) struct OpenRequest {
    /// The session that it is part of.
    pub(crate) session: Option<SessionUse>,
    /// Its id, if it is answered.
    pub(crate) id: Option<RequestId>,
    /// What a stream without a request counts as.
    pub(crate) _slot: Option<(StreamSlot, GaugeGuard)>,
}

/// The body of a stream.
struct GuardedStream {
    body: BodyDataStream,
    /// Completes when the caller's grant ends, or when the server stops.
    end: BoxFuture<'static, ()>,
    request: OpenRequest,
    is_complete: bool,
}

/// The response with a body that ends at `end`, too.
pub(crate) fn guard(
    response: Response<
        impl http_body_util::BodyExt<Data = Bytes, Error = Infallible> + Send + 'static,
    >,
    end: BoxFuture<'static, ()>,
    request: OpenRequest,
) -> Response {
    let (head, body) = response.into_parts();
    let body = Body::new(UnsyncBoxBody::new(body)).into_data_stream();
    let stream = GuardedStream { body, end, request, is_complete: false };
    Response::from_parts(head, Body::from_stream(stream))
}

impl Stream for GuardedStream {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // First, so that a flood of messages cannot outlive a grant.
        if self.end.poll_unpin(cx).is_ready() {
            return Poll::Ready(None);
        }
        let next = self.body.poll_next_unpin(cx);
        if let Poll::Ready(None) = next {
            self.is_complete = true;
        }
        next
    }
}

impl Drop for GuardedStream {
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        let OpenRequest { session, id, .. } = &mut self.request;
        if let (Some(session), Some(id)) = (session.take(), id.take()) {
            session.cancel(id);
        }
    }
}

/// A refusal as a JSON-RPC error.
pub(crate) fn error(status: StatusCode, code: i32, sentence: &str, id: Value) -> Response {
    let error = json!({ "code": code, "message": sentence });
    let body = json!({ "jsonrpc": "2.0", "error": error, "id": id });
    let mut response = text(JSON, body.to_string());
    *response.status_mut() = status;
    response
}

/// Whether the body is JSON or a stream of events.
pub(crate) fn is_protocol<B>(response: &Response<B>) -> bool {
    let media = response.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(|media| media.starts_with(JSON) || media.starts_with("text/event-stream"))
}
