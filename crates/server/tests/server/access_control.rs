//! Access control: for every route of the table, for unknown paths, and for every method.

use std::collections::BTreeSet;
use std::sync::Arc;

use paned_server::{AcceptedBody, RequiredAccess, Route};
use serde_json::json;

use crate::client::RawRequest;
use crate::test_server::{PAGE, TestServer};

const METHODS: [&str; 9] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"];
const NO_ROUTES: [&str; 11] = [
    "/index.html",
    "/no/such/route",
    "/action/",
    "/action/a/b",
    "/health/",
    "/actions/x",
    "/compat/opencode-pty",
    "/compat/opencode-pty/nothing",
    "/compat/opencode-pty/api/sessions/",
    "/compat/agentmux",
    "/compat/agentapi/nothing",
];
/// A session of the opencode-pty API.
const SESSION: &str = "pty_00000000";

/// The table of the servers under test.
pub(crate) fn routes() -> Vec<Arc<Route>> {
    paned_server::routes(PAGE, &crate::compat_setup().0)
}

/// Every path of the table, filled in, and some that do not exist.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    let fill = |path: &str| {
        let path = path.replace("{name}", "server:status").replace("{event}", "a:b");
        let path = path.replace("{id}", SESSION).replace("{pane}", "a");
        path.replace("{file}", "icon.svg")
    };
    let known = routes().into_iter().map(move |route| fill(route.path));
    known.chain(NO_ROUTES.map(str::to_owned))
}

/// The route of this request.
fn row(ask: &RawRequest) -> Option<Arc<Route>> {
    let method = if ask.method == "HEAD" { "GET" } else { &ask.method };
    routes()
        .into_iter()
        .zip(paths())
        .find_map(|(route, path)| (route.method == method && path == ask.path).then_some(route))
}

/// Whether this request needs no token.
fn is_open(ask: &RawRequest) -> bool {
    row(ask).is_some_and(|route| route.required_access() == RequiredAccess::Open)
}

/// Whether agentmux's API answers this path, also where it has no route.
pub(crate) fn is_agentmux(path: &str) -> bool {
    path.starts_with("/compat/agentmux/")
}

/// Changes a good request of every method to every path, and expects this status for it.
async fn check(
    change: impl Fn(RawRequest) -> RawRequest,
    status: impl Fn(&RawRequest) -> Option<u16>,
) {
    let server = TestServer::new().await;
    let asks = paths().flat_map(|path| METHODS.map(|method| RawRequest::new(method, &path)));
    let mut asked = 0;
    for bare in asks {
        let Some(status) = status(&bare) else { continue };
        let ask = change(server.ask(&bare.method, &bare.path));
        assert_eq!(server.send(&ask).await.status(), status, "{ask:?}");
        asked += 1;
    }
    assert!(routes().len() < asked, "nothing was asked");
}

fn always(status: u16) -> impl Fn(&RawRequest) -> Option<u16> {
    move |_| Some(status)
}

#[tokio::test]
async fn a_wrong_host_is_misdirected_everywhere() {
    check(|ask| ask.without("host").header("host", "evil.example"), always(421)).await;
}

#[tokio::test]
async fn no_host_is_misdirected_everywhere() {
    check(|ask| ask.without("host"), always(421)).await;
}

#[tokio::test]
async fn our_name_without_the_port_is_misdirected_everywhere() {
    check(|ask| ask.without("host").header("host", "127.0.0.1"), always(421)).await;
}

#[tokio::test]
async fn a_second_host_is_misdirected_everywhere() {
    check(|ask| ask.header("host", "evil.example"), always(421)).await;
}

#[tokio::test]
async fn a_target_that_names_another_host_is_misdirected_everywhere() {
    let elsewhere =
        |ask: RawRequest| RawRequest { path: format!("http://evil.example{}", ask.path), ..ask };
    check(elsewhere, always(421)).await;
}

#[tokio::test]
async fn an_upgrade_is_guarded_like_everything_else() {
    let upgrade =
        |ask: RawRequest| ask.header("connection", "upgrade").header("upgrade", "websocket");
    check(|ask| upgrade(ask).header("origin", "http://evil.example"), always(403)).await;
}

