//! Which events the current readers subscribe to, so that unwanted events are not produced.

use std::sync::Mutex;

use paned_model::EventFilter;

use super::lock;

/// The distinct filters and how many readers have each: few, however many the readers.
#[derive(Default)]
pub(super) struct Interest(Mutex<Vec<(EventFilter, usize)>>);

impl Interest {
    /// Adds a reader.
    pub(super) fn add(&self, include: &EventFilter) {
        let mut filters = lock(&self.0);
        match filters.iter_mut().find(|(filter, _)| filter == include) {
            Some((_, readers)) => *readers += 1,
            None => filters.push((include.clone(), 1)),
        }
    }

    /// Removes a reader.
    pub(super) fn remove(&self, include: &EventFilter) {
        let mut filters = lock(&self.0);
        if let Some((_, readers)) = filters.iter_mut().find(|(filter, _)| filter == include) {
            *readers -= 1;
        }
        filters.retain(|(_, readers)| *readers > 0);
    }

    /// Whether any reader subscribes to this name.
    pub(super) fn wants(&self, name: &str) -> bool {
        lock(&self.0).iter().any(|(filter, _)| filter.matches(name))
    }
}
