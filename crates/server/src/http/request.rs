//! What every request passes, whatever its path and method: the guard, authentication and the
//! router; and the headers that every response gets.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::header::{
    ALLOW, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, LOCATION, ORIGIN,
};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::service::Service;
use paned_kernel::Caller;
use paned_kernel::proof::{CHALLENGE, PROOF};
use paned_model::{Code, PaneId, Refusal};
use paned_policy::guard::{
    self, AcceptedBody, BodyCheck, RequestHead, RequestRefusal, RequestTransport,
};

use crate::http::reply::Rejection;
use crate::http::{auth, reply};
use crate::state::ServerState;
use crate::transport::conn_limit::ConnSlot;
use crate::transport::connection::{ConnContext, MAX_BUFFER};
use crate::transport::listener::Ingress;
use crate::transport::login_limit::LoginLimit;
use crate::transport::peer_user::LoopbackConn;

/// In which a browser says whether the page that sends a request is of the same site.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// In which it says what the response is for, and how it was asked for.
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Answers one request.
pub(crate) async fn handle_request(
    context: &ConnContext,
    slot: &ConnSlot,
    mut request: Request,
) -> Response {
    let ConnContext { shared, router, ingress, loopback } = context;
    let mut proof = None;
    let mut response = match admit(shared, ingress, slot, &request) {
        Ok(mut admitted) => {
            admitted.loopback = loopback.filter(|_| is_for_loopback(&request));
            proof = prove(shared, ingress, &request);
            request.extensions_mut().insert(admitted);
            let Ok(response) = router.call(request).await;
            response
        }
        Err(rejection) => rejection.into_response(),
    };
    let status = response.status();
    shared.metrics.count_answer(response.extensions().get(), status);
    let headers = response.headers_mut();
    if let Some(proof) = proof {
        headers.insert(PROOF, proof);
    }
    // axum names the methods of a path in a 401 too, which would tell that the path exists.
    if status != StatusCode::METHOD_NOT_ALLOWED {
        headers.remove(ALLOW);
    }
    // axum gives every response a length; RFC 9110 forbids it here.
    if status == StatusCode::SWITCHING_PROTOCOLS {
        headers.remove(CONTENT_LENGTH);
    }
    reply::set_common_headers(headers);
    response
}

/// The answer to a request without TLS, on a listener with TLS: a browser in which the user typed
/// the address without `https` is sent there, and everything else is refused.
pub(crate) fn plain_http_response(ingress: &Ingress, request: &Request) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let is_ours = guard::judge(&ingress.transport, &head(request)).is_ok();
    let is_visit = matches!(*request.method(), Method::GET | Method::HEAD)
        && !request.headers().contains_key(AUTHORIZATION);
    let mut response = match (check_length(request), host.filter(|_| is_ours && is_visit)) {
        (Err(rejection), _) => rejection.into_response(),
        (Ok(()), Some(host)) => {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            let target = format!("https://{host}{path}");
            (StatusCode::PERMANENT_REDIRECT, [(LOCATION, target)]).into_response()
        }
        (Ok(()), None) => {
            let sentence = "this port serves HTTPS only; use https://, and a new token if you \
                            sent one: it was not encrypted";
            Rejection::from(Refusal::invalid(sentence)).into_response()
        }
    };
    reply::set_common_headers(response.headers_mut());
    response
}

/// The answer to a challenge: a client can check that this is its server before it sends a token.
fn prove(shared: &ServerState, ingress: &Ingress, request: &Request) -> Option<HeaderValue> {
    let challenge = request.headers().get(CHALLENGE).filter(|_| request.uri().path() == "/health");
    let proof = shared.kernel.prove(challenge?.to_str().ok()?, &ingress.address?.to_string())?;
    HeaderValue::try_from(proof).ok()
}

/// What is known of a request that passed the guard.
#[derive(Clone)]
pub(crate) struct RequestContext {
    caller: Option<Caller>,
    content: BodyCheck,
    /// The pane that the listener serves, if it serves a single one; or the one that the client
    /// names as its own.
    pub(crate) default_pane: Option<PaneId>,
    /// The rate limit for failed logins of the listener.
    pub(crate) login_limit: Arc<LoginLimit>,
    /// Both ends of the connection, where the client is on this machine and no proxy of another
    /// one.
    pub(crate) loopback: Option<LoopbackConn>,
}

