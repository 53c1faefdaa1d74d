//! The single entry point for every action.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use paned_model::{Code, EventId, GrantId, Refusal, Scope};
use paned_policy::permit;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::approvals::{AllowedBy, GatedCall};
use crate::caller::CallerLabel;
use crate::hooks::{self, ActionHook, HookCall, HookFailure};
use crate::journal::{self, CommitTicket, draft_with_capacity};
use crate::permissions::PermittedCommands;
use crate::redact::redact;
use crate::registry::{ActionContext, ActionDefinition, ActionKind, PreparedAction};
use crate::undo::Undo;
use crate::{Caller, Kernel};

/// What an action answered, as JSON.
pub type ActionAnswer = Box<RawValue>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionEvent<'a> {
    action_name: &'a str,
    caller: CallerLabel<'a>,
    /// The caller's grant: a pane or an extension may act with the owner's.
    grant: &'a GrantId,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<&'a AllowedBy>,
    params: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_info: Option<&'a Refusal>,
}

/// A call that may run, unless a hook vetoes it.
struct PermittedCall {
    run: PreparedAction,
    undo: Undo,
    allowed_by: AllowedBy,
    /// Dropped when the caller no longer waits for the answer.
    caller_waits: Option<oneshot::Sender<()>>,
}

/// A call that is recorded, with the hooks to ask before it runs.
struct LoggedCall {
    action: Arc<ActionDefinition>,
    /// Its parameters for events, secrets left out.
    params: Box<RawValue>,
    caller: Caller,
    allowed_by: AllowedBy,
    hooks: Vec<Arc<dyn ActionHook>>,
}

/// Whose call an event is about, and what allowed it, if anything did.
#[derive(Clone, Copy)]
struct LoggedFacts<'a> {
    caller: &'a Caller,
    allowed_by: Option<&'a AllowedBy>,
    params: &'a RawValue,
}

impl LoggedCall {
    fn facts(&self) -> LoggedFacts<'_> {
        let Self { caller, allowed_by, params, .. } = self;
        LoggedFacts { caller, allowed_by: Some(allowed_by), params }
    }
}

/// A change whose record could not be written.
struct UnwrittenChange<'a> {
    facts: LoggedFacts<'a>,
    undo: Undo,
    ticket: CommitTicket,
}

impl Kernel {
    /// Runs an action: find it, authorize it, parse its parameters, ask the hooks, run it, record
    /// events. A change is answered once it is in the journal; one that cannot be written there is
    /// undone and refused.
    ///
    /// # Errors
    /// With the refusal, which every server front end passes on unchanged.
    pub async fn dispatch(
        &self,
        name: &str,
        params: &[u8],
        caller: &Caller,
    ) -> Result<ActionAnswer, Refusal> {
        let action = self.action(name)?;
        let outcome = self.dispatch_action(&action, params, caller).await;
        outcome.map_err(|refusal| self.suggest_panes(refusal, params, &action, caller))
    }

    async fn dispatch_action(
        &self,
        action: &Arc<ActionDefinition>,
        params: &[u8],
        caller: &Caller,
    ) -> Result<ActionAnswer, Refusal> {
        let permitted = self.permit_call(action, params, caller).await;
        let permitted = permitted.inspect_err(|refusal| {
            self.log_refused(action, params, caller, refusal);
        })?;
        let PermittedCall { run, undo, allowed_by, caller_waits: _caller_waits } = permitted;
        let hooks = self.hooks().wanting(&action.name, caller);
        let is_silent = self.is_silent(action) && !self.is_watched(action, params, caller);
        if is_silent && hooks.is_empty() {
            return self.until_revoked(caller, action.kind, run.future).await?;
        }
        self.charge_quota(action, params, caller)?;
        let logged_params = redact(params, &action.secrets);
        let call = LoggedCall {
            action: action.clone(),
            params: logged_params.clone(),
            caller: caller.clone(),
            allowed_by: allowed_by.clone(),
            hooks,
        };
        if is_silent {
            let asked = Box::pin(self.run_silent(call, run));
            return self.until_revoked(caller, action.kind, asked).await?;
        }
        let logged = Box::pin(self.clone().run_logged(call, run));
        match action.kind {
            ActionKind::Question | ActionKind::Input => {
                self.until_revoked(caller, action.kind, logged).await?.0
            }
            ActionKind::Event | ActionKind::Change => {
                // The caller may disconnect or lose its grant meanwhile: a change that has begun is
                // finished and recorded.
                let change = self.background().run(logged);
                let (outcome, ticket) = self.until_revoked(caller, action.kind, change).await??;
                let Err(error) = self.journal().committed(ticket).await else { return outcome };
                let allowed_by = Some(&allowed_by);
                let facts = LoggedFacts { caller, allowed_by, params: &logged_params };
                let failed = UnwrittenChange { facts, undo, ticket };
                self.on_write_failure(action, failed, outcome, error).await
            }
        }
    }

