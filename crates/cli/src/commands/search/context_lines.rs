//! The lines around matches.

use anyhow::Result;
use serde_json::json;

use super::super::support::output::PaneReadReply;
use super::PaneHits;
use crate::context::CliContext;

/// How many lines are shown around a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextSize {
    pub(super) before: u64,
    pub(super) after: u64,
}

impl ContextSize {
    /// Whether any are.
    pub(super) fn is_some(self) -> bool {
        0 < self.before.max(self.after)
    }
}

/// A line of the answer: a match, or a line around one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownLine {
    pub(super) n: u64,
    pub(super) text: String,
    /// Where the pattern matches, as pairs of character positions.
    pub(super) matches: Vec<(usize, usize)>,
    pub(super) is_match: bool,
}

/// The matches of a pane with the lines around them, in order.
///
/// # Errors
/// When the server refuses.
pub(super) fn lines(
    context: &CliContext,
    group: &PaneHits<'_>,
    size: ContextSize,
) -> Result<Vec<ShownLine>> {
    let mut shown: Vec<ShownLine> = group
        .hits
        .iter()
        .map(|hit| ShownLine {
            n: hit.n,
            text: hit.text.clone(),
            matches: hit.matches.clone(),
            is_match: true,
        })
        .collect();
    if !size.is_some() {
        return Ok(shown);
    }
    let numbers: Vec<u64> = shown.iter().map(|line| line.n).collect();
    for (first, last) in ranges(&numbers, size) {
        let request = json!({ "paneId": group.pane, "offset": first, "limit": (last - first + 1).min(10_000) });
        let answer: PaneReadReply = context.call("pane:read", &request)?;
        let around = answer.lines.into_iter().filter(|line| !numbers.contains(&line.n));
        shown.extend(around.filter(|line| line.n <= last).map(|line| ShownLine {
            n: line.n,
            text: line.text,
            matches: Vec::new(),
            is_match: false,
        }));
    }
    shown.sort_by_key(|line| line.n);
    Ok(shown)
}

/// The first and last line of each stretch to show; stretches that touch are one.
fn ranges(numbers: &[u64], size: ContextSize) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        let first = n.saturating_sub(size.before);
        let last = n.saturating_add(size.after);
        match ranges.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last,
            Some(_) | None => ranges.push((first, last)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_touch_are_read_once() {
        let size = ContextSize { before: 1, after: 2 };
        assert_eq!(ranges(&[0, 4, 20], size), [(0, 6), (19, 22)]);
        assert_eq!(ranges(&[5], ContextSize::default()), [(5, 5)]);
    }
}
