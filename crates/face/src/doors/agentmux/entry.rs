//! Who is let in at the door's own listener, and what is said where there is no endpoint.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use paned_model::{Code, Refusal};
use paned_policy::guard::Takes;
use subtle::ConstantTimeEq;

use super::http::asked;
use crate::call::Call;
use crate::entrance::Guest;
use crate::listener::{Admits, Secret};
use crate::reply::{Form, Outcome, Rejection};
use crate::shared::Shared;
use crate::who::authorization;

/// Where its clients show what they were told, besides `Authorization`.
const SHOWN: &str = "x-bridge-token";

/// Whether somebody is let in who has no token of ours. At an open door nothing that is shown matters.
pub(crate) fn knows(admits: &Admits, headers: &HeaderMap) -> Option<Result<(), Rejection>> {
    match admits {
        Admits::Grants => None,
        Admits::Anyone => Some(Ok(())),
        Admits::Secret(secret) if shows(headers, secret) => Some(Ok(())),
        Admits::Secret(_) => {
            let forbidden = Rejection::from(Refusal::new(Code::Forbidden, "forbidden"));
            Some(Err(forbidden.written(Form::Bare)))
        }
    }
}

fn shows(headers: &HeaderMap, secret: &Secret) -> bool {
    let bearer = headers.get_all("authorization").iter().filter_map(authorization);
    let plain = headers.get_all(SHOWN).iter().filter_map(|value| value.to_str().ok());
    bearer.chain(plain).any(|shown| shown.as_bytes().ct_eq(secret.0.as_bytes()).into())
}

/// Answers where there is no endpoint. A body is read first, as its clients expect.
pub(crate) async fn stranger(shared: Arc<Shared>, guest: Guest, request: Request) -> Outcome {
    guest.check_brought(Takes::Anything)?;
    let method = request.method().clone();
    let mut call = Call::new(shared, guest, None, request)?;
    let answer = match method {
        Method::GET | Method::HEAD => Err(not_found()),
        Method::POST => match asked(&mut call).await {
            Ok(_) => Err(not_found()),
            Err(rejection) => Err(rejection),
        },
        other => {
            let sentence = format!("agentmux takes GET and POST, not {other}");
            Err(Rejection::new(StatusCode::NOT_IMPLEMENTED, Code::Invalid, sentence))
        }
    };
    answer.map_err(|rejection: Rejection| rejection.written(Form::Bare))
}

fn not_found() -> Rejection {
    Refusal::not_found("not found").into()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], admits: &Admits, expect: Option<bool>) {
        let pairs = headers.iter().map(|(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            (name, HeaderValue::from_static(value))
        });
        let known = knows(admits, &HeaderMap::from_iter(pairs));
        assert_eq!(known.map(|known| known.is_ok()), expect, "{headers:?}");
    }

    #[test]
    fn what_was_agreed_on_lets_in_and_nothing_else_does() {
        let secret = Admits::Secret(Secret("s3cret".to_owned()));
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
        check(&[], &Admits::Grants, None);
        check(&[("authorization", "Bearer anything")], &Admits::Anyone, Some(true));
    }
}
