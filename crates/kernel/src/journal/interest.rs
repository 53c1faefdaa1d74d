//! Which events the living readers asked for, so that nobody makes what nobody wants.

use std::sync::Mutex;

use paned_model::EventFilter;

use super::lock;

/// The distinct include lists and how many readers have each: few, however many the readers.
#[derive(Default)]
pub(super) struct Interest(Mutex<Vec<(EventFilter, usize)>>);

impl Interest {
    /// A reader came.
    pub(super) fn add(&self, include: &EventFilter) {
        let mut lists = lock(&self.0);
        match lists.iter_mut().find(|(list, _)| list == include) {
            Some((_, readers)) => *readers += 1,
            None => lists.push((include.clone(), 1)),
        }
    }

    /// A reader went.
    pub(super) fn remove(&self, include: &EventFilter) {
        let mut lists = lock(&self.0);
        if let Some((_, readers)) = lists.iter_mut().find(|(list, _)| list == include) {
            *readers -= 1;
        }
        lists.retain(|(_, readers)| *readers > 0);
    }

    /// Whether any reader asked for this name.
    pub(super) fn wants(&self, name: &str) -> bool {
        lock(&self.0).iter().any(|(list, _)| list.matches(name))
    }
}
