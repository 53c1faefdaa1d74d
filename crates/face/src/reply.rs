//! Answers: JSON, refusals, and the headers that every one of them carries.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use paned_model::{Code, Refusal};

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";

/// What a handler has to say.
pub(crate) type Outcome = Result<Response, Rejection>;

/// A refusal with its HTTP status: the code's own, unless HTTP has a more exact one.
#[derive(Debug)]
pub(crate) struct Rejection {
    status: StatusCode,
    refusal: Refusal,
}

impl Rejection {
    /// A refusal for which HTTP has a more exact status than its code's.
    pub(crate) fn new(status: StatusCode, code: Code, sentence: impl Into<String>) -> Self {
        Self { status, refusal: Refusal::new(code, sentence) }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.code.http());
        Self { status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), refusal }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.refusal).unwrap_or_default();
        let mut response = (self.status, json(body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// JSON as it is.
pub(crate) fn json(body: impl Into<Bytes>) -> Response {
    text(JSON, body)
}

/// A text of this media type.
pub(crate) fn text(media: &'static str, body: impl Into<Bytes>) -> Response {
    ([(CONTENT_TYPE, media)], body.into()).into_response()
}

/// What every answer carries: nobody keeps it, nobody guesses its type.
pub(crate) fn stamp(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
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
