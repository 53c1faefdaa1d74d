//! Responses: JSON, refusals, and the headers that all of them have.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use paned_model::{Code, Refusal};
use serde_json::json as value;

/// The media type of JSON.
pub const JSON: &str = "application/json";
/// The same with a charset, as agentmux sends it.
pub const JSON_UTF8: &str = "application/json; charset=utf-8";
/// The media type of RFC 9457 problem details.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// The result of a handler.
pub type HandlerResult = Result<Response, Rejection>;

/// A refusal with its HTTP status: the code's own, unless HTTP has a more exact one.
#[derive(Debug)]
pub struct Rejection {
    /// Its status.
    pub status: StatusCode,
    /// The refusal.
    pub refusal: Refusal,
    /// How it is encoded.
    pub format: ErrorFormat,
}

/// How a refusal is encoded. The clients of a compat API know only the format of that API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFormat {
    /// paned's own format, with a code.
    Coded,
    /// Nothing but the sentence, as `error`.
    Bare,
    /// RFC 9457 problem details.
    Problem,
}

impl Rejection {
    /// A refusal for which HTTP has a more exact status than its code's.
    #[must_use]
    pub fn new(status: StatusCode, code: Code, sentence: impl Into<String>) -> Self {
        Self { status, refusal: Refusal::new(code, sentence), format: ErrorFormat::Coded }
    }

    /// The same in another format.
    #[must_use]
    pub fn with_format(self, format: ErrorFormat) -> Self {
        Self { format, ..self }
    }

    /// The body and its media type.
    fn body(&self) -> (&'static str, Vec<u8>) {
        let sentence = &self.refusal.sentence;
        match self.format {
            ErrorFormat::Coded => (JSON, serde_json::to_vec(&self.refusal).unwrap_or_default()),
            ErrorFormat::Bare => (JSON_UTF8, value!({ "error": sentence }).to_string().into()),
            ErrorFormat::Problem => {
                let problem = value!({
                    "title": self.status.canonical_reason().unwrap_or("Error"),
                    "status": self.status.as_u16(),
                    "detail": sentence,
                    "errors": [{ "message": sentence }],
                });
                (PROBLEM, problem.to_string().into())
            }
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.code.http());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, refusal, format: ErrorFormat::Coded }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let (media, body) = self.body();
        let mut response = (self.status, text(media, body)).into_response();
        let wait =
            self.refusal.details.as_ref().and_then(|details| details["retryAfterMs"].as_u64());
        if let Some(wait) = wait {
            response.headers_mut().insert(RETRY_AFTER, wait.div_ceil(1000).into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// A response with this JSON.
pub(crate) fn json(body: impl Into<Bytes>) -> Response {
    text(JSON, body)
}

/// A response with this media type.
pub fn text(media: &'static str, body: impl Into<Bytes>) -> Response {
    ([(CONTENT_TYPE, media)], body.into()).into_response()
}

/// Sets the headers of every response: no content sniffing, and no caching of what is not a file.
pub(crate) fn set_common_headers(headers: &mut HeaderMap) {
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status() {
        for code in Code::ALL {
            let response = Rejection::from(Refusal::new(code, "no")).into_response();
            assert_eq!(response.status().as_u16(), code.http());
            let asks = response.headers().contains_key(WWW_AUTHENTICATE);
            assert_eq!(asks, code == Code::Unauthorized);
        }
    }
}
