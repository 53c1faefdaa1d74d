//! Actions: each is defined in one place, and every interface (HTTP, CLI, docs) is derived from
//! that definition. The kernel's own actions are types; extensions add others at run time.

mod accepted_values;
mod dynamic;
mod param_schema;

use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

use paned_backend::BoxedFuture;
use paned_model::{Refusal, Scope};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

pub(crate) use self::accepted_values::deserialize_object;
pub use self::dynamic::{ActionHandler, ActionRegistration, ActionSpec};
use crate::access::AccessRequest;
use crate::names::missing_name;
use crate::permissions::{CommandToJudge, PermittedCommands};
use crate::undo::Undo;
use crate::{Caller, Kernel, param_errors};

/// Nouns of actions and events that only paned itself may use.
pub const RESERVED_NOUNS: &[&str] = &[
    "action",
    "agent",
    "approval",
    "audit",
    "event",
    "ext",
    "extensions",
    "gap",
    "grant",
    "handler",
    "journal",
    "layout",
    "notify",
    "pane",
    "permission",
    "server",
    "session",
    "shell",
    "subagent",
    "tmux",
];

/// Whether an action changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// It only answers. Recorded as an event only while a subscriber wants that.
    Question,
    /// It types. Bytes are not events: recorded as an event only while a subscriber wants that.
    Input,
    /// It records an event of the caller's. Answered once that is in the journal; recorded as an
    /// action only while a subscriber wants that.
    Event,
    /// It changes something. Always recorded, and answered once it is in the journal.
    Change,
}

/// A named, typed change or question.
pub(crate) trait Action: 'static {
    /// `noun:verb`.
    const NAME: &'static str;
    /// One sentence.
    const DOC: &'static str;
    /// The scope that a caller needs.
    const SCOPE: Scope;
    /// Whether it changes anything.
    const KIND: ActionKind;
    /// Whether it is refused while the journal cannot be written. Actions that only end or free
    /// something are not: their records wait in memory, and the answer says so.
    const NEEDS_JOURNAL: bool = true;
    /// Fields of parameters and answer that no event or log may show.
    const SECRETS: &'static [&'static str] = &[];
    /// Its parameters.
    type Params: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Answer: Serialize + JsonSchema + Send;

    /// What a call with these parameters accesses. There is no default: an action that does not
    /// declare it does not compile.
    fn access(params: &Self::Params) -> AccessRequest;

    /// The commands that a call starts, to be judged by the permission rules before it runs. What
    /// is started without being named here is judged where it is started, and refused if a rule
    /// asks.
    fn commands(_context: &ActionContext, _params: &Self::Params) -> Vec<CommandToJudge> {
        Vec::new()
    }

    /// Runs the action.
    fn run(
        context: ActionContext,
        params: Self::Params,
    ) -> impl Future<Output = Result<Self::Answer, Refusal>> + Send;
}

/// What an action works with.
#[derive(Clone)]
pub(crate) struct ActionContext {
    /// The kernel.
    pub(crate) kernel: Kernel,
    /// The caller.
    pub(crate) caller: Caller,
    /// How to undo what it did, if that cannot be written to the journal.
    pub(crate) undo: Undo,
    /// The commands that the permission rules let it start.
    pub(crate) permitted: PermittedCommands,
}

/// One action as servers and clients see it.
pub struct ActionDefinition {
    /// `noun:verb`.
    pub name: Arc<str>,
    /// One sentence.
    pub doc: Arc<str>,
    /// The scope that a caller needs.
    pub scope: Scope,
    /// Whether it changes anything.
    pub kind: ActionKind,
    pub(crate) needs_journal: bool,
    pub(crate) secrets: Vec<String>,
    code: Box<dyn AnyAction>,
}

/// The part of an action that is code: typed actions and those of extensions alike.
trait AnyAction: Send + Sync {
    fn params(&self, generator: &mut SchemaGenerator) -> Value;
    fn answer(&self, generator: &mut SchemaGenerator) -> Value;
    fn prepare(&self, context: ActionContext, params: &[u8]) -> Result<PreparedAction, Refusal>;
}

/// An action with parsed parameters, ready to be authorized and run.
pub(crate) struct PreparedAction {
    pub(crate) access: AccessRequest,
    /// The commands that it starts, if they are to be judged.
    pub(crate) commands: Vec<CommandToJudge>,
    pub(crate) future: BoxedFuture<'static, Result<Box<RawValue>, Refusal>>,
    /// Held while the caller waits, by actions that end when it no longer does.
    pub(crate) caller_waits: Option<oneshot::Sender<()>>,
}

impl ActionDefinition {
    fn of<A: Action>() -> Self {
        Self {
            name: A::NAME.into(),
            doc: A::DOC.into(),
            scope: A::SCOPE,
            kind: A::KIND,
            needs_journal: A::NEEDS_JOURNAL,
            secrets: A::SECRETS.iter().map(|secret| (*secret).to_owned()).collect(),
            code: Box::new(TypedAction::<A>(PhantomData)),
        }
    }

