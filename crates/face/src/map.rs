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
use paned_policy::guard::Takes;

use crate::doors::Door;
use crate::entrance::Guest;
use crate::reply::{Outcome, Rejection};
use crate::routes::{Route, routes};
use crate::shared::Shared;

/// The rows of the table that a listener shows, by path.
pub(crate) struct Map {
    rows: Router<Vec<&'static Route>>,
    /// The door that is at the root.
    door: Option<Door>,
}

/// Where a request leads.
enum Way {
    /// To this row, with what varies in its path.
    Row(&'static Route, Option<String>),
    /// To a path with rows for other methods only.
    Other(String),
    Nowhere,
}

impl Map {
    /// The whole table.
    pub(crate) fn whole() -> Self {
        Self::new(None, |route| Some(route.path))
    }

    /// The rows of a door, without their prefix.
    pub(crate) fn of(door: Door) -> Self {
        Self::new(Some(door), |route| route.path.strip_prefix(door.prefix()))
    }

    fn new(door: Option<Door>, path: impl Fn(&'static Route) -> Option<&'static str>) -> Self {
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
        Self { rows, door }
    }

    /// Answers a request that was let in, and says by which row.
    pub(crate) async fn answer(
        &self,
        shared: &Arc<Shared>,
        guest: Guest,
        request: Request,
    ) -> (Option<&'static Route>, Outcome) {
        let (way, path) = (self.find(request.method(), request.uri().path()), request.uri().path());
        let stranger = self.door.or_else(|| Door::of(path)).and_then(Door::stranger);
        match (way, stranger) {
            (Way::Row(route, name), _) => {
                let is_head = request.method() == Method::HEAD;
                let outcome = route.answer(shared.clone(), guest, name, request).await;
                (Some(route), if is_head { outcome.map(without_body) } else { outcome })
            }
            (_, Some(stranger)) => (None, stranger(shared.clone(), guest, request).await),
            (Way::Other(takes), None) => (None, not_allowed(guest, &request, &takes)),
            (Way::Nowhere, None) if self.door.is_some() => (None, elsewhere(guest, &request)),
            (Way::Nowhere, None) => (None, unknown(guest, &request)),
        }
    }

    fn find(&self, method: &Method, path: &str) -> Way {
        let Ok(found) = self.rows.at(path) else { return Way::Nowhere };
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        match found.value.iter().find(|route| route.method == *method) {
            Some(route) => {
                Way::Row(route, found.params.iter().next().map(|(_, name)| name.to_owned()))
            }
            None => Way::Other(taken(found.value)),
        }
    }
}

/// The methods of these rows, as `Allow` has them.
fn taken(rows: &[&Route]) -> String {
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
fn unknown(guest: Guest, request: &Request) -> Outcome {
    let (method, path) = lost(guest, request)?;
    let sentence = format!(
        "no route `{method} {path}`; GET /actions lists the actions, GET /openapi.json all routes"
    );
    Err(Refusal::not_found(sentence).into())
}

/// At a door of its own, whoever looks for something else is shown the door's page.
fn elsewhere(guest: Guest, request: &Request) -> Outcome {
    let (method, path) = lost(guest, request)?;
    if !matches!(*method, Method::GET | Method::HEAD) {
        let sentence =
            format!("no route `{method} {path}` at this door; GET /index.html says what is here");
        return Err(Refusal::not_found(sentence).into());
    }
    Ok((StatusCode::FOUND, [(LOCATION, "/index.html")]).into_response())
}

fn not_allowed(guest: Guest, request: &Request, takes: &str) -> Outcome {
    let (method, path) = lost(guest, request)?;
    let sentence =
        format!("`{path}` does not take {method}; the header `Allow` says what it takes");
    let rejection = Rejection::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, sentence);
    Ok(([(ALLOW, takes)], rejection).into_response())
}

/// What somebody looked for who may be told that it is not there.
fn lost(guest: Guest, request: &Request) -> Result<(&Method, String), Rejection> {
    guest.check_brought(Takes::Json)?;
    guest.caller()?;
    Ok((request.method(), request.uri().path().escape_debug().to_string()))
}
