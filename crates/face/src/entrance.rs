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
use paned_policy::guard::{self, Brought, Head, Refused, Takes, Way};

use crate::connection::{BUFFER, Talk};
use crate::listener::Threshold;
use crate::reply::{self, Rejection};
use crate::seats::Seat;
use crate::shared::Shared;
use crate::who;
use crate::worded::too_much;

/// Where a browser says how near the page is that sends a request.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Answers one request.
pub(crate) async fn enter(talk: &Talk, seat: &Seat, request: Request) -> Response {
    let Talk { shared, map, threshold } = talk;
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
    shared.metrics.answered(route, response.status());
    reply::stamp(response.headers_mut());
    response
}

/// The answer to a client that wants to know who we are before it shows its token.
fn prove(shared: &Shared, threshold: &Threshold, request: &Request) -> Option<HeaderValue> {
    let challenge = request.headers().get(CHALLENGE).filter(|_| request.uri().path() == "/health");
    let proof = shared.kernel.prove(challenge?.to_str().ok()?, &threshold.address?.to_string())?;
    HeaderValue::try_from(proof).ok()
}

/// Who sends a request that was let in, and what is known of it.
pub(crate) struct Guest {
    caller: Option<Caller>,
    brought: Brought,
    /// The pane that the listener is about.
    pub(crate) meant: Option<PaneId>,
}

impl Guest {
    /// Whoever sends it.
    ///
    /// # Errors
    /// When they did not say who they are.
    pub(crate) fn caller(self) -> Result<Caller, Refusal> {
        self.caller.ok_or_else(who::unknown)
    }

    /// Whether what the request brings is taken.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn check_brought(&self, takes: Takes) -> Result<(), Rejection> {
        self.brought.judge(takes).map_err(|refused| rejection(refused, &Way::Unix))
    }
}

/// Lets a request in, together with whoever sends it.
fn admit(
    shared: &Shared,
    threshold: &Threshold,
    seat: &Seat,
    request: &Request,
) -> Result<Guest, Rejection> {
    let way = &threshold.way;
    check_length(request)?;
    let head = head(request);
    guard::judge(way, &head).map_err(|refused| rejection(refused, way))?;
    let brought = Brought::of(&head);
    let caller = who::identify(&shared.kernel, threshold, request.headers());
    let caller = caller.map_err(|rejection| match way {
        Way::Tcp(_) => shared.logins.reject(rejection),
        Way::Unix => rejection,
    })?;
    if let Some(caller) = &caller {
        seat.let_in(&caller.grant);
    }
    Ok(Guest { caller, brought, meant: threshold.pane.clone() })
}

/// A head that came whole in one piece may have been longer than what is kept of one.
fn check_length(request: &Request) -> Result<(), Rejection> {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |path| path.as_str().len())
        + uri.authority().map_or(0, |authority| authority.as_str().len());
    let headers = request.headers().iter();
    let headers: usize = headers.map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if target + headers <= BUFFER {
        return Ok(());
    }
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    Err(Rejection { status, ..too_much().into() })
}

fn head(request: &Request) -> Head<'_> {
    let all = |name: HeaderName| {
        request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect()
    };
    Head {
        target: request.uri().authority().map(|authority| authority.as_str()),
        hosts: all(HOST),
        origins: all(ORIGIN),
        types: all(CONTENT_TYPE),
        sites: all(SITE),
        has_body: !request.body().is_end_stream(),
    }
}

fn rejection(refused: Refused, way: &Way) -> Rejection {
    match refused {
        Refused::Misdirected => {
            let names = match way {
                Way::Tcp(names) => names.to_string(),
                Way::Unix => String::new(),
            };
            let sentence = format!("`Host` must be exactly one of our names: {names}");
            Rejection::new(StatusCode::MISDIRECTED_REQUEST, Code::Invalid, sentence)
        }
        Refused::ForeignOrigin => {
            let sentence = "pages of other origins may not call this server";
            Rejection::new(StatusCode::FORBIDDEN, Code::Forbidden, sentence)
        }
        Refused::UnsupportedType => {
            let sentence = "a body must be JSON: send `Content-Type: application/json`";
            Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::Invalid, sentence)
        }
    }
}
