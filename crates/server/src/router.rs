//! Where a path leads: to a row of the table, or to whoever answers where there is none.

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

use crate::compat::CompatProtocol;
use crate::reply::{HandlerResult, Rejection};
use crate::request::RequestContext;
use crate::routes::{Route, routes};
use crate::state::ServerState;

/// The rows of the table that a listener shows, by path.
pub(crate) struct ListenerRouter {
    rows: Router<Vec<&'static Route>>,
    /// The door that is at the root.
    compat: Option<CompatProtocol>,
}

/// Where a request leads.
enum RouteMatch {
    /// To this row, with what varies in its path.
    Found(&'static Route, Option<String>),
    /// To a path with rows for other methods only.
    WrongMethod(String),
    NotFound,
}

impl ListenerRouter {
    /// The whole table.
    pub(crate) fn whole() -> Self {
        Self::new(None, |route| Some(route.path))
    }

    /// The rows of a door, without their prefix.
    pub(crate) fn of(door: CompatProtocol) -> Self {
        Self::new(Some(door), |route| route.path.strip_prefix(door.prefix()))
    }

    fn new(
        compat: Option<CompatProtocol>,
        path: impl Fn(&'static Route) -> Option<&'static str>,
    ) -> Self {
        let mut paths = BTreeMap::<_, Vec<_>>::new();
        for route in routes() {
            if let Some(path) = path(route) {
                paths.entry(path).or_default().push(route);
            }
        }
        let mut rows = Router::new();
        for (path, routes) in paths {
            rows.insert(path, routes).expect("no two paths of the table are the same");
        }
        Self { rows, compat }
    }

    /// Answers a request that was let in, and says by which row.
    pub(crate) async fn answer(
        &self,
        shared: &Arc<ServerState>,
        guest: RequestContext,
        request: Request,
    ) -> (Option<&'static Route>, HandlerResult) {
        let (way, path) = (self.find(request.method(), request.uri().path()), request.uri().path());
        let stranger =
            self.compat.or_else(|| CompatProtocol::of(path)).and_then(CompatProtocol::fallback);
        match (way, stranger) {
            (RouteMatch::Found(route, name), _) => {
                let is_head = request.method() == Method::HEAD;
                let outcome = route.answer(shared.clone(), guest, name, request).await;
                (Some(route), if is_head { outcome.map(without_body) } else { outcome })
            }
            (_, Some(stranger)) => (None, stranger(shared.clone(), guest, request).await),
            (RouteMatch::WrongMethod(takes), None) => (None, not_allowed(guest, &request, &takes)),
            (RouteMatch::NotFound, None) if self.compat.is_some() => {
                (None, redirect_to_index(guest, &request))
            }
            (RouteMatch::NotFound, None) => (None, unknown_route(guest, &request)),
        }
    }

    fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let Ok(found) = self.rows.at(path) else { return RouteMatch::NotFound };
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        match found.value.iter().find(|route| route.method == *method) {
            Some(route) => RouteMatch::Found(
                route,
                found.params.iter().next().map(|(_, name)| name.to_owned()),
            ),
            None => RouteMatch::WrongMethod(allowed_methods(found.value)),
        }
    }
}

/// The methods of these rows, as `Allow` has them.
fn allowed_methods(rows: &[&Route]) -> String {
    let methods = rows.iter().map(|route| match route.method {
        Method::GET => "GET,HEAD",
        ref other => other.as_str(),
    });
    methods.collect::<Vec<_>>().join(",")
}

/// An answer to HEAD: as long as it says, and not there.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

/// Who shows no token learns nothing, not even what is not there.
fn unknown_route(guest: RequestContext, request: &Request) -> HandlerResult {
    let (method, path) = authorized_target(guest, request)?;
    let sentence = format!(
        "no route `{method} {path}`; GET /actions lists the actions, GET /openapi.json all routes"
    );
    Err(Refusal::not_found(sentence).into())
}

/// At a door of its own, whoever looks for something else is shown the door's page.
fn redirect_to_index(guest: RequestContext, request: &Request) -> HandlerResult {
    let (method, path) = authorized_target(guest, request)?;
    if !matches!(*method, Method::GET | Method::HEAD) {
        let sentence =
            format!("no route `{method} {path}` at this door; GET /index.html says what is here");
        return Err(Refusal::not_found(sentence).into());
    }
    Ok((StatusCode::FOUND, [(LOCATION, "/index.html")]).into_response())
}

fn not_allowed(guest: RequestContext, request: &Request, takes: &str) -> HandlerResult {
    let (method, path) = authorized_target(guest, request)?;
    let sentence =
        format!("`{path}` does not take {method}; the header `Allow` says what it takes");
    let rejection = Rejection::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, sentence);
    Ok(([(ALLOW, takes)], rejection).into_response())
}

/// What somebody looked for who may be told that it is not there.
fn authorized_target(
    guest: RequestContext,
    request: &Request,
) -> Result<(&Method, String), Rejection> {
    guest.check_content(AcceptedBody::Json)?;
    guest.caller()?;
    Ok((request.method(), request.uri().path().escape_debug().to_string()))
}
