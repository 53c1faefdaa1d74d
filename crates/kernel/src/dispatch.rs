//! The one way in for every change and question.

use std::sync::Arc;

use paned_model::{Code, Refusal};
use paned_policy::permit;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::hooks::Start;
use crate::journal::{Draft, Ticket};
use crate::registry::{Context, Definition, Kind, Run};
use crate::{Caller, Kernel};

/// What an action answered, as JSON.
pub type Answer = Box<RawValue>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    action_name: &'a str,
    params: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_info: Option<&'a Refusal>,
}

impl Kernel {
    /// Runs an action: find it, permit it, read its parameters, ask the hooks, run it, tell of it. A
    /// change is answered once it is in the journal.
    ///
    /// # Errors
    /// With the refusal that every face shows as it is.
    pub async fn dispatch(
        &self,
        name: &str,
        params: &[u8],
        caller: &Caller,
    ) -> Result<Answer, Refusal> {
        let definition = self.registry().get(name)?;
        self.check_alive(caller)?;
        permit::scope(&caller.grant, definition.scope).map_err(forbidden)?;
        let context = Context { kernel: self.clone(), caller: caller.clone() };
        let run = (definition.run)(context, params)?;
        if let Some(pane) = &run.pane {
            self.may_reach(pane, caller)?;
        }
        if self.is_untold(definition) {
            return run.start.await;
        }
        let shown = shown(params, definition.secrets);
        let told = self.clone().run_told(definition.name, shown, run);
        match definition.kind {
            Kind::Question | Kind::Input => told.await,
            // Whoever asked may go away in the middle: a change that was begun is finished and told.
            Kind::Change => self.errands().run(told).await?,
        }
    }

    async fn run_told(
        self,
        name: &'static str,
        shown: Box<RawValue>,
        run: Run,
    ) -> Result<Answer, Refusal> {
        let definition = self.registry().get(name)?;
        self.tell(definition, "action:start", &shown, Ok(None));
        let start = Start { action: name, params: Arc::from(shown.clone()) };
        let outcome = match self.ask_hooks(&start).await {
            Ok(()) => run.start.await,
            Err(refusal) => Err(refusal),
        };
        self.conclude(definition, &shown, outcome).await
    }

    /// A question or a keystroke that nobody listens for is only answered: it is no fact, and a thousand of
    /// them a second would drown the journal.
    fn is_untold(&self, definition: &Definition) -> bool {
        let heard = || ["action:start", "action:success", "action:error"];
        definition.kind != Kind::Change
            && self.hooks().is_empty()
            && !heard().iter().any(|event| self.journal().wants(event))
    }

    async fn ask_hooks(&self, start: &Start) -> Result<(), Refusal> {
        let (verdict, failed) = self.hooks().ask(start, self.limits().hook).await;
        for failed in failed {
            tracing::warn!(source = failed.source, error = failed.error, "a hook failed");
            self.emit(
                "handler:error",
                &serde_json::json!({
                    "source": failed.source, "event": "action:start", "error": failed.error,
                }),
            );
        }
        verdict
    }

    /// Tells how it went, and waits until that is safe if anything may have changed.
    async fn conclude(
        &self,
        definition: &Definition,
        params: &RawValue,
        outcome: Result<Answer, Refusal>,
    ) -> Result<Answer, Refusal> {
        let ticket = match &outcome {
            Ok(answer) if definition.secrets.is_empty() => {
                self.tell(definition, "action:success", params, Ok(Some(answer)))
            }
            Ok(answer) => {
                let answer = shown(answer.get().as_bytes(), definition.secrets);
                self.tell(definition, "action:success", params, Ok(Some(&answer)))
            }
            Err(refusal) => self.tell(definition, "action:error", params, Err(refusal)),
        };
        if definition.kind == Kind::Change {
            self.settle(ticket).await;
        }
        outcome
    }

    fn tell(
        &self,
        definition: &Definition,
        event: &str,
        params: &RawValue,
        outcome: Result<Option<&RawValue>, &Refusal>,
    ) -> Ticket {
        let (result, error_info) = match outcome {
            Ok(result) => (result, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let told = Told { action_name: definition.name, params, result, error_info };
        self.journal().record(vec![draft(event, &told)], Vec::new())
    }

    /// Waits until this and everything before it is in the journal. While the disk refuses, that is said
    /// in the log and in `server:status`; what has happened has happened all the same.
    async fn settle(&self, ticket: Ticket) {
        if let Err(error) = self.journal().committed(ticket).await {
            tracing::error!(%error, "an action was answered before it was in the journal");
        }
    }
}

/// An event of this name with this payload.
pub(crate) fn draft(name: &str, payload: &impl Serialize) -> Draft {
    let payload = serde_json::to_string(payload).unwrap_or_else(|_| "{}".to_owned());
    Draft { name: name.to_owned(), payload }
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}

/// The JSON as it may be shown: with secrets left out.
fn shown(json: &[u8], secrets: &[&str]) -> Box<RawValue> {
    let mut value: Value = serde_json::from_slice(json).unwrap_or_else(|_| serde_json::json!({}));
    for secret in secrets {
        if let Some(field) = value.get_mut(*secret) {
            *field = Value::String("(not shown)".to_owned());
        }
    }
    serde_json::value::to_raw_value(&value).expect("a JSON value always becomes JSON")
}
