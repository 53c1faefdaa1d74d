//! The lease of a terminal's size: one client at a time, for as long as it is connected.
//!
//! A terminal has one size, and a program drawn for one size looks broken in another. So the client
//! that shows a pane holds its size until it disconnects or releases it, and all other clients draw
//! what fits.

use crate::peer::PeerId;

/// Which client holds the size.
#[derive(Debug, Default)]
pub(crate) struct SizeLease {
    holder: Option<LeaseHolder>,
    /// Whether the size was set by force and has had no holder since.
    forced: bool,
}

/// A holder has a name as well, because one connection may act for many clients.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LeaseHolder {
    peer: PeerId,
    name: String,
}

/// Another client holds it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SizeHeldError;

impl SizeLease {
    /// The holder's name.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.holder.as_ref().map(|holder| holder.name.as_str())
    }

    /// Whether it is free because a client set the size by force without holding it. Clients that
    /// wait for the size then go on waiting, or the forced size would not last.
    pub(crate) fn is_forced(&self) -> bool {
        self.forced
    }

    /// A client wants to set the size and, if it gives a name, to hold it. Answers whether the
    /// holder changed.
    pub(crate) fn acquire(
        &mut self,
        peer: PeerId,
        name: Option<&str>,
        force: bool,
    ) -> Result<bool, SizeHeldError> {
        let requested = name.map(|name| LeaseHolder { peer, name: name.to_owned() });
        if self.holder.is_some() && self.holder != requested && !force {
            return Err(SizeHeldError);
        }
        let changed = self.holder != requested;
        self.forced = requested.is_none() && (force || self.forced);
        self.holder = requested;
        Ok(changed)
    }

    /// A client releases it; whether it was the holder.
    pub(crate) fn release(&mut self, peer: PeerId, name: &str) -> bool {
        self.holder.take_if(|holder| holder.peer == peer && holder.name == name).is_some()
    }

    /// A connection is gone; whether it held the size.
    pub(crate) fn peer_disconnected(&mut self, peer: PeerId) -> bool {
        self.holder.take_if(|holder| holder.peer == peer).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(peer: PeerId, name: &str) -> SizeLease {
        let mut lease = SizeLease::default();
        assert_eq!(lease.acquire(peer, Some(name), false), Ok(true));
        lease
    }

    #[test]
    fn whoever_came_first_holds_it() {
        let mut lease = held_by(1, "a");
        assert_eq!(lease.acquire(1, Some("a"), false), Ok(false));
        assert_eq!(lease.acquire(2, Some("a"), false), Err(SizeHeldError));
        assert_eq!(lease.acquire(1, Some("b"), false), Err(SizeHeldError));
        assert_eq!(lease.acquire(2, None, false), Err(SizeHeldError));
        assert_eq!(lease.holder(), Some("a"));
    }

    #[test]
    fn force_takes_it() {
        let mut lease = held_by(1, "a");
        assert_eq!(lease.acquire(2, Some("b"), true), Ok(true));
        assert_eq!(lease.acquire(1, Some("a"), false), Err(SizeHeldError));
        assert_eq!(lease.acquire(3, None, true), Ok(true));
        assert_eq!(lease.holder(), None);
    }

    #[test]
    fn a_forced_size_lasts_until_somebody_holds_it() {
        let mut lease = held_by(1, "a");
        assert_eq!(lease.acquire(2, None, true), Ok(true));
        assert!(lease.is_forced());
        assert_eq!(lease.acquire(2, None, false), Ok(false));
        assert!(lease.is_forced() && !lease.peer_disconnected(1) && lease.is_forced());
        assert_eq!(lease.acquire(3, Some("c"), false), Ok(true));
        assert!(!lease.is_forced() && lease.peer_disconnected(3) && !lease.is_forced());
    }

    #[test]
    fn without_a_name_it_is_set_and_not_held() {
        let mut lease = SizeLease::default();
        assert_eq!(lease.acquire(1, None, false), Ok(false));
        assert_eq!(lease.acquire(2, Some("b"), false), Ok(true));
    }

    #[test]
    fn only_its_holder_lets_it_go() {
        let mut lease = held_by(1, "a");
        assert!(!lease.release(2, "a") && !lease.release(1, "b") && !lease.peer_disconnected(2));
        assert_eq!(lease.holder(), Some("a"));
        assert!(lease.release(1, "a"));
        assert_eq!(lease.holder(), None);
        assert!(held_by(3, "c").peer_disconnected(3));
    }
}
