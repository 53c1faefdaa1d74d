//! What happened to an agent and when, for as long as memory is given to it: so that a recording can be made of
//! what has already happened.

use std::collections::VecDeque;

use paned_model::{AgentState, BlockKind, Size, Time};

/// How many moments are kept; at one every few hundredths of a second that is a quarter of an hour of work.
const MOST: usize = 30_000;
/// How much of what was typed at once is kept.
const LONGEST: usize = 4096;

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: Time,
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It printed, up to this offset.
    Printed(u64),
    /// Somebody typed this, at this offset of its output.
    Typed(u64, Vec<u8>),
    /// Its terminal got this size, at this offset of its output.
    Resized(u64, Size),
    /// It does this now.
    Does(AgentState, Option<BlockKind>),
}

/// The last moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    moments: VecDeque<Moment>,
    /// The size before the first moment that is kept.
    base: Option<Size>,
    size: Option<Size>,
    does: Option<(AgentState, Option<BlockKind>)>,
}

impl Log {
    /// It has printed up to this offset, on a terminal of this size. Every look is a moment of its own: a text that
    /// was shown only until Enter was pressed is to be seen in one.
    pub(super) fn printed(&mut self, at: Time, end: u64, size: Size) {
        self.base.get_or_insert(size);
        if self.size.replace(size).is_some_and(|before| before != size) {
            self.push(at, What::Resized(end, size));
        }
        let before = self.moments.iter().rev().find_map(|moment| match moment.what {
            What::Printed(upto) => Some(upto),
            What::Typed(..) | What::Resized(..) | What::Does(..) => None,
        });
        if before != Some(end) {
            self.push(at, What::Printed(end));
        }
    }

    /// Somebody typed this, when it had printed up to this offset. That is heard after what it brought about was
    /// printed, and noted before it.
    pub(super) fn typed(&mut self, at: Time, end: u64, bytes: &[u8]) {
        let is_before = |moment: &Moment| match moment.what {
            What::Printed(upto) => moment.at <= at && upto <= end,
            What::Typed(..) | What::Resized(..) | What::Does(..) => moment.at <= at,
        };
        let place = self.moments.iter().rposition(is_before).map_or(0, |before| before + 1);
        let typed = What::Typed(end, bytes[..bytes.len().min(LONGEST)].to_vec());
        self.push(at, typed);
        let last = self.moments.len() - 1;
        self.moments.make_contiguous()[place.min(last)..].rotate_right(1);
    }

    pub(super) fn does(&mut self, at: Time, state: AgentState, kind: Option<BlockKind>) {
        if self.does.replace((state, kind)) != Some((state, kind)) {
            self.push(at, What::Does(state, kind));
        }
    }

    fn push(&mut self, at: Time, what: What) {
        if self.moments.len() == MOST
            && let Some(Moment { what: What::Resized(_, size), .. }) = self.moments.pop_front()
        {
            self.base = Some(size);
        }
        self.moments.push_back(Moment { at, what });
    }

    /// The moments from this one on.
    pub(super) fn since(&self, since: Time) -> Recalled {
        let first = self.moments.front().map(|moment| moment.at);
        let is_cut = self.moments.len() == MOST && first.is_some_and(|first| since < first);
        let (before, kept): (Vec<&Moment>, Vec<&Moment>) =
            self.moments.iter().partition(|moment| moment.at < since);
        let size = before.iter().rev().find_map(|moment| match moment.what {
            What::Resized(_, size) => Some(size),
            What::Printed(_) | What::Typed(..) | What::Does(..) => None,
        });
        Recalled { moments: kept.into_iter().cloned().collect(), size: size.or(self.base), is_cut }
    }
}

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recalled {
    /// What happened, in order.
    pub(crate) moments: Vec<Moment>,
    /// How large the terminal was before.
    pub(crate) size: Option<Size>,
    /// Whether there were more moments that are no longer kept.
    pub(crate) is_cut: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 80, rows: 24 };

    #[test]
    fn every_look_at_something_new_is_a_moment() {
        let mut log = Log::default();
        for (at, end) in [(0, 10), (3, 20), (100, 20), (200, 30)] {
            log.printed(Time(at), end, SIZE);
        }
        let moments = log.since(Time(0)).moments;
        let expect = [(0, What::Printed(10)), (3, What::Printed(20)), (200, What::Printed(30))];
        assert_eq!(moments, expect.map(|(at, what)| Moment { at: Time(at), what }));
    }

    #[test]
    fn what_was_typed_comes_before_what_it_brought_about() {
        let mut log = Log::default();
        log.printed(Time(0), 10, SIZE);
        log.printed(Time(50), 20, SIZE);
        log.typed(Time(49), 10, b"x");
        let moments = log.since(Time(0)).moments;
        let expect =
            [(0, What::Printed(10)), (49, What::Typed(10, b"x".to_vec())), (50, What::Printed(20))];
        assert_eq!(moments, expect.map(|(at, what)| Moment { at: Time(at), what }));
    }

    #[test]
    fn the_oldest_go_first_and_that_is_told() {
        let mut log = Log::default();
        for at in 0..=MOST as u64 {
            log.printed(Time(at * 10), at, SIZE);
        }
        let Recalled { moments, is_cut, .. } = log.since(Time(0));
        assert_eq!((moments.len(), is_cut), (MOST, true));
        assert!(!log.since(Time(10)).is_cut);
    }

    #[test]
    fn a_state_and_a_size_are_told_when_they_change() {
        let mut log = Log::default();
        log.printed(Time(0), 0, SIZE);
        log.does(Time(1), AgentState::Ready, None);
        log.does(Time(2), AgentState::Ready, None);
        log.printed(Time(20), 5, Size { cols: 90, rows: 24 });
        let Recalled { moments, size, .. } = log.since(Time(1));
        assert_eq!(size, Some(SIZE));
        assert_eq!(log.since(Time(30)).size, Some(Size { cols: 90, rows: 24 }));
        let whats: Vec<What> = moments.into_iter().map(|moment| moment.what).collect();
        let resized = What::Resized(5, Size { cols: 90, rows: 24 });
        assert_eq!(whats, [What::Does(AgentState::Ready, None), resized, What::Printed(5)]);
    }
}
