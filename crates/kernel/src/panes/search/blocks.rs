//! What searches have learned about the blocks of a pane's output. Printed output does not change,
//! so each fact is computed once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::literals::RequiredLiteral;
use super::trigram::TrigramFilter;

/// How many blocks are kept; beyond that the oldest is evicted.
const MAX_BLOCKS: usize = 512;

/// How to read the lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockContent {
    /// Cleaning changes none of them.
    Plain,
    /// They have to be cleaned.
    NeedsCleaning,
}

/// What is known of one block, that is, of all lines that begin in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedBlock {
    /// Where the first of these lines begins within the block.
    pub(crate) first: usize,
    pub(crate) content: BlockContent,
    /// The trigrams of the lines. Built only when a block is searched again, because few are.
    pub(crate) trigrams: Option<TrigramFilter>,
}

/// Blocks by their number. Empty for a pane that is never searched.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    blocks: Mutex<BTreeMap<u64, IndexedBlock>>,
}

/// What a search does with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockPlan {
    /// Nothing is known of it.
    Classify,
    /// The kind of its lines is known, their trigrams are not.
    Summarize(BlockContent),
    /// The kind of its lines is known, and they may match.
    Read(BlockContent),
    /// No line that begins in it matches. The first of them begins here.
    Skip(usize),
}

impl SearchIndex {
    /// What to do with a block, for lines that must contain all of these literals.
    pub(crate) fn plan(&self, number: u64, literals: &[RequiredLiteral]) -> BlockPlan {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(IndexedBlock { first, content, trigrams }) = blocks.get(&number) else {
            return BlockPlan::Classify;
        };
        let Some(trigrams) = trigrams else { return BlockPlan::Summarize(*content) };
        let may_match =
            |literal: &RequiredLiteral| literal.texts.iter().any(|text| trigrams.may_contain(text));
        if literals.iter().all(may_match) {
            BlockPlan::Read(*content)
        } else {
            BlockPlan::Skip(*first)
        }
    }

    pub(crate) fn insert(&self, number: u64, block: IndexedBlock) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.insert(number, block);
        if MAX_BLOCKS < blocks.len() {
            blocks.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trigram::TrigramFilterBuilder;
    use super::*;

    fn part(text: Option<&str>) -> IndexedBlock {
        let trigrams = text.map(|text| {
            let mut sum = TrigramFilterBuilder::new();
            sum.add(text.as_bytes());
            sum.build()
        });
        IndexedBlock { first: 7, content: BlockContent::Plain, trigrams }
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
