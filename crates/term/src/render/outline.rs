//! Shapes: what glyphs, box drawing and lines are before they become pixels or paths. Knows no colours.

use std::fmt::Write as _;
use std::mem;

/// Into how many lines a curve is cut; more cannot be seen at the size of a cell.
const STEPS: u8 = 6;

/// A place in a cell, in its pixels, from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

/// Closed contours, filled where they wind around a place at all.
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

    /// The contour through these places, in whichever direction.
    pub(super) fn polygon(places: impl IntoIterator<Item = (f32, f32)>) -> Self {
        let mut places: Vec<_> = places.into_iter().map(|(x, y)| Point { x, y }).collect();
        // All wind the same way, so that none is a hole in another.
        if area(&places) < 0.0 {
            places.reverse();
        }
        let mut segments: Vec<_> = places.iter().map(|&place| Segment::Line(place)).collect();
        if let Some(&start) = places.first() {
            segments[0] = Segment::Move(start);
            segments.push(Segment::Close);
        }
        Self(segments)
    }

    /// Begins a contour.
    pub(super) fn begin(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Move(Point { x, y }));
    }

    /// Goes on in a straight line.
    pub(super) fn line(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Line(Point { x, y }));
    }

    /// Goes on in a curve with one control point.
    pub(super) fn curve(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.push(Segment::Curve(Point { x: x1, y: y1 }, Point { x, y }));
    }

    /// Closes the contour.
    pub(super) fn end(&mut self) {
        self.0.push(Segment::Close);
    }

    /// Both shapes as one. Where they overlap, nothing is drawn twice.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Moves every place.
    pub(super) fn map(mut self, place: impl Fn(Point) -> Point) -> Self {
        for segment in &mut self.0 {
            *segment = match *segment {
                Segment::Move(end) => Segment::Move(place(end)),
                Segment::Line(end) => Segment::Line(place(end)),
                Segment::Curve(control, end) => Segment::Curve(place(control), place(end)),
                Segment::Close => Segment::Close,
            };
        }
        self
    }

    /// Goes along all contours in straight lines.
    pub(super) fn trace(&self, mut line: impl FnMut(Point, Point)) {
        let mut start = Point { x: 0.0, y: 0.0 };
        let mut at = start;
        for segment in &self.0 {
            match *segment {
                Segment::Move(end) => (start, at) = (end, end),
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

    /// The shape as the `d` of an SVG path, with its corner at a place.
    pub(super) fn path(&self, corner: Point) -> String {
        let mut path = String::new();
        let mut put = |command: char, places: &[Point]| {
            path.push(command);
            for (index, place) in places.iter().enumerate() {
                let space = if index == 0 { "" } else { " " };
                let (x, y) = (short(corner.x + place.x), short(corner.y + place.y));
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

/// Twice the area inside; negative if the contour winds the other way.
fn area(places: &[Point]) -> f32 {
    let next = places.iter().cycle().skip(1);
    places.iter().zip(next).map(|(a, b)| a.x * b.y - b.x * a.y).sum()
}

/// Where a curve is after so many of its steps.
fn on_curve([from, control, end]: [Point; 3], step: u8) -> Point {
    let there = f32::from(step) / f32::from(STEPS);
    let (a, b, c) = ((1.0 - there).powi(2), 2.0 * there * (1.0 - there), there.powi(2));
    Point { x: a * from.x + b * control.x + c * end.x, y: a * from.y + b * control.y + c * end.y }
}

/// A hundredth of a pixel is as fine as it needs to be.
fn short(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}
