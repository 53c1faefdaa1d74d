//! `pane:wait`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use paned_model::{AgentState, Offset, PaneId, PaneInfo, Refusal, Scope};
use paned_substrate::Output;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::agent::agent;
use super::agent_wait::States;
use crate::Kernel;
use crate::agents::Seen;
use crate::panes::Pane;
use crate::panes::pattern::{Asked, Pattern};
use crate::panes::reading::{self, Line};
use crate::panes::text::Text;
use crate::registry::{Action, Context, Kind};

const TAIL: usize = 10;
const EVIDENCE: usize = 20;
const LONGEST: u64 = 24 * 60 * 60 * 1000;

pub(super) struct PaneWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Until a new line matches this regular expression, also one that is not ended yet.
    pattern: Option<String>,
    /// Patterns that end the wait early: signs that what is waited for will not come.
    #[serde(default)]
    stop: Vec<String>,
    /// Whether the case of the patterns does not matter.
    #[serde(default)]
    ignore_case: bool,
    /// Until the program ends.
    #[serde(default)]
    exit: bool,
    /// Until nothing was printed for so many milliseconds.
    #[schemars(range(min = 1))]
    quiet_ms: Option<u64>,
    /// Until the screen is another than the one of this revision.
    screen_change_since: Option<u64>,
    /// Until its agent does this, or one of these.
    agent_state: Option<States>,
    /// Count output from here on, `next` of an earlier answer; from now on when left out.
    since: Option<Offset>,
    /// Give up after so many milliseconds (30000 when left out).
    timeout_ms: Option<u64>,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Met {
    /// A line matched.
    Pattern,
    /// A line matched a stop pattern.
    Stop,
    /// The program ended.
    Exit,
    /// It was quiet for long enough.
    Quiet,
    /// The screen changed.
    ScreenChange,
    /// Its agent does what was asked for.
    AgentState,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waited {
    /// What ended the wait; nothing when time ran out.
    met: Option<Met>,
    /// Whether time ran out.
    timed_out: bool,
    /// The lines that matched.
    evidence: Vec<Line>,
    /// The last lines there are.
    tail: Vec<Line>,
    /// Where the next call goes on, as its `since`.
    next: Offset,
    /// The pane as it is now.
    pane: PaneInfo,
    /// Why it was not met, as far as can be told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
}

impl Action for PaneWait {
    const NAME: &'static str = "pane:wait";
    const DOC: &'static str = "Wait until a pane prints, ends, falls quiet or changes its screen, or until its agent does something.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Waited;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Waited, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let patterns = patterns(&context.kernel, &params).await?;
        let mut wait = Wait::new(context.kernel, pane, &params, patterns)?;
        let met = wait.run().await?;
        wait.answer(met).await
    }
}

/// The pattern that is waited for, and the one that ends the wait early.
async fn patterns(
    kernel: &Kernel,
    params: &Params,
) -> Result<(Option<Arc<Pattern>>, Option<Arc<Pattern>>), Refusal> {
    let pattern = match &params.pattern {
        Some(text) => {
            let asked = Asked::one("pattern", text, params.ignore_case);
            Some(kernel.patterns().get(asked).await?)
        }
        None => None,
    };
    let stop = match params.stop.is_empty() {
        false => {
            let asked = Asked::any("stop", &params.stop, params.ignore_case);
            Some(kernel.patterns().get(asked).await?)
        }
        true => None,
    };
    Ok((pattern, stop))
}

/// A wait under way.
struct Wait {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    stirred: watch::Receiver<u64>,
    pattern: Option<Arc<Pattern>>,
    /// Any of those that end it early.
    stop: Option<Arc<Pattern>>,
    exit: bool,
    quiet: Option<Duration>,
    screen: Option<u64>,
    states: Option<States>,
    /// News of its agent.
    judged: Option<watch::Receiver<Seen>>,
    /// Everything before this was looked at, but for a line that is not ended.
    looked: u64,
    from: u64,
    printed_at: Instant,
    until: Instant,
    evidence: Vec<Line>,
}

