//! A cache of compiled patterns that are in use or were used recently. A client often repeats its
//! pattern, a thousand clients may wait for the same one, and compiling a pattern with Unicode
//! classes takes longer than searching with it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use paned_model::Refusal;
use tokio::sync::Semaphore;

use super::pattern::{LinePattern, PatternKey, PatternParam};

/// How many recently used patterns are kept.
const MAX_RECENT: usize = 8;
/// A pattern that is larger than this, in bytes, is not kept.
const LARGEST: usize = 256 << 10;
/// How many blocking jobs run at a time, so that no number of callers takes all threads.
const MAX_BLOCKING: usize = 2;

/// Patterns by their texts.
#[derive(Debug)]
pub(crate) struct PatternCache {
    table: Mutex<PatternTable>,
    /// Held while a large pattern is compiled. One at a time: the next caller often wants the same
    /// one.
    compiling: Semaphore,
    blocking: Semaphore,
}

#[derive(Debug, Default)]
struct PatternTable {
    /// The last patterns, most recently used first.
    recent: VecDeque<(PatternKey, Arc<LinePattern>)>,
    /// All patterns in use, and some that were dropped.
    live: HashMap<PatternKey, Weak<LinePattern>>,
}

impl Default for PatternCache {
    fn default() -> Self {
        Self {
            table: Mutex::default(),
            compiling: Semaphore::new(1),
            blocking: Semaphore::new(MAX_BLOCKING),
        }
    }
}

impl PatternCache {
    /// Returns a cached pattern, or compiles it. Large ones are compiled on a blocking thread.
    pub(crate) async fn get(&self, param: PatternParam) -> Result<Arc<LinePattern>, Refusal> {
        if let Some(pattern) = self.find(&param.key) {
            return Ok(pattern);
        }
        param.check()?;
        if param.is_light() {
            let pattern = param.read()?;
            return Ok(self.keep(param.key, pattern));
        }
        let _turn = self.compiling.acquire().await.map_err(Refusal::internal)?;
        if let Some(pattern) = self.find(&param.key) {
            return Ok(pattern);
        }
        let key = param.key.clone();
        let compiled = tokio::task::spawn_blocking(move || param.read());
        Ok(self.keep(key, compiled.await.map_err(Refusal::internal)??))
    }

    /// Runs a long job on a blocking thread, when a slot is free.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.blocking.acquire().await.map_err(Refusal::internal)?;
        tokio::task::spawn_blocking(work).await.map_err(Refusal::internal)
    }

    fn find(&self, key: &PatternKey) -> Option<Arc<LinePattern>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).find(key)
    }

    fn keep(&self, key: PatternKey, pattern: LinePattern) -> Arc<LinePattern> {
        let pattern = Arc::new(pattern);
        self.table.lock().unwrap_or_else(PoisonError::into_inner).keep(key, &pattern);
        pattern
    }
}

impl PatternTable {
    fn find(&mut self, key: &PatternKey) -> Option<Arc<LinePattern>> {
        let pattern = self.live.get(key)?.upgrade()?;
        if let Some(at) = self.recent.iter().position(|(kept, _)| kept == key)
            && let Some(found) = self.recent.remove(at)
        {
            self.recent.push_front(found);
        }
        Some(pattern)
    }

    fn keep(&mut self, key: PatternKey, pattern: &Arc<LinePattern>) {
        if pattern.size() <= LARGEST {
            self.recent.push_front((key.clone(), pattern.clone()));
            self.recent.truncate(MAX_RECENT);
        }
        // Cleaning up only when the map is full costs next to nothing per insertion.
        if self.live.len() == self.live.capacity() {
            self.live.retain(|_, pattern| 0 < pattern.strong_count());
        }
        self.live.insert(key, Arc::downgrade(pattern));
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

    /// Half a second of work if each caller compiled its own, and on the one thread that serves the
    /// others.
    #[tokio::test]
    async fn many_who_want_the_same_large_one_wait_for_the_first() {
        let patterns = PatternCache::default();
        let asked = || PatternParam::any("stop", &[r"\w{30}".to_owned(), "x".to_owned()], false);
        let all = futures_util::future::join_all((0..100).map(|_| patterns.get(asked())));
        let all: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
        assert!(all.iter().all(|pattern| Arc::ptr_eq(pattern, &all[0])));
    }
}
