//! Actions that are added and removed while the kernel runs, as those of extensions are.

use std::sync::{Arc, PoisonError, Weak};

use paned_backend::BoxedFuture;
use paned_model::{Code, Refusal, Scope};
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::param_schema::ParamSchema;
use super::{
    ActionContext, ActionDefinition, ActionKind, AnyAction, PreparedAction, RESERVED_NOUNS, parse,
};
use crate::access::AccessRequest;
use crate::{Caller, Kernel, KernelInner};

const LONGEST_NAME: usize = 64;
/// The longest description of an action, in characters. Every list of actions shows it.
const LONGEST_DOC: usize = 4000;
/// The most names of secret fields, and the longest one.
const MAX_SECRETS: usize = 100;
const LONGEST_SECRET: usize = 200;

/// An action to register.
pub struct ActionSpec {
    /// `noun:verb`, with a noun in lower case that is not paned's own.
    pub name: String,
    /// One sentence.
    pub doc: String,
    /// The scope that a caller needs.
    pub scope: Scope,
    /// Whether it changes anything. It cannot be [`ActionKind::Event`].
    pub kind: ActionKind,
    /// The JSON Schema of its parameters, which are an object. Calls that do not match it are
    /// refused.
    pub params: Value,
    /// The JSON Schema of its answer, for clients. The answer is not checked: what the call did has
    /// happened.
    pub answer: Value,
    /// Fields of parameters and answer that no event or log may show: paths as `a.b`, or `*`.
    pub secrets: Vec<String>,
    /// Its code.
    pub handler: Arc<dyn ActionHandler>,
}

/// The code of an action that is registered at run time.
pub trait ActionHandler: Send + Sync + 'static {
    /// What a call with these parameters accesses; checked before it runs. The parameters match the
    /// schema.
    fn access(&self, params: &Value) -> AccessRequest;

    /// Runs the action for this caller. The future is dropped when the caller disconnects.
    fn run(&self, caller: Caller, params: Value) -> BoxedFuture<'_, Result<Value, Refusal>>;
}

/// A registered action. Dropping it removes the action; calls that are running finish normally.
#[must_use = "dropping it removes the action"]
pub struct ActionRegistration {
    /// Weak, because an owner of this may itself be owned by the kernel.
    kernel: Weak<KernelInner>,
    name: Arc<str>,
}

impl ActionRegistration {
    /// The action's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Removes the action.
    pub fn remove(self) {
        drop(self);
    }
}

impl Drop for ActionRegistration {
    fn drop(&mut self) {
        let Some(inner) = self.kernel.upgrade() else { return };
        let kernel = Kernel { inner };
        let mut current = kernel.inner.registry.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut current).actions.remove(&self.name);
        // Under the lock, so that the order of events is the order of changes.
        kernel.emit("action:removed", &json!({ "actionName": &*self.name }));
    }
}

