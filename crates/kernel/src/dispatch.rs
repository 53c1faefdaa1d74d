//! The one way in for every change and question.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use paned_model::{Code, EventId, Refusal, Scope};
use paned_policy::permit;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::hooks::HookCall;
use crate::journal::{self, CommitTicket, EventDraft};
use crate::redact::{redact, redact_tokens};
use crate::registry::{ActionContext, ActionDefinition, ActionKind, PreparedAction};
use crate::undo::Undo;
use crate::{Caller, Kernel};

/// What an action answered, as JSON.
pub type ActionAnswer = Box<RawValue>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionEvent<'a> {
    action_name: &'a str,
    params: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_info: Option<&'a Refusal>,
}

/// What is needed to tell of an action.
#[derive(Clone, Copy)]
struct ActionLog {
    action: &'static str,
    kind: ActionKind,
    secrets: &'static [&'static str],
}

impl Kernel {
    /// Runs an action: find it, permit it, read its parameters, ask the hooks, run it, tell of it. A change is answered
    /// once it is in the journal; one that cannot be written there is undone and refused.
    ///
    /// # Errors
    /// With the refusal that every face shows as it is.
    pub async fn dispatch(
        &self,
        name: &str,
        params: &[u8],
        caller: &Caller,
    ) -> Result<ActionAnswer, Refusal> {
        let definition = self.registry().get(name)?;
        self.check_authorized(caller)?;
        permit::scope(&caller.grant, definition.scope).map_err(forbidden)?;
        self.check_state_folder(definition)?;
        let undo = Undo::default();
        let context =
            ActionContext { kernel: self.clone(), caller: caller.clone(), undo: undo.clone() };
        let run = (definition.prepare)(context, params)?;
        self.permit(&run.access, caller)?;
        if caller.pane.is_some() {
            // Boxed to keep the future small: few callers speak from a pane.
            Box::pin(self.permit_typing(&run.access, caller)).await?;
        }
        self.check_journal(definition)?;
        if self.is_silent(definition) {
            return self.until_revoked(caller, definition.kind, run.future).await?;
        }
        self.charge_quota(definition, params, caller)?;
        let shown = redact(params, definition.secrets);
        let ActionDefinition { name: action, kind, secrets, .. } = *definition;
        let teller = ActionLog { action, kind, secrets };
        let told = Box::pin(self.clone().run_logged(teller, shown.clone(), run));
        match definition.kind {
            ActionKind::Question | ActionKind::Input => {
                self.until_revoked(caller, definition.kind, told).await?.0
            }
            ActionKind::Event | ActionKind::Change => {
                // Whoever asked may go away or be shut out in the middle: a change that was begun is finished and told.
                let errand = self.background().run(told);
                let (outcome, ticket) =
                    self.until_revoked(caller, definition.kind, errand).await??;
                let Err(error) = self.journal().committed(ticket).await else { return outcome };
                self.on_write_failure(teller, &shown, outcome, &undo, (ticket, error)).await
            }
        }
    }

    /// Counts what a change writes to the journal, its two events above all. What ends something is always done.
    fn charge_quota(
        &self,
        definition: &ActionDefinition,
        params: &[u8],
        caller: &Caller,
    ) -> Result<(), Refusal> {
        if definition.kind != ActionKind::Change || definition.scope == Scope::Kill {
            return Ok(());
        }
        let rate = self.limits().events_per_second;
        self.budgets().event(&caller.grant, || 2 * params.len(), rate, self.now())
    }

