//! Judges a program without a profile: no sign is trusted alone, and ready needs two signs.

use paned_model::{AgentState, StateSource, Time};

use super::super::composer_memory::SignShape;
use super::super::facts::{TimedRuleMatch, mask_digits};
use super::{StateEvidence, StateVerdict, after};

/// How long the echo of typed text may take to appear.
const ECHO: u64 = 300;
/// How long the first composer of such a program must not change.
const FIRST: u64 = 700;
/// The same for a line with a prompt sign, at which a line editor waits, and for a composer of a
/// program that enables bracketed paste, which shows that it reads input.
const FIRST_INPUT: u64 = 300;
/// How long such a composer must be on the screen while the rest still changes.
const FIRST_STAYS: u64 = 450;
/// How long a composer must not change if it accepted input in an earlier run of the program.
const KNOWN: u64 = 150;
/// How long a sign of work at start-up may stay unchanged.
const MOVING: u64 = 1500;
/// How long a prompt that came back must not change.
const PROMPTED: u64 = 150;
/// How long after Enter a program that keeps its composer on the screen counts as busy.
const ANSWERED: u64 = 1000;
/// The same if a sign of work has come and gone since.
const WORKED: u64 = 600;
/// How long a sign of work may still be there after an error that ends the turn.
const WENT_ON: u64 = 200;
/// How long the screen must not change after a sign of work has gone.
const SIGNED: u64 = 300;
/// How often a terminal is checked again while its program does not read.
const AWAY_RECHECK: u64 = 80;
/// The same while no composer is on the screen.
const WORKING_RECHECK: u64 = 500;

