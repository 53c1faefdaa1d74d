//! The history of any pane, from its output alone: when what was printed, and at which size.

use std::io;

use paned_backend::Output;
use paned_model::Time;

use super::{HistoryEntry, HistoryEvent, HistorySlice};

/// Everything that is kept and was printed since a time.
///
/// # Errors
/// When the output cannot be read.
pub(super) fn since(output: &dyn Output, since: Time) -> io::Result<HistorySlice> {
    let end = output.end();
    let sizes = output.sizes(0);
    let mut slice = HistorySlice::default();
    let mut at = output.first();
    slice.is_cut = 0 < at && since == Time(0);
    while at < end {
        let printed = match output.time(at)? {
            Ok(printed) => printed,
            Err(gap) => {
                slice.is_cut = true;
                at = gap.first.max(at + 1);
                continue;
            }
        };
        let until = printed.until.clamp(at + 1, end);
        if since <= printed.time {
            if slice.entries.is_empty() {
                let before = sizes.iter().rev().find(|mark| mark.offset <= at);
                slice.size = before.or(sizes.first()).map(|mark| mark.size);
                slice.is_cut |= 0 < output.first() && at == output.first();
                slice.entries.push(entry(printed.time, HistoryEvent::Printed(at)));
            }
            let resized = sizes.iter().filter(|mark| at < mark.offset && mark.offset < until);
            slice
                .entries
                .extend(resized.map(|mark| {
                    entry(printed.time, HistoryEvent::Resized(mark.offset, mark.size))
                }));
            slice.entries.push(entry(printed.time, HistoryEvent::Printed(until)));
            let next = sizes.iter().filter(|mark| mark.offset == until && until < end);
            slice.entries.extend(
                next.map(|mark| entry(printed.time, HistoryEvent::Resized(until, mark.size))),
            );
        }
        at = until;
    }
    Ok(slice)
}

fn entry(at: Time, what: HistoryEvent) -> HistoryEntry {
    HistoryEntry { at, what }
}
