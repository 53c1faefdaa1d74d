//! Who is let in at a keeper's socket. A server always is, however many are there before it.

use paned_model::frame::ClientRole;

use crate::peer::{Peer, PeerId};

/// More than these do not look on at once.
pub(crate) const MAX_VIEWERS: usize = 64;
/// So many may be there without having said who they are.
pub(crate) const MAX_UNIDENTIFIED: usize = 16;

/// Who has to say now who they are, or make room for the next: of too many who have not, the one that came first.
pub(crate) fn next_to_evict(peers: &[Peer]) -> Option<PeerId> {
    let strangers = || peers.iter().filter(|peer| peer.role.is_none()).map(|peer| peer.id);
    strangers().min().filter(|_| MAX_UNIDENTIFIED <= strangers().count())
}

/// Whether somebody may stay who says what they are. Of two servers the one that came last lives: the other's words may
/// have waited for us longer than it did.
pub(crate) fn is_admitted(peers: &[Peer], id: PeerId, role: ClientRole) -> bool {
    let mut others = peers.iter().filter(|peer| peer.id != id && peer.role == Some(role));
    match role {
        ClientRole::Server => others.all(|other| other.id < id),
        ClientRole::Viewer => others.count() < MAX_VIEWERS,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn peers(roles: impl IntoIterator<Item = Option<ClientRole>>) -> Vec<Peer> {
        let peer = |(role, id)| {
            let mut peer = Peer::new(id, UnixStream::pair().unwrap().0).unwrap();
            peer.role = role;
            peer
        };
        roles.into_iter().zip(0..).map(peer).collect()
    }

    #[test]
    fn of_too_many_strangers_the_first_one_makes_room() {
        let strangers = |count| [Some(ClientRole::Viewer)].into_iter().chain(vec![None; count]);
        assert_eq!(next_to_evict(&peers(strangers(MAX_UNIDENTIFIED - 1))), None);
        assert_eq!(next_to_evict(&peers(strangers(MAX_UNIDENTIFIED))), Some(1));
    }

    #[test]
    fn a_server_is_welcome_however_many_look_on() {
        let viewers = peers(vec![Some(ClientRole::Viewer); MAX_VIEWERS]);
        let next = MAX_VIEWERS as PeerId;
        assert!(is_admitted(&viewers, next, ClientRole::Server));
        assert!(!is_admitted(&viewers, next, ClientRole::Viewer));
        assert!(is_admitted(&viewers, 3, ClientRole::Viewer), "one that is in says so again");
    }

    #[test]
    fn the_server_that_came_last_stays() {
        let peers = peers([None, Some(ClientRole::Server), None]);
        assert!(!is_admitted(&peers, 0, ClientRole::Server));
        assert!(is_admitted(&peers, 1, ClientRole::Server));
        assert!(is_admitted(&peers, 2, ClientRole::Server));
    }
}
