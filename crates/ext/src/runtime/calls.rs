//! What an extension asks of paned, in one life of its program.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use paned_kernel::{ActionAnswer, BoxedFuture, Caller, ExtensionGrant, Kernel};
use paned_model::{Code, EventFilter, Refusal, parse_error};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::actions::ActionOffer;
use super::shared::{SharedHandle, filter_of};
use crate::rpc::connection::{Connection, FIRST_REQUEST, Fault, Reply};
use crate::rpc::message::{self, Message, RpcError, UNKNOWN_METHOD, WRONG_PARAMS};

/// Requests of one extension that run at once.
const MAX_REQUESTS: usize = 64;
/// How long the extension is not read when it has too many. Afterwards one is refused, because the
/// answers to its requests may wait for what it wrote next.
const FULL_PAUSE: Duration = Duration::from_secs(1);
/// How many are refused after each such pause.
const REFUSALS: u32 = 256;
/// How many actions an extension may register.
const MAX_ACTIONS: usize = 100;
/// How many patterns an extension may subscribe to, of each kind.
const MAX_PATTERNS: usize = 100;
/// How much of a line that is no message is logged.
const SHOWN: usize = 200;

/// Decides whether an extension may use this noun, which is not its name.
pub(crate) type NounCheck = Box<dyn Fn(&str) -> Result<(), Refusal> + Send + Sync>;

/// One life of an extension's program, as its requests see it.
pub(crate) struct Session {
    pub(crate) kernel: Kernel,
    pub(crate) shared: SharedHandle,
    pub(crate) connection: Connection,
    grant: ExtensionGrant,
    /// For Node packages, whose module has a name of its own.
    may_rename: Option<NounCheck>,
    lists: Mutex<SessionLists>,
    filter: watch::Sender<EventFilter>,
    requests: Arc<Semaphore>,
    /// How many requests are refused before the next pause.
    refusals: AtomicU32,
    /// Requests that take a while. They end with the session.
    tasks: Mutex<JoinSet<()>>,
}

/// What the program has registered and subscribed to since it was started.
#[derive(Default)]
struct SessionLists {
    actions: BTreeSet<String>,
    events: Vec<String>,
    veto: Vec<String>,
    is_running: bool,
}

/// What a session begins with.
pub(crate) struct SessionSetup {
    pub(crate) kernel: Kernel,
    pub(crate) shared: SharedHandle,
    pub(crate) connection: Connection,
    pub(crate) grant: ExtensionGrant,
    pub(crate) may_rename: Option<NounCheck>,
    /// Patterns of its manifest.
    pub(crate) events: Vec<String>,
    pub(crate) veto: Vec<String>,
}

#[derive(Deserialize)]
struct NameParams {
    name: String,
}

#[derive(Deserialize)]
struct SubscribeParams {
    #[serde(default)]
    events: Option<Vec<String>>,
    #[serde(default)]
    veto: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct EmitParams<'a> {
    name: String,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ExecuteParams<'a> {
    action: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// A call into the kernel.
type KernelCall = BoxedFuture<'static, Result<ActionAnswer, Refusal>>;

impl Session {
    pub(crate) fn new(setup: SessionSetup) -> Result<Self, String> {
        let SessionSetup { kernel, shared, connection, grant, may_rename, events, veto } = setup;
        filter_of(&veto)?;
        let filter = watch::Sender::new(filter_of(&events)?);
        let lists = SessionLists { events, veto, ..SessionLists::default() };
        Ok(Self {
            kernel,
            shared,
            connection,
            grant,
            may_rename,
            lists: Mutex::new(lists),
            filter,
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            refusals: AtomicU32::new(0),
            tasks: Mutex::default(),
        })
    }

    /// The extension as a caller.
    pub(crate) fn caller(&self) -> &Caller {
        self.grant.caller()
    }

