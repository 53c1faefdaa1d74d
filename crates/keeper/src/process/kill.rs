//! Killing a pane: `SIGTERM`, wait, `SIGKILL`, verify. The time is an argument;
//! [`KillProgress::deadline`] says when to call again.

use std::time::{Duration, Instant};

use paned_model::frame::{RequestId, Survivor};

use crate::peer::PeerId;

/// How long after `SIGKILL` a process may still be dying before it is called a survivor.
const FORCE_KILL_TIMEOUT: Duration = Duration::from_secs(5);
const FIRST_POLL: Duration = Duration::from_millis(5);
const MAX_POLL: Duration = Duration::from_millis(100);
/// The same after `SIGKILL`: a process that is forked meanwhile must not live for long.
const MAX_FORCE_POLL: Duration = Duration::from_millis(20);

/// When processes that ignore `SIGTERM` get `SIGHUP` again, and how often after that. bash only
/// records a signal: if one arrives just before bash waits for input, bash acts on it at the next
/// signal.
const FIRST_REMINDER: Duration = Duration::from_millis(300);
const NEXT_REMINDER: Duration = Duration::from_secs(1);

/// What to do to the pane's processes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillStep {
    /// Nothing: wait until they exit.
    Wait,
    /// Repeat the signal for those that may have missed it.
    Remind,
    /// Send `SIGKILL`.
    ForceKill,
    /// They do not exit; the kill is over.
    GiveUp,
}

/// A kill under way.
#[derive(Debug)]
pub(crate) struct KillProgress {
    /// The requests to answer once it is over.
    pub(crate) asked_by: Vec<(PeerId, RequestId)>,
    force_at: Instant,
    give_up_at: Option<Instant>,
    poll_at: Instant,
    poll_interval: Duration,
    remind_at: Instant,
}

impl KillProgress {
    pub(crate) fn new(now: Instant, grace: Duration) -> Self {
        Self {
            asked_by: Vec::new(),
            force_at: now + grace,
            give_up_at: None,
            poll_at: now + FIRST_POLL,
            poll_interval: FIRST_POLL,
            remind_at: now + FIRST_REMINDER,
        }
    }

    /// A second request joins the first; the shorter grace period counts.
    pub(crate) fn shorten_grace(&mut self, now: Instant, grace: Duration) {
        self.force_at = self.force_at.min(now + grace);
        self.poll_at = self.poll_at.min(self.force_at);
    }

    /// When to check the processes again.
    pub(crate) fn deadline(&self) -> Instant {
        self.poll_at
    }

    /// Processes are left. The polling interval grows, but a poll never comes later than the end of
    /// the grace period.
    pub(crate) fn next_step(&mut self, now: Instant) -> KillStep {
        let longest = if self.give_up_at.is_some() { MAX_FORCE_POLL } else { MAX_POLL };
        self.poll_interval = (self.poll_interval * 2).min(longest);
        self.poll_at = now + self.poll_interval;
        match self.give_up_at {
            Some(give_up_at) if give_up_at <= now => KillStep::GiveUp,
            // Repeated, because one of them may have forked meanwhile.
            Some(_) => KillStep::ForceKill,
            None if self.force_at <= now => {
                self.give_up_at = Some(now + FORCE_KILL_TIMEOUT);
                self.poll_interval = FIRST_POLL;
                self.poll_at = now + FIRST_POLL;
                KillStep::ForceKill
            }
            None => {
                self.poll_at = self.poll_at.min(self.force_at);
                if now < self.remind_at {
                    return KillStep::Wait;
                }
                self.remind_at = now + NEXT_REMINDER;
                KillStep::Remind
            }
        }
    }
}

/// The result of a kill.
#[derive(Debug)]
pub(crate) struct KillOutcome {
    pub(crate) asked_by: Vec<(PeerId, RequestId)>,
    pub(crate) survivors: Vec<Survivor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls it at every deadline until it gives up; answers each step other than waiting, with its
    /// time.
    fn steps(grace_ms: u64) -> Vec<(u64, KillStep)> {
        let start = Instant::now();
        let mut killing = KillProgress::new(start, Duration::from_millis(grace_ms));
        let mut steps = Vec::new();
        while steps.last().is_none_or(|(_, step)| *step != KillStep::GiveUp) {
            let now = killing.deadline();
            let step = killing.next_step(now);
            if !matches!(step, KillStep::Wait | KillStep::Remind) {
                steps.push(((now - start).as_millis().try_into().unwrap(), step));
            }
        }
        steps
    }

    #[test]
    fn it_makes_them_end_exactly_when_the_grace_is_over() {
        assert_eq!(steps(3000)[0], (3000, KillStep::ForceKill));
    }

    #[test]
    fn no_grace_is_the_first_look() {
        assert_eq!(steps(0)[0], (5, KillStep::ForceKill));
    }

    #[test]
    fn it_gives_up_on_those_who_cannot_die() {
        let (at, step) = *steps(1000).last().unwrap();
        assert_eq!(step, KillStep::GiveUp);
        assert!((6000..6200).contains(&at), "{at}");
    }

    #[test]
    fn an_impatient_second_request_shortens_the_grace() {
        let start = Instant::now();
        let mut killing = KillProgress::new(start, Duration::from_secs(60));
        killing.shorten_grace(start, Duration::ZERO);
        assert_eq!(killing.next_step(killing.deadline()), KillStep::ForceKill);
    }
}
