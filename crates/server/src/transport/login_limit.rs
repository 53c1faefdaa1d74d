//! Rate limit for wrong tokens over TCP. A valid token is always accepted at once.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use paned_model::{Code, Refusal, Time};
use paned_policy::rate::{Rate, TokenBucket};
use serde_json::json;

use crate::http::reply::Rejection;

/// Enough for many clients that retry with an old token.
const RATE: Rate = Rate { per_second: 20, burst: 1000 };

/// The bucket of wrong tokens that are still allowed.
pub(crate) struct LoginLimit {
    since: Instant,
    bucket: Mutex<TokenBucket>,
}

impl Default for LoginLimit {
    fn default() -> Self {
        Self { since: Instant::now(), bucket: Mutex::new(TokenBucket::new(RATE, Time(0))) }
    }
}

impl LoginLimit {
    /// The refusal of a wrong token: unchanged, or that there were too many.
    pub(crate) fn refuse(&self, refusal: Refusal) -> Refusal {
        if refusal.code != Code::Unauthorized {
            return refusal;
        }
        let now = Time(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let taken = self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(1, RATE, now);
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
        let limit = LoginLimit::default();
        let code = |code| limit.refuse(Refusal::new(code, "no")).code;
        let codes: Vec<_> = (0..3000).map(|_| code(Code::Unauthorized)).collect();
        assert!(codes[..1000].iter().all(|code| *code == Code::Unauthorized));
        assert!(codes.contains(&Code::Limit));
        assert_eq!(code(Code::Forbidden), Code::Forbidden);
    }
}
