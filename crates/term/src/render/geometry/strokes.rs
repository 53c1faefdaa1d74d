//! Lines under and through a cell, and cursors that are lines. They meet those of the next cell.

use super::super::cell_size::CellSize;
use super::super::outline::Outline;
use crate::screen::styled_screen::Underline;
use crate::screen::view::ScreenCursorShape as CursorShape;

/// The number of steps that approximate a wave in each cell.
const STEPS: u32 = 8;

/// The line under this many columns.
pub(in super::super) fn underline(kind: Underline, cell: CellSize, cols: u16) -> Outline {
    let thick = f32::from(cell.light());
    let width = cell.span(cols);
    let top = cell.baseline() + thick;
    match kind {
        Underline::None => Outline::default(),
        Underline::Single => Outline::rect(0.0, top, width, top + thick),
        Underline::Double => Outline::rect(0.0, top, width, top + thick).and(Outline::rect(
            0.0,
            top + 2.0 * thick,
            width,
            top + 3.0 * thick,
        )),
        Underline::Curly => wave(cell, cols),
        Underline::Dotted => pieces(cell.light(), cell, cols),
        Underline::Dashed => pieces((cell.width / 3).max(1), cell, cols),
    }
}

/// The line through this many columns.
pub(in super::super) fn strike(cell: CellSize, cols: u16) -> Outline {
    let top = (f32::from(cell.height) * 0.55).round();
    Outline::rect(0.0, top, cell.span(cols), top + f32::from(cell.light()))
}

/// A cursor over this many columns.
pub(in super::super) fn cursor(shape: CursorShape, cell: CellSize, cols: u16) -> Outline {
    let width = cell.span(cols);
    let height = f32::from(cell.height);
    let thick = f32::from(cell.heavy());
    match shape {
        CursorShape::Block => cell.outline(cols),
        CursorShape::Underline => Outline::rect(0.0, height - thick, width, height),
        CursorShape::Bar => Outline::rect(0.0, 0.0, thick, height),
    }
}

/// Dots or dashes of this width, with gaps of the same width.
fn pieces(size: u16, cell: CellSize, cols: u16) -> Outline {
    let thick = f32::from(cell.light());
    let top = cell.baseline() + thick;
    let lefts = (0..u32::from(cell.width) * u32::from(cols)).step_by(usize::from(2 * size));
    let piece = |left: u32| {
        let right = (left as f32 + f32::from(size)).min(cell.span(cols));
        Outline::rect(left as f32, top, right, top + thick)
    };
    lefts.map(piece).fold(Outline::default(), Outline::and)
}

/// One period for each cell.
fn wave(cell: CellSize, cols: u16) -> Outline {
    let thick = f32::from(cell.light());
    let height = (f32::from(cell.height) - cell.baseline() - thick) / 2.0;
    let point = |step: u32, down: f32| {
        let part = step as f32 / STEPS as f32;
        let swing = (part * std::f32::consts::TAU).sin() * (height - thick / 2.0);
        (part * f32::from(cell.width), cell.baseline() + height + swing + down)
    };
    let upper = (0..=STEPS * u32::from(cols)).map(|step| point(step, 0.0));
    let lower = (0..=STEPS * u32::from(cols)).rev().map(|step| point(step, thick));
    Outline::polygon(upper.chain(lower))
}
