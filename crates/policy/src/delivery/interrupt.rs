//! Interrupts an agent's turn, and confirms that it ended.

use std::sync::Arc;

use paned_model::frame::InputGuard;
use paned_model::{AgentState, TerminalState, Time};
use paned_term::keys::Key;

use super::{InputAction, Step, WriteResult};
use crate::agent::{Composer, Observation, Profile};

/// A press that had no effect for this long is followed by the next, in milliseconds.
const NEXT: u64 = 350;
/// How long after a skipped write the next one is tried.
const AGAIN: u64 = 15;
/// How long every press may be skipped because the screen changed after the observation.
const RESTLESS: u64 = 1_500;
/// How long a turn may take to end after the last press, and after how long all presses are
/// repeated.
const CONFIRM: u64 = 10_000;
const ROUND: u64 = 2_500;
const ROUNDS: u32 = 2;
/// How long a prompt may take to come back, and how often it is cleared.
const RESTORE: u64 = 600;
const CLEARS: u32 = 8;
/// How soon a program without a profile ends an interrupted turn, in milliseconds. Whether its keys
/// interrupt at all is not known: a turn that ends later may have ended by itself.
const EFFECT: u64 = 3_000;

/// An attempt to interrupt a turn.
#[derive(Clone, Debug)]
pub struct InterruptAttempt {
    profile: Arc<Profile>,
    /// The keys of one press.
    keys: Vec<Key>,
    pressed: u32,
    cleared: u32,
    clears: bool,
    /// The count of typed inputs before the first press.
    typed_before: Option<Option<u64>>,
    /// The question that was on the screen before the first press, by its id.
    question: Option<String>,
    not_before: Option<Time>,
    last: Option<Time>,
    begun: Time,
    moved_since: Option<Time>,
}

/// How an interrupt ended: the agent is not busy any more, or was not; or the turn could not be
/// interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptOutcome {
    /// Whether this attempt interrupted it.
    pub interrupted: bool,
    /// The evidence for that, in sentences.
    pub evidence: Vec<String>,
}

impl InterruptAttempt {
    /// Interrupts the running turn. Where the kernel makes a signal of Ctrl+C, that is pressed: in
    /// canonical mode any other key would stay in the input line, before the next prompt.
    #[must_use]
    pub fn new(profile: Arc<Profile>, terminal: Option<TerminalState>, now: Time) -> Self {
        let keys = match terminal.is_some_and(|terminal| terminal.interrupts_by_signal()) {
            true => "ctrl+c".parse().into_iter().collect(),
            false => profile.interrupt.keys.clone(),
        };
        Self {
            profile,
            keys,
            pressed: 0,
            cleared: 0,
            clears: false,
            typed_before: None,
            question: None,
            not_before: None,
            last: None,
            begun: now,
            moved_since: None,
        }
    }

    /// The next step, given the current observation.
    pub fn step(&mut self, observation: &Observation, now: Time) -> Step<InterruptOutcome> {
        let wait = self.not_before.filter(|until| now < *until);
        match observation.state {
            AgentState::Busy => {}
            // The first press may dismiss a question.
            AgentState::Blocked if self.pressed == 0 => {}
            // The program may not have read that press yet, or not drawn what follows it.
            AgentState::Blocked if self.still_asks(observation) && self.is_settling(now) => {
                return self.wait(now);
            }
            AgentState::Unknown | AgentState::Starting if self.is_within(now) => {
                return self.wait(now);
            }
            state => return self.clear_restored_prompt(state, wait, observation, now),
        }
        if wait.is_none() && self.pressed < self.presses() * ROUNDS && self.may_press(now) {
            self.typed_before.get_or_insert(observation.typed);
            if self.pressed == 0 {
                self.question = observation.dialog.as_ref().map(|dialog| dialog.id.clone());
            }
            let keys = InputAction::Press(self.keys.clone());
            return Step::Write(keys, self.guard(observation, now));
        }
        if self.is_within(now) { self.wait(now) } else { self.over(observation, now) }
    }

    /// Whether the question that was on the screen before the first press is still there. A
    /// question that could not be parsed counts as the same.
    fn still_asks(&self, observation: &Observation) -> bool {
        let is_same = |id: &String| self.question.as_ref() == Some(id);
        observation.state == AgentState::Blocked
            && observation.dialog.as_ref().is_none_or(|dialog| is_same(&dialog.id))
    }

    /// Whether the last press is too recent to tell what it led to.
    fn is_settling(&self, now: Time) -> bool {
        self.last.is_some_and(|last| now.since(last) < ROUND)
    }