impl RequestContext {
    /// The authenticated caller.
    ///
    /// # Errors
    /// If the request has no credentials.
    pub(crate) fn caller(self) -> Result<Caller, Refusal> {
        self.caller.ok_or_else(auth::missing_token)
    }

    /// Checks that the route accepts the request's body.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn check_content(&self, takes: AcceptedBody) -> Result<(), Rejection> {
        self.content.judge(takes).map_err(|refused| rejection(refused, &RequestTransport::Unix))
    }
}

/// Passes a request through the guard and authenticates it.
fn admit(
    shared: &ServerState,
    ingress: &Ingress,
    slot: &ConnSlot,
    request: &Request,
) -> Result<RequestContext, Rejection> {
    let transport = &ingress.transport;
    check_length(request)?;
    let mut head = head(request);
    head.is_visit = ingress.compat.is_none() && is_visit(request);
    guard::judge(transport, &head).map_err(|refused| rejection(refused, transport))?;
    let content = BodyCheck::of(&head);
    let caller = auth::identify(&shared.kernel, ingress, request.headers());
    let caller = caller.map_err(|rejection| match transport {
        RequestTransport::Tcp(_) => shared.login_limit(ingress).reject(rejection),
        RequestTransport::Unix => rejection,
    })?;
    if let Some(caller) = &caller {
        slot.mark_authenticated(&caller.grant);
    }
    let label = || auth::pane_label(ingress, request.headers(), caller.as_ref());
    let default_pane = ingress.pane.clone().or_else(label);
    let login_limit = shared.login_limit(ingress).clone();
    Ok(RequestContext { caller, content, default_pane, login_limit, loopback: None })
}

/// Whether the client calls the server by an address of this machine. A proxy passes on another
/// name.
fn is_for_loopback(request: &Request) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| {
        let bare = host.host().trim_start_matches('[').trim_end_matches(']');
        let is_loopback = bare.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        is_loopback || bare.eq_ignore_ascii_case("localhost")
    })
}

/// hyper limits its buffer, but a head that arrives in one read may still be longer than that.
fn check_length(request: &Request) -> Result<(), Rejection> {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |path| path.as_str().len())
        + uri.authority().map_or(0, |authority| authority.as_str().len());
    let headers = request.headers().iter();
    let headers: usize = headers.map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if target + headers <= MAX_BUFFER {
        return Ok(());
    }
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    let sentence = "the request head is larger than the limit of 100 headers and 64 KiB";
    Err(Rejection::new(status, Code::Limit, sentence))
}

fn head(request: &Request) -> RequestHead<'_> {
    let all = |name: HeaderName| {
        request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect()
    };
    RequestHead {
        target: request.uri().authority().map(|authority| authority.as_str()),
        hosts: all(HOST),
        origins: all(ORIGIN),
        types: all(CONTENT_TYPE),
        sites: all(SEC_FETCH_SITE),
        has_body: !request.body().is_end_stream(),
        is_visit: false,
    }
}

/// Whether a browser opens the web page in a tab: it says so in headers that no script can set.
fn is_visit(request: &Request) -> bool {
    let says = |name: HeaderName, word: &str| {
        let mut all = request.headers().get_all(name).iter();
        all.next().is_some_and(|value| value == word) && all.next().is_none()
    };
    matches!(*request.method(), Method::GET | Method::HEAD)
        && request.uri().path() == "/"
        && says(SEC_FETCH_MODE, "navigate")
        && says(SEC_FETCH_DEST, "document")
}

fn rejection(refused: RequestRefusal, transport: &RequestTransport) -> Rejection {
    match refused {
        RequestRefusal::Misdirected => {
            let names = match transport {
                RequestTransport::Tcp(names) => names.to_string(),
                RequestTransport::Unix => String::new(),
            };
            let sentence = format!(
                "the header `Host` must be one of {names}; `paned serve --name` adds a name"
            );
            Rejection::new(StatusCode::MISDIRECTED_REQUEST, Code::Invalid, sentence)
        }
        RequestRefusal::ForeignOrigin => {
            let sentence = "requests from web pages of other origins are not allowed";
            Rejection::new(StatusCode::FORBIDDEN, Code::Forbidden, sentence)
        }
        RequestRefusal::UnsupportedType => {
            let sentence = "the body must be JSON: send `Content-Type: application/json`";
            Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, sentence)
        }
    }
}
