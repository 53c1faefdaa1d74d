//! `agent:wait`

use std::time::Duration;

use paned_model::{AgentInfo, AgentState, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::agent::agent;
use super::wait_limit::{DAY_MS, wait_limit};
use crate::access::AccessRequest;
use crate::agents::{AgentRequest, AgentStatus, Turns};
use crate::registry::{Action, ActionContext, ActionKind};

/// How long after a prompt was handed over its turn is expected to begin.
const TURN_START_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct AgentWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// Until it does this, or one of these.
    state: Option<AgentStateFilter>,
    /// Until the turn that is under way has ended, and those of all messages that wait to be handed over.
    #[serde(default)]
    done: bool,
    /// Until it asks something.
    #[serde(default)]
    blocked: bool,
    /// Give up after so many milliseconds (30000 when left out, up to a day).
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
}

/// One state, or some of which each will do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum AgentStateFilter {
    /// This one.
    One(AgentState),
    /// Any of these.
    Any(Vec<AgentState>),
}

impl AgentStateFilter {
    pub(super) fn contains(&self, state: AgentState) -> bool {
        match self {
            Self::One(one) => *one == state,
            Self::Any(some) => some.contains(&state),
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum AgentWaitCondition {
    /// It does what was asked for.
    State,
    /// Its turn has ended.
    Done,
    /// It asks something.
    Blocked,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentWaitOutput {
    /// What ended the wait; nothing when time ran out or its program ended.
    met: Option<AgentWaitCondition>,
    /// Whether time ran out.
    timed_out: bool,
    /// The agent as it is now.
    agent: AgentInfo,
    /// Why it was met, or not, where that needs words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
}

impl Action for AgentWait {
    const NAME: &'static str = "agent:wait";
    const DOC: &'static str = "Wait until an agent does something, is done, or asks something.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = AgentWaitOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentWaitOutput, Refusal> {
        if params.state.is_none() && !params.done && !params.blocked {
            return Err(Refusal::invalid("say what to wait for: `state`, `done` or `blocked`"));
        }
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        kernel.agents().profiles();
        let now = agent(&pane)?;
        pane.check_responsive()?;
        let patience = wait_limit(params.timeout_ms, 30_000, DAY_MS)?;
        let seen = match kernel.agents().find(&pane.id) {
            Some(listener) => {
                // What was typed before this call was asked of the same task, and has been weighed when it answers.
                drop(listener.ask(AgentRequest::Inspect).await);
                listener.seen()
            }
            None => watch::channel(AgentStatus { info: now, turns: Turns::default() }).1,
        };
        let wait = AgentWaiter::new(params, &seen.borrow(), kernel.now());
        Ok(wait.run(seen, Instant::now() + patience).await)
    }
}

/// A wait under way.
struct AgentWaiter {
    states: Option<AgentStateFilter>,
    blocked: bool,
    done: Option<TurnEndCondition>,
}

/// When a turn is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnEndCondition {
    /// Once so many have ended.
    After(u64),
    /// The same, unless none begins until then.
    Expected(u64, Instant),
    /// Once it waits for a prompt: none is under way.
    Idle,
}

impl AgentWaiter {
    fn new(params: Params, seen: &AgentStatus, now: Time) -> Self {
        let done = params.done.then(|| TurnEndCondition::of(seen, now));
        Self { states: params.state, blocked: params.blocked, done }
    }

    async fn run(
        mut self,
        mut seen: watch::Receiver<AgentStatus>,
        until: Instant,
    ) -> AgentWaitOutput {
        loop {
            let news = seen.borrow_and_update().clone();
            self.expect_queued(&news);
            let (met, why) = self.judge(&news, Instant::now());
            if met.is_some() {
                return AgentWaitOutput { met, timed_out: false, agent: news.info, why };
            }
            if news.info.state == AgentState::Exited {
                let why = vec!["its program has ended".to_owned()];
                return AgentWaitOutput { met, timed_out: false, agent: news.info, why };
            }
            let deadline = self.deadline().filter(|at| Instant::now() < *at);
            let deadline = deadline.map_or(until, |at| at.min(until));
            tokio::select! {
                changed = seen.changed() => if changed.is_err() {
                    // Its task is over; what it said last is the end of it.
                    let agent = seen.borrow().info.clone();
                    let met = self.judge(&seen.borrow(), Instant::now()).0;
                    return AgentWaitOutput { met, timed_out: false, agent, why: vec!["it is followed no more".into()] };
                },
                () = sleep_until(deadline) => if until <= Instant::now() {
                    let agent = seen.borrow().info.clone();
                    let why = self.explain(&agent);
                    return AgentWaitOutput { met: None, timed_out: true, agent, why };
                }
            }
        }
    }

    /// What waits to be handed over is still to be done: each message begins a turn of its own.
    fn expect_queued(&mut self, seen: &AgentStatus) {
        if self.done.is_some() && 0 < seen.info.queued {
            self.done = Some(TurnEndCondition::Expected(
                seen.turns.ended + 1,
                Instant::now() + TURN_START_TIMEOUT,
            ));
        }
    }

    fn judge(&self, seen: &AgentStatus, now: Instant) -> (Option<AgentWaitCondition>, Vec<String>) {
        let state = seen.info.state;
        if self.blocked && state == AgentState::Blocked {
            return (Some(AgentWaitCondition::Blocked), Vec::new());
        }
        if self.states.as_ref().is_some_and(|states| states.contains(state)) {
            return (Some(AgentWaitCondition::State), Vec::new());
        }
        let is_idle =
            seen.info.queued == 0 && (state.takes_prompts() || state == AgentState::Limited);
        let is_over = is_idle || state == AgentState::Exited;
        let no_turn = |why: &str| (Some(AgentWaitCondition::Done), vec![why.to_owned()]);
        match self.done {
            Some(TurnEndCondition::After(ended) | TurnEndCondition::Expected(ended, _))
                if ended <= seen.turns.ended && is_over =>
            {
                (Some(AgentWaitCondition::Done), Vec::new())
            }
            Some(TurnEndCondition::Expected(_, until)) if until <= now && is_over => {
                no_turn("a prompt was handed over, and no turn was seen to begin")
            }
            Some(TurnEndCondition::Idle) if is_over => no_turn("no turn was under way"),
            Some(_) | None => (None, Vec::new()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.done {
            Some(TurnEndCondition::Expected(_, until)) => Some(until),
            Some(TurnEndCondition::After(_) | TurnEndCondition::Idle) | None => None,
        }
    }

    /// Why what was waited for did not come.
    fn explain(&self, agent: &AgentInfo) -> Vec<String> {
        let kind = agent.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        let mut why = vec![format!("it is {}{kind}", agent.state)];
        match agent.state {
            AgentState::Blocked if !self.blocked => {
                why.push("it waits for an answer; `agent:answer` gives one".into());
            }
            AgentState::Unknown => {
                why.push("what it does cannot be told; `agent:explain` says what is known".into());
            }
            _ => {}
        }
        why
    }
}

impl TurnEndCondition {
    /// What has to happen, seen from now.
    fn of(seen: &AgentStatus, now: Time) -> Self {
        let Turns { begun, ended, expected, .. } = seen.turns;
        if seen.turns.is_under_way() {
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
