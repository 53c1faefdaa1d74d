//! Asks an extension before an action runs.

use paned_kernel::{ActionHook, BoxedFuture, Caller, HookCall, HookVerdict};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::timeout;

use super::shared::{CallerInfo, SharedHandle};
use crate::rpc::connection::CallError;

/// How much longer the kernel waits than we do, so that we see the time pass first.
const MARGIN: Duration = Duration::from_secs(1);

/// The hook of one extension.
pub(crate) struct ExtensionHook(pub(crate) SharedHandle);

#[derive(Serialize)]
struct BeforeAction<'a> {
    action: &'a str,
    params: &'a RawValue,
    caller: CallerInfo<'a>,
}

/// The answer. Anything that has no `cancel: true` is a yes.
#[derive(Default, Deserialize)]
struct Verdict {
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    reason: Option<String>,
}

impl ActionHook for ExtensionHook {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn wants(&self, action: &str, caller: &Caller) -> bool {
        self.0.is_asked(action, caller)
    }

    fn is_required(&self) -> bool {
        self.0.veto().is_required
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.0.veto().timeout + MARGIN)
    }

    fn before(&self, call: HookCall) -> BoxedFuture<'_, Result<HookVerdict, String>> {
        Box::pin(self.ask(call))
    }
}

impl ExtensionHook {
    async fn ask(&self, call: HookCall) -> Result<HookVerdict, String> {
        let connection = self.0.connection().map_err(|_| self.0.absence())?;
        let caller = CallerInfo::new(&call.caller);
        let question = BeforeAction { action: &call.action, params: &call.params, caller };
        let limit = self.0.veto().timeout;
        match timeout(limit, connection.request("beforeAction", &question)).await {
            Ok(Ok(answer)) => Ok(verdict(&answer)),
            Ok(Err(CallError::Refused(error))) => Err(error.message),
            Ok(Err(CallError::Closed)) => Err("it ended before it answered".to_owned()),
            Ok(Err(CallError::TooLong)) => Err("the parameters are too long for it".to_owned()),
            Err(_) => {
                connection.note_miss();
                Err(format!("no answer within {} ms", limit.as_millis()))
            }
        }
    }
}

fn verdict(answer: &RawValue) -> HookVerdict {
    let verdict: Verdict = serde_json::from_str(answer.get()).unwrap_or_default();
    match verdict.cancel {
        true => HookVerdict::Cancel(verdict.reason.unwrap_or_default()),
        false => HookVerdict::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cancel_is_a_no() {
        let check = |answer: &str| verdict(&RawValue::from_string(answer.to_owned()).unwrap());
        for answer in ["null", "{}", "true", "[]", r#"{"cancel":false}"#, r#"{"cancel":"x"}"#] {
            assert_eq!(check(answer), HookVerdict::Allow, "{answer}");
        }
        let no = HookVerdict::Cancel("late".to_owned());
        assert_eq!(check(r#"{"cancel":true,"reason":"late"}"#), no);
        assert_eq!(check(r#"{"cancel":true,"reason":null}"#), HookVerdict::Cancel(String::new()));
    }
}
