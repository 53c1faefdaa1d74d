//! The one route table. The router and the OpenAPI document are built from it and tests walk it, so
//! no route can be anywhere else.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::Method;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paned_kernel::Caller;
use paned_model::{Code, Refusal, Scope};
use paned_policy::guard::AcceptedBody;
use paned_policy::permit;

use crate::compat_api::CompatApi;
use crate::http::call::Call;
use crate::http::page::PageHandler;
use crate::http::reply::{HandlerResult, JSON};
use crate::http::request::RequestContext;
use crate::http::route_shape::{RouteSchema, RouteShape};
use crate::http::{actions, api_reference, events, health, metrics, own_schemas, page, sign_in};
use crate::page::PageBundle;
use crate::state::ServerState;
use crate::ws;

/// One route. HEAD goes with every GET; GET never changes anything.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{name}` for the variable part.
    pub path: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What it reads besides a body.
    pub params: &'static [RouteParam],
    /// What it takes as a body.
    pub takes: AcceptedBody,
    /// The media type of what it answers.
    pub answers: &'static str,
    /// The body that it reads, the answers that it gives, and its errors, for the documentation.
    pub shape: RouteShape,
    pub(crate) handler: RouteHandler,
}

/// Something a route reads besides a body.
pub struct RouteParam {
    /// Where it is.
    pub location: ParamLocation,
    /// Its name there.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What it can be.
    pub schema: RouteSchema,
}

/// Where a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// What a caller of a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAccess {
    /// Nothing; a caller with a grant gets more details.
    Open,
    /// A one-use code in the body instead of a grant.
    Code,
    /// Any grant; the action decides which scope it needs.
    Grant,
    /// A grant with this scope.
    Scope(Scope),
}

/// The handler of a compat API, which holds that API's state.
pub type CallHandler = Arc<dyn Fn(Call) -> BoxFuture<'static, HandlerResult> + Send + Sync>;