    /// Takes the result of a write; returns a sentence if it ends the attempt.
    pub fn write_finished(&mut self, how: &WriteResult, now: Time) -> Option<String> {
        match how {
            WriteResult::Done { .. } => {
                let count = if self.clears { &mut self.cleared } else { &mut self.pressed };
                *count += 1;
                self.moved_since = None;
                let gap = NEXT.min(self.profile.interrupt.within_ms / 3).max(50);
                self.last = Some(now);
                self.not_before = Some(Time(now.0 + gap));
                None
            }
            WriteResult::Stale | WriteResult::Unread => {
                self.moved_since.get_or_insert(now);
                self.not_before = Some(Time(now.0 + AGAIN));
                (CONFIRM <= now.since(self.begun)).then(|| "a user is typing".to_owned())
            }
            WriteResult::Refused(why) | WriteResult::Unknown(why) => Some(why.clone()),
        }
    }

    /// A key that is meant for the turn must not reach what comes after it. A turn that never stops
    /// printing is interrupted all the same: then the guard covers only typed input.
    fn guard(&self, observation: &Observation, now: Time) -> InputGuard {
        let restless = self.moved_since.is_some_and(|since| RESTLESS <= now.since(since));
        let end = (observation.asks() || !restless).then_some(observation.end);
        InputGuard { end, typed: observation.typed }
    }

    /// How many presses make a round.
    fn presses(&self) -> u32 {
        u32::try_from(self.profile.interrupt.presses).unwrap_or(1).max(1)
    }

    /// The presses of a round follow each other; the next round waits longer.
    fn may_press(&self, now: Time) -> bool {
        let round_over = 0 < self.pressed && self.pressed.is_multiple_of(self.presses());
        !round_over || self.last.is_none_or(|last| ROUND <= now.since(last))
    }

    /// The turn is over. A prompt that the program has put back is not a user's draft, and would
    /// block the next message, so it is cleared.
    fn clear_restored_prompt(
        &mut self,
        state: AgentState,
        wait: Option<Time>,
        observation: &Observation,
        now: Time,
    ) -> Step<InterruptOutcome> {
        let clear = &self.profile.submit.clear;
        let restores = self.profile.interrupt.restores && 0 < self.pressed && !clear.is_empty();
        let alone = self.typed_before == Some(observation.typed) && !observation.may_ask();
        if !restores || !alone || state == AgentState::Exited {
            return self.over(observation, now);
        }
        let soon = self.last.map(|last| Time(last.0 + RESTORE)).filter(|until| now < *until);
        match observation.composer {
            Composer::Draft(_) if wait.is_some() => Step::Wait(wait, ()),
            Composer::Draft(_) if self.cleared < CLEARS => {
                self.clears = true;
                Step::Write(InputAction::Press(clear.clone()), observation.guard())
            }
            // The prompt may come back.
            Composer::Empty | Composer::Hidden if soon.is_some() && !self.clears => {
                Step::Wait(soon, ())
            }
            Composer::Draft(_) | Composer::Empty | Composer::Hidden => self.over(observation, now),
        }
    }

    fn is_within(&self, now: Time) -> bool {
        now.since(self.last.unwrap_or(self.begun)) < CONFIRM
    }

    fn wait(&self, now: Time) -> Step<InterruptOutcome> {
        let last = self.last.unwrap_or(self.begun);
        let times = [self.not_before, Some(Time(last.0 + ROUND)), Some(Time(last.0 + CONFIRM))];
        Step::Wait(times.into_iter().flatten().filter(|at| now < *at).min(), ())
    }

