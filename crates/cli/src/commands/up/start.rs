//! Carries out the plan of `paned up`: every pane is started as soon as all that it depends on is
//! ready.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_model::{Code, PaneInfo, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::super::support::environment::EnvironmentArgs;
use super::super::support::output::CliOutputLine;
use super::super::support::tty;
use super::super::support::wait_retry;
use super::definition::{PaneDefinition, Project, ReadyCondition};
use super::plan::{DEPENDS_ON, HASH, NAME, PROJECT, READY, UpStep, UpStepKind};
use crate::client::{self, ApiClient};
use crate::out::progress::Progress;
use crate::out::{Out, StyledLine, TextStyle, in_commands_about, units};

/// How many lines of a program that failed are shown.
const LAST_LINES: usize = 5;

/// Starts panes.
#[derive(Clone)]
pub(super) struct Starter {
    pub(super) out: Out,
    pub(super) client: ApiClient,
    pub(super) project: Project,
    pub(super) progress: Arc<UpProgress>,
}

/// The panes that are not ready yet, on a terminal.
pub(super) struct UpProgress {
    line: Progress,
    waiting: Mutex<BTreeSet<String>>,
}

impl UpProgress {
    pub(super) fn start(out: Out) -> Arc<Self> {
        Arc::new(Self { line: Progress::start(out, ""), waiting: Mutex::default() })
    }

    /// Adds a pane, or takes it away.
    fn set(&self, name: &str, is_waiting: bool) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match is_waiting {
            true => waiting.insert(name.to_owned()),
            false => waiting.remove(name),
        };
        let names: Vec<&str> = waiting.iter().map(String::as_str).collect();
        self.line.set(match names.is_empty() {
            true => String::new(),
            false => format!("waiting for {}", names.join(", ")),
        });
    }
}

/// The outcome for one pane.
#[derive(Clone, Debug)]
pub(super) struct PaneOutcome {
    pub(super) name: String,
    pub(super) id: String,
    /// Whether it was started just now.
    pub(super) is_new: bool,
    state: OutcomeState,
}

#[derive(Clone, Debug)]
enum OutcomeState {
    Ready,
    Failed(Refusal),
    /// It depends on this pane, which failed.
    Skipped(String),
}

/// Whether a pane is ready: unknown at first.
type ReadyChannel = watch::Sender<Option<bool>>;

impl PaneOutcome {
    /// The code of the failure, if it failed.
    pub(super) fn failure(&self) -> Option<Code> {
        match &self.state {
            OutcomeState::Ready => None,
            OutcomeState::Failed(refusal) => Some(refusal.code),
            OutcomeState::Skipped(_) => Some(Code::Conflict),
        }
    }

    pub(super) fn json(&self) -> Value {
        let state = match &self.state {
            OutcomeState::Ready => "ready",
            OutcomeState::Failed(_) => "failed",
            OutcomeState::Skipped(_) => "skipped",
        };
        let mut shown = json!({
            "name": self.name, "id": self.id, "started": self.is_new, "state": state,
        });
        match &self.state {
            OutcomeState::Ready => {}
            OutcomeState::Failed(refusal) => shown["error"] = json!(refusal.sentence),
            OutcomeState::Skipped(dependency) => shown["because"] = json!(dependency),
        }
        shown
    }
}

impl Starter {
    /// Carries out all steps; the outcomes are in their order, except that failures come before
    /// what they have prevented.
    pub(super) async fn run(self, steps: Vec<UpStep>) -> Result<Vec<PaneOutcome>> {
        let channels: BTreeMap<String, ReadyChannel> =
            steps.iter().map(|step| (step.name.clone(), watch::Sender::new(None))).collect();
        let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
        let mut tasks = JoinSet::new();
        for (at, step) in steps.into_iter().enumerate() {
            let definition = self.project.panes[&step.name].clone();
            let dependencies = definition.depends_on.iter();
            let dependencies =
                dependencies.map(|name| (name.clone(), channels[name].subscribe())).collect();
            let channel = channels[&step.name].clone();
            let task = StartTask { starter: self.clone(), step, definition, width };
            tasks.spawn(async move { (at, task.run(dependencies, channel).await) });
        }
        let mut outcomes = BTreeMap::new();
        while let Some(ended) = tasks.join_next().await {
            let (at, outcome) = ended.context("a start was interrupted")?;
            let outcome = outcome?;
            outcomes.insert((outcome.failure() == Some(Code::Conflict), at), outcome);
        }
        Ok(outcomes.into_values().collect())
    }
}

