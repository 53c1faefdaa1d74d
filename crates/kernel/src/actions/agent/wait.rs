//! `agent:wait`

use std::time::Duration;

use paned_model::{AgentInfo, AgentState, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::access::AccessRequest;
use crate::actions::support::agents::agent;
use crate::actions::support::param_rules::agent_conditions;
use crate::actions::support::wait_limit::{DAY_MS, wait_limit};
use crate::agents::{AgentRequest, AgentStatus, Turns};
use crate::registry::{Action, ActionContext, ActionKind};

/// How long after a prompt was delivered its turn is expected to begin.
const TURN_START_TIMEOUT: Duration = Duration::from_secs(10);

pub(in crate::actions) struct AgentWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = agent_conditions)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// Until it is in this state, or in one of these.
    state: Option<AgentStateFilter>,
    /// Until the current turn and those of all queued messages are over.
    #[serde(default)]
    done: bool,
    /// Until it asks a question.
    #[serde(default)]
    blocked: bool,
    /// Time limit in milliseconds: defaults to 30000, up to a day.
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
}

/// One state, or several, any of which matches.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::actions) enum AgentStateFilter {
    /// This one.
    One(AgentState),
    /// Any of these.
    Any(Vec<AgentState>),
}

impl AgentStateFilter {
    pub(in crate::actions) fn contains(&self, state: AgentState) -> bool {
        match self {
            Self::One(one) => *one == state,
            Self::Any(some) => some.contains(&state),
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) enum AgentWaitCondition {
    /// It is in a requested state.
    State,
    /// Its turn is over.
    Done,
    /// It asks a question.
    Blocked,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentWaitOutput {
    /// What ended the wait; nothing when it timed out or the program exited.
    met: Option<AgentWaitCondition>,
    /// Whether it timed out.
    timed_out: bool,
    /// The agent's current state.
    agent: AgentInfo,
    /// Why it was met or not, where that needs an explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
}

impl Action for AgentWait {
    const NAME: &'static str = "agent:wait";
    const DOC: &'static str = "Wait until an agent reaches a state, finishes its turn or asks a \
                              question.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = AgentWaitOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentWaitOutput, Refusal> {
        if params.state.is_none() && !params.done && !params.blocked {
            return Err(Refusal::invalid("pass what to wait for: `state`, `done` or `blocked`"));
        }
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        kernel.agents().profiles();
        let info = agent(&pane)?;
        pane.check_responsive()?;
        let timeout = wait_limit(params.timeout_ms, 30_000, DAY_MS)?;
        let status = match kernel.agents().find(&pane.id) {
            Some(agent) => {
                // Input before this call went to the same task, so it has been processed when the
                // task answers.
                drop(agent.ask(AgentRequest::Inspect).await);
                agent.seen()
            }
            None => watch::channel(AgentStatus { info, turns: Turns::default() }).1,
        };
        let wait = AgentWaiter::new(params, &status.borrow(), kernel.now());
        Ok(wait.run(status, Instant::now() + timeout).await)
    }
}

/// A wait in progress.
struct AgentWaiter {
    states: Option<AgentStateFilter>,
    blocked: bool,
    done: Option<TurnEndCondition>,
}

/// When a turn is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEndCondition {
    /// Once this many turns have ended.
    After(u64),
    /// The same, unless no turn begins until this time.
    Expected(u64, Instant),
    /// Once it waits for a prompt: no turn is in progress.
    Idle,
}

impl AgentWaiter {
    fn new(params: Params, status: &AgentStatus, now: Time) -> Self {
        let done = params.done.then(|| TurnEndCondition::of(status, now));
        Self { states: params.state, blocked: params.blocked, done }
    }