    /// The events that it wants, now and later.
    pub(crate) fn filter(&self) -> watch::Receiver<EventFilter> {
        self.filter.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, SessionLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program answered `initialize`. What it registered and subscribed to counts from now on.
    fn begin(&self, answer: &RawValue) -> Result<(), Refusal> {
        let named: Result<NameParams, _> = serde_json::from_str(answer.get());
        // Only the Node host answers with a name: that of the module.
        if let (Some(_), Ok(NameParams { name })) = (&self.may_rename, named) {
            self.check_noun(&name)?;
        }
        let mut lists = self.lock();
        lists.is_running = true;
        self.publish(&lists);
        self.shared.set_running(self.connection.clone(), &lists.actions);
        Ok(())
    }

    /// Ends the requests that still run.
    pub(crate) fn end(&self) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// Handles one line of the program.
    pub(crate) async fn receive(self: &Arc<Self>, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match message::parse(line) {
            Ok(Message::Answer { id, outcome }) => self.take_answer(id, outcome),
            Ok(Message::Call { id, method, params }) => {
                let id = id.map(|id| id.get().to_owned());
                self.handle(id, &method, params.unwrap_or(RawValue::NULL)).await;
            }
            Err(error) => self.refuse_line(line, error),
        }
    }

    /// An answer to a request of ours. With the first one the program is running, also for what it
    /// wrote directly after it: it may call its own actions.
    fn take_answer(&self, id: u64, outcome: Result<&RawValue, RpcError>) {
        let outcome = match outcome {
            Ok(answer) if id == FIRST_REQUEST && self.connection.is_waiting(id) => {
                self.begin(answer).map(|()| answer).map_err(|refusal| RpcError::refused(&refusal))
            }
            outcome => outcome,
        };
        if id == message::NO_REQUEST {
            self.shared.log.note("an answer is ignored: its `id` is not that of a request");
        }
        self.connection.complete(id, outcome.map(RawValue::to_owned));
    }

    /// A line that is no message, or too long. `line` may be only its beginning.
    pub(crate) fn refuse_line(&self, line: &[u8], error: RpcError) {
        let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
        let shown = shown.escape_debug();
        self.shared.log.note(&format!(
            "{}: \"{shown}\"; standard output is for the protocol, print to standard error",
            error.message
        ));
        if error.code == message::PARSE_ERROR {
            self.connection.report(Fault::InvalidLine);
        }
        // The request that it was to answer would wait for ever.
        if let Some(id) = message::damaged_answer(line) {
            let name = &self.shared.name;
            let sentence = format!(
                "the extension `{name}` answered with a line that cannot be read ({}); see \
                `paned ext logs {name}`",
                error.message
            );
            self.connection.complete(id, Err(refused(Code::Internal, sentence)));
        }
        self.connection.answer_invalid(error);
    }

    async fn handle(self: &Arc<Self>, id: Option<String>, method: &str, params: &RawValue) {
        let outcome = match method {
            "registerAction" => read(params).and_then(|offer| self.register(offer)),
            "unregisterAction" => read(params).and_then(|name| self.unregister(&name)),
            "subscribe" => read(params).and_then(|lists| self.subscribe(lists)),
            "emit" => match read(params).and_then(|emit| self.emit(emit)) {
                Ok(call) => return self.run(id, call).await,
                Err(error) => Err(error),
            },
            "executeAction" => match read(params).and_then(|execute| self.execute(execute)) {
                Ok(call) => return self.run(id, call).await,
                Err(error) => Err(error),
            },
            _ => {
                let shown = method.escape_debug();
                Err(RpcError::new(UNKNOWN_METHOD, format!("there is no method `{shown}`")))
            }
        };
        self.answer(id, outcome).await;
    }

    async fn answer(&self, id: Option<String>, outcome: Reply) {
        match (id, outcome) {
            (Some(id), outcome) => self.connection.answer(&id, outcome).await,
            // A notification has no answer, but its author wants to know.
            (None, Err(error)) => self.shared.log.note(&format!("refused: {}", error.message)),
            (None, Ok(_)) => {}
        }
    }

    fn register(&self, offer: ActionOffer) -> Reply {
        let name = self.full_name(&offer.name)?;
        let mut lists = self.lock();
        if lists.actions.contains(&name) {
            let sentence = format!("action `{name}` already exists; unregister it first");
            return Err(refused(Code::Conflict, sentence));
        }
        if MAX_ACTIONS <= lists.actions.len() {
            let sentence = format!("an extension can register at most {MAX_ACTIONS} actions");
            return Err(refused(Code::Limit, sentence));
        }
        offer
            .register(&name, &self.shared, &self.kernel)
            .map_err(|refusal| RpcError::refused(&refusal))?;
        lists.actions.insert(name.clone());
        Ok(raw(&serde_json::json!({ "name": name })))
    }

    fn unregister(&self, NameParams { name }: &NameParams) -> Reply {
        let name = self.full_name(name)?;
        let was_there = self.lock().actions.remove(&name);
        if !was_there {
            let sentence = format!("this extension has not registered `{name}`");
            return Err(refused(Code::NotFound, sentence));
        }
        self.shared.remove_action(&name);
        Ok(raw(&serde_json::json!({})))
    }

    fn subscribe(&self, SubscribeParams { events, veto }: SubscribeParams) -> Reply {
        let mut lists = self.lock();
        let events = extended(&lists.events, events.unwrap_or_default())?;
        let veto = extended(&lists.veto, veto.unwrap_or_default())?;
        lists.events = events;
        lists.veto = veto;
        if lists.is_running {
            self.publish(&lists);
        }
        Ok(raw(&serde_json::json!({})))
    }

    /// Makes the subscriptions known.
    fn publish(&self, lists: &SessionLists) {
        // Each pattern was checked when it was added.
        let filter = filter_of(&lists.events).unwrap_or_default();
        self.filter.send_if_modified(|old| {
            let is_new = *old != filter;
            *old = filter;
            is_new
        });
        self.shared.set_veto_patterns(lists.veto.clone());
        self.shared.set_events(lists.events.clone());
        self.shared.place.set_veto(lists.veto.clone());
    }

    fn emit(&self, EmitParams { name, payload }: EmitParams<'_>) -> Result<KernelCall, RpcError> {
        let name = self.full_name(&name)?;
        let payload = payload.map_or("{}", RawValue::get);
        let name = raw(&name);
        let params = format!(r#"{{"name":{name},"payload":{payload}}}"#);
        Ok(self.dispatch("event:emit".to_owned(), params, self.grant.emitter()))
    }

    fn execute(
        &self,
        ExecuteParams { action, params }: ExecuteParams<'_>,
    ) -> Result<KernelCall, RpcError> {
        let action = match action.contains(':') {
            true => action,
            false => self.full_name(&action)?,
        };
        let params = params.map_or("{}", RawValue::get).to_owned();
        Ok(self.dispatch(action, params, self.grant.caller().clone()))
    }

    fn dispatch(&self, action: String, params: String, caller: Caller) -> KernelCall {
        let kernel = self.kernel.clone();
        Box::pin(async move { kernel.dispatch(&action, params.as_bytes(), &caller).await })
    }

    /// Runs a call into the kernel and answers the request. Waits only while too many run.
    async fn run(self: &Arc<Self>, id: Option<String>, mut call: KernelCall) {
        let Some(permit) = self.permit().await else {
            let sentence = format!(
                "{MAX_REQUESTS} requests of this extension are running; wait for their answers"
            );
            return self.answer(id, Err(refused(Code::Limit, sentence))).await;
        };
        // The first poll happens here, so that the order of the requests is that of the events they
        // record.
        match poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
            Poll::Ready(outcome) => self.answer(id, reply(outcome)).await,
            Poll::Pending => self.spawn(id, call, permit),
        }
    }

    /// A permit to run one more request; none when there are too many.
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.requests.clone().try_acquire_owned() {
            return Some(permit);
        }
        let left = self.refusals.load(Ordering::Relaxed);
        if 0 < left {
            self.refusals.store(left - 1, Ordering::Relaxed);
            return None;
        }
        let free = self.requests.clone().acquire_owned();
        let permit = timeout(FULL_PAUSE, free).await.ok().and_then(Result::ok);
        if permit.is_none() {
            self.refusals.store(REFUSALS, Ordering::Relaxed);
        }
        permit
    }