/// One pane that is started.
struct StartTask {
    starter: Starter,
    step: UpStep,
    definition: PaneDefinition,
    /// How wide the column of names is.
    width: usize,
}

/// The answer of `pane:wait`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadyReply {
    met: Option<Value>,
    timed_out: bool,
    #[serde(default)]
    tail: Vec<CliOutputLine>,
    pane: PaneInfo,
    #[serde(default)]
    why: Vec<String>,
}

/// The parameters of `pane:new`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewParams<'a> {
    id: &'a str,
    argv: &'a [String],
    replace: bool,
    restart: String,
    tags: &'a [String],
    meta: Value,
    size: Option<paned_model::Size>,
    #[serde(flatten)]
    environment: EnvironmentArgs,
}

impl StartTask {
    async fn run(
        self,
        dependencies: Vec<(String, watch::Receiver<Option<bool>>)>,
        channel: ReadyChannel,
    ) -> Result<PaneOutcome> {
        let state = match failed_dependency(dependencies).await {
            Some(name) => {
                self.say(TextStyle::Bad, &format!("not started: {name} is not ready"))?;
                OutcomeState::Skipped(name)
            }
            None => match self.start().await {
                Ok(()) => OutcomeState::Ready,
                Err(error) => {
                    let refusal: Refusal = error.downcast()?;
                    let sentence = in_commands_about(&refusal.sentence, Some(&self.step.id));
                    self.say(TextStyle::Bad, &sentence)?;
                    OutcomeState::Failed(refusal)
                }
            },
        };
        channel.send_replace(Some(matches!(state, OutcomeState::Ready)));
        let is_new = !matches!(self.step.kind, UpStepKind::Keep { .. });
        Ok(PaneOutcome { name: self.step.name, id: self.step.id, is_new, state })
    }

    async fn start(&self) -> Result<()> {
        match self.step.kind {
            UpStepKind::Keep { is_ready: true } => {
                return self.say(TextStyle::Faint, "unchanged");
            }
            UpStepKind::Keep { is_ready: false } => {}
            UpStepKind::Start | UpStepKind::Change | UpStepKind::StartAgain => {
                let _: PaneInfo = self.starter.client.call("pane:new", &self.params()?).await?;
            }
        }
        let what = match self.step.kind {
            UpStepKind::Keep { .. } => "unchanged",
            UpStepKind::Start => "started",
            UpStepKind::Change => "restarted: its definition has changed",
            UpStepKind::StartAgain => "restarted: it had exited",
        };
        let Some(readiness) = &self.definition.wait else {
            self.say(TextStyle::Good, what)?;
            return Ok(());
        };
        let condition = readiness.condition.describe();
        self.say(TextStyle::Plain, &format!("{what}; waiting for {condition}"))?;
        let request = self.wait_params(&readiness.condition, readiness.timeout_ms);
        self.starter.progress.set(&self.step.name, true);
        let reply = self.wait(request, readiness.timeout_ms).await;
        self.starter.progress.set(&self.step.name, false);
        let reply = reply?;
        self.check(&readiness.condition, readiness.timeout_ms, &reply)?;
        for doubt in self.reasons(&reply) {
            self.say(TextStyle::Plain, &doubt)?;
        }
        let ready = json!({ "paneId": self.step.id, "key": READY, "value": reply.pane.instance });
        let _: Value = self.starter.client.call("pane:set-meta", &ready).await?;
        self.say(TextStyle::Good, "ready")
    }

    async fn wait(&self, request: Value, timeout_ms: u64) -> Result<ReadyReply> {
        let limit = Duration::from_millis(timeout_ms);
        let Starter { client, out, progress, .. } = &self.starter;
        let shown = (*out, &progress.line);
        client::read(wait_retry::wait(client, shown, request, limit).await?)
    }

