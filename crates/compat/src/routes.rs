//! Builds the routes of a compat API.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use paned_server::compat_api::{Call, ErrorFormat, HandlerResult, Rejection, text};
use paned_server::{AcceptedBody, Route, RouteParam, RouteShape};
use serde_json::Value;

/// What all routes of an API have in common.
pub(crate) struct RouteBuilder<C> {
    /// Creates what a handler gets beside the call.
    pub(crate) context: Arc<dyn Fn(&Call) -> C + Send + Sync>,
    /// The variable part of those paths that have one.
    pub(crate) path_param: &'static [RouteParam],
    pub(crate) takes: AcceptedBody,
    pub(crate) answers: &'static str,
    /// How refusals are encoded.
    pub(crate) errors: ErrorFormat,
}

/// The answer of a handler.
pub(crate) trait CompatAnswer {
    /// The response; JSON gets this media type.
    fn respond(self, media: &'static str) -> Response;
}

/// The result of a handler that answers JSON.
pub(crate) type JsonResult = Result<Value, Rejection>;

impl<C: 'static> RouteBuilder<C> {
    /// A route, written as `METHOD /path`.
    pub(crate) fn route<A, R>(
        &self,
        method_and_path: &'static str,
        doc: &'static str,
        shape: RouteShape,
        handler: fn(C, Call) -> R,
    ) -> Route
    where
        A: CompatAnswer,
        R: Future<Output = Result<A, Rejection>> + Send + 'static,
    {
        let (method, path) = method_and_path.split_once(' ').expect("a method and a path");
        let method: Method = method.parse().expect("a method is letters");
        let context = self.context.clone();
        let media = self.answers;
        let errors = self.errors;
        let handler = Arc::new(move |call| respond(media, errors, handler(context(&call), call)));
        let mut route = Route::compat(method, path, doc, handler);
        route.params = if path.contains('{') { self.path_param } else { &[] };
        route.takes = self.takes;
        route.answers = self.answers;
        route.with_shape(shape.with_errors(errors))
    }
}

/// Encodes an answer as the API's clients expect it.
pub(crate) fn respond<A: CompatAnswer>(
    media: &'static str,
    errors: ErrorFormat,
    answer: impl Future<Output = Result<A, Rejection>> + Send + 'static,
) -> BoxFuture<'static, HandlerResult> {
    Box::pin(async move {
        let answer = answer.await.map_err(|rejection| rejection.with_format(errors))?;
        Ok(answer.respond(media))
    })
}

impl CompatAnswer for Value {
    fn respond(self, media: &'static str) -> Response {
        text(media, self.to_string())
    }
}

impl CompatAnswer for (StatusCode, Value) {
    fn respond(self, media: &'static str) -> Response {
        let (status, value) = self;
        (status, value.respond(media)).into_response()
    }
}

impl CompatAnswer for Response {
    fn respond(self, _: &'static str) -> Response {
        self
    }
}
