//! The router: axum's, built from the one table of routes, and the answers where there is no route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::LOCATION;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use hyper_util::service::TowerToHyperService;
use paned_model::{Code, Refusal};
use paned_policy::guard::AcceptedBody;

use crate::compat_api::CompatApi;
use crate::http::call::Call;
use crate::http::reply::{HandlerResult, Rejection};
use crate::http::request::RequestContext;
use crate::http::routes::Route;
use crate::state::ServerState;

/// The router of a listener.
pub(crate) type ListenerRouter = TowerToHyperService<Router>;

/// An extension of a request whose path has a route, but not for its method.
#[derive(Clone, Copy, Debug)]
pub struct OtherMethod;

/// The routes of a compat API without their prefix, or all routes. A request has passed the guard,
/// and its [`RequestContext`] is an extension of it.
pub(crate) fn router(
    shared: Arc<ServerState>,
    compat: Option<Arc<dyn CompatApi>>,
) -> ListenerRouter {
    let mut router = Router::new();
    for route in &shared.routes {
        let path = match &compat {
            Some(api) => api.strip_prefix(route.path),
            None => Some(route.path),
        };
        let Some(path) = path else { continue };
        let method = MethodFilter::try_from(route.method.clone());
        let method = method.expect("axum knows the methods of the table");
        let route = route.clone();
        router = router.route(
            path,
            on(method, move |State(shared), Extension(context), request| {
                answer(route, shared, context, request)
            }),
        );
    }
    let unmatched = match &compat {
        Some(api) => UnmatchedPath::OfCompat(api.unknown_path_hint()),
        None => UnmatchedPath::OfMain,
    };
    let api = compat.clone();
    let router = router.method_not_allowed_fallback(
        move |State(shared), Extension(context), mut request: Request| {
            request.extensions_mut().insert(OtherMethod);
            answer_unmatched(api, shared, context, request, not_allowed)
        },
    );
    let router = router.fallback(move |State(shared), Extension(context), request| {
        let otherwise = move |method: &Method, path: &str| unmatched.answer(method, path);
        answer_unmatched(compat, shared, context, request, otherwise)
    });
    TowerToHyperService::new(router.with_state(shared))
}

/// Answers a request of this route. The route goes with the response, for the metrics.
async fn answer(
    route: Arc<Route>,
    shared: Arc<ServerState>,
    context: RequestContext,
    request: Request,
) -> Response {
    let mut response = route.answer(shared, context, request).await.into_response();
    response.extensions_mut().insert(route);
    response
}

/// Answers a request without a route: as its compat API does, or else by `otherwise`. A client
/// without a token does not learn whether a path exists.
async fn answer_unmatched(
    compat: Option<Arc<dyn CompatApi>>,
    shared: Arc<ServerState>,
    context: RequestContext,
    request: Request,
    otherwise: impl FnOnce(&Method, &str) -> HandlerResult,
) -> HandlerResult {
    let path = request.uri().path();
    let is_of = |api: &&Arc<dyn CompatApi>| api.strip_prefix(path).is_some();
    let compat = compat.or_else(|| shared.compat.iter().find(is_of).cloned());
    if let Some(fallback) = compat.and_then(CompatApi::fallback) {
        context.check_content(AcceptedBody::Anything)?;
        return fallback(Call::new(shared, context, request).await?).await;
    }
    // A method that the path does not take is refused whatever the body is.
    if request.extensions().get::<OtherMethod>().is_none() {
        context.check_content(AcceptedBody::Json)?;
    }
    context.caller()?;
    otherwise(request.method(), &path.escape_debug().to_string())
}

/// How a listener answers a path without a route.
#[derive(Clone, Copy)]
enum UnmatchedPath {
    /// Of the main API.
    OfMain,
    /// Of a compat API, with what it says to try instead.
    OfCompat(Option<&'static str>),
}

impl UnmatchedPath {
    fn answer(self, method: &Method, path: &str) -> HandlerResult {
        let hint = match self {
            Self::OfMain => "`GET /actions` lists the actions, `GET /openapi.json` all routes",
            Self::OfCompat(Some(hint)) => hint,
            Self::OfCompat(None) => return redirect_to_index(method, path),
        };
        Err(Refusal::not_found(format!("no route `{method} {path}`; {hint}")).into())
    }
}

/// On the listener of a compat API, redirects unknown paths to that API's index page.
fn redirect_to_index(method: &Method, path: &str) -> HandlerResult {
    if !matches!(*method, Method::GET | Method::HEAD) {
        let sentence = format!("no route `{method} {path}`; GET /index.html lists all routes");
        return Err(Refusal::not_found(sentence).into());
    }
    Ok((StatusCode::FOUND, [(LOCATION, "/index.html")]).into_response())
}

/// axum adds the header.
fn not_allowed(method: &Method, path: &str) -> HandlerResult {
    let sentence = format!(
        "`{path}` does not support {method}; the header `Allow` lists the supported \
                methods"
    );
    Err(Rejection::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, sentence))
}
