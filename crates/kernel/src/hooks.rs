//! Hooks that are asked before an action runs and can veto it.

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
    pub action: Arc<str>,
    /// Its parameters as they were sent, secrets left out.
    pub params: Arc<RawValue>,
}

/// A hook's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// Run the action.
    Allow,
    /// Do not run it, for this reason.
    Cancel(String),
}

/// A hook that is asked before actions run.
pub trait ActionHook: Send + Sync + 'static {
    /// Its name, for the refusal.
    fn name(&self) -> &str;

    /// Whether the action may run. A hook that fails or times out has no say, and is reported as
    /// `handler:error`.
    fn before(&self, start: HookCall) -> BoxedFuture<'_, Result<HookVerdict, String>>;
}

/// All hooks, in the order they were added.
#[derive(Default)]
pub(crate) struct ActionHooks {
    hooks: Mutex<Vec<Arc<dyn ActionHook>>>,
}

/// A hook that failed or timed out.
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

    /// Asks the hooks one after the other until one cancels. Also returns the hooks that failed.
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
                    return (Err(vetoed(hook.name(), &start.action, &reason)), failed);
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
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    Refusal::new(Code::Vetoed, format!("{hook} vetoed `{action}`: {reason}"))
}
