//! `pane:wait`

use std::sync::Arc;
use std::time::Duration;

use paned_backend::Output;
use paned_model::{AgentState, Offset, PaneId, PaneInfo, Refusal, Scope};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::read::check_since;
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::agent::wait::AgentStateFilter;
use crate::actions::support::agents::agent;
use crate::actions::support::wait_limit::{DAY_MS, check_millis, wait_limit};
use crate::agents::AgentStatus;
use crate::panes::search::pattern::PatternParam;
use crate::panes::search::scan;
use crate::panes::search::scan::{OutputSearch, SearchSizes};
use crate::panes::text::line_watch::{LineWatch, MatchedPattern, WatchPatterns, WatchResult};
use crate::panes::text::reading;
use crate::panes::text::reading::OutputLine;
use crate::panes::{Pane, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

const TAIL_LINES: usize = 10;
/// How long an explanation may search older output for a match.
const EXPLAIN_TIMEOUT: Duration = Duration::from_millis(100);

pub(in crate::actions) struct PaneWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Until a line that counts matches this regular expression, also one that is not ended yet. It
    /// is matched against whole lines, as they read at that moment: up to 262144 characters. A line
    /// that began before `since` counts once its text differs from the text there, or has differed
    /// meanwhile; a line that is only rewritten, or ends, is not new.
    pattern: Option<String>,
    /// Patterns that end the wait early: signs that the awaited line will not come. Up to 32, of
    /// 4000 characters in all.
    #[serde(default)]
    stop: Vec<String>,
    /// Whether the patterns ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Until the program ends.
    #[serde(default)]
    exit: bool,
    /// Until nothing was printed for this many milliseconds, up to a day, from the call on. A
    /// program that has exited is quiet.
    #[schemars(range(min = 1, max = 86_400_000))]
    quiet_ms: Option<u64>,
    /// Until the screen's revision differs from this one.
    screen_change_since: Option<u64>,
    /// Until its agent is in this state, or in one of these.
    agent_state: Option<AgentStateFilter>,
    /// From where on output counts; since the last input when left out.
    #[serde(default)]
    since: WaitSince,
    /// Time-out in milliseconds (30000 when left out, up to a day).
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
}

/// From where on output counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[serde(untagged)]
enum WaitSince {
    /// A place by its name.
    Named(SinceName),
    /// `next` of an earlier answer. Everything that was printed after it counts.
    Cursor(Offset),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SinceName {
    /// The last thing that was typed into the pane, however it was typed, or its start if nothing
    /// was. The echo of typed text does not count.
    Input,
    /// The pane's start.
    Start,
    /// This call. The echo of typed text does not count.
    Now,
}

impl Default for WaitSince {
    fn default() -> Self {
        Self::Named(SinceName::Input)
    }
}

impl<'de> Deserialize<'de> for WaitSince {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let cursor = value.as_u64().map(|offset| Self::Cursor(Offset(offset)));
        let named = || SinceName::deserialize(&value).ok().map(Self::Named);
        cursor.or_else(named).ok_or_else(|| {
            let sentence =
                "it is `input`, `start`, `now`, or the number that an earlier answer has as `next`";
            D::Error::custom(sentence)
        })
    }
}

impl WaitSince {
    /// The offset, in a pane with this output.
    fn offset(self, pane: &Pane, output: &dyn Output) -> u64 {
        match self {
            Self::Named(SinceName::Input) => pane.last_input(output),
            Self::Named(SinceName::Start) => 0,
            Self::Named(SinceName::Now) => output.end(),
            Self::Cursor(Offset(offset)) => offset.min(output.end()),
        }
    }

    fn ignores_echo(self) -> bool {
        matches!(self, Self::Named(SinceName::Input | SinceName::Now))
    }

