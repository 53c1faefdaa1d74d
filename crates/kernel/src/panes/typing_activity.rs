//! Which panes users type into, so that programs that print without end elsewhere are slowed down.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use paned_model::PaneId;
use tokio::time::Instant;

/// How long after a key a user still counts as typing.
const TYPING: Duration = Duration::from_secs(2);
/// How often a pane that prints much is throttled; each time, for [`TYPING`].
const OFTEN: Duration = Duration::from_secs(1);
/// At least this much in one scan is more than a person reads.
const FLOOD_BYTES: u64 = 16 << 10;

/// The last two panes that a user typed into, the last one first.
#[derive(Debug, Default)]
pub(crate) struct TypingActivity(Mutex<[Option<(PaneId, Instant)>; 2]>);

impl TypingActivity {
    /// A user typed into a pane.
    pub(crate) fn typed(&self, pane: &PaneId, now: Instant) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut last[0] {
            Some((of, at)) if of == pane => *at = now,
            _ => {
                last.swap(0, 1);
                last[0] = Some((pane.clone(), now));
            }
        }
    }

    /// Whether a user types into another pane than this.
    fn is_typing_elsewhere(&self, pane: &PaneId, now: Instant) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let other = last.iter().flatten().find(|(of, _)| of != pane);
        other.is_some_and(|(_, at)| now < *at + TYPING)
    }
}

/// When a pane's program was last throttled.
#[derive(Debug, Default)]
pub(crate) struct FloodPacer {
    paced_at: Option<Instant>,
}

impl FloodPacer {
    /// For how long to throttle the program of a pane that has printed so much, if that is due now.
    pub(crate) fn pause_for(
        &mut self,
        pane: &PaneId,
        printed: u64,
        typing: &TypingActivity,
        now: Instant,
    ) -> Option<Duration> {
        if printed < FLOOD_BYTES || self.paced_at.is_some_and(|paced| now < paced + OFTEN) {
            return None;
        }
        typing.is_typing_elsewhere(pane, now).then(|| {
            self.paced_at = Some(now);
            TYPING
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The panes that a user typed into, one second after the other; checks whether the program of
    /// pane `p` is throttled a moment after the last.
    #[track_caller]
    fn check(typed: &[&str], printed: u64, expect: bool) {
        let (typists, mut now) = (TypingActivity::default(), Instant::now());
        for pane in typed {
            now += Duration::from_secs(1);
            typists.typed(&pane.parse().unwrap(), now);
        }
        let breaks = FloodPacer::default().pause_for(&"p".parse().unwrap(), printed, &typists, now);
        assert_eq!(breaks.is_some(), expect, "{typed:?}");
    }

    #[test]
    fn who_types_elsewhere_is_considered_for_a_while() {
        check(&[], FLOOD_BYTES, false);
        check(&["p"], FLOOD_BYTES, false);
        check(&["q"], FLOOD_BYTES, true);
        check(&["q", "p"], FLOOD_BYTES, true);
        check(&["q", "p", "p"], FLOOD_BYTES, false);
        check(&["p", "q", "r", "p"], FLOOD_BYTES, true);
        check(&["q"], FLOOD_BYTES - 1, false);
    }

    #[test]
    fn it_is_said_now_and_then() {
        let (typists, start) = (TypingActivity::default(), Instant::now());
        let (pane, mut consideration) = ("p".parse().unwrap(), FloodPacer::default());
        let said = (0..40).filter(|tenth| {
            let now = start + Duration::from_millis(100) * *tenth;
            typists.typed(&"q".parse().unwrap(), now);
            consideration.pause_for(&pane, FLOOD_BYTES, &typists, now).is_some()
        });
        assert_eq!(said.count(), 4);
    }
}
