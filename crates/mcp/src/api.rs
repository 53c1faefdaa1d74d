//! The routes of `/mcp`, and what a request passes before the protocol sees it. Host, origin,
//! content type and token were checked by the server, as on every route.

use std::sync::Arc;

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::{BodyExt, Full};
use paned_kernel::{Caller, Kernel};
use paned_model::{Code, Refusal};
use paned_server::compat_api::{Call, CompatApi, EVENT_STREAM, ErrorFormat, HandlerResult, JSON};
use paned_server::{ParamLocation, Route, RouteParam, RouteShape};
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::Tier;
use crate::handler::McpHandler;
use crate::reply::{self, OpenRequest};
use crate::sessions::McpSessions;

const PATH: &str = "/mcp";
const SESSION_HEADER: &str = "mcp-session-id";
/// Where the client works: relative paths and programs without a folder start there.
const FOLDER_QUERY: &str = "cwd";
const TIER_QUERY: &str = "tier";
/// Statuses that other routes do not have.
const STATUSES: &[u16] = &[404, 405, 406, 429];

const PARAMS: &[RouteParam] = &[
    RouteParam {
        location: ParamLocation::Query,
        name: TIER_QUERY,
        doc: "What the client may do: `read-only`, `standard` (the default) or `full`.",
        schema: || json!({ "enum": Tier::ALL.map(Tier::name) }),
    },
    RouteParam {
        location: ParamLocation::Query,
        name: FOLDER_QUERY,
        doc: "The absolute path of the folder in which programs are started.",
        schema: || json!({ "type": "string", "pattern": "^/" }),
    },
    RouteParam {
        location: ParamLocation::Header,
        name: "Mcp-Session-Id",
        doc: "The session, which the answer to `initialize` names.",
        schema: || json!({ "type": "string" }),
    },
    RouteParam {
        location: ParamLocation::Header,
        name: "MCP-Protocol-Version",
        doc: "The version of the protocol.",
        schema: || json!({ "type": "string" }),
    },
];

/// The MCP server of one server.
pub struct McpApi {
    sessions: Arc<McpSessions>,
}

impl Default for McpApi {
    fn default() -> Self {
        Self { sessions: McpSessions::new() }
    }
}

impl std::fmt::Debug for McpApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("McpApi")
    }
}

/// What a request says besides its message. The protocol's handler finds it in the extensions.
#[derive(Clone)]
pub(crate) struct ClientContext {
    pub(crate) kernel: Kernel,
    /// The caller, as the tier limits it.
    pub(crate) caller: Caller,
    pub(crate) tier: Tier,
    pub(crate) folder: Option<String>,
}

impl CompatApi for McpApi {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let route = |method: Method, doc, shape| {
            let api = self.clone();
            let mut route = Route::compat(
                method,
                PATH,
                doc,
                Arc::new(move |call| api.clone().answer(call).boxed()),
            );
            route.params = PARAMS;
            route.with_shape(shape)
        };
        let message = || json!({ "type": "object" });
        let nothing = RouteShape::NOTHING.with_statuses(STATUSES).with_errors(ErrorFormat::JsonRpc);
        let mut stream = route(Method::GET, "Follow the notices of an MCP session.", nothing);
        stream.answers = EVENT_STREAM;
        vec![
            route(
                Method::POST,
                "Send an MCP message (streamable HTTP); the answer is JSON or a stream of events.",
                nothing.with_required_body(message).with_answer(message),
            ),
            stream,
            route(Method::DELETE, "End an MCP session.", nothing),
        ]
    }
}

impl McpApi {
    /// Answers a request.
    async fn answer(self: Arc<Self>, mut call: Call) -> HandlerResult {
        let context = ClientContext::of(&call)?;
        let body = call.body().await?;
        let message = match call.parts.method {
            Method::POST => match Message::read(&body) {
                Ok(message) => Some(message),
                Err(response) => return Ok(*response),
            },
            _ => None,
        };
        let sessions = &self.sessions;
        let session = match session_id(&call.parts.headers) {
            None => None,
            Some(id) => match sessions.acquire(id, &call.caller) {
                Some(session) => Some(session),
                None => return Ok(no_session(message.as_ref())),
            },
        };
        let slot = match call.parts.method {
            Method::GET => {
                let slot = call.shared.kernel.stream(&call.caller)?;
                Some((slot, call.shared.metrics.count_stream()))
            }
            _ => None,
        };
        let starts = message.as_ref().is_some_and(Message::is_initialize) && session.is_none();
        if starts {
            sessions.make_room(&call.caller).await?;
        }
        if call.parts.method == Method::DELETE
            && let Some(session) = &session
        {
            sessions.close(session.id()).await;
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        let id = message.as_ref().and_then(Message::request_id);
        let service = service(sessions.manager.clone(), context.kernel.setup().version);
        let response = service.handle(request(&call.parts, body, context)).await;
        if starts && let Some(id) = session_id(response.headers()) {
            let inserted = sessions.insert(id, &call.caller, &call.shared.kernel);
            if let Err(refusal) = inserted {
                sessions.close(id).await;
                return Err(refusal.into());
            }
        }
        if !response.status().is_success() && !reply::is_protocol(&response) {
            return Ok(as_json_rpc(response, message.as_ref()).await);
        }
        let open = OpenRequest { session, id, _slot: slot };
        Ok(reply::guard(response, end(&call), open))
    }
}

impl ClientContext {
    fn of(call: &Call) -> Result<Self, Refusal> {
        let query = call.parts.uri.query().unwrap_or_default();
        let mut tier = Tier::default();
        let mut folder = None;
        for (name, value) in query_fields(query)? {
            match name.as_str() {
                TIER_QUERY => tier = value.parse().map_err(Refusal::invalid)?,
                FOLDER_QUERY if value.starts_with('/') => folder = Some(value),
                FOLDER_QUERY => {
                    return Err(Refusal::invalid("`cwd` must be an absolute path"));
                }
                _ => {
                    let name = name.escape_debug();
                    let sentence = format!(
                        "unknown query parameter `{name}`; the parameters are `tier` and `cwd`"
                    );
                    return Err(Refusal::invalid(sentence));
                }
            }
        }
        let caller = tier.limit(call.caller.clone());
        Ok(Self { kernel: call.shared.kernel.clone(), caller, tier, folder })
    }
}

fn query_fields(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let uri = format!("/?{query}").parse().map_err(|_| Refusal::invalid("the query is invalid"))?;
    let fields = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri);
    fields.map(|fields| fields.0).map_err(|error| Refusal::invalid(error.body_text()))
}