#[tokio::test]
async fn a_foreign_origin_is_forbidden_everywhere() {
    for origin in ["http://evil.example", "null", "http://127.0.0.1"] {
        check(|ask| ask.header("origin", origin), always(403)).await;
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_told_but_that_we_live() {
    let status = |ask: &RawRequest| Some(if is_open(ask) { 200 } else { 401 });
    check(|ask| ask.without("authorization"), status).await;
}

#[tokio::test]
async fn a_wrong_token_opens_nothing_at_all() {
    for wrong in ["Bearer paned_owner_x", "Bearer", "Basic eDp5"] {
        check(|ask| ask.without("authorization").header("authorization", wrong), always(401)).await;
    }
}

#[tokio::test]
async fn a_token_in_the_query_opens_nothing() {
    let in_query = |ask: RawRequest| {
        let token = ask.headers.iter().find(|(name, _)| name == "authorization").unwrap().1.clone();
        let path = format!("{}?token={}&access_token={0}", ask.path, token.replace("Bearer ", ""));
        RawRequest { path, ..ask.without("authorization") }
    };
    check(in_query, |ask| (!is_open(ask)).then_some(401)).await;
}

/// Unsupported, unless the route takes any content type. A method that the path does not take is
/// refused first, as no other body would help.
fn untyped(ask: &RawRequest) -> Option<u16> {
    if is_agentmux(&ask.path) {
        return None;
    }
    match row(ask) {
        Some(row) => (row.takes == AcceptedBody::Json).then_some(415),
        None if paths().zip(routes()).any(|(path, _)| path == ask.path) => Some(405),
        None => Some(415),
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_unsupported_everywhere_else() {
    for media in ["text/plain", "application/x-www-form-urlencoded"] {
        check(|ask| ask.body(media, "{}"), untyped).await;
    }
}

#[tokio::test]
async fn a_body_without_a_type_is_unsupported_everywhere_else() {
    check(|ask| RawRequest { body: "{}".to_owned(), ..ask }, untyped).await;
}

#[tokio::test]
async fn what_is_in_no_row_of_the_table_is_not_there() {
    let status = |ask: &RawRequest| NO_ROUTES.contains(&ask.path.as_str()).then_some(404);
    check(|ask| ask, status).await;
}

/// The methods of a path of the table.
fn methods<'a>(routes: &'a [Arc<Route>], path: &str) -> BTreeSet<&'a str> {
    let rows = routes.iter().filter(|route| route.path == path);
    let methods: BTreeSet<_> = rows.map(|route| route.method.as_str()).collect();
    let head = methods.contains("GET").then_some("HEAD");
    methods.into_iter().chain(head).collect()
}

#[tokio::test]
async fn a_route_takes_its_own_method_and_says_so() {
    let server = TestServer::new().await;
    let routes = routes();
    for (route, path) in routes.iter().zip(paths()) {
        if is_agentmux(route.path) {
            continue;
        }
        let takes = methods(&routes, route.path);
        for method in METHODS.iter().filter(|method| !takes.contains(*method)) {
            let answer = server.send(&server.ask(method, &path)).await;
            assert_eq!(answer.status(), 405, "{method} {path}");
            let allow = answer.head.get("allow").unwrap().split(',').collect::<BTreeSet<_>>();
            assert_eq!(allow, takes, "{method} {path}");
            let anonymous = server.ask(method, &path).without("authorization");
            let answer = server.send(&anonymous).await;
            assert_eq!((answer.status(), answer.head.get("allow")), (401, None), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_get_changes_nothing() {
    let server = TestServer::new().await;
    let argv = ["/bin/sh"];
    let session = json!({ "id": SESSION, "argv": argv, "tags": ["opencode-pty"] });
    server.act("pane:new", session).await;
    let before = server.metric("paned_events_total").await;
    for (route, path) in routes().iter().zip(paths()).filter(|(route, _)| route.method == "GET") {
        let answer = server.send(&server.ask("HEAD", &path)).await;
        let expect = match path.as_str() {
            // This route only upgrades to a WebSocket.
            "/compat/opencode-pty/ws" => 426,
            // There is no session, and no agent.
            "/compat/agentmux/idle" | "/compat/agentmux/capture" => 404,
            path if path.starts_with("/compat/agentapi/") => 404,
            _ => 200,
        };
        assert_eq!(answer.status(), expect, "{}", route.path);
    }
    assert_eq!(server.metric("paned_events_total").await, before);
}