    /// As the end of a sentence about output.
    fn phrase(self) -> &'static str {
        match self {
            Self::Named(SinceName::Input) => "since the last input",
            Self::Named(SinceName::Start) => "since its start",
            Self::Named(SinceName::Now) => "since this call",
            Self::Cursor(_) => "since the given place",
        }
    }

    fn cursor(self) -> Option<Offset> {
        match self {
            Self::Named(_) => None,
            Self::Cursor(offset) => Some(offset),
        }
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) enum PaneWaitCondition {
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
    /// Its agent is in a requested state.
    AgentState,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneWaitOutput {
    /// What ended the wait; nothing when it timed out.
    met: Option<PaneWaitCondition>,
    /// Whether it timed out.
    timed_out: bool,
    /// The line that matched, when one did: the first, even if more came with it. `next` is after
    /// it.
    evidence: Vec<OutputLine>,
    /// The last lines of the output.
    tail: Vec<OutputLine>,
    /// The `since` of the next call: after the line that matched, or after all output that was
    /// read.
    next: Offset,
    /// The pane as it is now.
    pane: PaneInfo,
    /// Why it was not met, as far as known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
}

impl Action for PaneWait {
    const NAME: &'static str = "pane:wait";
    const DOC: &'static str = "Wait until a pane prints, ends, falls quiet or changes its screen, or until its agent does something.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneWaitOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneWaitOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        params.check()?;
        let mut wait = PaneWaiter::new(context.kernel, pane, &params)?;
        wait.watch_lines(&params).await?;
        let met = wait.run().await?;
        wait.answer(met).await
    }
}

impl Params {
    fn check(&self) -> Result<(), Refusal> {
        let printed = self.pattern.is_some() || !self.stop.is_empty() || self.quiet_ms.is_some();
        let seen = self.screen_change_since.is_some() || self.agent_state.is_some();
        if !printed && !seen && !self.exit {
            return Err(Refusal::invalid(
                "say what to wait for: `pattern`, `stop`, `exit`, `quietMs`, `screenChangeSince` or `agentState`",
            ));
        }
        if self.quiet_ms == Some(0) {
            return Err(Refusal::invalid("`quietMs` is at least 1"));
        }
        check_millis("quietMs", self.quiet_ms, DAY_MS)
    }

    /// The patterns to watch for.
    async fn line_patterns(&self, kernel: &Kernel) -> Result<WatchPatterns, Refusal> {
        let mut wanted = WatchPatterns::default();
        if let Some(text) = &self.pattern {
            let param = PatternParam::one("pattern", text, self.ignore_case);
            wanted.pattern = Some(kernel.patterns().get(param).await?);
        }
        if !self.stop.is_empty() {
            let param = PatternParam::any("stop", &self.stop, self.ignore_case);
            wanted.stop = Some(kernel.patterns().get(param).await?);
        }
        Ok(wanted)
    }
}

/// A wait in progress.
struct PaneWaiter {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    changes: watch::Receiver<u64>,
    patterns: WatchPatterns,
    /// The line watch, if there are patterns.
    line_watch: Option<LineWatch>,
    exit: bool,
    quiet: Option<Duration>,
    screen: Option<u64>,
    states: Option<AgentStateFilter>,
    /// The status of its agent.
    agent_status: Option<watch::Receiver<AgentStatus>>,
    since: WaitSince,
    from: u64,
    /// Where the output ended at the last check.
    end: u64,
    printed_at: Instant,
    until: Instant,
    evidence: Vec<OutputLine>,
}

impl PaneWaiter {
    fn new(kernel: Kernel, pane: Arc<Pane>, params: &Params) -> Result<Self, Refusal> {
        if params.agent_state.is_some() {
            kernel.agents().profiles();
            agent(&pane)?;
        }
        let agent_status = kernel.agents().find(&pane.id).map(|agent| agent.seen());
        let changes = pane.watch();
        let output = pane.readable()?;
        check_since(params.since.cursor(), &pane.id, output.as_ref())?;
        let end = output.end();
        let now = Instant::now();
        let timeout = wait_limit(params.timeout_ms, 30_000, DAY_MS)?;
        Ok(Self {
            patterns: WatchPatterns::default(),
            line_watch: None,
            exit: params.exit,
            quiet: params.quiet_ms.map(Duration::from_millis),
            screen: params.screen_change_since,
            states: params.agent_state.clone(),
            agent_status: agent_status.filter(|_| params.agent_state.is_some()),
            since: params.since,
            from: params.since.offset(&pane, output.as_ref()),
            end,
            printed_at: now,
            until: now + timeout,
            evidence: Vec::new(),
            kernel,
            pane,
            output,
            changes,
        })
    }

