//! Limits for each grant: events per second and open streams. The owner's grants are not limited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Grant, GrantId, Refusal, Scope, Time};
use paned_policy::rate::{Rate, TokenBucket};
use serde_json::json;

/// The burst, as a multiple of the rate per second.
const BURST: u64 = 5;
/// An event costs one unit, and one more for each full block of this size.
const UNIT_BYTES: usize = 4096;
/// From this many buckets on, full ones are dropped.
const PRUNE_AT: usize = 256;

/// What each grant uses at present.
#[derive(Default)]
pub(crate) struct Budgets {
    events: Mutex<HashMap<GrantId, TokenBucket>>,
    streams: Arc<Mutex<OpenStreams>>,
}

#[derive(Default)]
struct OpenStreams {
    per_grant: HashMap<GrantId, usize>,
    total: usize,
}

/// A stream or a socket of a limited grant, counted until it is dropped.
pub struct StreamSlot {
    streams: Arc<Mutex<OpenStreams>>,
    grant: Option<GrantId>,
}

impl Budgets {
    /// Charges a grant for an event of this size.
    ///
    /// # Errors
    /// When it records too many.
    pub(crate) fn event(
        &self,
        grant: &Grant,
        bytes: impl FnOnce() -> usize,
        per_second: u64,
        now: Time,
    ) -> Result<(), Refusal> {
        if is_unlimited(grant) {
            return Ok(());
        }
        let rate = Rate { per_second, burst: per_second * BURST };
        let mut events = lock(&self.events);
        if PRUNE_AT <= events.len() {
            events.retain(|_, bucket| !bucket.is_full(rate, now));
        }
        let bucket = events.entry(grant.id.clone()).or_insert_with(|| TokenBucket::new(rate, now));
        let units = 1 + bytes() / UNIT_BYTES;
        bucket.take(units as u64, rate, now).map_err(|wait| {
            let sentence = format!(
                "rate limit exceeded: this token may record {per_second} events per second \
                (events over {UNIT_BYTES} bytes count as several); retry in {wait} ms, or raise \
                `limits.events_per_second` in config.toml"
            );
            Refusal::new(Code::Limit, sentence).with_details(json!({ "retryAfterMs": wait }))
        })
    }

    /// Counts one more stream of a grant.
    ///
    /// # Errors
    /// When it has too many.
    pub(crate) fn stream(
        &self,
        grant: &Grant,
        each: usize,
        all: usize,
    ) -> Result<StreamSlot, Refusal> {
        let streams = self.streams.clone();
        if is_unlimited(grant) {
            return Ok(StreamSlot { streams, grant: None });
        }
        let mut table = lock(&self.streams);
        let open = table.per_grant.get(&grant.id).copied().unwrap_or(0);
        let refuse = |sentence: String| Err(Refusal::new(Code::Limit, sentence));
        if each <= open {
            return refuse(format!(
                "this token already has {open} streams, sockets and waits for a port open; end \
                one, or raise `limits.streams_per_grant` in config.toml"
            ));
        }
        if all <= table.total {
            return refuse(format!(
                "{} streams, sockets and waits for a port are already open, and the rest are \
                reserved for the owner; end one",
                table.total
            ));
        }
        table.total += 1;
        table.per_grant.insert(grant.id.clone(), open + 1);
        Ok(StreamSlot { streams, grant: Some(grant.id.clone()) })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let Some(grant) = &self.grant else { return };
        let mut table = lock(&self.streams);
        table.total -= 1;
        if let Some(open) = table.per_grant.get_mut(grant) {
            *open -= 1;
            if *open == 0 {
                table.per_grant.remove(grant);
            }
        }
    }
}

/// Whether a grant has no limits: one with the scope `admin`.
fn is_unlimited(grant: &Grant) -> bool {
    grant.scopes.contains(&Scope::Admin)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paned_model::PaneSet;

    use super::*;

    fn grant(id: &str, scope: Scope) -> Grant {
        Grant {
            id: GrantId(id.into()),
            label: String::new(),
            scopes: BTreeSet::from([scope]),
            panes: PaneSet::All,
            pane: None,
            device: false,
            created_with: Vec::new(),
            created_at: Time(0),
            expires_at: None,
        }
    }

    #[test]
    fn each_grant_has_its_own_events_and_the_owner_has_no_limit() {
        let budgets = Budgets::default();
        let take = |id: &str, scope, bytes| budgets.event(&grant(id, scope), || bytes, 2, Time(0));
        assert_eq!((0..20).filter(|_| take("a", Scope::Input, 9).is_ok()).count(), 10);
        let refusal = take("a", Scope::Input, 9).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.details),
            (Code::Limit, Some(json!({ "retryAfterMs": 500 })))
        );
        assert_eq!((0..20).filter(|_| take("b", Scope::Input, 4 * UNIT_BYTES).is_ok()).count(), 2);
        assert_eq!((0..20).filter(|_| take("c", Scope::Admin, 9).is_ok()).count(), 20);
    }

    #[test]
    fn streams_are_counted_while_they_live() {
        let budgets = Budgets::default();
        let open = |id: &str, scope| budgets.stream(&grant(id, scope), 2, 3);
        let first = open("a", Scope::Read).unwrap();
        let _second = open("a", Scope::Read).unwrap();
        assert_eq!(open("a", Scope::Read).err().unwrap().code, Code::Limit);
        let _other = open("b", Scope::Read).unwrap();
        assert!(open("c", Scope::Read).is_err() && open("o", Scope::Admin).is_ok());
        drop(first);
        assert!(open("a", Scope::Read).is_ok());
    }
}
