//! Authentication on agentmux's own listener, and the answer where there is no endpoint.

use axum::http::{HeaderMap, Method, StatusCode};
use paned_model::{Code, Refusal};
use paned_server::compat_api::{Call, ErrorFormat, Rejection, authorization};
use paned_server::{ListenerAuth, Secret};
use subtle::ConstantTimeEq;

use super::http::read_body;
use crate::routes::JsonResult;

/// The header in which its clients may send the secret, besides `Authorization`.
const BRIDGE_TOKEN_HEADER: &str = "x-bridge-token";

/// Authenticates by the listener's own rule; `None` if only grants count. On an open listener any
/// credentials are ignored.
pub(super) fn authenticate(
    auth: &ListenerAuth,
    headers: &HeaderMap,
) -> Option<Result<(), Rejection>> {
    match auth {
        ListenerAuth::Grants => None,
        ListenerAuth::Anyone => Some(Ok(())),
        ListenerAuth::Secret(secret) if presents_secret(headers, secret) => Some(Ok(())),
        ListenerAuth::Secret(_) => {
            let forbidden = Rejection::from(Refusal::new(Code::Forbidden, "forbidden"));
            Some(Err(forbidden.with_format(ErrorFormat::Bare)))
        }
    }
}

fn presents_secret(headers: &HeaderMap, secret: &Secret) -> bool {
    let bearer = headers.get_all("authorization").iter().filter_map(authorization);
    let plain = headers.get_all(BRIDGE_TOKEN_HEADER).iter().filter_map(|value| value.to_str().ok());
    bearer.chain(plain).any(|token| token.as_bytes().ct_eq(secret.0.as_bytes()).into())
}

/// Answers where there is no endpoint. A body is read first, as its clients expect.
pub(super) async fn fallback(mut call: Call) -> JsonResult {
    match call.parts.method {
        Method::GET | Method::HEAD => {}
        Method::POST => drop(read_body(&mut call).await?),
        other => {
            let sentence = format!("agentmux takes GET and POST, not {other}");
            return Err(Rejection::new(StatusCode::NOT_IMPLEMENTED, Code::Invalid, sentence));
        }
    }
    Err(Refusal::not_found("not found").into())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], auth: &ListenerAuth, expect: Option<bool>) {
        let pairs = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_static(value))
        });
        let result = authenticate(auth, &HeaderMap::from_iter(pairs));
        assert_eq!(result.map(|result| result.is_ok()), expect, "{headers:?}");
    }

    #[test]
    fn what_was_agreed_on_lets_in_and_nothing_else_does() {
        let secret = ListenerAuth::Secret(Secret("s3cret".to_owned()));
        for good in [
            ("Authorization", "Bearer s3cret"),
            ("authorization", "bearer s3cret"),
            ("X-Bridge-Token", "s3cret"),
            ("x-bridge-token", "s3cret"),
        ] {
            check(&[good], &secret, Some(true));
        }
        for bad in [
            ("authorization", "Bearer s3cre"),
            ("authorization", "Bearer s3cretx"),
            ("authorization", "s3cret"),
            ("authorization", "Basic s3cret"),
            ("x-bridge-token", "Bearer s3cret"),
            ("x-bridge-token", ""),
        ] {
            check(&[bad], &secret, Some(false));
        }
        check(&[], &secret, Some(false));
        check(&[], &ListenerAuth::Grants, None);
        check(&[("authorization", "Bearer anything")], &ListenerAuth::Anyone, Some(true));
    }
}
