//! Ending a pane: ask, wait, make, verify. Time comes in as an argument; [`Killing::deadline`] goes out.

use std::time::{Duration, Instant};

use paned_model::frame::{RequestId, Survivor};

use crate::peer::PeerId;

/// How long after `SIGKILL` a process may still be dying before it is called a survivor.
const DYING: Duration = Duration::from_secs(5);
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(100);
/// The same once they are made to end: what they start meanwhile does not live for long.
const LONGEST_MAKE: Duration = Duration::from_millis(20);

/// When those that ignore `SIGTERM` are sent `SIGHUP` again, and how often after that. bash only notes a signal: one that comes
/// just before it waits for input is acted on at the next.
const FIRST_REMINDER: Duration = Duration::from_millis(300);
const NEXT_REMINDER: Duration = Duration::from_secs(1);

/// What to do to the pane's processes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing; they are being waited for.
    Wait,
    /// Ask those again that may have missed it.
    Remind,
    /// Make them end.
    Make,
    /// These will not go; it is over.
    GiveUp,
}

/// A kill under way.
#[derive(Debug)]
pub(crate) struct Killing {
    /// Who asked for it and wants to hear how it went.
    pub(crate) asked_by: Vec<(PeerId, RequestId)>,
    make_at: Instant,
    give_up_at: Option<Instant>,
    look_at: Instant,
    look_after: Duration,
    remind_at: Instant,
}

impl Killing {
    pub(crate) fn new(now: Instant, grace: Duration) -> Self {
        Self {
            asked_by: Vec::new(),
            make_at: now + grace,
            give_up_at: None,
            look_at: now + FIRST_LOOK,
            look_after: FIRST_LOOK,
            remind_at: now + FIRST_REMINDER,
        }
    }

    /// A second request joins the first; the shorter patience counts.
    pub(crate) fn hurry(&mut self, now: Instant, grace: Duration) {
        self.make_at = self.make_at.min(now + grace);
        self.look_at = self.look_at.min(self.make_at);
    }

    /// When to look at the processes again.
    pub(crate) fn deadline(&self) -> Instant {
        self.look_at
    }

    /// Some are still there. Looks grow rarer, but never miss the moment to act.
    pub(crate) fn look(&mut self, now: Instant) -> Step {
        let longest = if self.give_up_at.is_some() { LONGEST_MAKE } else { LONGEST_LOOK };
        self.look_after = (self.look_after * 2).min(longest);
        self.look_at = now + self.look_after;
        match self.give_up_at {
            Some(give_up_at) if give_up_at <= now => Step::GiveUp,
            // Again and again: one of them may have forked meanwhile.
            Some(_) => Step::Make,
            None if self.make_at <= now => {
                self.give_up_at = Some(now + DYING);
                (self.look_after, self.look_at) = (FIRST_LOOK, now + FIRST_LOOK);
                Step::Make
            }
            None => {
                self.look_at = self.look_at.min(self.make_at);
                if now < self.remind_at {
                    return Step::Wait;
                }
                self.remind_at = now + NEXT_REMINDER;
                Step::Remind
            }
        }
    }
}

/// How a kill went.
#[derive(Debug)]
pub(crate) struct Killed {
    pub(crate) asked_by: Vec<(PeerId, RequestId)>,
    pub(crate) survivors: Vec<Survivor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at every deadline until it gives up; answers each step that was not to wait, with its time.
    fn steps(grace_ms: u64) -> Vec<(u64, Step)> {
        let start = Instant::now();
        let mut killing = Killing::new(start, Duration::from_millis(grace_ms));
        let mut steps = Vec::new();
        while steps.last().is_none_or(|(_, step)| *step != Step::GiveUp) {
            let now = killing.deadline();
            let step = killing.look(now);
            if !matches!(step, Step::Wait | Step::Remind) {
                steps.push(((now - start).as_millis().try_into().unwrap(), step));
            }
        }
        steps
    }

    #[test]
    fn it_makes_them_end_exactly_when_the_grace_is_over() {
        assert_eq!(steps(3000)[0], (3000, Step::Make));
    }

    #[test]
    fn no_grace_is_the_first_look() {
        assert_eq!(steps(0)[0], (5, Step::Make));
    }

    #[test]
    fn it_gives_up_on_those_who_cannot_die() {
        let (at, step) = *steps(1000).last().unwrap();
        assert_eq!(step, Step::GiveUp);
        assert!((6000..6200).contains(&at), "{at}");
    }

    #[test]
    fn an_impatient_second_request_shortens_the_grace() {
        let start = Instant::now();
        let mut killing = Killing::new(start, Duration::from_secs(60));
        killing.hurry(start, Duration::ZERO);
        assert_eq!(killing.look(killing.deadline()), Step::Make);
    }
}
