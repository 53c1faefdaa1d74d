//! Symbols that are common in terminals and missing in our fonts: powerline and media control
//! symbols.

use super::super::cell_size::CellSize;
use super::super::outline::Outline;

/// Draws a symbol. Points are in tenths of the cell's width and twentieths of its height.
pub(super) fn outline(c: char, cell: CellSize) -> Option<Outline> {
    let x = f32::from(cell.width) / 10.0;
    let y = f32::from(cell.height) / 20.0;
    let polygon = |points: &[(f32, f32)]| {
        Outline::polygon(points.iter().map(|&(col, row)| (col * x, row * y)))
    };
    let outline = match c {
        '\u{e0b0}' => polygon(&[(0.0, 0.0), (10.0, 10.0), (0.0, 20.0)]),
        '\u{e0b1}' => {
            polygon(&[(0.0, 0.0), (10.0, 10.0), (0.0, 20.0), (0.0, 18.0), (8.6, 10.0), (0.0, 2.0)])
        }
        '\u{e0b2}' => polygon(&[(10.0, 0.0), (0.0, 10.0), (10.0, 20.0)]),
        '\u{e0b3}' => polygon(&[
            (10.0, 0.0),
            (0.0, 10.0),
            (10.0, 20.0),
            (10.0, 18.0),
            (1.4, 10.0),
            (10.0, 2.0),
        ]),
        '⎿' => corner(cell),
        '⏴' => polygon(&[(9.0, 6.0), (1.0, 11.0), (9.0, 16.0)]),
        '⏵' => polygon(&[(1.0, 6.0), (9.0, 11.0), (1.0, 16.0)]),
        '⏶' => polygon(&[(0.0, 15.0), (5.0, 6.0), (10.0, 15.0)]),
        '⏷' => polygon(&[(0.0, 6.0), (5.0, 15.0), (10.0, 6.0)]),
        '⏸' => polygon(&[(1.5, 6.0), (4.0, 6.0), (4.0, 16.0), (1.5, 16.0)]).and(polygon(&[
            (6.0, 6.0),
            (8.5, 6.0),
            (8.5, 16.0),
            (6.0, 16.0),
        ])),
        '⏹' => polygon(&[(1.0, 7.0), (9.0, 7.0), (9.0, 15.0), (1.0, 15.0)]),
        '⏺' => disc(cell, 4.4),
        '⬝' => polygon(&[(4.0, 10.0), (6.0, 10.0), (6.0, 12.0), (4.0, 12.0)]),
        _ => return None,
    };
    Some(outline)
}

/// A stem from the top that turns right at the baseline.
fn corner(cell: CellSize) -> Outline {
    let left = f32::from(cell.width / 4);
    let thick = f32::from(cell.light());
    let stem = Outline::rect(left, 0.0, left + thick, cell.baseline());
    let foot = Outline::rect(left, cell.baseline() - thick, cell.width.into(), cell.baseline());
    stem.and(foot)
}

fn disc(cell: CellSize, tenths: f32) -> Outline {
    let x = f32::from(cell.width) / 2.0;
    let y = f32::from(cell.height) * 0.55;
    let radius = f32::from(cell.width) * tenths / 10.0;
    let point = |step: u8| {
        let angle = f32::from(step) * std::f32::consts::TAU / 24.0;
        let (sin, cos) = angle.sin_cos();
        (x + radius * cos, y + radius * sin)
    };
    Outline::polygon((0..24).map(point))
}
