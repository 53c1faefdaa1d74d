//! Box drawing, U+2500 to U+257F: up to four arms that meet in the middle, dashes, arcs and
//! diagonals.

use std::f32::consts::{FRAC_PI_2, PI};

use super::super::cell_size::CellSize;
use super::super::outline::Outline;

/// The weights of the arms left, right, up and down: 1 light, 2 heavy, 3 double; dots for
/// characters without arms.
const ARMS: [&str; 8] = [
    "1100 2200 0011 0022 .... .... .... .... .... .... .... .... 0101 0201 0102 0202",
    "1001 2001 1002 2002 0110 0210 0120 0220 1010 2010 1020 2020 0111 0211 0121 0112",
    "0122 0221 0212 0222 1011 2011 1021 1012 1022 2021 2012 2022 1101 2101 1201 2201",
    "1102 2102 1202 2202 1110 2110 1210 2210 1120 2120 1220 2220 1111 2111 1211 2211",
    "1121 1112 1122 2121 1221 2112 1212 2221 2212 2122 1222 2222 .... .... .... ....",
    "3300 0033 0301 0103 0303 3001 1003 3003 0310 0130 0330 3010 1030 3030 0311 0133",
    "0333 3011 1033 3033 3301 1103 3303 3310 1130 3330 3311 1133 3333 .... .... ....",
    ".... .... .... .... 1000 0010 0100 0001 2000 0020 0200 0002 1200 0012 2100 0021",
];

/// The number of lines that approximate an arc.
const STEPS: u8 = 8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    None,
    Light,
    Heavy,
    Double,
}

/// A range of pixels, the end excluded.
type PixelSpan = (u16, u16);

/// The two arms of one direction, towards its start and its end, and the length of the cell in it.
#[derive(Clone, Copy)]
struct Axis {
    arms: [Weight; 2],
    length: u16,
}

/// A direction and the one perpendicular to it.
struct Crossing {
    along: Axis,
    across: Axis,
    cell: CellSize,
}

/// Draws a character of this block.
pub(super) fn outline(c: char, cell: CellSize) -> Option<Outline> {
    let index = (c as usize).checked_sub(0x2500)?;
    let arms = ARMS.get(index / 16)?.get(index % 16 * 5..)?.as_bytes();
    match c {
        '┄'..='┇' => Some(dashes(index, 3, cell)),
        '┈'..='┋' => Some(dashes(index, 4, cell)),
        '╌'..='╏' => Some(dashes(index, 2, cell)),
        '╭' => Some(arc([1.0, 1.0], cell)),
        '╮' => Some(arc([-1.0, 1.0], cell)),
        '╯' => Some(arc([-1.0, -1.0], cell)),
        '╰' => Some(arc([1.0, -1.0], cell)),
        '╱' => Some(diagonal(cell, true)),
        '╲' => Some(diagonal(cell, false)),
        '╳' => Some(diagonal(cell, true).and(diagonal(cell, false))),
        _ => Some(crossing(arms, cell)),
    }
}

fn crossing(arms: &[u8], cell: CellSize) -> Outline {
    let arms = |from: usize| [weight(arms[from]), weight(arms[from + 1])];
    let across = Axis { arms: arms(0), length: cell.width };
    let down = Axis { arms: arms(2), length: cell.height };
    let mut outline = Outline::default();
    for (along, lines) in (Crossing { along: across, across: down, cell }).lines() {
        outline = outline.and(rect(along, lines));
    }
    for (along, lines) in (Crossing { along: down, across, cell }).lines() {
        outline = outline.and(rect(lines, along));
    }
    outline
}

fn weight(digit: u8) -> Weight {
    match digit {
        b'1' => Weight::Light,
        b'2' => Weight::Heavy,
        b'3' => Weight::Double,
        _ => Weight::None,
    }
}

impl Crossing {
    /// The lines of both arms: the range of each along the direction, and across it.
    fn lines(&self) -> Vec<(PixelSpan, PixelSpan)> {
        let mut lines = Vec::new();
        for side in 0..2 {
            let spans = spans(self.along.arms[side], self.across.length, self.cell);
            for (index, thick) in spans.into_iter().enumerate() {
                lines.push((self.run(side, index), thick));
            }
        }
        lines
    }