    /// The parameters' JSON Schema. Named types go into the generator, which must be for
    /// deserialization.
    #[must_use]
    pub fn params(&self, generator: &mut SchemaGenerator) -> Value {
        self.code.params(generator)
    }

    /// The answer's JSON Schema. Named types go into the generator, which must be for
    /// serialization: a field that is skipped when empty is not required.
    #[must_use]
    pub fn answer(&self, generator: &mut SchemaGenerator) -> Value {
        self.code.answer(generator)
    }

    /// Both schemas, each self-contained.
    #[must_use]
    pub fn schemas(&self) -> (Value, Value) {
        let whole = SchemaSettings::draft2020_12().with(|set| set.inline_subschemas = true);
        let params = self.params(&mut whole.clone().into_generator());
        let answer = self.answer(&mut whole.for_serialize().into_generator());
        (params, answer)
    }

    pub(crate) fn prepare(
        &self,
        context: ActionContext,
        params: &[u8],
    ) -> Result<PreparedAction, Refusal> {
        self.code.prepare(context, params)
    }
}

/// An action of the kernel's own.
struct TypedAction<A>(PhantomData<fn() -> A>);

impl<A: Action> AnyAction for TypedAction<A> {
    fn params(&self, generator: &mut SchemaGenerator) -> Value {
        let mut params = schema::<A::Params>(generator);
        accepted_values::describe(&mut params);
        params
    }

    fn answer(&self, generator: &mut SchemaGenerator) -> Value {
        schema::<A::Answer>(generator)
    }

    fn prepare(&self, context: ActionContext, params: &[u8]) -> Result<PreparedAction, Refusal> {
        let params: A::Params = parse(params)?;
        let access = A::access(&params);
        let commands = match context.kernel.judges_commands_of(&context.caller) {
            true => A::commands(&context, &params),
            false => Vec::new(),
        };
        let future = Box::pin(async move {
            let answer = A::run(context, params).await?;
            serde_json::value::to_raw_value(&answer).map_err(Refusal::internal)
        });
        Ok(PreparedAction { access, commands, future, caller_waits: None })
    }
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let mut schema = T::json_schema(generator).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
    }
    schema
}

/// Parses parameters. An empty body is the same as `{}`.
fn parse<T: DeserializeOwned>(params: &[u8]) -> Result<T, Refusal> {
    let params = if params.trim_ascii().is_empty() { b"{}" } else { params };
    if !params.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::invalid("parameters must be a JSON object"));
    }
    // Tracking the path of a mistake costs more than parsing, so do it only after a failure.
    if let Ok(parsed) = serde_json::from_slice(params) {
        return Ok(parsed);
    }
    if let Some(parsed) = accepted_values::with_whole_numbers(params) {
        return Ok(parsed);
    }
    let mut json = serde_json::Deserializer::from_slice(params);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        let path = if matches!(place.as_str(), "." | "?") { "" } else { &place };
        let refusal = Refusal::invalid(param_errors::sentence(path, error.inner()));
        refusal.with_details(serde_json::json!({ "path": place }))
    })?;
    json.end().map_err(|error| Refusal::invalid(param_errors::sentence("", &error)))?;
    Ok(parsed)
}

/// Every action by its name, at one moment.
#[derive(Clone)]
pub struct Registry {
    actions: BTreeMap<Arc<str>, Arc<ActionDefinition>>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self { actions: BTreeMap::new() }
    }

    pub(crate) fn with<A: Action>(mut self) -> Self {
        let is_new = self.insert(ActionDefinition::of::<A>());
        debug_assert!(is_new, "two actions are called {}", A::NAME);
        self
    }

    /// Adds an action. Returns false if its name is taken.
    fn insert(&mut self, action: ActionDefinition) -> bool {
        let is_free = !self.actions.contains_key(&action.name);
        if is_free {
            self.actions.insert(action.name.clone(), Arc::new(action));
        }
        is_free
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ActionDefinition> {
        self.actions.values().map(AsRef::as_ref)
    }

    /// One of them.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn get(&self, name: &str) -> Result<&Arc<ActionDefinition>, Refusal> {
        self.actions.get(name).ok_or_else(|| {
            let shown = name.escape_debug();
            let sentence = format!("no action `{shown}`; `GET /actions` lists all of them");
            missing_name(sentence, name, self.actions.keys().map(AsRef::as_ref))
        })
    }
}

impl Kernel {
    /// Every action there is now. Extensions that come and go change what the next call returns,
    /// never a snapshot that was taken.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.inner.registry.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The action of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn action(&self, name: &str) -> Result<Arc<ActionDefinition>, Refusal> {
        let registry = self.inner.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.get(name).cloned()
    }
}
