//! What every request passes, whatever its path and method: the guard, the question who it is from, the
//! map; and what every answer carries away.

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use paned_kernel::Caller;
use paned_kernel::proof::{CHALLENGE, PROOF};
use paned_model::{Code, PaneId, Refusal};
use paned_policy::guard::{
    self, AcceptedBody, BodyCheck, RequestHead, RequestRefusal, RequestTransport,
};

use crate::auth;
use crate::conn_limit::ConnSlot;
use crate::connection::{ConnContext, MAX_BUFFER};
use crate::error_rewriter::head_too_large;
use crate::listener::Ingress;
use crate::reply::{self, Rejection};
use crate::state::ServerState;

/// Where a browser says how near the page is that sends a request.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Answers one request.
pub(crate) async fn handle_request(
    talk: &ConnContext,
    seat: &ConnSlot,
    request: Request,
) -> Response {
    let ConnContext { shared, map, ingress: threshold } = talk;
    let mut proof = None;
    let (route, outcome) = match admit(shared, threshold, seat, &request) {
        Ok(guest) => {
            proof = prove(shared, threshold, &request);
            map.answer(shared, guest, request).await
        }
        Err(rejection) => (None, Err(rejection)),
    };
    let mut response = outcome.unwrap_or_else(IntoResponse::into_response);
    if let Some(proof) = proof {
        response.headers_mut().insert(PROOF, proof);
    }
    shared.metrics.count_answer(route, response.status());
    reply::set_common_headers(response.headers_mut());
    response
}

/// The answer to a client that wants to know who we are before it shows its token.
fn prove(shared: &ServerState, threshold: &Ingress, request: &Request) -> Option<HeaderValue> {
    let challenge = request.headers().get(CHALLENGE).filter(|_| request.uri().path() == "/health");
    let proof = shared.kernel.prove(challenge?.to_str().ok()?, &threshold.address?.to_string())?;
    HeaderValue::try_from(proof).ok()
}

/// Who sends a request that was let in, and what is known of it.
pub(crate) struct RequestContext {
    caller: Option<Caller>,
    content: BodyCheck,
    /// The pane that the listener is about.
    pub(crate) default_pane: Option<PaneId>,
}

impl RequestContext {
    /// Whoever sends it.
    ///
    /// # Errors
    /// When they did not say who they are.
    pub(crate) fn caller(self) -> Result<Caller, Refusal> {
        self.caller.ok_or_else(auth::missing_token)
    }

    /// Whether what the request brings is taken.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn check_content(&self, takes: AcceptedBody) -> Result<(), Rejection> {
        self.content.judge(takes).map_err(|refused| rejection(refused, &RequestTransport::Unix))
    }
}

/// Lets a request in, together with whoever sends it.
fn admit(
    shared: &ServerState,
    threshold: &Ingress,
    seat: &ConnSlot,
    request: &Request,
) -> Result<RequestContext, Rejection> {
    let way = &threshold.transport;
    check_length(request)?;
    let head = head(request);
    guard::judge(way, &head).map_err(|refused| rejection(refused, way))?;
    let brought = BodyCheck::of(&head);
    let caller = auth::identify(&shared.kernel, threshold, request.headers());
    let caller = caller.map_err(|rejection| match way {
        RequestTransport::Tcp(_) => shared.login_limit.reject(rejection),
        RequestTransport::Unix => rejection,
    })?;
    if let Some(caller) = &caller {
        seat.mark_authenticated(&caller.grant);
    }
    Ok(RequestContext { caller, content: brought, default_pane: threshold.pane.clone() })
}

/// A head that came whole in one piece may have been longer than what is kept of one.
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
    Err(Rejection { status, ..head_too_large().into() })
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
    }
}

fn rejection(refused: RequestRefusal, way: &RequestTransport) -> Rejection {
    match refused {
        RequestRefusal::Misdirected => {
            let names = match way {
                RequestTransport::Tcp(names) => names.to_string(),
                RequestTransport::Unix => String::new(),
            };
            let sentence = format!("`Host` must be exactly one of our names: {names}");
            Rejection::new(StatusCode::MISDIRECTED_REQUEST, Code::Invalid, sentence)
        }
        RequestRefusal::ForeignOrigin => {
            let sentence = "pages of other origins may not call this server";
            Rejection::new(StatusCode::FORBIDDEN, Code::Forbidden, sentence)
        }
        RequestRefusal::UnsupportedType => {
            let sentence = "a body must be JSON: send `Content-Type: application/json`";
            Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, sentence)
        }
    }
}