impl Wait {
    fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        params: &Params,
        (pattern, stop): (Option<Arc<Pattern>>, Option<Arc<Pattern>>),
    ) -> Result<Self, Refusal> {
        let conditions = params.pattern.is_some() || params.exit || params.quiet_ms.is_some();
        let conditions = conditions || params.agent_state.is_some();
        if !conditions && params.screen_change_since.is_none() {
            return Err(Refusal::invalid(
                "say what to wait for: `pattern`, `exit`, `quietMs`, `screenChangeSince` or `agentState`",
            ));
        }
        if params.agent_state.is_some() {
            kernel.agents().profiles();
            agent(&pane)?;
        }
        let judged = kernel.agents().listener(&pane.id).map(|agent| agent.seen());
        let stirred = pane.watch();
        let output = pane.readable()?;
        let from = params.since.map_or(output.end(), |since| since.0.min(output.end()));
        let now = Instant::now();
        let patience = params.timeout_ms.unwrap_or(30_000).min(LONGEST);
        Ok(Self {
            pattern,
            stop,
            exit: params.exit,
            quiet: params.quiet_ms.map(|millis| Duration::from_millis(millis.clamp(1, LONGEST))),
            screen: params.screen_change_since,
            states: params.agent_state.clone(),
            judged: judged.filter(|_| params.agent_state.is_some()),
            looked: from,
            from,
            printed_at: now,
            until: now + Duration::from_millis(patience),
            evidence: Vec::new(),
            kernel,
            pane,
            output,
            stirred,
        })
    }

    /// Waits; nothing is polled: every look is after news or at a deadline.
    async fn run(&mut self) -> Result<Option<Met>, Refusal> {
        loop {
            // Before the look, so that nothing between look and wait is missed.
            self.stirred.mark_unchanged();
            let over = !self.pane.lock().status().is_live();
            if let Some(met) = self.look().await? {
                return Ok(Some(met));
            }
            if over {
                return Ok(self.exit.then_some(Met::Exit));
            }
            let quiet_at = self.quiet.map(|quiet| self.printed_at + quiet);
            let deadline = quiet_at.map_or(self.until, |quiet_at| quiet_at.min(self.until));
            tokio::select! {
                changed = self.stirred.changed() => {
                    if changed.is_err() { return Ok(None) }
                }
                () = news(&mut self.judged) => {}
                () = sleep_until(deadline) => {
                    let quiet = quiet_at.is_some_and(|quiet_at| quiet_at <= Instant::now());
                    return Ok(quiet.then_some(Met::Quiet));
                }
            }
        }
    }

    async fn look(&mut self) -> Result<Option<Met>, Refusal> {
        let does = self.does();
        if let (Some(states), Some(does)) = (&self.states, does)
            && states.hold(does)
        {
            return Ok(Some(Met::AgentState));
        }
        if let Some(met) = self.look_at_lines().map_err(Refusal::internal)? {
            return Ok(Some(met));
        }
        let Some(since) = self.screen else { return Ok(None) };
        let revision = self.kernel.look(&self.pane, paned_term::Screen::revision).await?;
        Ok((revision != since).then_some(Met::ScreenChange))
    }

    /// What its agent does; that it has ended is known from the pane first.
    fn does(&self) -> Option<AgentState> {
        let state = self.pane.lock();
        let judged = state.agent.as_ref()?.state;
        Some(if state.status().is_live() { judged } else { AgentState::Exited })
    }

    fn look_at_lines(&mut self) -> std::io::Result<Option<Met>> {
        let end = self.output.end();
        if end == self.looked {
            return Ok(None);
        }
        self.printed_at = Instant::now();
        let output = self.output.clone();
        let text = Text::new(output.as_ref());
        let (mut met, mut looked) = (None, self.looked);
        text.each(text.at(self.looked)?, |raw| {
            let line = reading::clean(raw);
            let hit = self.judge(&line.text);
            if hit.is_some() && self.evidence.len() < EVIDENCE {
                self.evidence.push(Line::of(raw.n, line));
            }
            met = met.or(hit);
            if raw.whole {
                looked = raw.next;
            }
            if met.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        self.looked = looked;
        Ok(met)
    }

    fn judge(&self, text: &str) -> Option<Met> {
        let stopped = self.stop.as_ref().is_some_and(|stop| stop.is_match(text));
        let matched = self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
        if stopped { Some(Met::Stop) } else { matched.then_some(Met::Pattern) }
    }

    async fn answer(self, met: Option<Met>) -> Result<Waited, Refusal> {
        let next = Offset(self.output.end());
        let tail = reading::last(self.output.as_ref(), TAIL).map_err(Refusal::internal)?.lines;
        let why = if met.is_none() { self.explain().await? } else { Vec::new() };
        let pane = self.pane.info();
        let timed_out = met.is_none() && pane.status.is_live();
        Ok(Waited { met, timed_out, evidence: self.evidence, tail, next, pane, why })
    }

    /// Why what was waited for did not come.
    async fn explain(&self) -> Result<Vec<String>, Refusal> {
        let mut why = Vec::new();
        let status = self.pane.lock().status();
        if !status.is_live() {
            why.push(format!("the program is not running any more ({status})"));
        }
        let new = self.output.end() - self.from;
        why.push(match new {
            0 => "nothing new was printed".to_owned(),
            bytes => format!("{bytes} new bytes were printed, and no new line matched"),
        });
        let Some(pattern) = self.pattern.clone() else { return Ok(why) };
        let view = self.kernel.look(&self.pane, paned_term::Screen::view).await?;
        if view.rows.iter().any(|row| pattern.is_match(row)) {
            why.push(
                "the pattern is on the screen already; only new output counts, so give `since`"
                    .into(),
            );
        }
        if view.modes.alternate_screen {
            why.push("the program draws a full screen; wait for `screenChangeSince` and read `pane:screen`".into());
        }
        Ok(why)
    }
}

/// Waits for news of an agent; for ever where there is none, or no more.
async fn news(judged: &mut Option<watch::Receiver<Seen>>) {
    match judged {
        Some(seen) => {
            if seen.changed().await.is_err() {
                *judged = None;
            }
        }
        None => std::future::pending().await,
    }
}
