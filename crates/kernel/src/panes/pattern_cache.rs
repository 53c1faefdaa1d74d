//! Patterns that somebody uses or has just used. Whoever looks for something often looks for it again, a thousand may wait
//! for the same, and to make a pattern that knows all letters of the world takes longer than to search with it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use paned_model::Refusal;
use tokio::sync::Semaphore;

use super::pattern::{LinePattern, PatternKey, PatternParam};

/// How many are kept that nobody uses.
const MAX_RECENT: usize = 8;
/// A pattern that is larger than this is not kept, in bytes.
const LARGEST: usize = 256 << 10;
/// How much is done away from the other tasks at a time, so that no number of callers takes all threads.
const MAX_BLOCKING: usize = 2;

/// Patterns by what was written.
#[derive(Debug)]
pub(crate) struct PatternCache {
    table: Mutex<PatternTable>,
    /// Who may make a large one. One at a time: whoever comes second often wants the same.
    compiling: Semaphore,
    blocking: Semaphore,
}

#[derive(Debug, Default)]
struct PatternTable {
    /// The last ones, the last used first.
    recent: VecDeque<(PatternKey, Arc<LinePattern>)>,
    /// All that somebody uses, and some that nobody does any more.
    live: HashMap<PatternKey, Weak<LinePattern>>,
}

impl Default for PatternCache {
    fn default() -> Self {
        let (making, away) = (Semaphore::new(1), Semaphore::new(MAX_BLOCKING));
        Self { table: Mutex::default(), compiling: making, blocking: away }
    }
}

impl PatternCache {
    /// A pattern: a new one, or one that is there. What takes a while is made away from the other tasks.
    pub(crate) async fn get(&self, asked: PatternParam) -> Result<Arc<LinePattern>, Refusal> {
        if let Some(pattern) = self.find(&asked.key) {
            return Ok(pattern);
        }
        asked.check()?;
        if asked.is_light() {
            let pattern = asked.read()?;
            return Ok(self.keep(asked.key, pattern));
        }
        let _turn = self.compiling.acquire().await.map_err(Refusal::internal)?;
        if let Some(pattern) = self.find(&asked.key) {
            return Ok(pattern);
        }
        let wanted = asked.key.clone();
        let made = tokio::task::spawn_blocking(move || asked.read());
        Ok(self.keep(wanted, made.await.map_err(Refusal::internal)??))
    }

    /// Does something that takes a while away from the other tasks, when it is its turn.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.blocking.acquire().await.map_err(Refusal::internal)?;
        tokio::task::spawn_blocking(work).await.map_err(Refusal::internal)
    }

    fn find(&self, wanted: &PatternKey) -> Option<Arc<LinePattern>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).find(wanted)
    }

    fn keep(&self, wanted: PatternKey, pattern: LinePattern) -> Arc<LinePattern> {
        let pattern = Arc::new(pattern);
        self.table.lock().unwrap_or_else(PoisonError::into_inner).keep(wanted, &pattern);
        pattern
    }
}

impl PatternTable {
    fn find(&mut self, wanted: &PatternKey) -> Option<Arc<LinePattern>> {
        let pattern = self.live.get(wanted)?.upgrade()?;
        if let Some(at) = self.recent.iter().position(|(kept, _)| kept == wanted)
            && let Some(found) = self.recent.remove(at)
        {
            self.recent.push_front(found);
        }
        Some(pattern)
    }

    fn keep(&mut self, wanted: PatternKey, pattern: &Arc<LinePattern>) {
        if pattern.size() <= LARGEST {
            self.recent.push_front((wanted.clone(), pattern.clone()));
            self.recent.truncate(MAX_RECENT);
        }
        // Now and then is enough, and costs each new one next to nothing.
        if self.live.len() == self.live.capacity() {
            self.live.retain(|_, pattern| 0 < pattern.strong_count());
        }
        self.live.insert(wanted, Arc::downgrade(pattern));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(patterns: &PatternCache, text: &str, ignore_case: bool) -> Arc<LinePattern> {
        patterns.get(PatternParam::one("pattern", text, ignore_case)).await.unwrap()
    }

    #[tokio::test]
    async fn the_last_ones_are_kept() {
        let patterns = PatternCache::default();
        let exact = Arc::downgrade(&get(&patterns, "a", false).await);
        let any = Arc::downgrade(&get(&patterns, "a", true).await);
        let is = |pattern: &Weak<LinePattern>, line| pattern.upgrade().unwrap().is_match(line);
        assert!(is(&exact, "a") && !is(&exact, "A") && is(&any, "A"));
        for n in 0..MAX_RECENT - 1 {
            get(&patterns, &n.to_string(), false).await;
            assert!(Weak::ptr_eq(&any, &Arc::downgrade(&get(&patterns, "a", true).await)));
        }
        assert_eq!(exact.strong_count(), 0);
    }

    #[tokio::test]
    async fn neither_large_ones_nor_bad_ones_are_kept_but_what_is_used_is_shared() {
        let patterns = PatternCache::default();
        let large = get(&patterns, r"\w{20}", false).await;
        assert!(LARGEST < large.size(), "{}", large.size());
        assert!(patterns.get(PatternParam::one("pattern", "(", false)).await.is_err());
        assert!(patterns.table.lock().unwrap().recent.is_empty());
        assert!(Arc::ptr_eq(&large, &get(&patterns, r"\w{20}", false).await));
        let large = Arc::downgrade(&{ large });
        assert_eq!(large.strong_count(), 0);
        for n in 0..1000 {
            get(&patterns, &n.to_string(), false).await;
        }
        assert!(patterns.table.lock().unwrap().live.len() < 100);
    }

    /// Half a second of work if each made its own, and on this one thread that answers others.
    #[tokio::test]
    async fn many_who_want_the_same_large_one_wait_for_the_first() {
        let patterns = PatternCache::default();
        let asked = || PatternParam::any("stop", &[r"\w{30}".to_owned(), "x".to_owned()], false);
        let all = futures_util::future::join_all((0..100).map(|_| patterns.get(asked())));
        let all: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
        assert!(all.iter().all(|pattern| Arc::ptr_eq(pattern, &all[0])));
    }
}
