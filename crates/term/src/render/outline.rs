//! Outlines of glyphs, box drawing and lines, before they become pixels or paths. Knows nothing of
//! colours.

use std::fmt::Write as _;
use std::mem;

/// The number of lines that approximate a curve; more are not visible at the size of a cell.
const STEPS: u8 = 6;

/// A point in a cell, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

/// Closed contours, filled by the non-zero winding rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outline(Vec<Segment>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Segment {
    Move(Point),
    Line(Point),
    Curve(Point, Point),
    Close,
}

impl Outline {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A rectangle by its left, upper, right and lower edge.
    pub(super) fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self::polygon([(left, top), (right, top), (right, bottom), (left, bottom)])
    }

    /// The contour through these points, in either direction.
    pub(super) fn polygon(points: impl IntoIterator<Item = (f32, f32)>) -> Self {
        let mut points: Vec<_> = points.into_iter().map(|(x, y)| Point { x, y }).collect();
        // All contours wind the same way, so that none is a hole in another.
        if area(&points) < 0.0 {
            points.reverse();
        }
        let mut segments: Vec<_> = points.iter().map(|&point| Segment::Line(point)).collect();
        if let Some(&start) = points.first() {
            segments[0] = Segment::Move(start);
            segments.push(Segment::Close);
        }
        Self(segments)
    }

    /// Begins a contour.
    pub(super) fn begin(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Move(Point { x, y }));
    }

    /// Continues with a straight line.
    pub(super) fn line(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Line(Point { x, y }));
    }

    /// Continues with a quadratic curve.
    pub(super) fn curve(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.push(Segment::Curve(Point { x: x1, y: y1 }, Point { x, y }));
    }

    /// Closes the contour.
    pub(super) fn end(&mut self) {
        self.0.push(Segment::Close);
    }

    /// Combines two shapes. Where they overlap, nothing is drawn twice.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Transforms every point.
    pub(super) fn map(mut self, transform: impl Fn(Point) -> Point) -> Self {
        for segment in &mut self.0 {
            *segment = match *segment {
                Segment::Move(end) => Segment::Move(transform(end)),
                Segment::Line(end) => Segment::Line(transform(end)),
                Segment::Curve(control, end) => Segment::Curve(transform(control), transform(end)),
                Segment::Close => Segment::Close,
            };
        }
        self
    }

    /// Traces all contours as straight lines.
    pub(super) fn trace(&self, mut line: impl FnMut(Point, Point)) {
        let mut start = Point { x: 0.0, y: 0.0 };
        let mut at = start;
        for segment in &self.0 {
            match *segment {
                Segment::Move(end) => {
                    start = end;
                    at = end;
                }
                Segment::Line(end) => line(mem::replace(&mut at, end), end),
                Segment::Curve(control, end) => {
                    let from = at;
                    for step in 1..=STEPS {
                        let next = on_curve([from, control, end], step);
                        line(mem::replace(&mut at, next), next);
                    }
                }
                Segment::Close => line(mem::replace(&mut at, start), start),
            }
        }
    }

    /// The shape as the `d` of an SVG path, relative to a corner.
    pub(super) fn path(&self, corner: Point) -> String {
        let mut path = String::new();
        let mut put = |command: char, points: &[Point]| {
            path.push(command);
            for (index, point) in points.iter().enumerate() {
                let space = if index == 0 { "" } else { " " };
                let x = short(corner.x + point.x);
                let y = short(corner.y + point.y);
                write!(path, "{space}{x} {y}").expect("a string takes everything");
            }
        };
        for segment in &self.0 {
            match *segment {
                Segment::Move(end) => put('M', &[end]),
                Segment::Line(end) => put('L', &[end]),
                Segment::Curve(control, end) => put('Q', &[control, end]),
                Segment::Close => put('Z', &[]),
            }
        }
        path
    }
}

/// Twice the enclosed area; negative if the contour winds the other way.
fn area(points: &[Point]) -> f32 {
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(a, b)| a.x * b.y - b.x * a.y).sum()
}

/// The point on a curve after this many steps.
fn on_curve([from, control, end]: [Point; 3], step: u8) -> Point {
    let t = f32::from(step) / f32::from(STEPS);
    let a = (1.0 - t).powi(2);
    let b = 2.0 * t * (1.0 - t);
    let c = t.powi(2);
    Point { x: a * from.x + b * control.x + c * end.x, y: a * from.y + b * control.y + c * end.y }
}

/// Rounds to a hundredth of a pixel, which is fine enough.
fn short(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}
