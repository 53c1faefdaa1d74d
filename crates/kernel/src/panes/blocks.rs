//! What searches found out about the parts of a pane's output. What was printed does not change, so that
//! each thing is found out once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::literals::RequiredLiteral;
use super::trigram::TrigramFilter;

/// How many parts are remembered; of more, the last.
const MAX_BLOCKS: usize = 512;

/// How the lines of a part are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockContent {
    /// Cleaning would change nothing in any of them.
    Plain,
    /// They have to be cleaned.
    NeedsCleaning,
}

/// What is known of one part: of all lines that begin in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedBlock {
    /// Where in it the first of them begins.
    pub(crate) first: usize,
    pub(crate) content: BlockContent,
    /// What is in them. Made when a part is searched again: few are.
    pub(crate) trigrams: Option<TrigramFilter>,
}

/// Parts by their number. Nothing is kept for a pane that nobody searches.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    blocks: Mutex<BTreeMap<u64, IndexedBlock>>,
}

/// What a search does with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockPlan {
    /// Nothing is known of it.
    Classify,
    /// Its lines are of this kind; what is in them is not known yet.
    Summarize(BlockContent),
    /// Its lines are of this kind, and may match.
    Read(BlockContent),
    /// No line that begins in it matches. The first of them begins here.
    Skip(usize),
}

impl SearchIndex {
    /// What to do with a part, for lines that must hold all of this.
    pub(crate) fn plan(&self, number: u64, needs: &[RequiredLiteral]) -> BlockPlan {
        let parts = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(IndexedBlock { first, content: kind, trigrams: gist }) = parts.get(&number) else {
            return BlockPlan::Classify;
        };
        let Some(gist) = gist else { return BlockPlan::Summarize(*kind) };
        let met = |need: &RequiredLiteral| need.texts.iter().any(|text| gist.may_contain(text));
        if needs.iter().all(met) { BlockPlan::Read(*kind) } else { BlockPlan::Skip(*first) }
    }

    pub(crate) fn insert(&self, number: u64, part: IndexedBlock) {
        let mut parts = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(number, part);
        if MAX_BLOCKS < parts.len() {
            parts.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trigram::TrigramFilterBuilder;
    use super::*;

    fn part(text: Option<&str>) -> IndexedBlock {
        let gist = text.map(|text| {
            let mut sum = TrigramFilterBuilder::new();
            sum.add(text.as_bytes());
            sum.build()
        });
        IndexedBlock { first: 7, content: BlockContent::Plain, trigrams: gist }
    }

    fn need(texts: &[&str]) -> RequiredLiteral {
        let texts = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        RequiredLiteral { texts, is_exact: true, is_prefix: false }
    }

    #[test]
    fn it_knows_what_it_was_told() {
        let known = SearchIndex::default();
        assert_eq!(known.plan(3, &[]), BlockPlan::Classify);
        known.insert(3, part(None));
        assert_eq!(known.plan(3, &[need(&["foo"])]), BlockPlan::Summarize(BlockContent::Plain));
        known.insert(3, part(Some("some food in a bar")));
        for (needs, expect) in [
            (vec![], BlockPlan::Read(BlockContent::Plain)),
            (vec![need(&["foo"]), need(&["bar"])], BlockPlan::Read(BlockContent::Plain)),
            (vec![need(&["baz", "bar"])], BlockPlan::Read(BlockContent::Plain)),
            (vec![need(&["foo"]), need(&["baz"])], BlockPlan::Skip(7)),
            (vec![need(&["baz", "qux"])], BlockPlan::Skip(7)),
        ] {
            assert_eq!(known.plan(3, &needs), expect, "{needs:?}");
        }
    }

    #[test]
    fn it_forgets_the_oldest() {
        let known = SearchIndex::default();
        (0..=MAX_BLOCKS as u64).rev().for_each(|number| known.insert(number, part(None)));
        assert_eq!(known.plan(0, &[]), BlockPlan::Classify);
        assert_eq!(known.plan(1, &[]), BlockPlan::Summarize(BlockContent::Plain));
        assert_eq!(known.plan(MAX_BLOCKS as u64, &[]), BlockPlan::Summarize(BlockContent::Plain));
    }
}
