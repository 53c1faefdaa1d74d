//! Veto points: whoever wants to be asked before an action runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_model::{Code, Refusal};
use serde_json::value::RawValue;
use tokio::time::timeout;

/// What a hook is asked about.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The action's name.
    pub action: &'static str,
    /// Its parameters as they were sent, secrets left out.
    pub params: Arc<RawValue>,
}

/// What a hook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// Go on.
    Allow,
    /// Do not, for this reason.
    Cancel(String),
}

/// Somebody who is asked before actions run.
pub trait ActionHook: Send + Sync + 'static {
    /// Who it is, for the sentence that refuses.
    fn name(&self) -> &str;

    /// Whether the action may run. One that takes too long or fails has said nothing, and is told as
    /// `handler:error`.
    fn before(&self, start: HookCall) -> BoxedFuture<'_, Result<HookVerdict, String>>;
}

/// All hooks, in the order they came.
#[derive(Default)]
pub(crate) struct ActionHooks {
    hooks: Mutex<Vec<Arc<dyn ActionHook>>>,
}

/// A hook that did not do its part.
pub(crate) struct HookFailure {
    pub(crate) source: String,
    pub(crate) error: String,
}

impl ActionHooks {
    pub(crate) fn add(&self, hook: Arc<dyn ActionHook>) {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).push(hook);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Asks them one after the other until one says no. Answers also who failed.
    pub(crate) async fn ask(
        &self,
        start: &HookCall,
        limit: Duration,
    ) -> (Result<(), Refusal>, Vec<HookFailure>) {
        let hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut failed = Vec::new();
        for hook in hooks {
            let error = match timeout(limit, hook.before(start.clone())).await {
                Ok(Ok(HookVerdict::Allow)) => continue,
                Ok(Ok(HookVerdict::Cancel(reason))) => {
                    return (Err(vetoed(hook.name(), start.action, &reason)), failed);
                }
                Ok(Err(error)) => error,
                Err(_) => format!("no answer within {} ms", limit.as_millis()),
            };
            failed.push(HookFailure { source: hook.name().to_owned(), error });
        }
        (Ok(()), failed)
    }
}

fn vetoed(hook: &str, action: &str, reason: &str) -> Refusal {
    let reason = if reason.is_empty() { "it gave no reason" } else { reason };
    Refusal::new(Code::Vetoed, format!("{hook} vetoed `{action}`: {reason}"))
}
