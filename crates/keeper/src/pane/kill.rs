//! Ending a pane's program and everything that it started.

use std::time::{Duration, Instant};

use paned_model::frame::{KeeperResponse, RequestId};

use super::{ExitStage, KeeperPane};
use crate::peer::PeerId;
use crate::process::kill::{KillOutcome, KillProgress, KillStep};
use crate::process::pane_processes::{self, KillSignal};

impl KeeperPane {
    /// Ends the program and all that it started.
    pub(crate) fn kill(
        &mut self,
        now: Instant,
        grace: Option<Duration>,
        asked_by: Option<(PeerId, RequestId)>,
    ) {
        let grace = grace.unwrap_or(self.grace);
        self.flow.program_ended(now);
        if self.killing.is_none() {
            let how = if grace.is_zero() { KillSignal::ForceKill } else { KillSignal::Terminate };
            pane_processes::push(self.child, how);
        }
        let killing = self.killing.get_or_insert_with(|| KillProgress::new(now, grace));
        killing.shorten_grace(now, grace);
        killing.asked_by.extend(asked_by);
        self.reap(now);
    }

    /// Checks whether a kill is over, and takes its next step if it is not. One empty process list
    /// proves nothing: it can miss a program that forks and exits all the time.
    pub(super) fn check_kill(&mut self, now: Instant) {
        self.reap(now);
        let Some(killing) = &mut self.killing else {
            return;
        };
        let step = killing.next_step(now);
        let left = match step {
            KillStep::GiveUp => Some(pane_processes::of_pane(self.child)),
            KillStep::Wait | KillStep::Remind | KillStep::ForceKill
                if pane_processes::KEEPS_ALL =>
            {
                None
            }
            KillStep::Wait | KillStep::Remind | KillStep::ForceKill => {
                Some(pane_processes::of_pane(self.child)).filter(Vec::is_empty)
            }
        };
        match left {
            Some(left) if !left.is_empty() || pane_processes::is_over() => {
                // The last process may have ended meanwhile, and its exit is reported before the
                // response.
                self.reap(now);
                self.finish_kill(left);
            }
            Some(_) | None if step == KillStep::Wait => {}
            Some(_) | None if step == KillStep::Remind => {
                pane_processes::push(self.child, KillSignal::Remind)
            }
            Some(_) | None => {
                pane_processes::push(self.child, KillSignal::ForceKill);
                self.reap(now);
            }
        }
    }

    pub(super) fn finish_kill(&mut self, left: Vec<pane_processes::PaneProcess>) {
        let Some(killing) = self.killing.take() else {
            return;
        };
        let survivors = left.into_iter().map(Into::into).collect();
        let earlier = self.killed.take().map(|killed| killed.asked_by).unwrap_or_default();
        let asked_by = earlier.into_iter().chain(killing.asked_by).collect();
        self.killed = Some(KillOutcome { asked_by, survivors });
    }

    /// The responses to the requests for a kill that is over.
    pub(crate) fn kill_responses(&mut self) -> Vec<(PeerId, KeeperResponse)> {
        let is_reported = matches!(self.exit_stage, ExitStage::Running | ExitStage::Ended(_))
            && self.killing.is_none();
        let Some(killed) = self.killed.as_mut().filter(|_| is_reported) else {
            return Vec::new();
        };
        let response =
            |id| KeeperResponse { survivors: killed.survivors.clone(), ..KeeperResponse::ok(id) };
        let asked_by = std::mem::take(&mut killed.asked_by);
        asked_by.into_iter().map(|(peer, id)| (peer, response(id))).collect()
    }
}
