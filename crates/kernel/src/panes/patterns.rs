//! Patterns that somebody uses or has just used. Whoever looks for something often looks for it again, a thousand may wait
//! for the same, and to make a pattern that knows all letters of the world takes longer than to search with it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use paned_model::Refusal;
use tokio::sync::Semaphore;

use super::pattern::{Asked, Pattern, Wanted};

/// How many are kept that nobody uses.
const KEPT: usize = 8;
/// A pattern that is larger than this is not kept, in bytes.
const LARGEST: usize = 256 << 10;
/// How much is done away from the other tasks at a time, so that no number of callers takes all threads.
const AWAY: usize = 2;

/// Patterns by what was written.
#[derive(Debug)]
pub(crate) struct Patterns {
    table: Mutex<Table>,
    /// Who may make a large one. One at a time: whoever comes second often wants the same.
    making: Semaphore,
    away: Semaphore,
}

#[derive(Debug, Default)]
struct Table {
    /// The last ones, the last used first.
    kept: VecDeque<(Wanted, Arc<Pattern>)>,
    /// All that somebody uses, and some that nobody does any more.
    used: HashMap<Wanted, Weak<Pattern>>,
}

impl Default for Patterns {
    fn default() -> Self {
        let (making, away) = (Semaphore::new(1), Semaphore::new(AWAY));
        Self { table: Mutex::default(), making, away }
    }
}

impl Patterns {
    /// A pattern: a new one, or one that is there. What takes a while is made away from the other tasks.
    pub(crate) async fn get(&self, asked: Asked) -> Result<Arc<Pattern>, Refusal> {
        if let Some(pattern) = self.find(&asked.wanted) {
            return Ok(pattern);
        }
        asked.check()?;
        if asked.is_light() {
            let pattern = asked.read()?;
            return Ok(self.keep(asked.wanted, pattern));
        }
        let _turn = self.making.acquire().await.map_err(Refusal::internal)?;
        if let Some(pattern) = self.find(&asked.wanted) {
            return Ok(pattern);
        }
        let wanted = asked.wanted.clone();
        let made = tokio::task::spawn_blocking(move || asked.read());
        Ok(self.keep(wanted, made.await.map_err(Refusal::internal)??))
    }

    /// Does something that takes a while away from the other tasks, when it is its turn.
    pub(crate) async fn away<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.away.acquire().await.map_err(Refusal::internal)?;
        tokio::task::spawn_blocking(work).await.map_err(Refusal::internal)
    }

    fn find(&self, wanted: &Wanted) -> Option<Arc<Pattern>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).find(wanted)
    }

    fn keep(&self, wanted: Wanted, pattern: Pattern) -> Arc<Pattern> {
        let pattern = Arc::new(pattern);
        self.table.lock().unwrap_or_else(PoisonError::into_inner).keep(wanted, &pattern);
        pattern
    }
}

impl Table {
    fn find(&mut self, wanted: &Wanted) -> Option<Arc<Pattern>> {
        let pattern = self.used.get(wanted)?.upgrade()?;
        if let Some(at) = self.kept.iter().position(|(kept, _)| kept == wanted)
            && let Some(found) = self.kept.remove(at)
        {
            self.kept.push_front(found);
        }
        Some(pattern)
    }

    fn keep(&mut self, wanted: Wanted, pattern: &Arc<Pattern>) {
        if pattern.size() <= LARGEST {
            self.kept.push_front((wanted.clone(), pattern.clone()));
            self.kept.truncate(KEPT);
        }
        // Now and then is enough, and costs each new one next to nothing.
        if self.used.len() == self.used.capacity() {
            self.used.retain(|_, pattern| 0 < pattern.strong_count());
        }
        self.used.insert(wanted, Arc::downgrade(pattern));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(patterns: &Patterns, text: &str, ignore_case: bool) -> Arc<Pattern> {
        patterns.get(Asked::one("pattern", text, ignore_case)).await.unwrap()
    }

    #[tokio::test]
    async fn the_last_ones_are_kept() {
        let patterns = Patterns::default();
        let exact = Arc::downgrade(&get(&patterns, "a", false).await);
        let any = Arc::downgrade(&get(&patterns, "a", true).await);
        let is = |pattern: &Weak<Pattern>, line| pattern.upgrade().unwrap().is_match(line);
        assert!(is(&exact, "a") && !is(&exact, "A") && is(&any, "A"));
        for n in 0..KEPT - 1 {
            get(&patterns, &n.to_string(), false).await;
            assert!(Weak::ptr_eq(&any, &Arc::downgrade(&get(&patterns, "a", true).await)));
        }
        assert_eq!(exact.strong_count(), 0);
    }

    #[tokio::test]
    async fn neither_large_ones_nor_bad_ones_are_kept_but_what_is_used_is_shared() {
        let patterns = Patterns::default();
        let large = get(&patterns, r"\w{20}", false).await;
        assert!(LARGEST < large.size(), "{}", large.size());
        assert!(patterns.get(Asked::one("pattern", "(", false)).await.is_err());
        assert!(patterns.table.lock().unwrap().kept.is_empty());
        assert!(Arc::ptr_eq(&large, &get(&patterns, r"\w{20}", false).await));
        let large = Arc::downgrade(&{ large });
        assert_eq!(large.strong_count(), 0);
        for n in 0..1000 {
            get(&patterns, &n.to_string(), false).await;
        }
        assert!(patterns.table.lock().unwrap().used.len() < 100);
    }

    /// Half a second of work if each made its own, and on this one thread that answers others.
    #[tokio::test]
    async fn many_who_want_the_same_large_one_wait_for_the_first() {
        let patterns = Patterns::default();
        let asked = || Asked::any("stop", &[r"\w{30}".to_owned(), "x".to_owned()], false);
        let all = futures_util::future::join_all((0..100).map(|_| patterns.get(asked())));
        let all: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
        assert!(all.iter().all(|pattern| Arc::ptr_eq(pattern, &all[0])));
    }
}
