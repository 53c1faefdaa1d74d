//! What every request passes, whatever its path and method: the guard, the question who it is from, the
//! router; and what every answer carries away.

use axum::Router;
use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use paned_model::Code;
use paned_policy::guard::{self, Head, Refused, Way};
use tower::ServiceExt;

use crate::listener::Threshold;
use crate::reply::{self, Rejection};
use crate::routes::Route;
use crate::shared::Shared;
use crate::who;

/// Answers one request.
pub(crate) async fn enter(
    shared: &Shared,
    app: Router,
    threshold: &Threshold,
    mut request: Request,
) -> Response {
    let mut response = match admit(shared, threshold, &mut request) {
        Ok(()) => app.oneshot(request).await.unwrap_or_else(|never| match never {}),
        Err(rejection) => rejection.into_response(),
    };
    let route: Option<&'static Route> = response.extensions_mut().remove();
    shared.metrics.answered(route, response.status());
    reply::stamp(response.headers_mut());
    response
}

/// Lets a request in, together with whoever sends it.
fn admit(shared: &Shared, threshold: &Threshold, request: &mut Request) -> Result<(), Rejection> {
    let way = &threshold.way;
    guard::judge(way, &head(request)).map_err(|refused| rejection(refused, way))?;
    let visitor = who::identify(&shared.kernel, threshold, request.headers())?;
    request.extensions_mut().insert(visitor);
    Ok(())
}

fn head(request: &Request) -> Head<'_> {
    let all = |name: HeaderName| {
        request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect()
    };
    Head {
        target: request.uri().authority().map(|authority| authority.as_str()),
        hosts: all(HOST),
        origins: all(ORIGIN),
        types: all(CONTENT_TYPE),
        has_body: !request.body().is_end_stream(),
    }
}

fn rejection(refused: Refused, way: &Way) -> Rejection {
    match refused {
        Refused::Misdirected => {
            let names = match way {
                Way::Tcp(names) => names.to_string(),
                Way::Unix => String::new(),
            };
            let sentence = format!("`Host` must be exactly one of our names: {names}");
            Rejection::new(StatusCode::MISDIRECTED_REQUEST, Code::Invalid, sentence)
        }
        Refused::ForeignOrigin => {
            let sentence = "pages of other origins may not call this server";
            Rejection::new(StatusCode::FORBIDDEN, Code::Forbidden, sentence)
        }
        Refused::UnsupportedType => {
            let sentence = "a body must be JSON: send `Content-Type: application/json`";
            Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, sentence)
        }
    }
}
