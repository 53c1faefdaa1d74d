//! Authentication of requests: by a token's grant, or as the owner over the Unix socket. A pane
//! that a request claims to come from is verified, never trusted.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use paned_kernel::{Caller, Kernel};
use paned_model::{Code, PaneId, Refusal, Scope};
use paned_policy::guard::RequestTransport;

use crate::http::reply::Rejection;
use crate::transport::listener::{Ingress, ListenerAuth};

/// Headers in which a program names the pane that it runs in.
const PANE_HEADERS: [&str; 2] = ["x-paned-pane", "x-poly-pane"];
/// The header with which a program on the Unix socket proves that claim.
const PANE_TOKEN_HEADER: &str = "x-paned-token";
/// Prefix of a subprotocol that carries a token: a browser that opens a WebSocket can offer
/// subprotocols, but cannot set headers.
const BEARER_PROTOCOL: &str = "paned.bearer.";

/// Authenticates a request; `None` if it carries no credentials. A token also counts on the Unix
/// socket, where it narrows what the caller may do.
///
/// # Errors
/// If a token is not valid or a claim is not true. Missing credentials are not an error.
pub(crate) fn identify(
    kernel: &Kernel,
    ingress: &Ingress,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Rejection> {
    let compat = ingress.compat.as_ref();
    let compat = compat.and_then(|api| api.authenticate(&ingress.auth, headers));
    if let Some(authenticated) = compat {
        return authenticated.map(|()| Some(anonymous_caller(kernel)));
    }
    let caller = match (bearer(headers)?, &ingress.transport) {
        (Some(token), RequestTransport::Tcp(_) | RequestTransport::Unix) => {
            kernel.authenticate(token).map_err(|refusal| rejected_token(headers, refusal))?
        }
        (None, RequestTransport::Unix) => {
            kernel.owner(headers.get(PANE_TOKEN_HEADER).and_then(text))
        }
        (None, RequestTransport::Tcp(_)) if ingress.auth == ListenerAuth::Anyone => {
            anonymous_caller(kernel)
        }
        (None, RequestTransport::Tcp(_)) => return Ok(None),
    };
    if !names_label(ingress, &caller) {
        check_claims(headers, &caller)?;
    }
    Ok(Some(caller))
}

/// Whether a pane in the headers is a label, not a claim.
fn names_label(ingress: &Ingress, caller: &Caller) -> bool {
    caller.pane.is_none() && ingress.compat.as_ref().is_some_and(|api| api.takes_pane_labels())
}

/// The pane that a client names without a proof, where that gives it no rights.
pub(crate) fn pane_label(
    ingress: &Ingress,
    headers: &HeaderMap,
    caller: Option<&Caller>,
) -> Option<PaneId> {
    caller.filter(|caller| names_label(ingress, caller))?;
    let named = PANE_HEADERS.iter().find_map(|name| headers.get(*name))?;
    text(named)?.parse().ok()
}

/// The caller on a listener that needs no grant: it may do what a compat API is for, but it cannot
/// administer the server.
fn anonymous_caller(kernel: &Kernel) -> Caller {
    let mut caller = kernel.owner(None);
    let grant = Arc::make_mut(&mut caller.grant);
    grant.scopes = BTreeSet::from([Scope::Read, Scope::Input, Scope::Spawn, Scope::Kill]);
    caller
}

/// Authenticates a token and verifies the claims in the headers.
///
/// # Errors
/// If the token is not valid or a claim is not true.
pub(crate) fn authenticate(
    kernel: &Kernel,
    headers: &HeaderMap,
    token: &str,
) -> Result<Caller, Refusal> {
    let caller = kernel.authenticate(token)?;
    check_claims(headers, &caller)?;
    Ok(caller)
}

/// The refusal of a request without a token.
pub(crate) fn missing_token() -> Refusal {
    Refusal::new(Code::Unauthorized, "a token is required: send `Authorization: Bearer <token>`")
}

/// Adapts the refusal of a token to how the token was sent: as a header or as a subprotocol.
fn rejected_token(headers: &HeaderMap, refusal: Refusal) -> Refusal {
    match (refusal.code, protocol_tokens(headers).next()) {
        (Code::Unauthorized, Some(_)) => {
            let sentence = format!(
                "a valid token is required: offer the subprotocol \
                        `{BEARER_PROTOCOL}<token>`"
            );
            Refusal { sentence, ..refusal }
        }
        _ => refusal,
    }
}

/// The token of a request, if any. More than one is refused.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut tokens =
        headers.get_all(AUTHORIZATION).iter().map(authorization).chain(protocol_tokens(headers));
    match (tokens.next(), tokens.next()) {
        (None, _) => Ok(None),
        (Some(Some(token)), None) => Ok(Some(token)),
        (Some(_), _) => Err(missing_token()),
    }
}

/// The token in an `Authorization` header, if its scheme is `Bearer`.
#[must_use]
pub fn authorization(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = text(value)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The tokens that are offered as subprotocols.
fn protocol_tokens(headers: &HeaderMap) -> impl Iterator<Item = Option<&str>> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(text);
    let protocols = values.flat_map(|value| value.split(',')).map(str::trim);
    protocols.filter_map(|protocol| protocol.strip_prefix(BEARER_PROTOCOL)).map(Some)
}

fn check_claims(headers: &HeaderMap, caller: &Caller) -> Result<(), Refusal> {
    let pane = caller.pane.as_ref().map(|pane| pane.id.as_str());
    let mut claims = PANE_HEADERS.iter().flat_map(|name| headers.get_all(*name));
    match claims.find(|claim| text(claim) != pane) {
        None => Ok(()),
        Some(claim) => Err(unproven_pane(claim)),
    }
}

fn unproven_pane(claim: &HeaderValue) -> Refusal {
    let claim = String::from_utf8_lossy(claim.as_bytes());
    let claim = claim.escape_debug();
    let sentence = format!(
        "cannot verify that this request comes from pane `{claim}`: send that pane's \
                token"
    );
    Refusal::new(Code::Forbidden, sentence)
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[&'static str], expect: Result<Option<&str>, Code>) {
        check_offered(values, &[], expect);
    }

    #[track_caller]
    fn check_offered(
        values: &[&'static str],
        offered: &[&'static str],
        expect: Result<Option<&str>, Code>,
    ) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        for value in offered {
            headers.append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(value));
        }
        assert_eq!(bearer(&headers).map_err(|refusal| refusal.code), expect);
    }

    #[test]
    fn one_bearer_token_counts_and_everything_else_is_refused() {
        check(&[], Ok(None));
        check(&["Bearer abc"], Ok(Some("abc")));
        check(&["bEARER  abc "], Ok(Some("abc")));
        check(&["Basic abc"], Err(Code::Unauthorized));
        check(&["abc"], Err(Code::Unauthorized));
        check(&[""], Err(Code::Unauthorized));
        check(&["Bearer abc", "Bearer abc"], Err(Code::Unauthorized));
    }

    #[test]
    fn a_token_that_is_offered_as_a_protocol_counts_like_any_other() {
        check_offered(&[], &["paned.v1"], Ok(None));
        check_offered(&[], &["paned.v1, paned.bearer.abc"], Ok(Some("abc")));
        check_offered(&[], &["paned.v1", "paned.bearer.abc"], Ok(Some("abc")));
        check_offered(&[], &["paned.bearer.abc,paned.bearer.abc"], Err(Code::Unauthorized));
        check_offered(&["Bearer abc"], &["paned.bearer.abc"], Err(Code::Unauthorized));
        check_offered(&["Basic abc"], &["paned.bearer.abc"], Err(Code::Unauthorized));
    }
}
