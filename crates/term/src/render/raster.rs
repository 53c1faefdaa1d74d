//! Rasterizes outlines: how much of each pixel a shape covers, exactly. Knows nothing of colours.

use super::outline::{Outline, Point};

/// The number of coverage levels. More cannot be told apart, and make files larger.
const LEVELS: f32 = 15.0;

/// The coverage of each pixel of a rectangle, from 0 to 255.
pub(super) struct Mask {
    pub(super) width: usize,
    pub(super) cover: Vec<u8>,
}

impl Mask {
    /// Fills an outline. Anything outside of the rectangle is clipped.
    pub(super) fn fill(outline: &Outline, width: usize, height: usize) -> Self {
        let mut deltas = CoverageDeltas { width, height, change: vec![0.0; (width + 2) * height] };
        outline.trace(|from, to| deltas.line(from, to));
        let cover = deltas.change.chunks(width + 2).flat_map(|row| sum(&row[..width])).collect();
        Self { width, cover }
    }
}

/// Integrates the deltas of a row. Contours may wind either way, and may overlap.
fn sum(row: &[f32]) -> impl Iterator<Item = u8> {
    row.iter().scan(0.0f32, |sum, change| {
        *sum += change;
        Some(level(sum.abs()))
    })
}

fn level(cover: f32) -> u8 {
    (cover.min(1.0) * LEVELS).round() as u8 * (255.0 / LEVELS) as u8
}

/// For each pixel, the difference of its coverage to its left neighbour's.
struct CoverageDeltas {
    width: usize,
    height: usize,
    change: Vec<f32>,
}

impl CoverageDeltas {
    /// Adds a line: everything right of it toggles between inside and outside.
    fn line(&mut self, from: Point, to: Point) {
        if from.y == to.y {
            return;
        }
        let (top, bottom, sign) = if from.y < to.y { (from, to, 1.0) } else { (to, from, -1.0) };
        let slope = (bottom.x - top.x) / (bottom.y - top.y);
        let start = top.y.max(0.0);
        let end = bottom.y.min(self.height as f32);
        let x = |y: f32| top.x + (y - top.y) * slope;
        for row in start as usize..end.ceil().max(0.0) as usize {
            let upper = start.max(row as f32);
            let lower = end.min((row + 1) as f32);
            self.cross(row, (x(upper), x(lower)), sign * (lower - upper));
        }
    }

    /// A line that covers this much of a row's height, between two x positions.
    fn cross(&mut self, row: usize, (a, b): (f32, f32), height: f32) {
        let edge = self.width as f32;
        let left = a.min(b).clamp(0.0, edge);
        let right = a.max(b).clamp(0.0, edge);
        if right - left < 1e-4 {
            return self.put(row, left, height);
        }
        for col in left as usize..right.ceil() as usize {
            let start = left.max(col as f32);
            let end = right.min((col + 1) as f32);
            let share = (end - start) / (right - left);
            self.put(row, f32::midpoint(start, end), height * share);
        }
    }

    /// Adds coverage from this position on to the right.
    fn put(&mut self, row: usize, x: f32, height: f32) {
        let col = x as usize;
        let part = x.fract();
        let at = row * (self.width + 2) + col;
        self.change[at] += height * (1.0 - part);
        self.change[at + 1] += height * part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of a square of four, `.` to `#` for nothing to all.
    #[track_caller]
    fn check(outline: &Outline, expect: &str) {
        let mask = Mask::fill(outline, 4, 4);
        let mark = |cover: &u8| ['.', '-', '+', '#'][usize::from(*cover) / 85];
        let rows: Vec<String> =
            mask.cover.chunks(4).map(|row| row.iter().map(mark).collect()).collect();
        assert_eq!(rows.join("|"), expect);
    }

    #[test]
    fn whole_pixels_are_wholly_covered() {
        check(&Outline::rect(1.0, 1.0, 3.0, 3.0), "....|.##.|.##.|....");
    }

    #[test]
    fn parts_of_pixels_are_partly_covered() {
        check(&Outline::rect(0.5, 0.0, 4.0, 0.75), "-+++|....|....|....");
    }

    #[test]
    fn a_slope_covers_half_of_its_pixels() {
        check(&Outline::polygon([(0.0, 0.0), (4.0, 4.0), (0.0, 4.0)]), "-...|#-..|##-.|###-");
    }

    #[test]
    fn either_direction_fills_and_overlaps_do_no_harm() {
        let back = Outline::polygon([(0.0, 4.0), (4.0, 4.0), (4.0, 0.0), (0.0, 0.0)]);
        check(&back, "####|####|####|####");
        check(&back.clone().and(back), "####|####|####|####");
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        check(&Outline::rect(-9.0, -9.0, 2.0, 99.0), "##..|##..|##..|##..");
        check(&Outline::rect(2.0, -9.0, 99.0, 1.0), "..##|....|....|....");
        check(&Outline::rect(-9.0, -9.0, -5.0, -5.0), "....|....|....|....");
        check(&Outline::rect(5.0, 5.0, 9.0, 9.0), "....|....|....|....");
    }
}
