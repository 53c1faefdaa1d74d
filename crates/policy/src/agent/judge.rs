//! Decides from the known facts what the agent is doing.
//!
//! Evidence that names the state (a hook, a title, a line editor that waits) outranks text at the
//! bottom of the screen. That text outranks movement, and movement outranks quiet. Evidence
//! expires: a row that should move and does not, and a hook that sends nothing more, lose to the
//! rest. The verdict is ready only while the composer is on the screen and nothing reports busy.

mod generic;
mod reports;

use paned_model::{AgentState, StateSource, Time};

use super::facts::{AgentFacts, HookClaim, SignalClaim, TimedRuleMatch};
use super::profile::Profile;

/// How long a sign must be present, or absent, before it counts: the screen may be half drawn.
const FLICKER: u64 = 80;
/// How long a title must report busy if Enter was not pressed; titles blink at start-up.
const BLINK: u64 = 80;
/// How long Enter counts as the start of a turn, however much is printed.
const EXPECT: u64 = 10_000;
/// How long the screen must not have shown work before a hook's `ready` is accepted.
const HOOK_EARLY: u64 = 80;
/// How long a program may take to exit after a quit command.
const LEAVING: u64 = 3000;
/// How long a hook is believed against the screen.
const HOOK: u64 = 3000;
/// The weight of a program's own report.
pub(super) const STATUS: f32 = 0.9;
/// How long a hook that asks is believed while the screen shows work.
const ASKING: u64 = 10_000;

/// The state, and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StateVerdict {
    pub(super) state: AgentState,
    pub(super) source: StateSource,
    pub(super) confidence: f32,
    /// Since when the evidence is there.
    pub(super) at: Time,
    /// When to judge again if there is no observation before.
    pub(super) recheck_at: Option<Time>,
}

impl StateVerdict {
    fn new(state: AgentState, source: StateSource, confidence: f32, at: Time) -> Self {
        Self { state, source, confidence, at, recheck_at: None }
    }

    fn recheck_by(self, again: Time) -> Self {
        Self { recheck_at: Some(self.recheck_at.map_or(again, |old| old.min(again))), ..self }
    }
}

/// What the agent is doing. `last` is the previous state.
pub(super) fn judge(
    facts: &AgentFacts,
    profile: &Profile,
    last: AgentState,
    now: Time,
) -> StateVerdict {
    let evidence = StateEvidence { facts, profile, last, now };
    if facts.exited.is_some() {
        return StateVerdict::new(AgentState::Exited, StateSource::Process, 1.0, now);
    }
    let verdict = evidence
        .starting()
        .or_else(|| evidence.blocked())
        .or_else(|| evidence.busy())
        .or_else(|| evidence.blinking())
        .or_else(|| evidence.queued())
        .or_else(|| evidence.away())
        .or_else(|| evidence.expected())
        .or_else(|| evidence.ready())
        .unwrap_or_else(|| evidence.no_evidence());
    evidence.leaving(verdict)
}

/// Whether there is direct evidence of work.
pub(super) fn is_busy(facts: &AgentFacts, profile: &Profile, now: Time) -> bool {
    let evidence = StateEvidence { facts, profile, last: AgentState::Unknown, now };
    if evidence.starting().is_some() || evidence.is_coming_up() {
        return false;
    }
    evidence.busy_title().is_some()
        || evidence.busy_hit().is_some()
        || evidence.busy_osc().is_some()
}

struct StateEvidence<'a> {
    facts: &'a AgentFacts,
    profile: &'a Profile,
    last: AgentState,
    now: Time,
}

fn after(time: Time, millis: u64) -> Time {
    Time(time.0.saturating_add(millis))
}