/// The access that a route needs, and its handler. A handler that takes a [`Call`] always has a
/// caller.
pub(crate) enum RouteHandler {
    Open(fn(Arc<ServerState>, Option<Caller>) -> BoxFuture<'static, HandlerResult>),
    /// Without a caller: the body proves what the client may do.
    Code(fn(Arc<ServerState>, Request) -> BoxFuture<'static, HandlerResult>),
    Grant(fn(Call) -> BoxFuture<'static, HandlerResult>),
    Scope(Scope, fn(Call) -> BoxFuture<'static, HandlerResult>),
    /// As [`RouteHandler::Grant`], but a socket may send its token after it is open, and does
    /// nothing before that.
    Socket(fn(Arc<ServerState>, Option<Caller>, Request) -> BoxFuture<'static, HandlerResult>),
    /// As [`RouteHandler::Grant`].
    Compat(CallHandler),
    /// A part of the web page, which is the same for every client.
    Page(PageHandler),
}

const OWN_ROUTES: [Route; 9] = [
    Route {
        method: Method::POST,
        path: "/action/{name}",
        doc: "Run an action.",
        params: &[RouteParam {
            location: ParamLocation::Path,
            name: "name",
            doc: "The action's name.",
            schema: own_schemas::any_text,
        }],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING,
        handler: RouteHandler::Grant(|call| Box::pin(actions::run(call))),
    },
    Route {
        method: Method::POST,
        path: "/emit/{event}",
        doc: "Record a custom event with the body as its payload.",
        params: &[RouteParam {
            location: ParamLocation::Path,
            name: "event",
            doc: "The event's name.",
            schema: own_schemas::event_name,
        }],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING
            .with_body(own_schemas::anything)
            .with_answer(own_schemas::emitted),
        handler: RouteHandler::Grant(|call| Box::pin(actions::emit(call))),
    },
    Route {
        method: Method::GET,
        path: "/actions",
        doc: "List every action with the JSON Schemas of its parameters and answer.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING.with_answer(own_schemas::actions),
        handler: RouteHandler::Grant(|call| Box::pin(api_reference::actions(call))),
    },
    Route {
        method: Method::GET,
        path: "/openapi.json",
        doc: "Show this document.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING.with_answer(own_schemas::openapi),
        handler: RouteHandler::Grant(|call| Box::pin(api_reference::openapi(call))),
    },
    Route {
        method: Method::GET,
        path: "/events",
        doc: "Stream events as server-sent events.",
        params: &[
            RouteParam {
                location: ParamLocation::Query,
                name: "include",
                doc: "The events to stream: a comma-separated list of names, `prefix:*` or `*`; \
                     none when omitted.",
                schema: own_schemas::event_filter,
            },
            RouteParam {
                location: ParamLocation::Query,
                name: "since",
                doc: "Resume after this event; only new events when omitted.",
                schema: own_schemas::event_id,
            },
            RouteParam {
                location: ParamLocation::Header,
                name: "Last-Event-ID",
                doc: "The same as `since`, which it overrides; browsers send it when they reconnect.",
                schema: own_schemas::event_id,
            },
        ],
        takes: AcceptedBody::Json,
        answers: events::MEDIA_TYPE,
        shape: RouteShape::NOTHING.with_answer(own_schemas::any_text),
        handler: RouteHandler::Scope(Scope::Read, |call| Box::pin(events::follow(call))),
    },
    Route {
        method: Method::GET,
        path: "/health",
        doc: "Check that the server is alive; with a token that has the scope `read`, return its \
             status.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING.with_answer(own_schemas::health),
        handler: RouteHandler::Open(|shared, caller| Box::pin(health::health(shared, caller))),
    },
    Route {
        method: Method::POST,
        path: "/sign-in",
        doc: "Exchange a one-use code of `grant:create-code` for a token.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING
            .with_required_body(own_schemas::sign_in)
            .with_answer(own_schemas::signed_in),
        handler: RouteHandler::Code(|shared, request| Box::pin(sign_in::sign_in(shared, request))),
    },
    Route {
        method: Method::GET,
        path: "/metrics",
        doc: "Return counters and gauges in the Prometheus text format.",
        params: &[],
        takes: AcceptedBody::Json,
        answers: metrics::MEDIA_TYPE,
        shape: RouteShape::NOTHING.with_answer(own_schemas::any_text),
        handler: RouteHandler::Scope(Scope::Read, |call| Box::pin(metrics::show(call))),
    },
    Route {
        method: Method::GET,
        path: "/ws",
        doc: "Open a WebSocket for output, input, events and actions; without an upgrade, \
             describe its protocol.",
        params: &[RouteParam {
            location: ParamLocation::Header,
            name: "Sec-WebSocket-Protocol",
            doc: "`paned.v1`; browsers add `paned.bearer.<token>` instead of `Authorization`.",
            schema: own_schemas::any_text,
        }],
        takes: AcceptedBody::Json,
        answers: JSON,
        shape: RouteShape::NOTHING.with_answer(own_schemas::web_socket).with_upgrade(),
        handler: RouteHandler::Socket(|shared, caller, request| {
            Box::pin(ws::open(shared, caller, request))
        }),
    },
];

/// All routes of a server with this web page and these compat APIs.
#[must_use]
pub fn routes(page: PageBundle, compat: &[Arc<dyn CompatApi>]) -> Vec<Arc<Route>> {
    let compat = compat.iter().flat_map(|api| api.clone().routes());
    OWN_ROUTES.into_iter().chain(page::routes(page)).chain(compat).map(Arc::new).collect()
}

impl Route {
    /// A route of a compat API without parameters. It takes and answers JSON.
    #[must_use]
    pub fn compat(
        method: Method,
        path: &'static str,
        doc: &'static str,
        handler: CallHandler,
    ) -> Self {
        Self {
            method,
            path,
            doc,
            params: &[],
            takes: AcceptedBody::Json,
            answers: JSON,
            shape: RouteShape::NOTHING,
            handler: RouteHandler::Compat(handler),
        }
    }

    /// The same with these shapes of its body and its answers.
    #[must_use]
    pub fn with_shape(self, shape: RouteShape) -> Self {
        Self { shape, ..self }
    }

    /// The same route with another handler around that of its compat API.
    #[must_use]
    pub fn map_handler(self, wrap: impl FnOnce(CallHandler) -> CallHandler) -> Self {
        let handler = match self.handler {
            RouteHandler::Compat(handler) => RouteHandler::Compat(wrap(handler)),
            own => own,
        };
        Self { handler, ..self }
    }

    /// One of our own routes at another path, for a compat API that has it, too.
    ///
    /// # Panics
    /// If we have no such route.
    #[must_use]
    pub fn own_at(own: &str, path: &'static str) -> Self {
        let found = OWN_ROUTES.into_iter().find(|route| route.path == own);
        let route = found.unwrap_or_else(|| panic!("there is no route {own}"));
        Self { path, ..route }
    }

    /// What a caller needs.
    #[must_use]
    pub fn required_access(&self) -> RequiredAccess {
        match self.handler {
            RouteHandler::Open(_) | RouteHandler::Page(_) => RequiredAccess::Open,
            RouteHandler::Code(_) => RequiredAccess::Code,
            RouteHandler::Grant(_) | RouteHandler::Socket(_) | RouteHandler::Compat(_) => {
                RequiredAccess::Grant
            }
            RouteHandler::Scope(scope, _) => RequiredAccess::Scope(scope),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(
        &self,
        shared: Arc<ServerState>,
        context: RequestContext,
        request: Request,
    ) -> HandlerResult {
        context.check_content(self.takes)?;
        let handling = match &self.handler {
            RouteHandler::Open(handler) => handler(shared, context.caller().ok()),
            RouteHandler::Page(handler) => Box::pin(page::answer(*handler, shared, request)),
            RouteHandler::Code(handler) => handler(shared, request),
            RouteHandler::Socket(handler) => handler(shared, context.caller().ok(), request),
            RouteHandler::Grant(handler) => handler(Call::new(shared, context, request).await?),
            RouteHandler::Compat(handler) => handler(Call::new(shared, context, request).await?),
            RouteHandler::Scope(scope, handler) => {
                let call = Call::new(shared, context, request).await?;
                permit::scope(&call.caller.grant, *scope).map_err(forbidden)?;
                handler(call)
            }
        };
        catch_panic(handling).await
    }
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}

/// Catches the panic of a handler: its caller gets an error, and other requests go on.
async fn catch_panic(handling: BoxFuture<'static, HandlerResult>) -> HandlerResult {
    let caught = AssertUnwindSafe(handling).catch_unwind().await;
    caught.unwrap_or_else(|panic| {
        tracing::error!(panic = panic_message(panic.as_ref()), "a handler panicked");
        Err(Refusal::internal("the request failed unexpectedly; see the server's log").into())
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;

    use super::*;

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_for() {
        let rejection = catch_panic(Box::pin(async { panic!("on purpose") })).await.unwrap_err();
        assert_eq!(rejection.into_response().status(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[test]
    fn what_varies_in_a_path_is_an_input() {
        for route in routes(PageBundle::default(), &[]) {
            let inputs = route.params.iter().filter(|input| input.location == ParamLocation::Path);
            let names: Vec<_> = inputs.map(|input| format!("{{{}}}", input.name)).collect();
            assert_eq!(names.len(), route.path.matches('{').count(), "{}", route.path);
            assert!(names.iter().all(|name| route.path.contains(name)), "{}", route.path);
        }
    }
}
