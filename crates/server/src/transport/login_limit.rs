//! Rate limit for wrong tokens over TCP. A valid token is always accepted at once.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use paned_model::{Code, Refusal, Time};
use paned_policy::rate::{Rate, TokenBucket};
use serde_json::json;

use crate::http::reply::Rejection;

/// Enough for many clients of this machine that retry with an old token.
const LOCAL: Rate = Rate { per_second: 20, burst: 1000 };
/// Enough for a person's devices.
const REMOTE: Rate = Rate { per_second: 1, burst: 50 };

/// The bucket of wrong tokens that are still allowed.
pub(crate) struct LoginLimit {
    rate: Rate,
    since: Instant,
    bucket: Mutex<TokenBucket>,
}

impl LoginLimit {
    /// For clients on this machine.
    pub(crate) fn local() -> Self {
        Self::new(LOCAL)
    }

    /// For clients that may be on other machines.
    pub(crate) fn remote() -> Self {
        Self::new(REMOTE)
    }

    fn new(rate: Rate) -> Self {
        let bucket = Mutex::new(TokenBucket::new(rate, Time(0)));
        Self { rate, since: Instant::now(), bucket }
    }

    /// The refusal of a wrong token: unchanged, or that there were too many.
    pub(crate) fn refuse(&self, refusal: Refusal) -> Refusal {
        if refusal.code != Code::Unauthorized {
            return refusal;
        }
        let now = Time(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let taken =
            self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(1, self.rate, now);
        match taken {
            Ok(()) => refusal,
            Err(wait) => {
                let sentence = "too many invalid tokens over TCP; retry with a valid one";
                Refusal::new(Code::Limit, sentence).with_details(json!({ "retryAfterMs": wait }))
            }
        }
    }

    /// The same for the rejection of an HTTP request.
    pub(crate) fn reject(&self, rejection: Rejection) -> Rejection {
        if rejection.status != StatusCode::UNAUTHORIZED {
            return rejection;
        }
        let format = rejection.format;
        Rejection::from(self.refuse(rejection.refusal)).with_format(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_wrong_tokens_are_refused_as_a_limit_and_other_refusals_are_left_alone() {
        let limit = LoginLimit::local();
        let code = |code| limit.refuse(Refusal::new(code, "no")).code;
        let codes: Vec<_> = (0..3000).map(|_| code(Code::Unauthorized)).collect();
        assert!(codes[..1000].iter().all(|code| *code == Code::Unauthorized));
        assert!(codes.contains(&Code::Limit));
        assert_eq!(code(Code::Forbidden), Code::Forbidden);
    }
}