impl StateEvidence<'_> {
    fn age(&self, since: Time) -> u64 {
        self.now.since(since)
    }

    /// A rule match that means that the program is still starting.
    fn starting(&self) -> Option<StateVerdict> {
        let held = self.facts.matches_for(AgentState::Starting).next()?;
        let weight = self.weight(held);
        Some(StateVerdict::new(AgentState::Starting, StateSource::Screen, weight, held.since))
    }

    /// Whether the program cannot have work yet, because it never had a composer.
    fn is_coming_up(&self) -> bool {
        if self.profile.is_generic() {
            return !self.facts.was_ready;
        }
        !self.facts.was_ready && !self.facts.composer.value && self.profile.composer.is_some()
    }

    fn blocked(&self) -> Option<StateVerdict> {
        let blocked_by =
            |source, weight, at| StateVerdict::new(AgentState::Blocked, source, weight, at);
        if self.facts.dialog.value.is_some() {
            let verdict = blocked_by(StateSource::Screen, 0.97, self.facts.dialog.since);
            return Some(self.steady(verdict));
        }
        if let Some(title) =
            self.facts.title.as_ref().filter(|it| it.says == Some(AgentState::Blocked))
        {
            return Some(blocked_by(StateSource::Title, 0.9, title.since));
        }
        if let Some(at) = self.reported_question() {
            return Some(blocked_by(StateSource::Osc, STATUS, at));
        }
        if let Some(held) = self.facts.matches_for(AgentState::Blocked).next() {
            return Some(blocked_by(StateSource::Screen, self.weight(held), held.since));
        }
        let osc = self.facts.osc.as_ref().filter(|it| it.says == Some(AgentState::Blocked));
        let asked =
            self.hook(AgentState::Blocked).map(|claim| (StateSource::Hook, claim.weight, claim.at));
        let (source, weight, at) = asked.or(osc.map(|osc| (StateSource::Osc, 0.8, osc.since)))?;
        if self.busy_title().is_some() || self.is_answered(at) {
            return None;
        }
        Some(blocked_by(source, weight, at).recheck_by(after(at, ASKING)))
    }

    /// A question that replaces a composer may be a half-drawn screen, so it must stay for
    /// [`FLICKER`].
    fn steady(&self, verdict: StateVerdict) -> StateVerdict {
        let facts = self.facts;
        let sure = after(facts.dialog.since.max(facts.composer.since), FLICKER);
        let was_idle = facts.was_ready && !facts.turn && self.last == AgentState::Ready;
        if was_idle && self.now < sure {
            return StateVerdict::new(self.last, StateSource::Screen, 0.5, verdict.at)
                .recheck_by(sure);
        }
        verdict
    }

    /// Whether a question that only a hook reported has been answered.
    fn is_answered(&self, asked: Time) -> bool {
        let busy_again = self.busy_hit().is_some() && ASKING < self.age(asked);
        let composer = &self.facts.composer;
        let ready_again = composer.value && self.busy_hit().is_none() && asked < composer.since;
        let overruled = composer.value && HOOK < self.age(asked.max(composer.since));
        busy_again || ready_again || overruled
    }

    fn busy(&self) -> Option<StateVerdict> {
        let state = if self.is_coming_up() { AgentState::Starting } else { AgentState::Busy };
        let busy_by = |source, weight, at| StateVerdict::new(state, source, weight, at);
        if let Some((since, moved, moves)) = self.busy_title() {
            let verdict = busy_by(StateSource::Title, 0.95, since);
            let stale = after(moved, self.profile.timing.stale);
            return Some(if moves { verdict.recheck_by(stale) } else { verdict });
        }
        if let Some(held) = self.busy_hit() {
            let weight = self.weight(held);
            let frozen = after(held.moved, 2 * self.profile.timing.stale);
            if self.profile.rules[held.rule_match.rule].moves && frozen <= self.now {
                return Some(StateVerdict::new(
                    AgentState::Unknown,
                    StateSource::Screen,
                    weight,
                    held.since,
                ));
            }
            let stale = after(held.moved, self.profile.timing.stale);
            let again = match self.profile.is_generic() {
                true => self.believed_until(held),
                false if self.now < stale => stale,
                false => frozen,
            };
            return Some(busy_by(StateSource::Screen, weight, held.since).recheck_by(again));
        }
        if let Some(since) = self.busy_osc() {
            let osc = busy_by(StateSource::Osc, 0.9, since);
            let stale_at = after(self.facts.moved_at, self.profile.timing.stale);
            return Some(if self.profile.is_generic() { osc.recheck_by(stale_at) } else { osc });
        }
        let (at, until) = self.reported_work()?;
        let verdict = busy_by(StateSource::Osc, STATUS, at);
        Some(until.map_or(verdict, |until| verdict.recheck_by(until)))
    }

    /// Since when a title reports busy, when it changed last, and whether it is animated.
    fn busy_title(&self) -> Option<(Time, Time, bool)> {
        let title = self.facts.title.as_ref().filter(|it| it.says == Some(AgentState::Busy))?;
        let is_stale = title.moves && self.profile.timing.stale < self.age(title.moved);
        (!is_stale && !self.blinks(title)).then_some((title.since, title.moved, title.moves))
    }

    fn blinks(&self, title: &SignalClaim) -> bool {
        !self.facts.turn && self.age(title.since) < BLINK
    }

    /// A title has just begun to report busy, and Enter was not pressed: the last state is kept
    /// until [`BLINK`] has passed.
    fn blinking(&self) -> Option<StateVerdict> {
        let title = self.facts.title.as_ref().filter(|it| it.says == Some(AgentState::Busy))?;
        let verdict = StateVerdict::new(self.last, StateSource::Title, 0.5, title.since);
        self.blinks(title).then(|| verdict.recheck_by(after(title.since, BLINK)))
    }

    fn busy_hit(&self) -> Option<&TimedRuleMatch> {
        let ready = self.facts.title.as_ref().filter(|it| it.says == Some(AgentState::Ready));
        self.facts.matches_for(AgentState::Busy).find(|held| {
            let rule = &self.profile.rules[held.rule_match.rule];
            let is_stale = self.profile.timing.stale <= self.age(held.moved);
            if self.profile.is_generic() && !self.speaks_of_work(held) {
                return false;
            }
            // Text that should move and does not is prose if a title reports ready.
            let is_prose = ready.is_some_and(|title| title.since <= held.moved || rule.moves);
            let is_only_state = rule.pattern.is_none() && !self.facts.was_ready;
            !(is_only_state || is_stale && is_prose)
        })
    }

    fn busy_osc(&self) -> Option<Time> {
        let osc = self.facts.osc.as_ref().filter(|it| it.says == Some(AgentState::Busy))?;
        // A program without a profile may use marks in its own way: they count while the screen
        // moves.
        let is_believed = !self.profile.is_generic() || self.has_moved();
        is_believed.then_some(osc.since)
    }

    /// The weight of a match: halved if it should move and does not.
    fn weight(&self, held: &TimedRuleMatch) -> f32 {
        let rule = &self.profile.rules[held.rule_match.rule];
        let is_stale = rule.moves && self.profile.timing.stale <= self.age(held.moved);
        if is_stale { rule.weight * 0.5 } else { rule.weight }
    }

    fn hook(&self, state: AgentState) -> Option<&HookClaim> {
        self.facts.hook.as_ref().filter(|claim| claim.says == state)
    }

    /// Messages wait for the end of the turn, so the turn is not over.
    fn queued(&self) -> Option<StateVerdict> {
        let queued = self.facts.findings.as_ref().is_some_and(|findings| findings.queued);
        let busy = StateVerdict::new(AgentState::Busy, StateSource::Screen, 0.8, self.turn_began());
        (queued && self.facts.turn).then_some(busy)
    }

    /// Enter was pressed on a draft, and nothing shows its effect yet.
    fn expected(&self) -> Option<StateVerdict> {
        let enter = self.facts.enter.as_ref()?;
        if !self.facts.was_ready || self.ready_since(enter.at).is_some() {
            return None;
        }
        let printed = self.facts.printed_at.max(enter.at);
        let expect = after(printed, self.profile.timing.expect).min(after(enter.at, EXPECT));
        let began = self.facts.busy.is_some_and(|busy| enter.at <= busy)
            || self.profile.is_generic()
                && (self.has_answered(enter.at) || self.is_back_at_rest(enter.at));
        let verdict = StateVerdict::new(AgentState::Busy, StateSource::Input, 0.8, enter.at);
        (self.now < expect && !began).then(|| verdict.recheck_by(expect))
    }

    /// Direct evidence of ready that began after a moment.
    fn ready_since(&self, moment: Time) -> Option<(StateSource, f32, Time)> {
        let facts = self.facts;
        let title = facts.title.as_ref().filter(|it| it.says == Some(AgentState::Ready));
        let title = title.map(|title| (StateSource::Title, 0.95, title.since));
        let hook = self.hook(AgentState::Ready).filter(|it| !self.is_early(it));
        let hook = hook.map(|it| (StateSource::Hook, it.weight, it.at));
        let osc = facts.osc.as_ref().filter(|it| it.says == Some(AgentState::Ready));
        let osc = osc.map(|osc| (StateSource::Osc, 0.9, osc.since));
        let mark = self.marks().find(|held| self.profile.rules[held.rule_match.rule].exact);
        let mark = mark.map(|held| (StateSource::Screen, self.weight(held), held.moved));
        let status = self.reported_end().map(|at| (StateSource::Osc, STATUS, at));
        let all = [title, hook, osc, status, mark, self.editor()];
        all.into_iter().flatten().find(|(_, _, at)| moment < *at)
    }

    /// Whether a hook reports ready before the screen could show it.
    fn is_early(&self, claim: &HookClaim) -> bool {
        self.is_too_soon(claim.at)
    }

    /// Whether evidence from this time may be ahead of the screen.
    fn is_too_soon(&self, at: Time) -> bool {
        let seen = self.facts.busy.map_or(at, |busy| busy.max(at));
        self.facts.turn && self.age(seen) < HOOK_EARLY
    }

    /// Rule matches that mean that a turn is over.
    fn marks(&self) -> impl Iterator<Item = &TimedRuleMatch> {
        let over = [AgentState::Ready, AgentState::Error, AgentState::Limited];
        self.facts.rule_matches.iter().filter(move |held| over.contains(&held.rule_match.supports))
    }

    /// A line editor that waits for a line is ready; after Enter only once it shows a new line.
    fn editor(&self) -> Option<(StateSource, f32, Time)> {
        let shape = self.profile.composer.as_ref().filter(|shape| shape.exact)?;
        let composer = &self.facts.composer;
        let new = self.facts.enter.as_ref().filter(|enter| !enter.kept);
        let at = new.map_or(composer.since, |enter| composer.since.max(after(enter.at, 1)));
        composer.value.then_some((StateSource::Screen, shape.weight(), at))
    }

    fn ready(&self) -> Option<StateVerdict> {
        if self.profile.is_generic() {
            return self.generic_ready();
        }
        let facts = self.facts;
        let timing = &self.profile.timing;
        let is_there = self.profile.composer.is_none() || facts.composer.value;
        let outright = self.ready_since(self.turn_began());
        if !is_there || (outright.is_none() && self.profile.composer.is_none()) {
            return self.hooked().filter(|_| !is_there || outright.is_none());
        }
        let shape = self.profile.composer.as_ref();
        let weight = shape.map_or(0.7, |shape| shape.weight());
        let (source, weight, at) =
            outright.unwrap_or((StateSource::Screen, weight, facts.composer.since));
        let settled = after(facts.composer.since, timing.settle);
        if facts.turn && shape.is_some_and(|shape| shape.exact) && self.now < settled {
            let verdict =
                StateVerdict::new(AgentState::Busy, StateSource::Screen, 0.6, facts.moved_at);
            return Some(verdict.recheck_by(settled));
        }
        let rested = after(facts.interrupted.unwrap_or_default(), timing.rest);
        if facts.turn && self.now < rested {
            let verdict =
                StateVerdict::new(AgentState::Busy, StateSource::Input, 0.6, facts.moved_at);
            return Some(verdict.recheck_by(rested));
        }
        if outright.is_none() && facts.turn {
            if let Some(busy) = self.hooked().or_else(|| self.unanswered()) {
                return Some(busy);
            }
            let settle = match self.hook(AgentState::Ready) {
                Some(_) => timing.settle.min(HOOK_EARLY),
                None => timing.settle,
            };
            let settled = facts.busy.map_or(facts.started_at, |busy| after(busy, settle));
            let quiet = after(facts.moved_at, timing.quiet);
            let ready_at = settled.max(quiet);
            if self.now < ready_at {
                let source = if settled < quiet { StateSource::Screen } else { StateSource::Quiet };
                let verdict = StateVerdict::new(AgentState::Busy, source, 0.6, facts.moved_at);
                return Some(verdict.recheck_by(ready_at));
            }
        }
        Some(self.outcome(StateVerdict::new(AgentState::Ready, source, weight, at)))
    }

    /// When the current or the last turn began.
    fn turn_began(&self) -> Time {
        let entered = self.facts.enter.as_ref().map(|enter| enter.at);
        entered.unwrap_or(Time(0))
    }

    /// A hook that reports busy, while it is believed against a screen that does not show work.
    fn hooked(&self) -> Option<StateVerdict> {
        let claim = self.hook(AgentState::Busy)?;
        let seen = self.facts.busy.map_or(claim.at, |busy| busy.max(claim.at));
        let until = after(seen, HOOK);
        let is_there = self.facts.composer.value && until <= self.now;
        let verdict =
            StateVerdict::new(AgentState::Busy, StateSource::Hook, claim.weight, claim.at);
        (!is_there)
            .then(|| if self.facts.composer.value { verdict.recheck_by(until) } else { verdict })
    }

    /// The user's message is the last thing on the screen.
    fn unanswered(&self) -> Option<StateVerdict> {
        let is = self.facts.findings.as_ref().is_some_and(|findings| findings.unanswered);
        is.then(|| {
            StateVerdict::new(AgentState::Busy, StateSource::Screen, 0.75, self.turn_began())
        })
    }

    /// Ready, or the error or limit in which the last turn ended.
    fn outcome(&self, ready: StateVerdict) -> StateVerdict {
        let ended = |state| {
            let held = self.facts.matches_for(state).find(|held| !self.went_on(held))?;
            Some(StateVerdict::new(state, StateSource::Screen, self.weight(held), held.since))
        };
        let claimed = |state| {
            let claim = self.hook(state)?;
            Some(StateVerdict::new(state, StateSource::Hook, claim.weight, claim.at))
        };
        let limited = AgentState::Limited;
        let error = AgentState::Error;
        ended(limited)
            .or_else(|| claimed(limited))
            .or_else(|| ended(error))
            .or_else(|| claimed(error))
            .or_else(|| {
                self.reported(error)
                    .map(|at| StateVerdict::new(error, StateSource::Osc, STATUS, at))
            })
            .unwrap_or(ready)
    }

    /// There is no question, no composer and no sign of work.
    fn no_evidence(&self) -> StateVerdict {
        let facts = self.facts;
        let hidden = facts.composer.since;
        let late = after(facts.started_at.max(facts.dialog.since), self.profile.timing.starting);
        if !facts.was_ready && self.now < late {
            return StateVerdict::new(
                AgentState::Starting,
                StateSource::Process,
                0.7,
                facts.started_at,
            )
            .recheck_by(late);
        }
        if let Some(verdict) = self.generic_moving().filter(|_| self.profile.is_generic()) {
            return verdict;
        }
        if let Some(state) = super::regions::absent(self.profile).filter(|_| facts.was_ready) {
            return StateVerdict::new(state, StateSource::Screen, 0.75, hidden);
        }
        let lost = after(hidden.max(facts.dialog.since), self.profile.timing.lost);
        if self.now < lost {
            let sure = after(facts.dialog.since, FLICKER);
            let keep = match self.last {
                AgentState::Blocked if sure <= self.now => AgentState::Busy,
                other => other,
            };
            let again = if self.now < sure { sure } else { lost };
            return StateVerdict::new(keep, StateSource::Quiet, 0.5, hidden).recheck_by(again);
        }
        StateVerdict::new(AgentState::Unknown, StateSource::Screen, 0.3, hidden)
    }

    /// After a quit command, weak evidence of work does not make the agent busy.
    fn leaving(&self, verdict: StateVerdict) -> StateVerdict {
        let Some(left) = self.facts.quit_at else {
            return verdict;
        };
        let until = after(left, LEAVING);
        let is_guess = matches!(verdict.state, AgentState::Busy | AgentState::Unknown)
            && verdict.confidence < 0.9;
        let was = matches!(self.last, AgentState::Ready | AgentState::Error | AgentState::Limited);
        if self.now < until && is_guess && was {
            return StateVerdict::new(self.last, StateSource::Input, 0.6, left).recheck_by(until);
        }
        verdict
    }
}