    /// The range that a line of an arm covers along its direction.
    fn run(&self, side: usize, index: usize) -> PixelSpan {
        let length = self.along.length;
        let heaviest = self.across.arms.into_iter().max().unwrap_or(Weight::None);
        let spans = spans(heaviest, length, self.cell);
        let middle = (length / 2, length / 2);
        let first = spans.first().copied().unwrap_or(middle);
        let last = spans.last().copied().unwrap_or(middle);
        match (side, self.is_short(side, index)) {
            (0, true) => (0, first.1),
            (0, false) => (0, last.1),
            (_, true) => (last.0, length),
            (_, false) => (first.0, length),
        }
    }

    /// Whether a line ends at the nearer of the two lines across it. A double line turns inside the
    /// corner; a single one ends at the side of a double one, but crosses it if there is an arm
    /// behind.
    fn is_short(&self, side: usize, index: usize) -> bool {
        if self.along.arms[side] == Weight::Double {
            return self.across.arms[index] == Weight::Double;
        }
        self.across.arms == [Weight::Double; 2] && self.along.arms[1 - side] == Weight::None
    }
}

/// The positions of the lines of a weight, in a cell of this width or height.
fn spans(weight: Weight, length: u16, cell: CellSize) -> Vec<PixelSpan> {
    let centred = |thick: u16| (length.saturating_sub(thick) / 2, thick);
    let light = cell.light();
    let span = |(start, thick): (u16, u16)| (start, (start + thick).min(length));
    match weight {
        Weight::None => Vec::new(),
        Weight::Light => vec![span(centred(light))],
        Weight::Heavy => vec![span(centred(cell.heavy()))],
        Weight::Double => {
            let (start, _) = centred(3 * light);
            vec![span((start, light)), span((start + 2 * light, light))]
        }
    }
}

fn rect((left, right): PixelSpan, (top, bottom): PixelSpan) -> Outline {
    Outline::rect(left.into(), top.into(), right.into(), bottom.into())
}

/// Odd ones are heavy; the latter two of each four are vertical.
fn dashes(index: usize, count: u16, cell: CellSize) -> Outline {
    let weight = if index.is_multiple_of(2) { Weight::Light } else { Weight::Heavy };
    let is_vertical = index % 4 >= 2;
    let length = if is_vertical { cell.height } else { cell.width };
    let width = if is_vertical { cell.width } else { cell.height };
    let thick = spans(weight, width, cell)[0];
    let dash = |index: u16| {
        let start = length * index / count;
        let end = length * (index + 1) / count;
        let run = (start, end - ((end - start) / 3).max(1).min(end - start));
        if is_vertical { rect(thick, run) } else { rect(run, thick) }
    };
    (0..count).map(dash).fold(Outline::default(), Outline::and)
}

/// A light corner as a quarter of a circle, open towards a side and up or down.
fn arc([right, down]: [f32; 2], cell: CellSize) -> Outline {
    let middle = |(start, end): PixelSpan| f32::midpoint(start.into(), end.into());
    let x = middle(spans(Weight::Light, cell.width, cell)[0]);
    let y = middle(spans(Weight::Light, cell.height, cell)[0]);
    let edge = |towards: f32, length: u16| if towards > 0.0 { f32::from(length) } else { 0.0 };
    let right_edge = edge(right, cell.width);
    let low_edge = edge(down, cell.height);
    let radius = (right_edge - x).abs().min((low_edge - y).abs());
    let half = f32::from(cell.light()) / 2.0;
    let point = |radius_to: f32, step: u8| {
        let angle = PI + FRAC_PI_2 * f32::from(step) / f32::from(STEPS);
        let (sin, cos) = angle.sin_cos();
        (x + right * (radius + radius_to * cos), y + down * (radius + radius_to * sin))
    };
    let outer = (0..=STEPS).map(|step| point(radius + half, step));
    let inner = (0..=STEPS).rev().map(|step| point(radius - half, step));
    let ring = Outline::polygon(outer.chain(inner));
    let stem = Outline::rect(x - half, y + down * radius, x + half, low_edge);
    let branch = Outline::rect(x + right * radius, y - half, right_edge, y + half);
    ring.and(stem).and(branch)
}

/// A diagonal from corner to corner.
fn diagonal(cell: CellSize, is_mirrored: bool) -> Outline {
    let width = f32::from(cell.width);
    let height = f32::from(cell.height);
    let half = f32::from(cell.light()) * 0.6;
    let band = [(-half, 0.0), (half, 0.0), (width + half, height), (width - half, height)];
    Outline::polygon(band.map(|(x, y)| (if is_mirrored { width - x } else { x }, y)))
}
