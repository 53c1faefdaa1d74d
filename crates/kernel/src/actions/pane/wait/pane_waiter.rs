//! A wait for one pane.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::Output;
use paned_backend::port_listener::ListeningProgram;
use paned_model::{AgentState, Offset, PaneInfo, Refusal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::endpoint::PaneProgram;
use super::since::WaitSince;
use super::{EarlierMatch, PaneWaitCondition, PaneWaitResult, Params};
use crate::Kernel;
use crate::actions::agent::wait::AgentStateFilter;
use crate::actions::pane::read::check_since;
use crate::actions::support::agents::agent;
use crate::agents::AgentStatus;
use crate::panes::search::scan;
use crate::panes::search::scan::{OutputSearch, SearchSizes};
use crate::panes::text::line_watch::{LineWatch, MatchedPattern, WatchPatterns, WatchResult};
use crate::panes::text::reading;
use crate::panes::text::reading::OutputLine;
use crate::panes::{Pane, unreadable};

const TAIL_LINES: usize = 10;
/// How long an explanation may search older output for a match.
const EXPLAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// Why a wait was not met.
#[derive(Default)]
struct MissedWait {
    why: Vec<String>,
    earlier: Option<EarlierMatch>,
}

/// A wait in progress.
pub(super) struct PaneWaiter {
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
    pub(super) fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        params: &Params,
        until: Instant,
    ) -> Result<Self, Refusal> {
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
            until,
            evidence: Vec::new(),
            kernel,
            pane,
            output,
            changes,
        })
    }

    /// The program of the pane, for a wait until it opens a port.
    pub(super) fn program(&self) -> PaneProgram {
        let PaneInfo { pid, created_at, .. } = self.pane.info();
        let age = Duration::from_millis(self.kernel.now().since(created_at));
        let has_keeper = !self.pane.is_adopted();
        let now = Instant::now();
        PaneProgram {
            process: pid.map(|pid| ListeningProgram { pid, has_keeper }),
            since: now.checked_sub(age).unwrap_or(now),
        }
    }

    /// Starts to watch for patterns, from the call on, however long it takes to compile them.
    pub(super) async fn watch_lines(&mut self, params: &Params) -> Result<(), Refusal> {
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
    pub(super) async fn run(&mut self) -> Result<Option<PaneWaitCondition>, Refusal> {
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

    pub(super) async fn answer(
        self,
        met: Option<PaneWaitCondition>,
        explains: bool,
    ) -> Result<PaneWaitResult, Refusal> {
        let next = Offset(self.next());
        let output = self.output.as_ref();
        let end = self.pane.text_end(output).map_err(unreadable)?;
        let tail = reading::last(output, end, TAIL_LINES).map_err(unreadable)?.lines;
        let missed = match met.is_none() && explains {
            true => self.explain().await?,
            false => MissedWait::default(),
        };
        let pane = self.pane.info();
        Ok(PaneWaitResult {
            met,
            timed_out: met.is_none() && pane.status.is_live() && self.until <= Instant::now(),
            evidence: self.evidence,
            tail,
            next: Some(next),
            pane: Some(pane),
            why: missed.why,
            earlier: missed.earlier,
        })
    }

    /// Why the wait timed out, or the program exited before.
    async fn explain(&self) -> Result<MissedWait, Refusal> {
        let mut why = Vec::new();
        // That it has exited, the answer says elsewhere.
        if self.exit && self.pane.lock().status().is_live() {
            why.push("the program is still running".to_owned());
        }
        let is_about_output = self.quiet.is_some() || !self.patterns.is_empty();
        if is_about_output || self.screen.is_some() {
            why.push(self.explain_output());
        }
        if let Some(quiet) = self.quiet {
            let last = self.printed_at.elapsed().as_millis();
            let quiet = quiet.as_millis();
            why.push(format!("the last output was {last} ms ago, not {quiet} ms"));
        }
        if let (Some(_), Some(state)) = (&self.states, self.agent_state()) {
            why.push(format!("its agent is {state}"));
        }
        let earlier = self.explain_patterns(&mut why).await?;
        Ok(MissedWait { why, earlier })
    }

    fn explain_output(&self) -> String {
        let since = self.since.phrase();
        match self.next().saturating_sub(self.from) {
            0 => format!("nothing was printed {since}"),
            1 => format!("1 byte was printed {since}"),
            bytes if self.patterns.is_empty() => format!("{bytes} bytes were printed {since}"),
            bytes => format!("{bytes} bytes were printed {since}, and no line matched"),
        }
    }

    /// Where the pattern matches, if not in output that counts.
    async fn explain_patterns(
        &self,
        why: &mut Vec<String>,
    ) -> Result<Option<EarlierMatch>, Refusal> {
        let Some(pattern) = &self.patterns.pattern else { return Ok(None) };
        let earlier = self.find_older_match().await?.map(|hit| {
            let end = hit.offset + hit.text.len() as u64 + 1;
            let echo = self.output.last_echo_in(hit.offset..end).is_some();
            EarlierMatch { n: hit.n, offset: Offset(hit.offset), echo }
        });
        if let Some(EarlierMatch { n, echo, .. }) = earlier {
            why.push(match echo {
                true => format!("line {n} matches, but is the echo of what was typed"),
                false => format!("line {n} matches, but was not printed {}", self.since.phrase()),
            });
        }
        let view = self.kernel.look(&self.pane, paned_term::Screen::view).await?;
        if earlier.is_none() && view.rows.iter().any(|row| pattern.is_match(row)) {
            let since = self.since.phrase();
            why.push(format!("the pattern is on the screen, but no line matched {since}"));
        }
        if view.modes.alternate_screen {
            let sentence = "the program draws a full screen, which has no lines; wait for a change of the screen, and read that";
            why.push(sentence.to_owned());
        }
        Ok(earlier)
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
