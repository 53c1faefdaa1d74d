//! The router: finds the route of a request, or answers where there is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_LENGTH, LOCATION};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use matchit::Router;
use paned_model::{Code, Refusal};
use paned_policy::guard::AcceptedBody;

use crate::compat_api::{CallHandler, CompatApi};
use crate::http::call::Call;
use crate::http::reply::{HandlerResult, Rejection};
use crate::http::request::RequestContext;
use crate::http::routes::Route;
use crate::state::ServerState;

/// The routes of a listener, by path.
pub(crate) struct ListenerRouter {
    rows: Router<Vec<Arc<Route>>>,
    /// The compat API that is served at the root.
    compat: Option<Arc<dyn CompatApi>>,
}

/// The result of a lookup.
enum RouteMatch {
    /// This route, with the variable part of the path.
    Found(Arc<Route>, Option<String>),
    /// The path has routes for other methods only; with the value of `Allow`.
    WrongMethod(String),
    NotFound,
}

impl ListenerRouter {
    /// All routes, or those of a compat API without their prefix.
    pub(crate) fn new(shared: &ServerState, compat: Option<Arc<dyn CompatApi>>) -> Self {
        let mut paths = BTreeMap::<_, Vec<_>>::new();
        for route in &shared.routes {
            let path = match &compat {
                Some(api) => api.strip_prefix(route.path),
                None => Some(route.path),
            };
            if let Some(path) = path {
                paths.entry(path).or_default().push(route.clone());
            }
        }
        let mut rows = Router::new();
        for (path, routes) in paths {
            rows.insert(path, routes).expect("no two paths of the table are the same");
        }
        Self { rows, compat }
    }

    /// Answers a request that passed the guard. Also returns its route, for the metrics.
    pub(crate) async fn answer(
        &self,
        shared: &Arc<ServerState>,
        context: RequestContext,
        request: Request,
    ) -> (Option<Arc<Route>>, HandlerResult) {
        let path = request.uri().path();
        let found = self.find(request.method(), path);
        let is_of = |api: &&Arc<dyn CompatApi>| api.strip_prefix(path).is_some();
        let compat = self.compat.as_ref().or_else(|| shared.compat.iter().find(is_of));
        let fallback = compat.and_then(|api| api.clone().fallback());
        match (found, fallback) {
            (RouteMatch::Found(route, name), _) => {
                let is_head = request.method() == Method::HEAD;
                let outcome = route.answer(shared.clone(), context, name, request).await;
                (Some(route), if is_head { outcome.map(without_body) } else { outcome })
            }
            (_, Some(fallback)) => {
                (None, answer_unknown(fallback, shared.clone(), context, request).await)
            }
            (RouteMatch::WrongMethod(allow), None) => {
                (None, not_allowed(context, &request, &allow))
            }
            (RouteMatch::NotFound, None) if self.compat.is_some() => {
                (None, redirect_to_index(context, &request))
            }
            (RouteMatch::NotFound, None) => (None, unknown_route(context, &request)),
        }
    }

    fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let Ok(found) = self.rows.at(path) else { return RouteMatch::NotFound };
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        match found.value.iter().find(|route| route.method == *method) {
            Some(route) => RouteMatch::Found(
                route.clone(),
                found.params.iter().next().map(|(_, name)| name.to_owned()),
            ),
            None => RouteMatch::WrongMethod(allowed_methods(found.value)),
        }
    }
}

/// The methods of these routes, as the value of `Allow`.
fn allowed_methods(rows: &[Arc<Route>]) -> String {
    let methods = rows.iter().map(|route| match route.method {
        Method::GET => "GET,HEAD",
        ref other => other.as_str(),
    });
    methods.collect::<Vec<_>>().join(",")
}

/// The response to HEAD: the same headers with the length of the body, but no body.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

/// Has a compat API answer where it has no route.
async fn answer_unknown(
    fallback: CallHandler,
    shared: Arc<ServerState>,
    context: RequestContext,
    request: Request,
) -> HandlerResult {
    context.check_content(AcceptedBody::Anything)?;
    fallback(Call::new(shared, context, None, request)?).await
}

/// Refuses an unknown path. A client without a token does not learn whether a path exists.
fn unknown_route(context: RequestContext, request: &Request) -> HandlerResult {
    let (method, path) = authorized_target(context, request)?;
    let sentence = format!(
        "no route `{method} {path}`; GET /actions lists the actions, GET /openapi.json all routes"
    );
    Err(Refusal::not_found(sentence).into())
}

/// On the listener of a compat API, redirects unknown paths to that API's index page.
fn redirect_to_index(context: RequestContext, request: &Request) -> HandlerResult {
    let (method, path) = authorized_target(context, request)?;
    if !matches!(*method, Method::GET | Method::HEAD) {
        let sentence =
            format!("no route `{method} {path}` here; GET /index.html says what there is");
        return Err(Refusal::not_found(sentence).into());
    }
    Ok((StatusCode::FOUND, [(LOCATION, "/index.html")]).into_response())
}

fn not_allowed(context: RequestContext, request: &Request, allow: &str) -> HandlerResult {
    let (method, path) = authorized_target(context, request)?;
    let sentence =
        format!("`{path}` does not take {method}; the header `Allow` says what it takes");
    let rejection = Rejection::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, sentence);
    Ok(([(ALLOW, allow)], rejection).into_response())
}

/// The method and path of a request, if its caller may learn that there is no such route.
fn authorized_target(
    context: RequestContext,
    request: &Request,
) -> Result<(&Method, String), Rejection> {
    context.check_content(AcceptedBody::Json)?;
    context.caller()?;
    Ok((request.method(), request.uri().path().escape_debug().to_string()))
}