    fn spawn(self: &Arc<Self>, id: Option<String>, call: KernelCall, permit: OwnedSemaphorePermit) {
        let session = self.clone();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let outcome = call.await;
            session.answer(id, reply(outcome)).await;
            drop(permit);
        });
    }

    /// The full name of an action or event that this extension calls by this name.
    fn full_name(&self, name: &str) -> Result<String, RpcError> {
        let Some((noun, _)) = name.split_once(':') else {
            return Ok(format!("{}:{name}", self.shared.noun()));
        };
        self.check_noun(noun).map_err(|refusal| RpcError::refused(&refusal))?;
        Ok(name.to_owned())
    }

    /// Checks that a noun is the extension's own.
    fn check_noun(&self, noun: &str) -> Result<(), Refusal> {
        if self.shared.has_noun(noun) {
            return Ok(());
        }
        let own = self.shared.noun();
        match &self.may_rename {
            Some(check) if own == self.shared.name => {
                check(noun)?;
                self.shared.set_noun(noun);
                Ok(())
            }
            Some(_) | None => Err(Refusal::invalid(format!(
                "`{}` is not the noun of this extension; its actions and events are `{own}:…`",
                noun.escape_debug()
            ))),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get()).map_err(|error: serde_json::Error| {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let sentence = parse_error::explain("", text.strip_suffix(&place).unwrap_or(&text));
        RpcError::new(WRONG_PARAMS, sentence)
    })
}

fn refused(code: Code, sentence: String) -> RpcError {
    RpcError::refused(&Refusal::new(code, sentence))
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn reply(outcome: Result<ActionAnswer, Refusal>) -> Reply {
    outcome.map_err(|refusal| RpcError::refused(&refusal))
}

/// A list of patterns with more of them.
fn extended(old: &[String], more: Vec<String>) -> Result<Vec<String>, RpcError> {
    filter_of(&more).map_err(|error| RpcError::new(WRONG_PARAMS, error))?;
    let mut all = old.to_vec();
    all.extend(more.into_iter().filter(|pattern| !old.contains(pattern)));
    if MAX_PATTERNS < all.len() {
        let sentence = format!("an extension can subscribe to at most {MAX_PATTERNS} patterns");
        return Err(refused(Code::Limit, sentence));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the shape matters")]
    struct Emit {
        name: String,
    }

    #[test]
    fn wrong_parameters_are_named_in_plain_words() {
        let check = |params: &str, expect: &str| {
            let error = read::<Emit>(&RawValue::from_string(params.to_owned()).unwrap());
            assert_eq!(error.unwrap_err(), RpcError::new(WRONG_PARAMS, expect));
        };
        check("{}", "missing parameter `name`");
        check("7", "the value must be an object, not 7");
    }
}
