//! Builds the routes of a compat API, and its JSON responses.

use std::sync::Arc;

use axum::http::Method;
use futures_util::future::BoxFuture;
use paned_model::Refusal;
use paned_server::compat_api::{Call, ErrorFormat, HandlerResult, text};
use paned_server::{AcceptedBody, Route, RouteParam};
use serde::Serialize;

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

impl<C: 'static> RouteBuilder<C> {
    pub(crate) fn get<R: Future<Output = HandlerResult> + Send + 'static>(
        &self,
        path: &'static str,
        doc: &'static str,
        handler: fn(C, Call) -> R,
    ) -> Route {
        self.route(Method::GET, path, doc, handler)
    }

    pub(crate) fn post<R: Future<Output = HandlerResult> + Send + 'static>(
        &self,
        path: &'static str,
        doc: &'static str,
        handler: fn(C, Call) -> R,
    ) -> Route {
        self.route(Method::POST, path, doc, handler)
    }

    pub(crate) fn route<R: Future<Output = HandlerResult> + Send + 'static>(
        &self,
        method: Method,
        path: &'static str,
        doc: &'static str,
        handler: fn(C, Call) -> R,
    ) -> Route {
        let context = self.context.clone();
        let errors = self.errors;
        let handler = Arc::new(move |call| {
            let answer = handler(context(&call), call);
            with_format(errors, answer)
        });
        let mut route = Route::compat(method, path, doc, handler);
        route.params = if path.contains('{') { self.path_param } else { &[] };
        route.takes = self.takes;
        route.answers = self.answers;
        route
    }
}

/// Encodes refusals in the format that the API's clients expect.
pub(crate) fn with_format(
    errors: ErrorFormat,
    answer: impl Future<Output = HandlerResult> + Send + 'static,
) -> BoxFuture<'static, HandlerResult> {
    Box::pin(async move { answer.await.map_err(|rejection| rejection.with_format(errors)) })
}

/// A value as a response of this media type.
pub(crate) fn json_of(media: &'static str, value: &impl Serialize) -> HandlerResult {
    Ok(text(media, serde_json::to_vec(value).map_err(Refusal::internal)?))
}
