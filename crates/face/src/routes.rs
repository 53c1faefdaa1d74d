//! The one route table. Paths are looked up in it, OpenAPI is derived from it and tests walk it, so no route can be
//! anywhere else.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock};

use axum::extract::Request;
use axum::http::Method;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paned_kernel::Caller;
use paned_model::{Code, Refusal, Scope};
use paned_policy::guard::Takes;
use paned_policy::permit;

use crate::call::Call;
use crate::doors::Door;
use crate::entrance::Guest;
use crate::reply::{JSON, Outcome, Rejection};
use crate::shared::Shared;
use crate::{actions, catalogue, events, health, metrics, ws};

/// One route. HEAD goes with every GET; GET never changes anything.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{name}` for what varies.
    pub path: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What it reads besides a body.
    pub inputs: &'static [Input],
    /// What it takes as a body.
    pub takes: Takes,
    /// The media type of what it answers.
    pub answers: &'static str,
    pub(crate) entry: Entry,
}

/// Something a route reads besides a body.
pub struct Input {
    /// Where it stands.
    pub place: Place,
    /// What it is called there.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// Where an input stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// What a caller of a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing; whoever has a grant is told more.
    Open,
    /// Any grant; what it must hold, the action says.
    Grant,
    /// A grant with this scope.
    Scope(Scope),
}

/// Who may come in and what happens then. A handler that is given a [`Call`] is given a caller with it.
pub(crate) enum Entry {
    Open(fn(Arc<Shared>, Option<Caller>) -> BoxFuture<'static, Outcome>),
    Grant(fn(Call) -> BoxFuture<'static, Outcome>),
    Scope(Scope, fn(Call) -> BoxFuture<'static, Outcome>),
    /// As [`Entry::Grant`], but a socket may show its token after it is open, and does nothing before.
    Socket(fn(Arc<Shared>, Option<Caller>, Request) -> BoxFuture<'static, Outcome>),
}

const OWN: [Route; 8] = [
    Route {
        method: Method::POST,
        path: "/action/{name}",
        doc: "Run an action.",
        inputs: &[Input { place: Place::Path, name: "name", doc: "The action's name." }],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Grant(|call| Box::pin(actions::run(call))),
    },
    Route {
        method: Method::POST,
        path: "/emit/{event}",
        doc: "Record an event of your own, with the body as its payload.",
        inputs: &[Input { place: Place::Path, name: "event", doc: "The event's name." }],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Grant(|call| Box::pin(actions::emit(call))),
    },
    Route {
        method: Method::GET,
        path: "/actions",
        doc: "Show every action with the JSON Schema of its parameters and its answer.",
        inputs: &[],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Grant(|call| Box::pin(catalogue::actions(call))),
    },
    Route {
        method: Method::GET,
        path: "/openapi.json",
        doc: "Show this document.",
        inputs: &[],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Grant(|call| Box::pin(catalogue::openapi(call))),
    },
    Route {
        method: Method::GET,
        path: "/events",
        doc: "Follow events as server-sent events.",
        inputs: &[
            Input {
                place: Place::Query,
                name: "include",
                doc: "Which events: a comma list of names, `prefix:*` or `*`; none when left out.",
            },
            Input {
                place: Place::Header,
                name: "Last-Event-ID",
                doc: "Go on after this event; from now on when left out.",
            },
        ],
        takes: Takes::Json,
        answers: events::MEDIA,
        entry: Entry::Scope(Scope::Read, |call| Box::pin(events::follow(call))),
    },
    Route {
        method: Method::GET,
        path: "/health",
        doc: "Say that the server lives; with a grant that may read, also how it is.",
        inputs: &[],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Open(|shared, caller| Box::pin(health::health(shared, caller))),
    },
    Route {
        method: Method::GET,
        path: "/metrics",
        doc: "Show counters and gauges in Prometheus's text format.",
        inputs: &[],
        takes: Takes::Json,
        answers: metrics::MEDIA,
        entry: Entry::Scope(Scope::Read, |call| Box::pin(metrics::show(call))),
    },
    Route {
        method: Method::GET,
        path: "/ws",
        doc: "Open a WebSocket for output, input, events and actions; without an upgrade, say what it speaks.",
        inputs: &[Input {
            place: Place::Header,
            name: "Sec-WebSocket-Protocol",
            doc: "`paned.v1`, and for browsers `paned.bearer.<token>` in place of `Authorization`.",
        }],
        takes: Takes::Json,
        answers: JSON,
        entry: Entry::Socket(|shared, caller, request| Box::pin(ws::open(shared, caller, request))),
    },
];

static TABLE: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let doors = Door::ALL.into_iter().flat_map(Door::routes);
    OWN.into_iter().chain(doors).collect()
});

/// Every route there is.
#[must_use]
pub fn routes() -> &'static [Route] {
    &TABLE
}

impl Route {
    /// What a caller needs.
    #[must_use]
    pub fn needs(&self) -> Needs {
        match self.entry {
            Entry::Open(_) => Needs::Open,
            Entry::Grant(_) | Entry::Socket(_) => Needs::Grant,
            Entry::Scope(scope, _) => Needs::Scope(scope),
        }
    }

    /// Answers a request, with what varies in its path.
    pub(crate) async fn answer(
        &self,
        shared: Arc<Shared>,
        guest: Guest,
        name: Option<String>,
        request: Request,
    ) -> Outcome {
        net(self.begin(shared, guest, name, request)?).await
    }

    fn begin(
        &self,
        shared: Arc<Shared>,
        guest: Guest,
        name: Option<String>,
        request: Request,
    ) -> Result<BoxFuture<'static, Outcome>, Rejection> {
        guest.check_brought(self.takes)?;
        match self.entry {
            Entry::Open(handler) => Ok(handler(shared, guest.caller().ok())),
            Entry::Socket(handler) => Ok(handler(shared, guest.caller().ok(), request)),
            Entry::Grant(handler) => Ok(handler(Call::new(shared, guest, name, request)?)),
            Entry::Scope(scope, handler) => {
                let call = Call::new(shared, guest, name, request)?;
                permit::scope(&call.caller.grant, scope).map_err(forbidden)?;
                Ok(handler(call))
            }
        }
    }
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}

/// Catches a handler that falls: its caller is answered, and the others notice nothing.
async fn net(handling: BoxFuture<'static, Outcome>) -> Outcome {
    let caught = AssertUnwindSafe(handling).catch_unwind().await;
    caught.unwrap_or_else(|panic| {
        tracing::error!(panic = said(panic.as_ref()), "a handler panicked");
        Err(Refusal::internal("something broke here; the server's log says more").into())
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("something that is no text")
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;

    use super::*;

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_for() {
        let rejection = net(Box::pin(async { panic!("on purpose") })).await.unwrap_err();
        assert_eq!(rejection.into_response().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[test]
    fn what_varies_in_a_path_is_an_input() {
        for route in routes() {
            let inputs = route.inputs.iter().filter(|input| input.place == Place::Path);
            let names: Vec<_> = inputs.map(|input| format!("{{{}}}", input.name)).collect();
            assert_eq!(names.len(), route.path.matches('{').count(), "{}", route.path);
            assert!(names.iter().all(|name| route.path.contains(name)), "{}", route.path);
        }
    }
}
