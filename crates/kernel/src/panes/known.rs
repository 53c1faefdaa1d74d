//! What searches found out about the parts of a pane's output. What was printed does not change, so that
//! each thing is found out once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::gist::Gist;
use super::needs::Need;

/// How many parts are remembered; of more, the last.
const PARTS: usize = 512;

/// How the lines of a part are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cleaning would change nothing in any of them.
    Plain,
    /// They have to be cleaned.
    Drawn,
}

/// What is known of one part: of all lines that begin in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where in it the first of them begins.
    pub(crate) first: usize,
    pub(crate) kind: Kind,
    /// What is in them. Made when a part is searched again: few are.
    pub(crate) gist: Option<Gist>,
}

/// Parts by their number. Nothing is kept for a pane that nobody searches.
#[derive(Debug, Default)]
pub(crate) struct Known {
    parts: Mutex<BTreeMap<u64, Part>>,
}

/// What a search does with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Nothing is known of it.
    Find,
    /// Its lines are of this kind; what is in them is not known yet.
    SumUp(Kind),
    /// Its lines are of this kind, and may match.
    Read(Kind),
    /// No line that begins in it matches. The first of them begins here.
    Skip(usize),
}

impl Known {
    /// What to do with a part, for lines that must hold all of this.
    pub(crate) fn advice(&self, number: u64, needs: &[Need]) -> Advice {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Part { first, kind, gist }) = parts.get(&number) else { return Advice::Find };
        let Some(gist) = gist else { return Advice::SumUp(*kind) };
        let met = |need: &Need| need.texts.iter().any(|text| gist.may_hold(text));
        if needs.iter().all(met) { Advice::Read(*kind) } else { Advice::Skip(*first) }
    }

    pub(crate) fn insert(&self, number: u64, part: Part) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(number, part);
        if PARTS < parts.len() {
            parts.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gist::Sum;
    use super::*;

    fn part(text: Option<&str>) -> Part {
        let gist = text.map(|text| {
            let mut sum = Sum::new();
            sum.add(text.as_bytes());
            sum.gist()
        });
        Part { first: 7, kind: Kind::Plain, gist }
    }

    fn need(texts: &[&str]) -> Need {
        let texts = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Need { texts, is_exact: true, leads: false }
    }

    #[test]
    fn it_knows_what_it_was_told() {
        let known = Known::default();
        assert_eq!(known.advice(3, &[]), Advice::Find);
        known.insert(3, part(None));
        assert_eq!(known.advice(3, &[need(&["foo"])]), Advice::SumUp(Kind::Plain));
        known.insert(3, part(Some("some food in a bar")));
        for (needs, expect) in [
            (vec![], Advice::Read(Kind::Plain)),
            (vec![need(&["foo"]), need(&["bar"])], Advice::Read(Kind::Plain)),
            (vec![need(&["baz", "bar"])], Advice::Read(Kind::Plain)),
            (vec![need(&["foo"]), need(&["baz"])], Advice::Skip(7)),
            (vec![need(&["baz", "qux"])], Advice::Skip(7)),
        ] {
            assert_eq!(known.advice(3, &needs), expect, "{needs:?}");
        }
    }

    #[test]
    fn it_forgets_the_oldest() {
        let known = Known::default();
        (0..=PARTS as u64).rev().for_each(|number| known.insert(number, part(None)));
        assert_eq!(known.advice(0, &[]), Advice::Find);
        assert_eq!(known.advice(1, &[]), Advice::SumUp(Kind::Plain));
        assert_eq!(known.advice(PARTS as u64, &[]), Advice::SumUp(Kind::Plain));
    }
}