/// A message, as far as it must be known before the protocol parses it.
struct Message(Value);

impl Message {
    /// # Errors
    /// With the response to what is no message.
    fn read(body: &[u8]) -> Result<Self, Box<Response>> {
        const PARSE_ERROR: i32 = -32700;
        const INVALID_REQUEST: i32 = -32600;
        let refuse = |code, sentence: &str| {
            Box::new(reply::error(StatusCode::BAD_REQUEST, code, sentence, Value::Null))
        };
        let message: Value = serde_json::from_slice(body).map_err(|error| {
            refuse(PARSE_ERROR, &format!("the body is not valid JSON: {error}"))
        })?;
        if message.is_array() {
            let sentence = "a batch is not supported; send each message in a request of its own";
            return Err(refuse(INVALID_REQUEST, sentence));
        }
        let is_message = message["jsonrpc"] == "2.0"
            && (message["method"].is_string()
                || message.get("result").is_some()
                || message.get("error").is_some());
        if !is_message {
            let sentence =
                "the body is not a JSON-RPC 2.0 message: it needs `jsonrpc` and `method`";
            return Err(refuse(INVALID_REQUEST, sentence));
        }
        Ok(Self(message))
    }

    fn is_initialize(&self) -> bool {
        self.0["method"] == "initialize"
    }

    /// The id that the answer will have; `None` for a message without an answer.
    fn request_id(&self) -> Option<RequestId> {
        self.0.get("method")?;
        serde_json::from_value(self.0.get("id")?.clone()).ok()
    }

    fn id(&self) -> Value {
        self.0.get("id").cloned().unwrap_or_default()
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER).map(|id| id.to_str().unwrap_or_default())
}

fn no_session(message: Option<&Message>) -> Response {
    const SESSION_NOT_FOUND: i32 = -32001;
    let sentence = "no such MCP session: it has ended, or the server was restarted; start one \
        with `initialize`";
    let id = message.map(Message::id).unwrap_or_default();
    reply::error(StatusCode::NOT_FOUND, SESSION_NOT_FOUND, sentence, id)
}

fn service(
    manager: Arc<LocalSessionManager>,
    version: &'static str,
) -> StreamableHttpService<McpHandler, LocalSessionManager> {
    // The server has checked `Host` and `Origin` before.
    let config = StreamableHttpServerConfig::default().disable_allowed_hosts().with_sse_retry(None);
    StreamableHttpService::new(move || Ok(McpHandler::new(version)), manager, config)
}

/// The request as the protocol's service takes it.
fn request(parts: &Parts, body: Bytes, context: ClientContext) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    let headers = request.headers_mut();
    // Media types are compared in lower case there.
    if let Some(media) = headers.get_mut(CONTENT_TYPE) {
        *media = HeaderValue::from_static(JSON);
    }
    if headers.get(ACCEPT).is_none_or(|accepted| accepted == "*/*") {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    request.extensions_mut().insert(context);
    request
}

/// Completes when the caller's grant ends, or when the server stops.
fn end(call: &Call) -> futures_util::future::BoxFuture<'static, ()> {
    let shared = call.shared.clone();
    let caller = call.caller.clone();
    async move {
        tokio::select! {
            () = shared.kernel.wait_revoked(&caller) => {}
            () = shared.closed() => {}
        }
    }
    .boxed()
}

/// A refusal of the protocol's service, which is text, as a JSON-RPC error.
async fn as_json_rpc<B>(response: Response<B>, message: Option<&Message>) -> Response
where
    B: BodyExt<Data = Bytes> + Send + 'static,
{
    const REFUSED: i32 = -32000;
    let status = response.status();
    let body = response.into_body().collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let code = Code::Invalid;
    let sentence = String::from_utf8_lossy(&body).into_owned();
    let sentence = if sentence.is_empty() { code.to_string() } else { sentence };
    reply::error(status, REFUSED, &sentence, message.map(Message::id).unwrap_or_default())
}
