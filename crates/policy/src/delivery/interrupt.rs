//! Breaking off an agent's turn, and seeing that it is.

use paned_model::frame::Guard;
use paned_model::{AgentState, Time};

use super::step::passing;
use super::{Act, Recipe, Sight, Step, Wrote};

/// A press that had no effect for so long is followed by the next, in milliseconds.
const NEXT: u64 = 350;
/// How long after a write that did not happen the next one is tried.
const AGAIN: u64 = 15;
/// How long a turn may take to end after the last press.
const CONFIRM: u64 = 10_000;
/// How long a screen may keep moving between every look and the press after it.
const RESTLESS: u64 = 1_500;
/// How often all presses are done.
const ROUNDS: u32 = 2;

/// A turn that is being broken off.
#[derive(Clone, Debug)]
pub struct Interrupt {
    keys: Vec<String>,
    presses: u32,
    pressed: u32,
    not_before: Option<Time>,
    last: Option<Time>,
    begun: Time,
    moved_since: Option<Time>,
}

/// How breaking off a turn went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Do this next.
    Go(Step),
    /// It is not busy any more, or was not; with the evidence.
    Over {
        /// Whether it was broken off by this.
        interrupted: bool,
        /// In sentences.
        evidence: Vec<String>,
    },
}

impl Interrupt {
    /// Breaks off the turn that is under way.
    #[must_use]
    pub fn new(recipe: &Recipe, now: Time) -> Self {
        let (keys, presses) = (recipe.interrupt.keys.clone(), recipe.interrupt.presses.max(1));
        Self {
            keys,
            presses,
            pressed: 0,
            not_before: None,
            last: None,
            begun: now,
            moved_since: None,
        }
    }

    /// What to do next, from what is seen now.
    pub fn step(&mut self, sight: &Sight<'_>, now: Time) -> Broken {
        match sight.state {
            AgentState::Busy => {}
            AgentState::Blocked if self.pressed == 0 => {}
            // One press may have turned a question away, and the turn goes on without it.
            AgentState::Unknown | AgentState::Starting if self.within(now) => {
                return self.wait(now);
            }
            state => return self.over(state),
        }
        let wait = self.not_before.filter(|until| now < *until);
        let most = self.presses * ROUNDS;
        if wait.is_none() && self.pressed < most && self.may_press(now) {
            return Broken::Go(Step::Write(Act::Press(self.keys.clone()), self.guard(sight, now)));
        }
        if self.within(now) { self.wait(now) } else { self.over(sight.state) }
    }

    /// How the write went; a sentence if that ends it.
    pub fn wrote(&mut self, how: &Wrote, now: Time) -> Option<String> {
        match how {
            Wrote::Done { .. } => {
                self.pressed += 1;
                self.moved_since = None;
                (self.last, self.not_before) = (Some(now), Some(Time(now.0 + NEXT)));
                None
            }
            Wrote::Moved => {
                self.moved_since.get_or_insert(now);
                self.not_before = Some(Time(now.0 + AGAIN));
                (CONFIRM <= now.since(self.begun)).then(|| "somebody types all the time".to_owned())
            }
            Wrote::Refused(why) => Some(why.clone()),
        }
    }

    /// A key that is meant for the turn must not reach what comes after it. A turn that never stops printing is
    /// broken off all the same: then only typing is guarded against.
    fn guard(&self, sight: &Sight<'_>, now: Time) -> Guard {
        let restless = self.moved_since.is_some_and(|since| RESTLESS <= now.since(since));
        let end = (sight.asks() || !restless).then_some(sight.end);
        Guard { end, typed: sight.typed }
    }

    /// All presses of a round follow each other; the next round waits longer.
    fn may_press(&self, now: Time) -> bool {
        let round_over = 0 < self.pressed && self.pressed.is_multiple_of(self.presses);
        !round_over || self.last.is_none_or(|last| CONFIRM / 4 <= now.since(last))
    }

    fn within(&self, now: Time) -> bool {
        now.since(self.last.unwrap_or(self.begun)) < CONFIRM
    }

    fn wait(&self, now: Time) -> Broken {
        let last = self.last.unwrap_or(self.begun);
        let times =
            [self.not_before, Some(Time(last.0 + CONFIRM / 4)), Some(Time(last.0 + CONFIRM))];
        let until = times.into_iter().flatten().filter(|at| now < *at).min();
        Broken::Go(passing(until, "the turn is being broken off"))
    }

    fn over(&self, state: AgentState) -> Broken {
        let interrupted = 0 < self.pressed && state != AgentState::Busy;
        let keys = self.keys.join(" ");
        let what = match (self.pressed, state) {
            (0, state) => format!("it is {state}; nothing was pressed"),
            (count, AgentState::Busy) => {
                format!("`{keys}` was pressed {count} times; it is still busy")
            }
            (1, state) => format!("`{keys}` was pressed; it is {state} now"),
            (count, state) => format!("`{keys}` was pressed {count} times; it is {state} now"),
        };
        Broken::Over { interrupted, evidence: vec![what] }
    }
}
