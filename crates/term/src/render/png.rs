//! Renders a screen as a PNG: an exact grid of cells, drawn with the compiled-in fonts.

use std::collections::HashMap;

use paned_model::Size;

use super::canvas::{Canvas, Corner, Ink};
use super::cell_size::CellSize;
use super::frame::{CursorStroke, RenderFrame};
use super::geometry::strokes;
use super::glyph::{GlyphRequest, Layer};
use super::outline::{Outline, Point};
use super::palette::CellPaint;
use super::raster::Mask;
use crate::Screen;
use crate::screen::styled_screen::{Rgb, StyledCell};

/// The height of a cell at scale 1; it is half as wide.
const HEIGHT: u16 = 20;

/// The largest scale.
const MAX_SCALE: u8 = 4;

/// The most pixels of a picture: a hundred megabytes while it is drawn. The cells of a huge screen
/// shrink to fit.
const MAX_PIXELS: u32 = 1 << 25;

/// The screen as a PNG. A cell is 10 × 20 pixels, times the scale (1 to 4).
#[must_use]
pub fn png(screen: &Screen, scale: u8) -> Vec<u8> {
    let frame = RenderFrame::of(screen);
    let mut painter = Painter::new(&frame, fit(frame.screen.size, scale));
    painter.backgrounds();
    painter.texts();
    painter.cursor_stroke();
    painter.canvas.encode()
}

fn fit(size: Size, scale: u8) -> CellSize {
    let wanted = HEIGHT * u16::from(scale.clamp(1, MAX_SCALE));
    let cells = u32::from(size.cols) * u32::from(size.rows);
    let most = (2 * MAX_PIXELS / cells.max(1)).isqrt();
    CellSize::with_height(u16::try_from(most).unwrap_or(wanted).clamp(2, wanted) & !1)
}

/// Draws one screen.
struct Painter<'a> {
    frame: &'a RenderFrame,
    cell: CellSize,
    canvas: Canvas,
    /// Rasterized glyphs; most of a screen is the same few letters.
    stamps: HashMap<GlyphRequest, Vec<GlyphStamp>>,
}

/// A rasterized layer of a character.
struct GlyphStamp {
    mask: Mask,
    /// Its own colour; `None` for that of the text.
    colour: Option<Rgb>,
    opacity: u8,
}

impl<'a> Painter<'a> {
    fn new(frame: &'a RenderFrame, cell: CellSize) -> Self {
        let Size { cols, rows } = frame.screen.size;
        let width = usize::from(cols) * usize::from(cell.width);
        let height = usize::from(rows) * usize::from(cell.height);
        let canvas = Canvas::new(width, height, frame.palette.background);
        Self { frame, cell, canvas, stamps: HashMap::new() }
    }

    /// All backgrounds come first, because glyphs may extend beyond the edges of their cells.
    fn backgrounds(&mut self) {
        for (row, cell) in self.frame.cells() {
            let size = (self.width(cell), usize::from(self.cell.height));
            let background = self.frame.paint(row, cell).background;
            if background != self.frame.palette.background {
                self.canvas.fill(self.corner(row, cell.col), size, background);
            }
        }
    }

    fn texts(&mut self) {
        for (row, cell) in self.frame.cells().filter(|(_, cell)| !cell.look.hidden) {
            let paint = self.frame.paint(row, cell);
            self.lines(row, cell, paint);
            self.text(row, cell, paint.foreground);
        }
    }

    fn text(&mut self, row: u16, cell: &StyledCell, ink: Rgb) {
        let corner = self.corner(row, cell.col);
        let corner = Corner { x: corner.x - isize::from(margin(self.cell)), ..corner };
        for wanted in GlyphRequest::all(cell) {
            let stamps = self.stamps.entry(wanted).or_insert_with(|| stamps(wanted, self.cell));
            for GlyphStamp { mask, colour, opacity } in stamps {
                let ink = Ink { colour: colour.unwrap_or(ink), opacity: *opacity };
                self.canvas.draw(corner, mask, ink);
            }
        }
    }

    /// The lines under and through a cell.
    fn lines(&mut self, row: u16, cell: &StyledCell, paint: CellPaint) {
        let under = strokes::underline(cell.look.underline, self.cell, cell.cols);
        self.outline(row, cell, &under, paint.underline);
        if cell.look.strike {
            let through = strokes::strike(self.cell, cell.cols);
            self.outline(row, cell, &through, paint.foreground);
        }
    }

    fn cursor_stroke(&mut self) {
        if let Some(CursorStroke { row, cell, colour }) = self.frame.cursor_stroke() {
            let shape = self.frame.screen.cursor.shape;
            self.outline(row, cell, &strokes::cursor(shape, self.cell, cell.cols), colour);
        }
    }

    fn outline(&mut self, row: u16, cell: &StyledCell, outline: &Outline, colour: Rgb) {
        if outline.is_empty() {
            return;
        }
        let mask = Mask::fill(outline, self.width(cell), self.cell.height.into());
        self.canvas.draw(self.corner(row, cell.col), &mask, Ink { colour, opacity: u8::MAX });
    }

    fn width(&self, cell: &StyledCell) -> usize {
        usize::from(self.cell.width) * usize::from(cell.cols)
    }

    fn corner(&self, row: u16, col: u16) -> Corner {
        let x = usize::from(col) * usize::from(self.cell.width);
        let y = usize::from(row) * usize::from(self.cell.height);
        Corner { x: x.cast_signed(), y: y.cast_signed() }
    }
}

/// Rasterizes a character once, to be drawn at every position. It may extend beyond both edges of
/// its cell.
fn stamps(wanted: GlyphRequest, cell: CellSize) -> Vec<GlyphStamp> {
    let margin = margin(cell);
    let width = usize::from(cell.width * wanted.cols) + 2 * usize::from(margin.unsigned_abs());
    let shift = |point: Point| Point { x: point.x + f32::from(margin), ..point };
    let stamp = |Layer { outline, colour, opacity }| {
        let mask = Mask::fill(&outline.map(shift), width, cell.height.into());
        GlyphStamp { mask, colour, opacity: (opacity * 255.0) as u8 }
    };
    wanted.layers(cell).into_iter().map(stamp).collect()
}

/// How far a character may extend beyond its cell.
fn margin(cell: CellSize) -> i16 {
    (cell.width / 2).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cols: u16, rows: u16, scale: u8, expect: u16) {
        let cell = fit(Size { cols, rows }, scale);
        assert_eq!((cell.width, cell.height), (expect / 2, expect));
    }

    #[test]
    fn a_cell_is_as_large_as_the_scale_says() {
        check(80, 24, 1, 20);
        check(80, 24, 4, 80);
        check(80, 24, 0, 20);
        check(80, 24, u8::MAX, 80);
    }

    #[test]
    fn the_cells_of_a_huge_screen_are_smaller() {
        check(1000, 1000, 1, 8);
        check(u16::MAX, u16::MAX, 1, 2);
    }
}