    fn over(&self, observation: &Observation, now: Time) -> Step<InterruptOutcome> {
        let goes_on = observation.state == AgentState::Busy || self.still_asks(observation);
        let is_past_effect = |last: Time| self.profile.is_generic() && EFFECT < now.since(last);
        let is_late = self.last.is_some_and(is_past_effect);
        let interrupted = 0 < self.pressed && !goes_on && !is_late;
        let mut evidence = vec![match (self.pressed, observation.state) {
            (0, state) => format!("it is {state}; nothing was pressed"),
            (count, state) if goes_on => format!("{}; it is still {state}", times(count)),
            (count, state) => format!("{}; it is now {state}", times(count)),
        }];
        if is_late && !goes_on {
            evidence.push(
                "it stopped long after the keys, so the turn may have ended by itself".to_owned(),
            );
        }
        if 0 < self.cleared {
            evidence.push("the restored prompt was cleared from the composer".to_owned());
        }
        Step::Finished(InterruptOutcome { interrupted, evidence })
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "the interrupt keys were pressed once".to_owned(),
        count => format!("the interrupt keys were pressed {count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WROTE, profile, question, ready};
    use super::*;
    use crate::agent::ProfileLibrary;

    fn start(profile: &Profile, now: Time) -> InterruptAttempt {
        InterruptAttempt::new(Arc::new(profile.clone()), None, now)
    }

    /// Interrupts a turn that ends after so many presses; returns the number of presses and whether
    /// it was interrupted.
    fn break_off(presses: usize, ends_after: u32) -> (u32, bool) {
        let mut profile = Profile::clone(&profile());
        profile.interrupt.presses = presses;
        let mut now = Time(1_000_000);
        let (mut interrupt, mut scene) = (start(&profile, now), ready());
        scene.state = AgentState::Busy;
        let mut count = 0;
        loop {
            match interrupt.step(&scene, now) {
                Step::Write(act, _) => {
                    assert_eq!(act, InputAction::Press(profile.interrupt.keys.clone()));
                    interrupt.write_finished(&WROTE, now);
                    count += 1;
                    if count == ends_after {
                        scene.state = AgentState::Ready;
                    }
                }
                Step::Wait(Some(until), ()) => {
                    assert!(now < until);
                    now = until;
                }
                Step::Finished(InterruptOutcome { interrupted, .. }) => {
                    return (count, interrupted);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn it_is_pressed_as_often_as_it_takes_and_no_more() {
        assert_eq!(break_off(1, 1), (1, true));
        assert_eq!(break_off(2, 2), (2, true));
        assert_eq!(break_off(2, 1), (1, true));
        assert_eq!(break_off(1, 2), (2, true), "a press that was lost is done again");
        assert_eq!(break_off(1, 9), (2, false));
        assert_eq!(break_off(2, 9), (4, false));
    }

    /// Interrupts a turn that waits on a question. After the press, `then` changes the scene;
    /// returns whether it was interrupted and how long that took.
    fn break_off_question(then: impl Fn(&mut Observation)) -> (bool, u64) {
        let begun = Time(1_000_000);
        let (mut now, mut interrupt) = (begun, InterruptAttempt::new(profile(), None, begun));
        let mut scene = Observation {
            state: AgentState::Blocked,
            dialog: Some(question()),
            composer: Composer::Hidden,
            ..ready()
        };
        loop {
            match interrupt.step(&scene, now) {
                Step::Write(..) => {
                    interrupt.write_finished(&WROTE, now);
                    // The screen that is seen first is older than the key.
                    let again = interrupt.step(&scene, now);
                    assert!(matches!(again, Step::Wait(Some(_), ())), "{again:?}");
                    then(&mut scene);
                }
                Step::Wait(Some(until), ()) => now = until,
                Step::Finished(InterruptOutcome { interrupted, .. }) => {
                    return (interrupted, now.since(begun));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_question_is_over_when_it_has_left_the_screen() {
        let goes = |scene: &mut Observation| *scene = ready();
        assert_eq!(break_off_question(goes), (true, 0));
        assert_eq!(break_off_question(|_| {}), (false, ROUND), "it stays");
        let other = |scene: &mut Observation| scene.dialog.as_mut().unwrap().id = "another".into();
        assert_eq!(break_off_question(other), (true, 0), "another one follows it");
    }

    #[test]
    fn a_turn_that_ends_long_after_the_keys_was_not_broken_off_by_them() {
        let generic = ProfileLibrary::embedded().get("generic").unwrap().clone();
        for (ends_after, expect) in [(1_000, true), (6_000, false)] {
            let mut now = Time(1_000_000);
            let mut interrupt = InterruptAttempt::new(generic.clone(), None, now);
            let mut scene = ready();
            scene.state = AgentState::Busy;
            assert!(matches!(interrupt.step(&scene, now), Step::Write(..)));
            interrupt.write_finished(&WROTE, now);
            now = Time(now.0 + ends_after);
            scene.state = AgentState::Ready;
            let over = interrupt.step(&scene, now);
            let Step::Finished(InterruptOutcome { interrupted, .. }) = over else {
                panic!("{over:?}")
            };
            assert_eq!(interrupted, expect, "{ends_after}");
        }
    }

    #[test]
    fn an_agent_that_is_ready_is_left_alone() {
        let (now, scene) = (Time(5), ready());
        let over = InterruptAttempt::new(profile(), None, now).step(&scene, now);
        assert!(matches!(over, Step::Finished(InterruptOutcome { interrupted: false, .. })));
    }

    #[test]
    fn a_prompt_that_comes_back_is_cleared_away() {
        let mut profile = Profile::clone(&profile());
        profile.interrupt.restores = true;
        let mut now = Time(1_000_000);
        let (mut interrupt, mut scene) = (start(&profile, now), ready());
        scene.state = AgentState::Busy;
        assert!(matches!(interrupt.step(&scene, now), Step::Write(..)));
        interrupt.write_finished(&WROTE, now);
        (scene.state, scene.composer) = (AgentState::Ready, Composer::Draft("again".into()));
        now = Time(now.0 + 400);
        let Step::Write(act, _) = interrupt.step(&scene, now) else { panic!() };
        assert_eq!(act, InputAction::Press(profile.submit.clear));
        interrupt.write_finished(&WROTE, now);
        scene.composer = Composer::Empty;
        let over = interrupt.step(&scene, now);
        assert!(
            matches!(over, Step::Finished(InterruptOutcome { interrupted: true, .. })),
            "{over:?}"
        );
    }
}
