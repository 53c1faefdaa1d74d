//! Hooks that are asked before an action runs and can veto it.

use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_model::{Code, Refusal};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::{Caller, Kernel, KernelInner};

/// The longest error that is recorded, in characters.
const LONGEST_ERROR: usize = 1000;

/// What a hook is asked about.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The action's name.
    pub action: Arc<str>,
    /// Its parameters as they were sent, secrets left out.
    pub params: Arc<RawValue>,
    /// The caller.
    pub caller: Caller,
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
    /// The extension's name, for the refusal.
    fn name(&self) -> &str;

    /// Whether it is asked about this action of this caller. Called for every action, so it is
    /// cheap and never waits.
    fn wants(&self, action: &str, caller: &Caller) -> bool;

    /// Whether an action that it wants is refused when it fails or times out.
    fn is_required(&self) -> bool {
        false
    }

    /// How long it may take, if not as long as the kernel's limit says.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Whether the action may run. A hook that fails or times out is reported as `handler:error`;
    /// the action runs all the same, unless the hook is required.
    fn before(&self, call: HookCall) -> BoxedFuture<'_, Result<HookVerdict, String>>;
}

/// All hooks, in the order they were added.
#[derive(Default)]
pub(crate) struct ActionHooks {
    hooks: RwLock<Vec<Arc<dyn ActionHook>>>,
}

/// An added hook. Dropping it removes the hook.
#[must_use = "dropping it removes the hook"]
pub struct HookRegistration {
    /// Weak, because an owner of this may itself be owned by the kernel.
    kernel: Weak<KernelInner>,
    hook: Arc<dyn ActionHook>,
}

impl Drop for HookRegistration {
    fn drop(&mut self) {
        let Some(kernel) = self.kernel.upgrade() else { return };
        let mut hooks = kernel.hooks.hooks.write().unwrap_or_else(PoisonError::into_inner);
        hooks.retain(|hook| !Arc::ptr_eq(hook, &self.hook));
    }
}

/// A hook that failed or timed out.
pub(crate) struct HookFailure {
    pub(crate) source: String,
    pub(crate) error: String,
}

impl Kernel {
    /// Adds a hook that is asked before actions run, until the registration is dropped.
    pub fn add_hook(&self, hook: Arc<dyn ActionHook>) -> HookRegistration {
        let mut hooks = self.inner.hooks.hooks.write().unwrap_or_else(PoisonError::into_inner);
        hooks.push(hook.clone());
        HookRegistration { kernel: Arc::downgrade(&self.inner), hook }
    }
}

impl Kernel {
    /// Records `handler:error`: an extension failed to handle this event.
    pub fn report_handler_error(&self, source: &str, event: &str, error: &str) {
        tracing::debug!(source, event, error, "an extension failed");
        let error: String = error.chars().take(LONGEST_ERROR).collect();
        self.emit("handler:error", &json!({ "source": source, "event": event, "error": error }));
    }
}

impl ActionHooks {
    /// The hooks to ask about this action of this caller: none, without an allocation, for most
    /// actions.
    pub(crate) fn wanting(&self, action: &str, caller: &Caller) -> Vec<Arc<dyn ActionHook>> {
        let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner);
        hooks.iter().filter(|hook| hook.wants(action, caller)).cloned().collect()
    }
}

/// Asks the hooks one after the other until one cancels. Also returns the hooks that failed.
pub(crate) async fn ask(
    hooks: &[Arc<dyn ActionHook>],
    call: &HookCall,
    limit: Duration,
) -> (Result<(), Refusal>, Vec<HookFailure>) {
    let mut failed = Vec::new();
    for hook in hooks {
        let limit = hook.timeout().unwrap_or(limit);
        let error = match timeout(limit, hook.before(call.clone())).await {
            Ok(Ok(HookVerdict::Allow)) => continue,
            Ok(Ok(HookVerdict::Cancel(reason))) => {
                return (Err(vetoed(hook.name(), &call.action, &reason)), failed);
            }
            Ok(Err(error)) => error,
            Err(_) => format!("no answer within {} ms", limit.as_millis()),
        };
        let refusal = hook.is_required().then(|| missing(hook.name(), &call.action, &error));
        failed.push(HookFailure { source: hook.name().to_owned(), error });
        if let Some(refusal) = refusal {
            return (Err(refusal), failed);
        }
    }
    (Ok(()), failed)
}

fn vetoed(extension: &str, action: &str, reason: &str) -> Refusal {
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    let sentence = format!("the extension `{extension}` vetoed `{action}`: {reason}");
    let details = json!({ "extension": extension, "reason": reason });
    Refusal::new(Code::Vetoed, sentence).with_details(details)
}

/// The refusal of an action because a required hook has no verdict.
fn missing(extension: &str, action: &str, error: &str) -> Refusal {
    let sentence = format!(
        "`{action}` needs the consent of the extension `{extension}`, which gave none: {error}; \
        see `paned ext info {extension}`"
    );
    let details = json!({ "extension": extension, "reason": error });
    Refusal::new(Code::Vetoed, sentence).with_details(details)
}
