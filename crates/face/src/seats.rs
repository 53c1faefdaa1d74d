//! Who may be connected at once.
//!
//! Whoever has not shown yet that they are let in is a stranger. Strangers have at most half of the seats, and the one
//! who has sat longest gives way to the next who comes: so a crowd that only sits there keeps nobody out, neither those
//! who are let in nor those who come to be. A grant without `admin` keeps an eighth of the seats at most; what it takes
//! beyond that can be taken from it again, as from strangers.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Grant, GrantId, Scope};
use tokio::sync::Notify;

/// The seats of one kind of visitors.
pub(crate) struct Seats {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    taken: usize,
    /// Those who are not known yet, the longest there first.
    strangers: BTreeMap<u64, Arc<Notify>>,
    last: u64,
    /// How many seats each grant keeps, of those that are limited.
    kept: HashMap<GrantId, usize>,
}

/// A seat that is taken, until it is dropped.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    is_known: AtomicBool,
    /// The limited grant that keeps it.
    keeper: Mutex<Option<GrantId>>,
    claimed: Arc<Notify>,
}

impl Seats {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// Seats a stranger; nobody when everybody who sits is known.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let mut table = self.lock();
        if self.most <= table.taken || self.share() <= table.strangers.len() {
            let (_, claimed) = table.strangers.pop_first()?;
            claimed.notify_one();
            table.taken -= 1;
        }
        table.taken += 1;
        table.last += 1;
        let (number, claimed) = (table.last, Arc::new(Notify::new()));
        table.strangers.insert(number, claimed.clone());
        drop(table);
        let is_known = AtomicBool::new(false);
        let (seats, keeper) = (self.clone(), Mutex::default());
        Some(Arc::new(Seat { seats, number, is_known, keeper, claimed }))
    }

    /// Has the stranger who has sat longest give way, because the system has no descriptor left; whether there is one.
    pub(crate) fn evict(&self) -> bool {
        let mut table = self.lock();
        let Some((_, claimed)) = table.strangers.pop_first() else { return false };
        claimed.notify_one();
        table.taken -= 1;
        true
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.lock().taken
    }

    /// How many of them strangers may have.
    fn share(&self) -> usize {
        (self.most / 2).max(1)
    }

    /// How many of them one limited grant may keep.
    fn grant_share(&self) -> usize {
        (self.most / 8).max(1)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// A caller with this grant is let in, and keeps the seat, unless the grant has its share of them already.
    pub(crate) fn let_in(&self, grant: &Grant) {
        if self.is_known.load(Ordering::Relaxed) {
            return;
        }
        let mut table = self.seats.lock();
        let limited = (!grant.scopes.contains(&Scope::Admin)).then_some(&grant.id);
        let kept = limited.and_then(|id| table.kept.get(id)).copied().unwrap_or(0);
        if limited.is_some() && self.seats.grant_share() <= kept {
            return;
        }
        // It may have been claimed just before.
        if table.strangers.remove(&self.number).is_none() {
            return;
        }
        if let Some(id) = limited {
            table.kept.insert(id.clone(), kept + 1);
            *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Waits until somebody else is to have the seat.
    pub(crate) async fn claimed(&self) {
        self.claimed.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.seats.lock();
        let is_ours = *self.is_known.get_mut() || table.strangers.remove(&self.number).is_some();
        table.taken -= usize::from(is_ours);
        let keeper = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(id) = keeper
            && let Some(kept) = table.kept.get_mut(&id)
        {
            *kept -= 1;
            if *kept == 0 {
                table.kept.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn grant(id: &str, scope: Scope) -> Grant {
        Grant {
            id: GrantId(id.into()),
            label: String::new(),
            scopes: [scope].into(),
            panes: paned_model::PaneSet::All,
            pane: None,
            created_at: paned_model::Time(0),
            expires_at: None,
        }
    }

    fn owner() -> Grant {
        grant("owner", Scope::Admin)
    }

    #[test]
    fn one_limited_grant_keeps_an_eighth_and_gives_way_with_the_rest() {
        let seats = Seats::new(16);
        let narrow = grant("narrow", Scope::Read);
        let come = |count, grant: &Grant| -> Vec<_> {
            let seated = (0..count).filter_map(|_| seats.take());
            seated.inspect(|seat| seat.let_in(grant)).collect()
        };
        let taken = come(10, &narrow);
        let more = come(20, &owner());
        assert_eq!(more.len(), 14, "all but the two that the grant keeps");
        drop(taken);
        assert!(seats.lock().kept.is_empty());
        assert_eq!(seats.taken(), 14);
    }

    fn is_claimed(seat: &Seat) -> bool {
        seat.claimed().now_or_never().is_some()
    }

    #[test]
    fn the_stranger_who_sat_longest_gives_way() {
        let seats = Seats::new(4);
        let (first, second) = (seats.take().unwrap(), seats.take().unwrap());
        let third = seats.take().unwrap();
        assert_eq!([&first, &second, &third].map(|seat| is_claimed(seat)), [true, false, false]);
        assert_eq!(seats.taken(), 2);
        drop(first);
        assert_eq!(seats.taken(), 2);
        drop((second, third));
        assert_eq!(seats.taken(), 0);
    }

    #[test]
    fn a_stranger_gives_way_where_there_is_no_descriptor_and_no_other_does() {
        let seats = Seats::new(4);
        let (known, stranger) = (seats.take().unwrap(), seats.take().unwrap());
        known.let_in(&owner());
        assert_eq!([seats.evict(), seats.evict()], [true, false]);
        assert!(is_claimed(&stranger) && !is_claimed(&known));
        assert_eq!(seats.taken(), 1);
    }

    #[test]
    fn whoever_is_let_in_stays_and_strangers_never_have_more_than_is_left() {
        let seats = Seats::new(4);
        let known: Vec<_> =
            (0..3).map(|_| seats.take().unwrap()).inspect(|it| it.let_in(&owner())).collect();
        let stranger = seats.take().unwrap();
        let next = seats.take().unwrap();
        assert!(is_claimed(&stranger) && !is_claimed(&next));
        next.let_in(&owner());
        next.let_in(&owner());
        assert!(seats.take().is_none());
        // It came too late to be known, and takes no seat of those who are.
        stranger.let_in(&owner());
        drop(stranger);
        assert_eq!(seats.taken(), 4);
        assert!(seats.take().is_none());
        drop(known);
        assert_eq!(seats.taken(), 1);
        assert!(seats.take().is_some());
    }
}
