//! Which parts of a pane's output are known to be plain. What was printed does not change, so that it is
//! found out once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many parts are remembered; of more, the last to be looked at.
const PARTS: usize = 512;

/// The numbers of plain parts, each with 1 added, at the place that is the number's remainder. Nothing is
/// kept for a pane that nobody searches.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    parts: OnceLock<Box<[AtomicU32]>>,
}

impl Plain {
    pub(crate) fn contains(&self, part: u64) -> bool {
        let parts = self.parts.get();
        let found = parts.map(|parts| parts[place(part)].load(Ordering::Relaxed));
        found.is_some_and(|found| found != 0 && Some(found) == mark(part))
    }

    pub(crate) fn insert(&self, part: u64) {
        let parts = self.parts.get_or_init(|| (0..PARTS).map(|_| AtomicU32::new(0)).collect());
        // A number that does not fit is not remembered.
        parts[place(part)].store(mark(part).unwrap_or(0), Ordering::Relaxed);
    }
}

fn place(part: u64) -> usize {
    (part % PARTS as u64) as usize
}

fn mark(part: u64) -> Option<u32> {
    u32::try_from(part).ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_what_it_was_told_and_forgets_the_oldest() {
        let plain = Plain::default();
        assert!(!plain.contains(0));
        [0, 7, u64::from(u32::MAX) - 1, u64::MAX].into_iter().for_each(|part| plain.insert(part));
        assert!(plain.contains(0) && plain.contains(7) && !plain.contains(1));
        assert!(plain.contains(u64::from(u32::MAX) - 1) && !plain.contains(u64::MAX));
        plain.insert(PARTS as u64);
        assert!(plain.contains(PARTS as u64) && !plain.contains(0));
    }
}