impl StateEvidence<'_> {
    /// Whether text found in a program without a profile means work. It does not if the same row
    /// was there while the program was ready, or if it has not changed before the program was
    /// ready.
    pub(super) fn speaks_of_work(&self, held: &TimedRuleMatch) -> bool {
        match self.facts.was_ready {
            true if self.facts.idle_rows.contains(&mask_digits(&held.rule_match.row)) => false,
            // Text that does not change is prose, unless it is below the composer, where programs
            // list their keys.
            true => self.age(held.moved) < MOVING || held.rule_match.is_below && self.has_moved(),
            false => self.age(held.moved) < MOVING && held.since < held.moved,
        }
    }

    /// Whether anything on the screen changed a short while ago.
    pub(super) fn has_moved(&self) -> bool {
        self.age(self.facts.moved_at) < self.profile.timing.stale
    }

    /// Whether a prompt that took input before has come back after the last Enter.
    pub(super) fn is_prompted_anew(&self) -> bool {
        let facts = self.facts;
        let is_new = facts.enter.as_ref().is_none_or(|enter| !enter.kept);
        facts.is_prompted() && (is_new || self.turn_began() < facts.composer.since)
    }

    /// Whether the terminal shows that the program accepts no line now, whatever its screen shows:
    /// the kernel edits lines and no process waits for one, or the terminal is in other modes than
    /// when the program accepted input. A program may have switched its line editor off: then its
    /// prompt is back and its process sleeps in a read of the terminal.
    pub(super) fn is_away(&self) -> bool {
        let facts = self.facts;
        if !self.profile.reads_lines() {
            return false;
        }
        let waits_at_prompt = facts.waited.is_some() && facts.is_prompted();
        facts.reads_no_line() || facts.has_other_modes() && !waits_at_prompt
    }

    /// Work that only the terminal shows: its program reads no line. The terminal sends no
    /// notification of a change, so it is polled. A process that sleeps in a read of the terminal
    /// in other modes does not work: it waits for input at an unknown place.
    pub(super) fn away(&self) -> Option<StateVerdict> {
        let facts = self.facts;
        let is_reported = self
            .ready_since(self.turn_began())
            .is_some_and(|(source, ..)| source == StateSource::Hook);
        if !self.is_away() || is_reported || !facts.was_ready || !facts.turn {
            return None;
        }
        let pause = if facts.composer.value { AWAY_RECHECK } else { WORKING_RECHECK };
        let waits_elsewhere = facts.waited.is_some() && !facts.reads_no_line();
        let (state, weight) = match waits_elsewhere {
            true => (AgentState::Unknown, 0.5),
            false => (AgentState::Busy, 0.8),
        };
        let verdict = StateVerdict::new(state, StateSource::Process, weight, self.turn_began());
        Some(verdict.recheck_by(after(self.now, pause)))
    }

    /// Ready by at least two signs: a composer, and a screen that stopped changing; or a prompt
    /// that came back.
    pub(super) fn generic_ready(&self) -> Option<StateVerdict> {
        let facts = self.facts;
        let timing = &self.profile.timing;
        let reported = self.ready_since(self.turn_began());
        if let Some((StateSource::Hook, weight, at)) = reported {
            return Some(self.outcome(StateVerdict::new(
                AgentState::Ready,
                StateSource::Hook,
                weight,
                at,
            )));
        }
        if !facts.composer.value {
            return self.hooked();
        }
        let verdict = |state, confidence| {
            StateVerdict::new(state, StateSource::Screen, confidence, facts.moved_at)
        };
        let changed = facts.moved_at.max(facts.composer.since);
        let (waits, ready_at) = match (facts.was_ready, facts.turn) {
            (false, _) => (AgentState::Starting, self.first_ready_at(changed)),
            (true, false) => (self.last, self.now),
            (true, true) if self.is_prompted_anew() || self.waits_anew(changed) => {
                (AgentState::Busy, after(changed, PROMPTED))
            }
            (true, true) => {
                let (quiet, answered) = match facts.busy.filter(|busy| self.turn_began() <= *busy) {
                    Some(busy) => (after(busy, timing.settle).max(after(changed, SIGNED)), WORKED),
                    None => (after(changed, timing.quiet), ANSWERED),
                };
                let rested = after(facts.interrupted.unwrap_or_default(), timing.rest);
                let entered = after(self.turn_began(), answered);
                let computed = facts.computed.map_or(Time(0), |at| after(at, timing.quiet));
                (AgentState::Busy, quiet.max(rested).max(entered).max(computed))
            }
        };
        if self.now < ready_at {
            return Some(verdict(waits, 0.6).recheck_by(ready_at));
        }
        if !facts.was_ready && self.is_away() {
            let late = after(facts.started_at, timing.starting);
            let state = if self.now < late { AgentState::Starting } else { AgentState::Unknown };
            return Some(verdict(state, 0.6).recheck_by(after(self.now, AWAY_RECHECK)));
        }
        if let Some(busy) = self.hooked().filter(|_| facts.turn) {
            return Some(busy);
        }
        Some(self.outcome(verdict(AgentState::Ready, 0.7)))
    }

    /// When a program that was never ready becomes ready if nothing changes. A second sign beside
    /// its composer makes it sooner.
    fn first_ready_at(&self, changed: Time) -> Time {
        let facts = self.facts;
        if facts.known_since().is_some() || facts.waited.is_some_and(|at| changed <= at) {
            return after(changed, KNOWN);
        }
        let is_line = facts.sign().is_some_and(|sign| sign.shape == SignShape::Line);
        let takes_pastes = facts.findings.as_ref().is_some_and(|findings| findings.takes_pastes);
        match (is_line, takes_pastes) {
            (_, true) => after(changed, FIRST_INPUT).min(after(facts.composer.since, FIRST_STAYS)),
            (true, false) => after(changed, FIRST_INPUT),
            (false, false) => after(changed, FIRST),
        }
    }

    /// Whether the composer came back after the last Enter and a process has waited for input
    /// since: it was seen asleep in a read of the terminal after the last change of the screen.
    fn waits_anew(&self, changed: Time) -> bool {
        let waits = self.facts.waited.is_some_and(|at| changed <= at);
        waits && self.turn_began() < self.facts.composer.since
    }

    /// Whether the turn went on after a row that reports its end: a tool call failed or was
    /// refused, and the answer came below it. Profiles name the errors that end a turn; other
    /// programs use the same words for both.
    pub(super) fn went_on(&self, held: &TimedRuleMatch) -> bool {
        let worked = self.facts.busy.is_some_and(|busy| after(held.moved, WENT_ON) < busy);
        self.profile.is_generic() && held.rule_match.is_followed && worked
    }

    /// Until when a sign of work is believed if nothing changes.
    pub(super) fn believed_until(&self, held: &TimedRuleMatch) -> Time {
        match self.facts.was_ready && held.rule_match.is_below {
            true => after(self.facts.moved_at, self.profile.timing.stale),
            false => after(held.moved, MOVING),
        }
    }

    /// Whether the program reacted to Enter with more than the echo of what was typed.
    pub(super) fn has_answered(&self, entered: Time) -> bool {
        after(entered, ECHO) < self.facts.moved_at || self.is_prompted_anew()
    }

    /// Whether a composer is back after Enter, and the terminal is as it was when the program
    /// accepted input: the prompt itself may differ, such as `MariaDB [test]>`.
    pub(super) fn is_back_at_rest(&self, entered: Time) -> bool {
        let facts = self.facts;
        let is_new = facts.enter.as_ref().is_some_and(|enter| !enter.kept);
        let reads = facts.terminal.is_some_and(|terminal| terminal.reads == Some(true));
        let is_moved = entered < facts.moved_at;
        facts.composer.value && is_new && is_moved && reads && !self.is_away()
    }

    /// Without a composer, the program works as long as the screen changes.
    pub(super) fn generic_moving(&self) -> Option<StateVerdict> {
        let facts = self.facts;
        let stale_at = after(facts.moved_at, self.profile.timing.stale);
        let busy =
            StateVerdict::new(AgentState::Busy, StateSource::Screen, 0.6, facts.composer.since);
        if facts.turn && facts.was_ready && facts.reads_nothing() && !facts.composer.value {
            return Some(busy.recheck_by(after(self.now, WORKING_RECHECK)));
        }
        (facts.turn && self.has_moved()).then(|| busy.recheck_by(stale_at))
    }
}