    /// Starts to watch for patterns, from the call on, however long it takes to compile them.
    async fn watch_lines(&mut self, params: &Params) -> Result<(), Refusal> {
        self.patterns = params.line_patterns(&self.kernel).await?;
        if !self.patterns.is_empty() {
            let output = self.output.clone();
            let tail = self.pane.last_line.get();
            // The watch begins before an incomplete character.
            let end = self.pane.text_end(output.as_ref()).map_err(unreadable)?;
            let from = self.from.min(end);
            let watch = LineWatch::new(output, tail, self.patterns.clone(), from);
            let watch = watch.map_err(unreadable)?;
            let ignores_echo = self.since.ignores_echo();
            self.line_watch = Some(if ignores_echo { watch.ignoring_echo() } else { watch });
        }
        Ok(())
    }

    /// Waits without polling: checks after each change and at deadlines.
    async fn run(&mut self) -> Result<Option<PaneWaitCondition>, Refusal> {
        loop {
            // Before the check, so that no change between check and wait is missed.
            self.changes.mark_unchanged();
            let has_exited = !self.pane.lock().status().is_live();
            if let Some(met) = self.check_conditions().await? {
                return Ok(Some(met));
            }
            if has_exited {
                return Ok(self.condition_at_exit());
            }
            let now = Instant::now();
            let quiet_at = self.quiet.map(|quiet| self.printed_at + quiet);
            if quiet_at.is_some_and(|quiet_at| quiet_at <= now) {
                return Ok(Some(PaneWaitCondition::Quiet));
            }
            if self.until <= now {
                return Ok(None);
            }
            let deadline = quiet_at.map_or(self.until, |quiet_at| quiet_at.min(self.until));
            tokio::select! {
                changed = self.changes.changed() => {
                    if changed.is_err() { return Ok(None) }
                }
                () = agent_changed(&mut self.agent_status) => {}
                () = sleep_until(deadline) => {}
            }
        }
    }

    /// The condition that is met when the program exits, if no other was.
    fn condition_at_exit(&self) -> Option<PaneWaitCondition> {
        let quiet = self.quiet.map(|_| PaneWaitCondition::Quiet);
        if self.exit { Some(PaneWaitCondition::Exit) } else { quiet }
    }

    async fn check_conditions(&mut self) -> Result<Option<PaneWaitCondition>, Refusal> {
        let end = self.output.end();
        if end != self.end {
            self.end = end;
            self.printed_at = Instant::now();
        }
        let state = self.agent_state();
        if let (Some(states), Some(state)) = (&self.states, state)
            && states.contains(state)
        {
            return Ok(Some(PaneWaitCondition::AgentState));
        }
        if let Some(met) = self.check_lines().await? {
            return Ok(Some(met));
        }
        let Some(since) = self.screen else { return Ok(None) };
        let revision = self.kernel.look(&self.pane, paned_term::Screen::revision).await?;
        Ok((revision != since).then_some(PaneWaitCondition::ScreenChange))
    }

    /// The state of its agent. The pane knows of an exit first.
    fn agent_state(&self) -> Option<AgentState> {
        let state = self.pane.lock();
        let agent_state = state.agent.as_ref()?.state;
        Some(if state.status().is_live() { agent_state } else { AgentState::Exited })
    }

    /// Checks lines until there are no more, or the wait times out. Many lines, or expensive
    /// patterns, are checked on a blocking thread.
    async fn check_lines(&mut self) -> Result<Option<PaneWaitCondition>, Refusal> {
        while let Some(mut watch) = self.line_watch.take() {
            let is_over = self.pane.is_over(self.output.as_ref());
            let result = if watch.is_cheap() {
                watch.look(is_over)
            } else {
                let check = move || (watch.look(is_over), watch);
                let (result, returned) = self.kernel.patterns().run_blocking(check).await?;
                watch = returned;
                result
            };
            self.line_watch = Some(watch);
            match result.map_err(unreadable)? {
                WatchResult::Matched(found) => {
                    self.evidence.push(found.line);
                    return Ok(Some(match found.matched {
                        MatchedPattern::Pattern => PaneWaitCondition::Pattern,
                        MatchedPattern::Stop => PaneWaitCondition::Stop,
                    }));
                }
                WatchResult::More if Instant::now() < self.until => {}
                WatchResult::More | WatchResult::Nothing => break,
            }
        }
        Ok(None)
    }