    async fn run(
        mut self,
        mut status: watch::Receiver<AgentStatus>,
        until: Instant,
    ) -> AgentWaitOutput {
        loop {
            let current = status.borrow_and_update().clone();
            self.expect_queued(&current);
            let (met, why) = self.judge(&current, Instant::now());
            if met.is_some() {
                return AgentWaitOutput { met, timed_out: false, agent: current.info, why };
            }
            if current.info.state == AgentState::Exited {
                let why = vec!["its program has exited".to_owned()];
                return AgentWaitOutput { met, timed_out: false, agent: current.info, why };
            }
            let deadline = self.deadline().filter(|at| Instant::now() < *at);
            let deadline = deadline.map_or(until, |at| at.min(until));
            tokio::select! {
                changed = status.changed() => if changed.is_err() {
                    // Its task has ended; its last status is final.
                    let agent = status.borrow().info.clone();
                    let met = self.judge(&status.borrow(), Instant::now()).0;
                    return AgentWaitOutput { met, timed_out: false, agent, why: vec!["it is no \
                        longer tracked".into()] };
                },
                () = sleep_until(deadline) => if until <= Instant::now() {
                    let agent = status.borrow().info.clone();
                    let why = self.explain(&agent);
                    return AgentWaitOutput { met: None, timed_out: true, agent, why };
                }
            }
        }
    }

    /// Queued messages count, too: each begins a turn of its own.
    fn expect_queued(&mut self, status: &AgentStatus) {
        if self.done.is_some() && 0 < status.info.queued {
            self.done = Some(TurnEndCondition::Expected(
                status.turns.ended + 1,
                Instant::now() + TURN_START_TIMEOUT,
            ));
        }
    }

    fn judge(
        &self,
        status: &AgentStatus,
        now: Instant,
    ) -> (Option<AgentWaitCondition>, Vec<String>) {
        let state = status.info.state;
        if self.blocked && state == AgentState::Blocked {
            return (Some(AgentWaitCondition::Blocked), Vec::new());
        }
        if self.states.as_ref().is_some_and(|states| states.contains(state)) {
            return (Some(AgentWaitCondition::State), Vec::new());
        }
        let is_idle =
            status.info.queued == 0 && (state.takes_prompts() || state == AgentState::Limited);
        let is_over = is_idle || state == AgentState::Exited;
        let no_turn = |why: &str| (Some(AgentWaitCondition::Done), vec![why.to_owned()]);
        match self.done {
            Some(TurnEndCondition::After(ended) | TurnEndCondition::Expected(ended, _))
                if ended <= status.turns.ended && is_over =>
            {
                (Some(AgentWaitCondition::Done), Vec::new())
            }
            Some(TurnEndCondition::Expected(_, until)) if until <= now && is_over => {
                no_turn("a prompt was submitted, but no turn was observed to begin")
            }
            Some(TurnEndCondition::Idle) if is_over => no_turn("no turn was in progress"),
            Some(_) | None => (None, Vec::new()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.done {
            Some(TurnEndCondition::Expected(_, until)) => Some(until),
            Some(TurnEndCondition::After(_) | TurnEndCondition::Idle) | None => None,
        }
    }

    /// Why the wait timed out.
    fn explain(&self, agent: &AgentInfo) -> Vec<String> {
        let kind = agent.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        let mut why = vec![format!("it is {}{kind}", agent.state)];
        match agent.state {
            AgentState::Blocked if !self.blocked => {
                why.push("it is waiting for an answer; answer it with `agent:answer`".into());
            }
            AgentState::Unknown => {
                why.push(
                    "its state cannot be determined; `agent:explain` shows the evidence".into(),
                );
            }
            _ => {}
        }
        why
    }
}

impl TurnEndCondition {
    /// The condition for the end of the turn, from now on.
    fn of(status: &AgentStatus, now: Time) -> Self {
        let Turns { begun, ended, expected, .. } = status.turns;
        if status.turns.is_under_way() {
            return Self::After(begun);
        }
        let left = expected
            .map(|at| TURN_START_TIMEOUT.saturating_sub(Duration::from_millis(now.since(at))));
        match left {
            Some(left) if !left.is_zero() => Self::Expected(ended + 1, Instant::now() + left),
            Some(_) | None => Self::Idle,
        }
    }
}
