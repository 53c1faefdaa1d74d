//! The last patterns that somebody searched with. Whoever looks for something often looks for it again, and to
//! make a pattern that knows all letters of the world takes longer than to search with it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use paned_model::Refusal;

use super::pattern::{Pattern, pattern};

/// How many are kept.
const KEPT: usize = 8;
/// A pattern that is larger than this is not kept, in bytes.
const LARGEST: usize = 256 << 10;

/// Patterns, the last used first.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    text: String,
    ignore_case: bool,
    pattern: Arc<Pattern>,
}

impl Patterns {
    /// A pattern: a new one, or one that is kept.
    pub(crate) fn get(
        &self,
        field: &str,
        text: &str,
        ignore_case: bool,
    ) -> Result<Arc<Pattern>, Refusal> {
        if let Some(pattern) = self.find(text, ignore_case) {
            return Ok(pattern);
        }
        let pattern = Arc::new(pattern(field, text, ignore_case)?);
        if pattern.size() <= LARGEST {
            let text = text.to_owned();
            self.keep(Kept { text, ignore_case, pattern: pattern.clone() });
        }
        Ok(pattern)
    }

    fn find(&self, text: &str, ignore_case: bool) -> Option<Arc<Pattern>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |kept: &Kept| kept.text == text && kept.ignore_case == ignore_case;
        let at = kept.iter().position(is_it)?;
        let found = kept.remove(at)?;
        let pattern = found.pattern.clone();
        kept.push_front(found);
        Some(pattern)
    }

    fn keep(&self, new: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(new);
        kept.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept() {
        let patterns = Patterns::default();
        let get = |text: &str, ignore_case| patterns.get("pattern", text, ignore_case).unwrap();
        let (exact, any) = (get("a", false), get("a", true));
        assert!(exact.is_match("a") && !exact.is_match("A") && any.is_match("A"));
        assert!(Arc::ptr_eq(&any, &get("a", true)));
        (0..KEPT - 1).for_each(|n| drop(get(&n.to_string(), false)));
        assert!(Arc::ptr_eq(&any, &get("a", true)));
        assert!(!Arc::ptr_eq(&exact, &get("a", false)));
    }

    #[test]
    fn neither_large_ones_nor_bad_ones_are_kept() {
        let patterns = Patterns::default();
        let large = patterns.get("pattern", r"\w{20}", false).unwrap();
        assert!(LARGEST < large.size(), "{}", large.size());
        assert!(patterns.get("pattern", "(", false).is_err());
        assert!(patterns.kept.lock().unwrap().is_empty());
    }
}