impl Kernel {
    /// Adds an action until the registration is dropped. Every interface has it at once. Records
    /// `action:added`, and later `action:removed`.
    ///
    /// # Errors
    /// When the name is taken, is not `noun:verb` or has a noun of paned's own; or when a schema
    /// cannot be used.
    pub fn register_action(&self, spec: ActionSpec) -> Result<ActionRegistration, Refusal> {
        let action = definition(spec)?;
        let name = action.name.clone();
        let added = json!({ "actionName": &*name, "scope": action.scope, "kind": action.kind });
        let mut current = self.inner.registry.write().unwrap_or_else(PoisonError::into_inner);
        // Copies the table only while a reader holds the present one.
        if !Arc::make_mut(&mut current).insert(action) {
            let sentence = format!("action `{name}` already exists");
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        self.emit("action:added", &added);
        drop(current);
        Ok(ActionRegistration { kernel: Arc::downgrade(&self.inner), name })
    }
}

fn definition(spec: ActionSpec) -> Result<ActionDefinition, Refusal> {
    let ActionSpec { name, doc, scope, kind, params, answer, secrets, handler } = spec;
    check_name(&name)?;
    let refuse = |sentence: &str| Err(Refusal::invalid(format!("action `{name}`: {sentence}")));
    if doc.trim().is_empty() {
        return refuse("the description is missing");
    }
    if LONGEST_DOC < doc.chars().count() {
        return refuse("the description is longer than 4000 characters");
    }
    if MAX_SECRETS < secrets.len() || secrets.iter().any(|name| LONGEST_SECRET < name.len()) {
        return refuse(
            "at most 100 names of secret fields, of at most 200 characters, are allowed",
        );
    }
    if kind == ActionKind::Event {
        return refuse("the kind `event` is reserved for `event:emit`");
    }
    if params["type"] != "object" {
        return refuse("the schema of its parameters must have the type `object`");
    }
    let read = |field: &str, schema: &Value| {
        ParamSchema::read(schema)
            .map_err(|error| Refusal::invalid(format!("action `{name}`: `{field}`: {error}")))
    };
    let check = read("params", &params)?;
    read("answer", &answer)?;
    Ok(ActionDefinition {
        name: name.into(),
        doc: doc.into(),
        scope,
        kind,
        needs_journal: true,
        secrets,
        code: Box::new(DynamicAction { params, answer, check, handler }),
    })
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let is_noun = |noun: &str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        noun.starts_with(is_letter) && noun.chars().all(|c| is_letter(c) || c == '-')
    };
    let is_verb = |verb: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        verb.starts_with(|c: char| c.is_ascii_alphanumeric()) && verb.chars().all(fits)
    };
    let parts = name.split_once(':').filter(|(noun, verb)| is_noun(noun) && is_verb(verb));
    let Some((noun, _)) = parts.filter(|_| name.len() <= LONGEST_NAME) else {
        return Err(Refusal::invalid(format!(
            "invalid action name `{}`: use `noun:verb`, the noun of a-z, 0-9 and `-`, the verb also \
            of A-Z and `_`, at most {LONGEST_NAME} characters",
            name.escape_debug()
        )));
    };
    if RESERVED_NOUNS.contains(&noun) {
        let sentence = format!("the action name `{name}` is reserved for paned; use another noun");
        return Err(Refusal::invalid(sentence));
    }
    Ok(())
}

struct DynamicAction {
    params: Value,
    answer: Value,
    check: ParamSchema,
    handler: Arc<dyn ActionHandler>,
}

impl AnyAction for DynamicAction {
    fn params(&self, _: &mut SchemaGenerator) -> Value {
        self.params.clone()
    }

    fn answer(&self, _: &mut SchemaGenerator) -> Value {
        self.answer.clone()
    }

    fn prepare(&self, context: ActionContext, params: &[u8]) -> Result<PreparedAction, Refusal> {
        let params: Value = parse(params)?;
        self.check.check(&params)?;
        let access = self.handler.access(&params);
        let handler = self.handler.clone();
        let (waits, left) = oneshot::channel::<()>();
        let future = Box::pin(async move {
            tokio::select! {
                biased;
                // Called here, not before: the call is not authorized until this is polled.
                answer = handler.run(context.caller, params) => {
                    serde_json::value::to_raw_value(&answer?).map_err(Refusal::internal)
                }
                _ = left => Err(caller_left()),
            }
        });
        Ok(PreparedAction { access, commands: Vec::new(), future, caller_waits: Some(waits) })
    }
}

/// What is recorded of a call whose caller disconnected: unlike the kernel's own changes, a call
/// of an extension may take any time, and its extension is told to end it.
fn caller_left() -> Refusal {
    Refusal::new(Code::Timeout, "the caller disconnected before the extension answered")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_noun_and_verb_and_not_of_our_own_nouns() {
        for name in ["build:run", "build2:re-run", "panel:open", "2:x", "a:getState", "a:get_state"]
        {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "build", "build:", ":run", "Build:run", "build:run:x", "build:rün", "-a:x"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name(&format!("build:{}", "x".repeat(60))).is_err());
        for action in crate::actions::registry().iter() {
            assert!(check_name(&action.name).is_err(), "{}", action.name);
        }
    }
}
