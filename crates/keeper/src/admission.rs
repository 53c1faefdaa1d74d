//! Admission to a keeper's socket. A server is admitted however many other clients are connected.

use paned_model::frame::ClientRole;

use crate::peer::{Peer, PeerId};

/// The most viewers at once.
pub(crate) const MAX_VIEWERS: usize = 64;
/// The most connections that have not sent a hello yet.
pub(crate) const MAX_UNIDENTIFIED: usize = 16;

/// The connection to evict before the next one is accepted: the oldest without a hello, if there
/// are too many of those.
pub(crate) fn next_to_evict(peers: &[Peer]) -> Option<PeerId> {
    let unidentified = || peers.iter().filter(|peer| peer.role.is_none()).map(|peer| peer.id);
    unidentified().min().filter(|_| MAX_UNIDENTIFIED <= unidentified().count())
}

/// Whether a client with this role may stay. Of two servers the one that connected last stays: the
/// hello of the other may have waited in the socket until after its server died.
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