    /// Everything before this was checked, or is the line that matched.
    fn next(&self) -> u64 {
        self.line_watch.as_ref().map_or(self.end, LineWatch::at)
    }

    async fn answer(self, met: Option<PaneWaitCondition>) -> Result<PaneWaitOutput, Refusal> {
        let next = Offset(self.next());
        let output = self.output.as_ref();
        let end = self.pane.text_end(output).map_err(unreadable)?;
        let tail = reading::last(output, end, TAIL_LINES).map_err(unreadable)?.lines;
        let why = if met.is_none() { self.explain().await? } else { Vec::new() };
        let pane = self.pane.info();
        let timed_out = met.is_none() && pane.status.is_live();
        Ok(PaneWaitOutput { met, timed_out, evidence: self.evidence, tail, next, pane, why })
    }

    /// Why the wait timed out, or the program exited before.
    async fn explain(&self) -> Result<Vec<String>, Refusal> {
        let mut why = Vec::new();
        let status = self.pane.lock().status();
        if !status.is_live() {
            why.push(format!("the program is not running any more ({status})"));
        } else if self.exit {
            why.push("the program is still running".to_owned());
        }
        let since = self.since.phrase();
        why.push(match self.next().saturating_sub(self.from) {
            0 => format!("nothing was printed {since}"),
            bytes if self.patterns.is_empty() => format!("{bytes} bytes were printed {since}"),
            bytes => format!("{bytes} bytes were printed {since}, and no line of them matched"),
        });
        if let Some(quiet) = self.quiet {
            let last = self.printed_at.elapsed().as_millis();
            let quiet = quiet.as_millis();
            why.push(format!(
                "the last of it came {last} ms ago, and {quiet} ms of silence were asked for"
            ));
        }
        if let (Some(_), Some(state)) = (&self.states, self.agent_state()) {
            why.push(format!("its agent is {state}"));
        }
        self.explain_patterns(&mut why).await?;
        Ok(why)
    }

    /// Where the pattern matches, if not in new output.
    async fn explain_patterns(&self, why: &mut Vec<String>) -> Result<(), Refusal> {
        let Some(pattern) = &self.patterns.pattern else { return Ok(()) };
        let view = self.kernel.look(&self.pane, paned_term::Screen::view).await?;
        if view.rows.iter().any(|row| pattern.is_match(row)) {
            let since = self.since.phrase();
            why.push(format!("the pattern is on the screen, but was not printed {since}"));
        }
        if let Some(hit) = self.find_older_match().await? {
            why.push(format!(
                "line {} matches, but does not count; `since` {} would count it",
                hit.n, hit.offset
            ));
        }
        if view.modes.alternate_screen {
            why.push("the program draws a full screen; wait for `screenChangeSince` and read `pane:screen`".into());
        }
        Ok(())
    }

    /// The newest matching line before this wait, if the search finds it within
    /// [`EXPLAIN_TIMEOUT`].
    async fn find_older_match(&self) -> Result<Option<scan::LineHit>, Refusal> {
        let Some(pattern) = self.patterns.pattern.clone() else { return Ok(None) };
        let pane = self.pane.clone();
        let output = self.output.clone();
        let search = move || {
            let until = std::time::Instant::now() + EXPLAIN_TIMEOUT;
            let output = output.as_ref();
            let search = OutputSearch {
                output,
                pattern: pattern.as_ref(),
                index: &pane.search_index,
                sizes: SearchSizes::DEFAULT,
                count: 1,
            };
            let mut progress = search.begin(pane.text_end(output)?);
            let goes_on = || std::time::Instant::now() < until;
            search.go_on(&mut progress, &mut Vec::new(), goes_on).map(|()| progress.hits.pop())
        };
        let hit = self.kernel.patterns().run_blocking(search).await?.map_err(unreadable)?;
        Ok(hit)
    }
}

/// Waits for a change of an agent's status; for ever without an agent, or after its task has ended.
async fn agent_changed(status: &mut Option<watch::Receiver<AgentStatus>>) {
    match status {
        Some(receiver) => {
            if receiver.changed().await.is_err() {
                *status = None;
            }
        }
        None => std::future::pending().await,
    }
}
