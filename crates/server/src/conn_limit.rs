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
pub(crate) struct ConnLimit {
    max: usize,
    table: Mutex<ConnTable>,
}

#[derive(Default)]
struct ConnTable {
    in_use: usize,
    /// Those who are not known yet, the longest there first.
    unauthenticated: BTreeMap<u64, Arc<Notify>>,
    last: u64,
    /// How many seats each grant keeps, of those that are limited.
    per_grant: HashMap<GrantId, usize>,
}

/// A seat that is taken, until it is dropped.
pub(crate) struct ConnSlot {
    limit: Arc<ConnLimit>,
    number: u64,
    is_authenticated: AtomicBool,
    /// The limited grant that keeps it.
    grant: Mutex<Option<GrantId>>,
    evicted: Arc<Notify>,
}

impl ConnLimit {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { max: most, table: Mutex::default() })
    }

    /// Seats a stranger; nobody when everybody who sits is known.
    pub(crate) fn acquire(self: &Arc<Self>) -> Option<Arc<ConnSlot>> {
        let mut table = self.lock();
        if self.max <= table.in_use || self.max_unauthenticated() <= table.unauthenticated.len() {
            let (_, claimed) = table.unauthenticated.pop_first()?;
            claimed.notify_one();
            table.in_use -= 1;
        }
        table.in_use += 1;
        table.last += 1;
        let (number, claimed) = (table.last, Arc::new(Notify::new()));
        table.unauthenticated.insert(number, claimed.clone());
        drop(table);
        let is_known = AtomicBool::new(false);
        let (seats, keeper) = (self.clone(), Mutex::default());
        Some(Arc::new(ConnSlot {
            limit: seats,
            number,
            is_authenticated: is_known,
            grant: keeper,
            evicted: claimed,
        }))
    }

    /// Has the stranger who has sat longest give way, because the system has no descriptor left; whether there is one.
    pub(crate) fn evict(&self) -> bool {
        let mut table = self.lock();
        let Some((_, claimed)) = table.unauthenticated.pop_first() else { return false };
        claimed.notify_one();
        table.in_use -= 1;
        true
    }

    /// How many are taken.
    pub(crate) fn in_use(&self) -> usize {
        self.lock().in_use
    }

    /// How many of them strangers may have.
    fn max_unauthenticated(&self) -> usize {
        (self.max / 2).max(1)
    }

    /// How many of them one limited grant may keep.
    fn max_per_grant(&self) -> usize {
        (self.max / 8).max(1)
    }

    fn lock(&self) -> MutexGuard<'_, ConnTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnSlot {
    /// A caller with this grant is let in, and keeps the seat, unless the grant has its share of them already.
    pub(crate) fn mark_authenticated(&self, grant: &Grant) {
        if self.is_authenticated.load(Ordering::Relaxed) {
            return;
        }
        let mut table = self.limit.lock();
        let limited = (!grant.scopes.contains(&Scope::Admin)).then_some(&grant.id);
        let kept = limited.and_then(|id| table.per_grant.get(id)).copied().unwrap_or(0);
        if limited.is_some() && self.limit.max_per_grant() <= kept {
            return;
        }
        // It may have been claimed just before.
        if table.unauthenticated.remove(&self.number).is_none() {
            return;
        }
        if let Some(id) = limited {
            table.per_grant.insert(id.clone(), kept + 1);
            *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
        self.is_authenticated.store(true, Ordering::Relaxed);
    }

    /// Waits until somebody else is to have the seat.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for ConnSlot {
    fn drop(&mut self) {
        let mut table = self.limit.lock();
        let is_ours = *self.is_authenticated.get_mut()
            || table.unauthenticated.remove(&self.number).is_some();
        table.in_use -= usize::from(is_ours);
        let keeper = self.grant.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(id) = keeper
            && let Some(kept) = table.per_grant.get_mut(&id)
        {
            *kept -= 1;
            if *kept == 0 {
                table.per_grant.remove(&id);
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
        let seats = ConnLimit::new(16);
        let narrow = grant("narrow", Scope::Read);
        let come = |count, grant: &Grant| -> Vec<_> {
            let seated = (0..count).filter_map(|_| seats.acquire());
            seated.inspect(|seat| seat.mark_authenticated(grant)).collect()
        };
        let taken = come(10, &narrow);
        let more = come(20, &owner());
        assert_eq!(more.len(), 14, "all but the two that the grant keeps");
        drop(taken);
        assert!(seats.lock().per_grant.is_empty());
        assert_eq!(seats.in_use(), 14);
    }

    fn is_claimed(seat: &ConnSlot) -> bool {
        seat.evicted().now_or_never().is_some()
    }

    #[test]
    fn the_stranger_who_sat_longest_gives_way() {
        let seats = ConnLimit::new(4);
        let (first, second) = (seats.acquire().unwrap(), seats.acquire().unwrap());
        let third = seats.acquire().unwrap();
        assert_eq!([&first, &second, &third].map(|seat| is_claimed(seat)), [true, false, false]);
        assert_eq!(seats.in_use(), 2);
        drop(first);
        assert_eq!(seats.in_use(), 2);
        drop((second, third));
        assert_eq!(seats.in_use(), 0);
    }

    #[test]
    fn a_stranger_gives_way_where_there_is_no_descriptor_and_no_other_does() {
        let seats = ConnLimit::new(4);
        let (known, stranger) = (seats.acquire().unwrap(), seats.acquire().unwrap());
        known.mark_authenticated(&owner());
        assert_eq!([seats.evict(), seats.evict()], [true, false]);
        assert!(is_claimed(&stranger) && !is_claimed(&known));
        assert_eq!(seats.in_use(), 1);
    }

    #[test]
    fn whoever_is_let_in_stays_and_strangers_never_have_more_than_is_left() {
        let seats = ConnLimit::new(4);
        let known: Vec<_> = (0..3)
            .map(|_| seats.acquire().unwrap())
            .inspect(|it| it.mark_authenticated(&owner()))
            .collect();
        let stranger = seats.acquire().unwrap();
        let next = seats.acquire().unwrap();
        assert!(is_claimed(&stranger) && !is_claimed(&next));
        next.mark_authenticated(&owner());
        next.mark_authenticated(&owner());
        assert!(seats.acquire().is_none());
        // It came too late to be known, and takes no seat of those who are.
        stranger.mark_authenticated(&owner());
        drop(stranger);
        assert_eq!(seats.in_use(), 4);
        assert!(seats.acquire().is_none());
        drop(known);
        assert_eq!(seats.in_use(), 1);
        assert!(seats.acquire().is_some());
    }
}