    /// Refuses a change that would be kept nowhere. What lives can still be ended, and the server, too.
    fn check_state_folder(&self, definition: &ActionDefinition) -> Result<(), Refusal> {
        let is_change = matches!(definition.kind, ActionKind::Change | ActionKind::Event);
        let ends = definition.scope == Scope::Kill || definition.name.starts_with("server:");
        match &self.inner.state_folder {
            Some(folder) if is_change && !ends => folder.check(),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses what would change something while the journal cannot be written.
    fn check_journal(&self, definition: &ActionDefinition) -> Result<(), Refusal> {
        let is_change = matches!(definition.kind, ActionKind::Event | ActionKind::Change);
        match self.journal().write_error() {
            Some(error) if is_change && definition.needs_journal => Err(unavailable(&error)),
            Some(_) | None => Ok(()),
        }
    }

    /// The answer to a change that was under way when the journal could not be written: it is undone and refused where
    /// it can be undone; what cannot be undone has happened, and its answer says that it is in memory only.
    async fn on_write_failure(
        &self,
        teller: ActionLog,
        params: &RawValue,
        outcome: Result<ActionAnswer, Refusal>,
        undo: &Undo,
        (ticket, error): (CommitTicket, journal::Error),
    ) -> Result<ActionAnswer, Refusal> {
        let answer = outcome?;
        let mut tickets = undo.tickets();
        if tickets.is_empty() {
            return Ok(with_note(&answer, &error));
        }
        tickets.push(ticket);
        if !self.journal().withdraw(&tickets).await {
            return match self.journal().committed(ticket).await {
                Ok(()) => Ok(answer),
                Err(error) => Ok(with_note(&answer, &error)),
            };
        }
        undo.restore();
        let refusal = unavailable(&error);
        self.log_event(teller.action, "action:error", params, Err(&refusal));
        Err(refusal)
    }

    /// What comes of something a caller asked for, unless they are let in no more before that: some questions wait for
    /// a day, and what they find by then is not for everybody who could ask. What is typed or recorded is done soon, and
    /// to be told so is to be told nothing, so nobody looks after them: thousands of those may be under way.
    async fn until_revoked<T>(
        &self,
        caller: &Caller,
        kind: ActionKind,
        asked: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        if matches!(kind, ActionKind::Input | ActionKind::Event) {
            return Ok(asked.await);
        }
        let mut asked = pin!(asked);
        // Most of it is done at once, by somebody who was let in just now.
        let begun = poll_fn(|cx| Poll::Ready(asked.as_mut().poll(cx))).await;
        if let Poll::Ready(outcome) = begun {
            return Ok(outcome);
        }
        tokio::select! {
            biased;
            // Apart, because its place is large and nearly always empty.
            () = Box::pin(self.wait_revoked(caller)) => Err(revoked(kind)),
            outcome = asked => Ok(outcome),
        }
    }

    /// Runs it between the two events that tell of it. What it answers is in the journal with the ticket.
    async fn run_logged(
        self,
        teller: ActionLog,
        shown: Box<RawValue>,
        run: PreparedAction,
    ) -> (Result<ActionAnswer, Refusal>, CommitTicket) {
        self.log_event(teller.action, "action:start", &shown, Ok(None));
        let asked = match self.hooks().is_empty() {
            true => Ok(()),
            // Apart, because its place is large and nearly always empty.
            false => Box::pin(self.ask_hooks(teller.action, &shown)).await,
        };
        let outcome = match asked {
            Ok(()) => run.future.await,
            Err(refusal) => Err(refusal),
        };
        let ticket = self.log_outcome(teller, &shown, &outcome);
        (outcome, ticket)
    }

    /// A question or a keystroke that nobody listens for is only answered: it is no fact, and a thousand of
    /// them a second would drown the journal. An event that is recorded needs no two others beside it.
    fn is_silent(&self, definition: &ActionDefinition) -> bool {
        let heard = || ["action:start", "action:success", "action:error"];
        definition.kind != ActionKind::Change
            && self.hooks().is_empty()
            && !heard().iter().any(|event| self.journal().wants(event))
    }

    async fn ask_hooks(&self, action: &'static str, params: &RawValue) -> Result<(), Refusal> {
        let start = HookCall { action, params: Arc::from(params.to_owned()) };
        let (verdict, failed) = self.hooks().ask(&start, self.limits().hook_timeout).await;
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

    /// Tells how it went.
    fn log_outcome(
        &self,
        ActionLog { action, kind, secrets }: ActionLog,
        params: &RawValue,
        outcome: &Result<ActionAnswer, Refusal>,
    ) -> CommitTicket {
        match outcome {
            // What was asked for is for the caller alone: most of it is what a terminal shows.
            Ok(_) if kind == ActionKind::Question => {
                self.log_event(action, "action:success", params, Ok(None))
            }
            Ok(answer) if secrets.is_empty() => {
                self.log_event(action, "action:success", params, Ok(Some(answer)))
            }
            Ok(answer) => {
                let answer = redact(answer.get().as_bytes(), secrets);
                self.log_event(action, "action:success", params, Ok(Some(&answer)))
            }
            Err(refusal) => self.log_event(action, "action:error", params, Err(refusal)),
        }
    }

    fn log_event(
        &self,
        action_name: &str,
        event: &str,
        params: &RawValue,
        outcome: Result<Option<&RawValue>, &Refusal>,
    ) -> CommitTicket {
        let (result, error_info) = match outcome {
            Ok(result) => (result, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let told = ActionEvent { action_name, params, result, error_info };
        let room = 96 + params.get().len() + result.map_or(0, |result| result.get().len());
        self.journal().record(vec![draft_with_capacity(room, event, &told)], Vec::new())
    }

    /// Records an event and waits until it is in the journal; takes it back when it cannot be written.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) async fn record_committed(
        &self,
        name: &str,
        payload: &impl Serialize,
    ) -> Result<EventId, Refusal> {
        let ticket = self.record(name, payload);
        let Err(error) = self.journal().committed(ticket).await else { return Ok(ticket.last) };
        match self.journal().withdraw(&[ticket]).await {
            true => Err(unavailable(&error)),
            false => Ok(ticket.last),
        }
    }
}

/// The refusal of a change that cannot be written.
fn unavailable(error: &journal::Error) -> Refusal {
    Refusal::new(Code::Unavailable, error.to_string())
}

/// The answer to what has happened and is not in the journal yet.
fn with_note(answer: &RawValue, error: &journal::Error) -> ActionAnswer {
    let note = format!("{error}; this is held in memory and written when that is possible again");
    let Ok(Value::Object(mut fields)) = serde_json::from_str(answer.get()) else {
        return answer.to_owned();
    };
    fields.insert("unwritten".to_owned(), Value::String(note));
    serde_json::value::to_raw_value(&fields).unwrap_or_else(|_| answer.to_owned())
}

/// An event of this name with this payload.
pub(crate) fn draft(name: &str, payload: &impl Serialize) -> EventDraft {
    draft_with_capacity(128, name, payload)
}

/// The same, for a payload of which it is known about how long it is: to grow on the way costs more than to write it.
fn draft_with_capacity(room: usize, name: &str, payload: &impl Serialize) -> EventDraft {
    let mut json = Vec::with_capacity(room);
    let written = serde_json::to_writer(&mut json, payload).map(|()| String::from_utf8(json));
    let payload = written.ok().and_then(Result::ok).unwrap_or_else(|| "{}".to_owned());
    EventDraft { name: name.to_owned(), payload: redact_tokens(payload) }
}

/// The refusal of somebody whose grant ended before there was an answer.
fn revoked(kind: ActionKind) -> Refusal {
    let sentence = match kind {
        ActionKind::Question | ActionKind::Input => {
            "the grant that this was asked with is over, so it is not answered"
        }
        ActionKind::Event | ActionKind::Change => {
            "the grant that this was asked with is over: what was begun is finished, but not answered"
        }
    };
    Refusal::new(Code::Unauthorized, sentence)
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}