    /// Authorizes a call, parses its parameters, and asks the permission rules.
    async fn permit_call(
        &self,
        action: &Arc<ActionDefinition>,
        params: &[u8],
        caller: &Caller,
    ) -> Result<PermittedCall, Refusal> {
        self.check_authorized(caller)?;
        permit::scope(&caller.grant, action.scope).map_err(forbidden)?;
        self.check_state_folder(action)?;
        let undo = Undo::default();
        let permitted = PermittedCommands::default();
        let context = ActionContext {
            kernel: self.clone(),
            caller: caller.clone(),
            undo: undo.clone(),
            permitted: permitted.clone(),
        };
        let mut run = action.prepare(context, params)?;
        let caller_waits = run.caller_waits.take();
        self.permit(&run.access, caller)?;
        self.permit_typing(&run.access, caller)?;
        self.check_journal(action)?;
        let commands = std::mem::take(&mut run.commands);
        let call = GatedCall { action, params, access: &run.access, caller };
        let asked = match commands.is_empty() {
            true => None,
            // Boxed to keep the future small: it is rarely polled.
            false => Box::pin(self.judge_commands(caller, commands, &permitted)).await?,
        };
        let allowed_by = self.pass_gate(call, asked).await?;
        Ok(PermittedCall { run, undo, allowed_by, caller_waits })
    }

    /// Charges a change for what it writes to the journal, mainly its two events. Actions that end
    /// something are never refused.
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

