//! The connection limit.
//!
//! Connections that are not authenticated yet have at most half of the slots; if no slot is free, a
//! new connection evicts the oldest of them. So idle connections without a token cannot lock out
//! clients that are authenticated or about to authenticate. A grant without `admin` keeps at most
//! an eighth of the slots; its connections beyond that can be evicted like unauthenticated ones.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Grant, GrantId, Scope};
use tokio::sync::Notify;

/// The connection slots of one class of clients.
pub(crate) struct ConnLimit {
    max: usize,
    table: Mutex<ConnTable>,
}

#[derive(Default)]
struct ConnTable {
    in_use: usize,
    /// Connections that can be evicted, the oldest first.
    unauthenticated: BTreeMap<u64, Arc<Notify>>,
    last: u64,
    /// How many slots each limited grant keeps.
    per_grant: HashMap<GrantId, usize>,
}

/// A slot in use; dropping it frees the slot.
pub(crate) struct ConnSlot {
    limit: Arc<ConnLimit>,
    number: u64,
    is_authenticated: AtomicBool,
    /// The limited grant that keeps the slot.
    grant: Mutex<Option<GrantId>>,
    evicted: Arc<Notify>,
}

impl ConnLimit {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, table: Mutex::default() })
    }

    /// Takes a slot for a new connection; `None` if all are taken and none can be evicted.
    pub(crate) fn acquire(self: &Arc<Self>) -> Option<Arc<ConnSlot>> {
        let mut table = self.lock();
        if self.max <= table.in_use || self.max_unauthenticated() <= table.unauthenticated.len() {
            let (_, oldest) = table.unauthenticated.pop_first()?;
            oldest.notify_one();
            table.in_use -= 1;
        }
        table.in_use += 1;
        table.last += 1;
        let number = table.last;
        let evicted = Arc::new(Notify::new());
        table.unauthenticated.insert(number, evicted.clone());
        drop(table);
        Some(Arc::new(ConnSlot {
            limit: self.clone(),
            number,
            is_authenticated: AtomicBool::new(false),
            grant: Mutex::default(),
            evicted,
        }))
    }

    /// Evicts the oldest unauthenticated connection, because the system has no descriptor left.
    /// Returns whether there was one.
    pub(crate) fn evict(&self) -> bool {
        let mut table = self.lock();
        let Some((_, oldest)) = table.unauthenticated.pop_first() else { return false };
        oldest.notify_one();
        table.in_use -= 1;
        true
    }

    /// How many slots are in use.
    pub(crate) fn in_use(&self) -> usize {
        self.lock().in_use
    }

    /// How many slots unauthenticated connections may have.
    fn max_unauthenticated(&self) -> usize {
        (self.max / 2).max(1)
    }

    /// How many slots one limited grant may keep.
    fn max_per_grant(&self) -> usize {
        (self.max / 8).max(1)
    }

    fn lock(&self) -> MutexGuard<'_, ConnTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnSlot {
    /// A caller with this grant authenticated: the slot can no longer be evicted, unless the grant
    /// has its share of slots already.
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
        // It may have been evicted just before.
        if table.unauthenticated.remove(&self.number).is_none() {
            return;
        }
        if let Some(id) = limited {
            table.per_grant.insert(id.clone(), kept + 1);
            *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
        self.is_authenticated.store(true, Ordering::Relaxed);
    }

    /// Waits until the connection is evicted for another one.
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
        let grant = self.grant.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(id) = grant
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
            device: false,
            created_with: Vec::new(),
            created_at: paned_model::Time(0),
            expires_at: None,
        }
    }

    fn owner() -> Grant {
        grant("owner", Scope::Admin)
    }

    #[test]
    fn one_limited_grant_keeps_an_eighth_and_gives_way_with_the_rest() {
        let limit = ConnLimit::new(16);
        let narrow = grant("narrow", Scope::Read);
        let come = |count, grant: &Grant| -> Vec<_> {
            let slots = (0..count).filter_map(|_| limit.acquire());
            slots.inspect(|slot| slot.mark_authenticated(grant)).collect()
        };
        let taken = come(10, &narrow);
        let more = come(20, &owner());
        assert_eq!(more.len(), 14, "all but the two that the grant keeps");
        drop(taken);
        assert!(limit.lock().per_grant.is_empty());
        assert_eq!(limit.in_use(), 14);
    }

    fn is_evicted(slot: &ConnSlot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn the_stranger_who_sat_longest_gives_way() {
        let limit = ConnLimit::new(4);
        let (first, second) = (limit.acquire().unwrap(), limit.acquire().unwrap());
        let third = limit.acquire().unwrap();
        assert_eq!([&first, &second, &third].map(|slot| is_evicted(slot)), [true, false, false]);
        assert_eq!(limit.in_use(), 2);
        drop(first);
        assert_eq!(limit.in_use(), 2);
        drop((second, third));
        assert_eq!(limit.in_use(), 0);
    }

    #[test]
    fn a_stranger_gives_way_where_there_is_no_descriptor_and_no_other_does() {
        let limit = ConnLimit::new(4);
        let (authenticated, anonymous) = (limit.acquire().unwrap(), limit.acquire().unwrap());
        authenticated.mark_authenticated(&owner());
        assert_eq!([limit.evict(), limit.evict()], [true, false]);
        assert!(is_evicted(&anonymous) && !is_evicted(&authenticated));
        assert_eq!(limit.in_use(), 1);
    }

    #[test]
    fn whoever_is_let_in_stays_and_strangers_never_have_more_than_is_left() {
        let limit = ConnLimit::new(4);
        let authenticated: Vec<_> = (0..3)
            .map(|_| limit.acquire().unwrap())
            .inspect(|it| it.mark_authenticated(&owner()))
            .collect();
        let anonymous = limit.acquire().unwrap();
        let next = limit.acquire().unwrap();
        assert!(is_evicted(&anonymous) && !is_evicted(&next));
        next.mark_authenticated(&owner());
        next.mark_authenticated(&owner());
        assert!(limit.acquire().is_none());
        // It authenticated after its eviction, and takes no slot.
        anonymous.mark_authenticated(&owner());
        drop(anonymous);
        assert_eq!(limit.in_use(), 4);
        assert!(limit.acquire().is_none());
        drop(authenticated);
        assert_eq!(limit.in_use(), 1);
        assert!(limit.acquire().is_some());
    }
}