    fn params(&self) -> Result<NewParams<'_>> {
        let definition = &self.definition;
        let cwd: PathBuf = definition.cwd.clone();
        let variables = definition.variables()?;
        let mut environment = EnvironmentArgs::of_project(cwd, variables);
        environment.resolve(self.starter.out, &self.starter.client)?;
        let meta = json!({
            PROJECT: self.starter.project.folder,
            NAME: self.step.name,
            HASH: self.step.hash,
            DEPENDS_ON: definition.depends_on,
        });
        Ok(NewParams {
            id: &self.step.id,
            argv: &definition.argv,
            replace: self.step.kind != UpStepKind::Start,
            restart: definition.restart.to_string(),
            tags: &definition.tags,
            meta,
            size: tty::size(),
            environment,
        })
    }

    /// All that the pane has printed counts: its output starts with this run.
    fn wait_params(&self, condition: &ReadyCondition, timeout_ms: u64) -> Value {
        let mut request = json!({ "paneId": self.step.id, "timeoutMs": timeout_ms });
        match condition {
            ReadyCondition::Pattern(pattern) => {
                request["pattern"] = json!(pattern);
                request["since"] = json!("start");
            }
            ReadyCondition::Port(port) => request["port"] = json!(port),
            ReadyCondition::Http(url) => request["http"] = json!(url),
            ReadyCondition::Exit => request["exit"] = json!(true),
        }
        request
    }

    /// Refuses a pane that is not ready, with its last lines.
    fn check(
        &self,
        condition: &ReadyCondition,
        timeout_ms: u64,
        reply: &ReadyReply,
    ) -> Result<(), Refusal> {
        let exit = super::super::ls::status(&reply.pane).render(false);
        let failed_exit = *condition == ReadyCondition::Exit && reply.pane.exit_code != Some(0);
        if reply.met.is_some() && !failed_exit {
            return Ok(());
        }
        let (code, what) = match reply.timed_out {
            true => {
                let runs =
                    if *condition == ReadyCondition::Exit { "" } else { "; it keeps running" };
                (Code::Timeout, format!("not ready after {}{runs}", units::age(timeout_ms)))
            }
            false => (Code::Gone, format!("exited before it was ready ({exit})")),
        };
        let why = self.reasons(reply).map(|why| format!("; {why}")).collect::<String>();
        Err(self.refuse(code, &format!("{what}{why}"), reply))
    }

    /// What the answer to a wait says about it, in the words of the command line.
    fn reasons<'a>(&'a self, reply: &'a ReadyReply) -> impl Iterator<Item = String> + 'a {
        reply.why.iter().map(|why| in_commands_about(why, Some(&self.step.id)))
    }

    /// The refusal of a pane that is not ready; its last lines are shown.
    fn refuse(&self, code: Code, what: &str, reply: &ReadyReply) -> Refusal {
        let from = reply.tail.len().saturating_sub(LAST_LINES);
        for line in &reply.tail[from..] {
            let text = format!("{:width$} | {}", self.step.name, line.text, width = self.width);
            let _ = self.starter.progress.line.print_above(|| self.starter.out.note(text));
        }
        let id = &self.step.id;
        Refusal::new(code, format!("{what}; `paned logs {id}` shows its output"))
    }

    /// Prints a line about this pane.
    fn say(&self, style: TextStyle, what: &str) -> Result<()> {
        if self.starter.out.is_json() {
            return Ok(());
        }
        let name = format!("{:width$}  ", self.step.name, width = self.width);
        let line = StyledLine::new(TextStyle::Strong, &name).then(style, what);
        let Starter { out, progress, .. } = &self.starter;
        let print = || match style {
            TextStyle::Bad => out.note(line),
            _ => out.line(line),
        };
        Ok(progress.line.print_above(print)?)
    }
}

/// Waits for all dependencies; the first that is not ready ends the wait.
async fn failed_dependency(
    dependencies: Vec<(String, watch::Receiver<Option<bool>>)>,
) -> Option<String> {
    for (name, mut ready) in dependencies {
        let known = ready.wait_for(Option::is_some).await.map(|ready| *ready == Some(true));
        if !known.unwrap_or(false) {
            return Some(name);
        }
    }
    None
}
