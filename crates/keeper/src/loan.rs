//! Who types into the terminal: the keeper, or the one client to whom it has lent that.
//!
//! What a client types comes to the terminal a process later than it could. Where one client is alone, it may type by
//! itself: it has the terminal, and the keeper types nothing until it has come back. So there is one at a time who
//! types, always, and nobody's text is cut by somebody else's.

use std::time::{Duration, Instant};

use crate::peer::PeerId;

/// Who has not returned it by then does not hear us. It is taken, so that others can type.
const PATIENCE: Duration = Duration::from_millis(250);

/// Where it is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Loan {
    #[default]
    Here,
    Lent(PeerId),
    /// Lent, and wanted back by then.
    Recalled(PeerId, Instant),
    /// Taken from who did not return it. Nobody gets it until they have.
    Overdue(PeerId),
}

impl Loan {
    /// Whether somebody else types.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Self::Lent(_) | Self::Recalled(..))
    }

    pub(crate) fn is_here(&self) -> bool {
        *self == Self::Here
    }

    /// Wants it back; answers whom to ask, once.
    pub(crate) fn recall(&mut self, now: Instant) -> Option<PeerId> {
        let Self::Lent(peer) = *self else { return None };
        *self = Self::Recalled(peer, now + PATIENCE);
        Some(peer)
    }

    /// When [`Loan::tick`] wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Recalled(_, until) => Some(*until),
            Self::Here | Self::Lent(_) | Self::Overdue(_) => None,
        }
    }

    /// Time passed; whether it was taken.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        match *self {
            Self::Recalled(peer, until) if until <= now => {
                *self = Self::Overdue(peer);
                true
            }
            Self::Here | Self::Lent(_) | Self::Recalled(..) | Self::Overdue(_) => false,
        }
    }

    /// Somebody returns it, or is gone; whether it was theirs.
    pub(crate) fn returned(&mut self, by: PeerId) -> bool {
        match *self {
            Self::Lent(peer) | Self::Recalled(peer, _) | Self::Overdue(peer) if peer == by => {
                *self = Self::Here;
                true
            }
            Self::Here | Self::Lent(_) | Self::Recalled(..) | Self::Overdue(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_when_it_is_wanted() {
        let (mut loan, now) = (Loan::Lent(1), Instant::now());
        assert!(loan.is_away() && loan.deadline().is_none());
        assert_eq!(loan.recall(now), Some(1));
        assert_eq!(loan.recall(now), None, "once is enough");
        assert!(loan.is_away() && !loan.returned(2) && loan.returned(1) && loan.is_here());
    }

    #[test]
    fn it_is_taken_from_who_does_not_hear_and_lent_again_once_they_have() {
        let (mut loan, now) = (Loan::Lent(1), Instant::now());
        loan.recall(now);
        assert!(!loan.tick(now) && loan.is_away());
        assert!(loan.tick(now + PATIENCE) && !loan.is_away() && !loan.is_here());
        assert!(loan.returned(1) && loan.is_here());
    }
}
