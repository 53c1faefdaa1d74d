//! D3E: how much of a core the emulator alone takes for what a program prints.

use std::time::Duration;

use paned_model::Size;
use paned_term::Screen;
use rustix::time::{ClockId, clock_gettime};

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity, Unit};
use crate::flood::{ExpectedOutput, FloodKind};
use crate::plan::Plan;

pub(super) const ROW: Row = Row { name: "D3E", doc: "time on a core for what is drawn", run };

const BYTES: u64 = 64 << 20;
const SIZE: Size = Size { cols: 80, rows: 24 };
/// How much is drawn at once: what a keeper reads of a pty, and what is read of a tape.
const PIECES: [usize; 2] = [4 << 10, 64 << 10];

#[expect(clippy::unnecessary_wraps, reason = "a row may fail; this one has nothing outside it")]
fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let rows = FloodKind::ALL.iter().flat_map(|&kind| PIECES.map(|piece| (kind, piece)));
    Ok(rows.map(|(kind, piece)| measure(plan, kind, piece)).collect())
}

/// The best of the rounds.
fn measure(plan: &Plan, kind: FloodKind, piece: usize) -> Figure {
    let strip = ExpectedOutput::of(kind).into_strip();
    let best = (0..plan.rounds).map(|_| spend(plan, &strip, piece)).max_by(f64::total_cmp);
    let what = format!("a screen, {}, {} KiB at once", kind.name(), piece >> 10);
    Figure::plain(what, Quantity::new(best.unwrap_or_default(), Unit::MegabytesPerCpuSecond))
}

/// Millions of bytes that are drawn in a second of this thread.
fn spend(plan: &Plan, strip: &[u8], piece: usize) -> f64 {
    let times = plan.amount(BYTES).div_ceil(strip.len() as u64);
    let mut screen = Screen::new(SIZE);
    let before = busy();
    for _ in 0..times {
        strip.chunks(piece).for_each(|chunk| screen.feed(chunk));
    }
    let bytes = times * strip.len() as u64;
    bytes as f64 / 1e6 / busy().saturating_sub(before).as_secs_f64()
}

/// How long this thread has been on a core.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