    /// Refuses a change that could not be stored. Panes can still be ended, and so can the server.
    fn check_state_folder(&self, definition: &ActionDefinition) -> Result<(), Refusal> {
        let is_change = matches!(definition.kind, ActionKind::Change | ActionKind::Event);
        let ends = definition.scope == Scope::Kill || definition.name.starts_with("server:");
        match &self.inner.state_folder {
            Some(folder) if is_change && !ends => folder.check(),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses changes while the journal cannot be written.
    fn check_journal(&self, definition: &ActionDefinition) -> Result<(), Refusal> {
        let is_change = matches!(definition.kind, ActionKind::Event | ActionKind::Change);
        match self.journal().write_error() {
            Some(error) if is_change && definition.needs_journal => Err(unavailable(&error)),
            Some(_) | None => Ok(()),
        }
    }

    /// The answer to a change whose journal write failed. It is undone and refused where it can be
    /// undone; what cannot be undone has happened, and its answer says that it is in memory only.
    async fn on_write_failure(
        &self,
        action: &ActionDefinition,
        UnwrittenChange { facts, undo, ticket }: UnwrittenChange<'_>,
        outcome: Result<ActionAnswer, Refusal>,
        error: journal::Error,
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
        self.log_event("action:error", &action.name, facts, Err(&refusal));
        Err(refusal)
    }

    /// The result of a request, unless the caller's grant ends before it is there: some questions
    /// wait for up to a day, and a revoked caller must not get the answer. Input and events are not
    /// watched: they finish soon, their answer reveals nothing, and thousands of them may be in
    /// progress.
    pub(crate) async fn until_revoked<T>(
        &self,
        caller: &Caller,
        kind: ActionKind,
        request: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        if matches!(kind, ActionKind::Input | ActionKind::Event) {
            return Ok(request.await);
        }
        let mut request = pin!(request);
        // Most requests complete at the first poll, and their caller was authorized just before.
        let first_poll = poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx))).await;
        if let Poll::Ready(outcome) = first_poll {
            return Ok(outcome);
        }
        tokio::select! {
            biased;
            // Boxed to keep the future small: it is rarely polled.
            () = Box::pin(self.wait_revoked(caller)) => Err(revoked(kind)),
            outcome = request => Ok(outcome),
        }
    }

    /// Runs an action between its two events. The answer is durable once the ticket is committed.
    async fn run_logged(
        self,
        call: LoggedCall,
        run: PreparedAction,
    ) -> (Result<ActionAnswer, Refusal>, CommitTicket) {
        self.log_event("action:start", &call.action.name, call.facts(), Ok(None));
        let allowed = match call.hooks.is_empty() {
            true => Ok(()),
            // Boxed to keep the future small: it is rarely polled.
            false => Box::pin(self.ask_hooks(&call)).await,
        };
        let outcome = match allowed {
            Ok(()) => run.future.await,
            Err(refusal) => Err(refusal),
        };
        let ticket = self.log_outcome(&call, &outcome);
        (outcome, ticket)
    }

    /// Runs an action that records no events, unless a hook vetoes it.
    async fn run_silent(
        &self,
        call: LoggedCall,
        run: PreparedAction,
    ) -> Result<ActionAnswer, Refusal> {
        let allowed = self.ask_hooks(&call).await;
        if let Err(refusal) = allowed {
            self.log_event("action:error", &call.action.name, call.facts(), Err(&refusal));
            return Err(refusal);
        }
        run.future.await
    }

    /// Whether an action records no events of its own. Questions and input change nothing that must
    /// be kept, and a thousand of them a second would flood the journal: they are recorded only
    /// while a subscriber wants such events. An emitted event needs no two others beside it.
    fn is_silent(&self, definition: &ActionDefinition) -> bool {
        let names = || ["action:start", "action:success", "action:error"];
        definition.kind != ActionKind::Change
            && !names().iter().any(|event| self.journal().wants(event))
    }

    /// Whether a call is recorded although it changes nothing: the user sees whatever an extension
    /// does. One that does more than the limit of events allows is recorded in part.
    fn is_watched(&self, definition: &ActionDefinition, params: &[u8], caller: &Caller) -> bool {
        // An emitted event is its own record.
        definition.kind != ActionKind::Event && self.may_record(params, caller)
    }

    /// Records a call that was refused before it ran, of an extension only: a client without
    /// rights must not be able to fill the journal. Invalid parameters are not recorded, because
    /// the refusal may quote them, and they may be secret.
    fn log_refused(
        &self,
        definition: &ActionDefinition,
        params: &[u8],
        caller: &Caller,
        refusal: &Refusal,
    ) {
        if refusal.code == Code::Invalid || !self.may_record(params, caller) {
            return;
        }
        let params = redact(params, &definition.secrets);
        let facts = LoggedFacts { caller, allowed_by: None, params: &params };
        self.log_event("action:error", &definition.name, facts, Err(refusal));
    }

    /// Whether the caller is an extension that has not recorded too many events.
    fn may_record(&self, params: &[u8], caller: &Caller) -> bool {
        let rate = self.limits().events_per_second;
        let charge = || self.budgets().event(&caller.grant, || 2 * params.len(), rate, self.now());
        caller.extension.is_some() && charge().is_ok()
    }

    async fn ask_hooks(&self, call: &LoggedCall) -> Result<(), Refusal> {
        let LoggedCall { action, params, caller, hooks, .. } = call;
        let params = Arc::from(params.clone());
        let asked = HookCall { action: action.name.clone(), params, caller: caller.clone() };
        let (verdict, failed) = hooks::ask(hooks, &asked, self.limits().hook_timeout).await;
        for HookFailure { source, error } in failed {
            self.report_handler_error(&source, "action:start", &error);
        }
        verdict
    }

    /// Records the outcome.
    fn log_outcome(
        &self,
        call: &LoggedCall,
        outcome: &Result<ActionAnswer, Refusal>,
    ) -> CommitTicket {
        let ActionDefinition { name, kind, secrets, .. } = &*call.action;
        let log = |event: &str, outcome: Result<Option<&RawValue>, &Refusal>| {
            self.log_event(event, name, call.facts(), outcome)
        };
        match outcome {
            // The answer to a question is for the caller alone: most of it is what a terminal
            // shows.
            Ok(_) if *kind == ActionKind::Question => log("action:success", Ok(None)),
            Ok(answer) if secrets.is_empty() => log("action:success", Ok(Some(answer))),
            Ok(answer) => {
                let answer = redact(answer.get().as_bytes(), secrets);
                log("action:success", Ok(Some(&answer)))
            }
            Err(refusal) => log("action:error", Err(refusal)),
        }
    }

    fn log_event(
        &self,
        event: &str,
        action_name: &str,
        LoggedFacts { caller, allowed_by, params }: LoggedFacts<'_>,
        outcome: Result<Option<&RawValue>, &Refusal>,
    ) -> CommitTicket {
        let (result, error_info) = match outcome {
            Ok(result) => (result, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let grant = &caller.grant.id;
        let caller = CallerLabel(caller);
        let payload =
            ActionEvent { action_name, caller, grant, allowed_by, params, result, error_info };
        let capacity = 192 + params.get().len() + result.map_or(0, |result| result.get().len());
        self.journal().record(vec![draft_with_capacity(capacity, event, &payload)], Vec::new())
    }

    /// Records an event of a caller's and waits until it is in the journal; withdraws it when it
    /// cannot be written.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) async fn record_committed(
        &self,
        name: &str,
        payload: &impl Serialize,
    ) -> Result<EventId, Refusal> {
        let ticket = self.record_custom(name, payload);
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
    let note = format!(
        "{error}; the change is in memory and will be written when the journal \
                       works again"
    );
    let Ok(Value::Object(mut fields)) = serde_json::from_str(answer.get()) else {
        return answer.to_owned();
    };
    fields.insert("unwritten".to_owned(), Value::String(note));
    serde_json::value::to_raw_value(&fields).unwrap_or_else(|_| answer.to_owned())
}

/// The refusal for a caller whose grant ended before there was an answer.
fn revoked(kind: ActionKind) -> Refusal {
    let sentence = match kind {
        ActionKind::Question | ActionKind::Input => {
            "the token of this request was revoked or has expired, so it gets no answer"
        }
        ActionKind::Event | ActionKind::Change => {
            "the token of this request was revoked or has expired: the action was completed, but \
            its answer is withheld"
        }
    };
    Refusal::new(Code::Unauthorized, sentence)
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}
