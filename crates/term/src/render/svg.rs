//! Renders a screen as a standalone SVG: selectable text in an embedded font, and lines that meet.
//!
//! A whole font would add 450 KB to every picture, and only naming one would leave the appearance
//! to the viewer. So the SVG embeds a font with only the glyphs it shows, about 10 KB. Viewers that
//! ignore it (browsers do not) fall back to a monospace font, and `textLength` keeps the columns.
//! Emoji are drawn as paths, because fonts differ most in them.

use std::fmt::{Display, Write as _};

use paned_model::Size;

use super::cell_size::CellSize;
use super::embed;
use super::frame::{CursorStroke, RenderFrame};
use super::geometry::{GlyphShape, strokes};
use super::glyph::{GlyphRequest, GlyphSource, Layer};
use super::outline::{Outline, Point};
use super::runs::{CellRun, RunGap, runs};
use crate::Screen;
use crate::screen::styled_screen::{CellStyle, Rgb, StyledCell, Underline};

/// A cell, in units of the picture.
pub(super) const CELL: CellSize = CellSize::with_height(20);

/// The font size at which a letter is as wide as a cell.
pub(super) const FONT_SIZE: &str = "16.61";

/// The font size at which a wide character fills two cells.
const WIDE_FONT_SIZE: &str = "19";

/// Keeps the columns: no blank is dropped, no letter moved or joined with the next.
pub(super) const TEXT_STYLE: &str = "text{white-space:pre;direction:ltr;unicode-bidi:bidi-override;\
                          font-variant-ligatures:none}";

/// The screen as an SVG. A cell is 10 × 20 units.
#[must_use]
pub fn svg(screen: &Screen) -> String {
    let frame = RenderFrame::of(screen);
    let mut svg = Svg { frame: &frame, first_row: 0, out: String::new() };
    svg.open();
    for (row, cells) in (0..).zip(&frame.screen.rows) {
        svg.backgrounds(row, cells);
    }
    for (row, cells) in (0..).zip(&frame.screen.rows) {
        svg.texts(row, cells);
        svg.lines(row, cells);
    }
    svg.cursor_stroke();
    svg.out.push_str("</svg>\n");
    svg.out
}

/// One row of a screen as SVG elements, drawn at the top.
pub(super) fn row_elements(frame: &RenderFrame, row: u16) -> String {
    let mut svg = Svg { frame, first_row: row, out: String::new() };
    let cells = &frame.screen.rows[usize::from(row)];
    svg.backgrounds(row, cells);
    svg.texts(row, cells);
    svg.lines(row, cells);
    if frame.cursor_stroke().is_some_and(|cursor| cursor.row == row) {
        svg.cursor_stroke();
    }
    svg.out
}

/// Writes one picture.
struct Svg<'a> {
    frame: &'a RenderFrame,
    /// The row that is drawn at the top.
    first_row: u16,
    out: String,
}

/// The common style of letters that are written as one element.
#[derive(PartialEq)]
struct SvgTextStyle {
    ink: Rgb,
    bold: bool,
    italic: bool,
    kind: SvgTextKind,
}

#[derive(Clone, Copy, PartialEq)]
enum SvgTextKind {
    /// Letters that are as wide as their cells.
    Text,
    /// A character of uncertain width, written alone at this column.
    Alone(u16),
    /// A drawn character with its own colours, at this column.
    Coloured(u16),
    /// Lines and blocks, with this opacity.
    Drawn(f32),
}

impl Svg<'_> {
    fn open(&mut self) {
        let Size { cols, rows } = self.frame.screen.size;
        let width = u32::from(cols) * u32::from(CELL.width);
        let height = u32::from(rows) * u32::from(CELL.height);
        self.put(r#"<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve""#);
        self.put(format_args!(r#"font-family="{}" font-size="{FONT_SIZE}""#, embed::FAMILIES));
        self.put(format_args!(
            r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}">"#
        ));
        let title = Some(self.frame.screen.title.as_str()).filter(|title| !title.is_empty());
        self.put(format_args!("<title>{}</title>", escape(title.unwrap_or("terminal"))));
        self.put(format_args!(
            "<style>{TEXT_STYLE}{}</style>",
            embed::fonts(std::slice::from_ref(self.frame), CELL)
        ));
        let background = hex(self.frame.palette.background);
        self.put(format_args!(r#"<rect width="100%" height="100%" fill="{background}"/>"#));
    }

    fn backgrounds(&mut self, row: u16, cells: &[StyledCell]) {
        let background = self.frame.palette.background;
        let ground = |cell: &StyledCell| Some(self.frame.paint(row, cell).background);
        for run in runs(cells, RunGap::Ends, |cell| ground(cell).filter(|it| *it != background)) {
            self.path(row, run.col(), &CELL.outline(run.cols()), run.kind);
        }
    }

    fn texts(&mut self, row: u16, cells: &[StyledCell]) {
        for run in runs(cells, RunGap::Bridged, |cell| self.style(row, cell)) {
            match run.kind.kind {
                SvgTextKind::Text | SvgTextKind::Alone(_) => self.text(row, &run),
                SvgTextKind::Coloured(_) => self.coloured(row, &run),
                SvgTextKind::Drawn(opacity) => self.drawn(row, &run, opacity),
            }
        }
    }

    /// The style of a cell's letter; `None` if nothing is visible.
    fn style(&self, row: u16, cell: &StyledCell) -> Option<SvgTextStyle> {
        if !has_letter(cell) {
            return None;
        }
        let CellStyle { bold, italic, .. } = cell.look;
        let kind = match GlyphRequest::of(cell).source(CELL) {
            GlyphSource::Shape(shape) => SvgTextKind::Drawn(shape.opacity),
            GlyphSource::Face(face, _) if face.is_coloured() => SvgTextKind::Coloured(cell.col),
            GlyphSource::Face(face, _) if face.is_mono() && has_known_marks(cell) => {
                SvgTextKind::Text
            }
            GlyphSource::Face(..) | GlyphSource::Missing => SvgTextKind::Alone(cell.col),
        };
        Some(SvgTextStyle { ink: self.frame.paint(row, cell).foreground, bold, italic, kind })
    }

    fn text(&mut self, row: u16, run: &CellRun<'_, SvgTextStyle>) {
        let SvgTextStyle { ink, bold, italic, .. } = run.kind;
        let is_wide = run.cells[0].cols == 2;
        let width = CELL.span(run.cols());
        let Point { x, y } = self.corner(row, run.col());
        let position = if is_wide {
            format!(r#"x="{}" text-anchor="middle" font-size="{WIDE_FONT_SIZE}""#, x + width / 2.0)
        } else {
            format!(r#"x="{x}" textLength="{width}" lengthAdjust="spacingAndGlyphs""#)
        };
        let y = y + CELL.baseline();
        let weight = if bold { r#" font-weight="bold""# } else { "" };
        let slant = if italic { r#" font-style="italic""# } else { "" };
        let fill = hex(ink);
        let text = escape(&letters(run.cells));
        self.put(format_args!(
            r#"<text {position} y="{y}" fill="{fill}"{weight}{slant}>{text}</text>"#
        ));
    }

    fn drawn(&mut self, row: u16, run: &CellRun<'_, SvgTextStyle>, opacity: f32) {
        let mut path = String::new();
        for cell in run.cells.iter().filter(|cell| has_letter(cell)) {
            if let GlyphSource::Shape(GlyphShape { outline, .. }) =
                GlyphRequest::of(cell).source(CELL)
            {
                path += &outline.path(self.corner(row, cell.col));
            }
        }
        let fill = hex(run.kind.ink);
        let label = escape(&letters(run.cells));
        let opacity =
            if opacity < 1.0 { format!(r#" opacity="{opacity}""#) } else { String::new() };
        self.put(format_args!(r#"<path aria-label="{label}" fill="{fill}"{opacity} d="{path}"/>"#));
    }

    fn coloured(&mut self, row: u16, run: &CellRun<'_, SvgTextStyle>) {
        let cell = &run.cells[0];
        self.put(format_args!(r#"<g aria-label="{}">"#, escape(&letters(run.cells))));
        for Layer { outline, colour, .. } in GlyphRequest::of(cell).layers(CELL) {
            self.path(row, cell.col, &outline, colour.unwrap_or(run.kind.ink));
        }
        self.put("</g>");
    }

    /// The lines under and through the cells of a row.
    fn lines(&mut self, row: u16, cells: &[StyledCell]) {
        let shown = |cell: &StyledCell| Some(cell.look).filter(|look| !look.hidden);
        let under = |cell: &StyledCell| {
            let look = shown(cell).filter(|look| look.underline != Underline::None)?;
            Some((look.underline, self.frame.paint(row, cell).underline))
        };
        let through = |cell: &StyledCell| {
            shown(cell).filter(|look| look.strike).map(|_| self.frame.paint(row, cell).foreground)
        };
        let under = runs(cells, RunGap::Ends, under);
        let through = runs(cells, RunGap::Ends, through);
        for run in under {
            let (kind, colour) = run.kind;
            self.path(row, run.col(), &strokes::underline(kind, CELL, run.cols()), colour);
        }
        for run in through {
            self.path(row, run.col(), &strokes::strike(CELL, run.cols()), run.kind);
        }
    }

    fn cursor_stroke(&mut self) {
        if let Some(CursorStroke { row, cell, colour }) = self.frame.cursor_stroke() {
            let shape = self.frame.screen.cursor.shape;
            self.path(row, cell.col, &strokes::cursor(shape, CELL, cell.cols), colour);
        }
    }

    fn path(&mut self, row: u16, col: u16, outline: &Outline, colour: Rgb) {
        let fill = hex(colour);
        let path = outline.path(self.corner(row, col));
        self.put(format_args!(r#"<path fill="{fill}" d="{path}"/>"#));
    }

    /// The top left corner of a cell.
    fn corner(&self, row: u16, col: u16) -> Point {
        let row = row - self.first_row;
        Point { x: CELL.span(col), y: f32::from(row) * f32::from(CELL.height) }
    }

    fn put(&mut self, element: impl Display) {
        writeln!(self.out, "{element}").expect("a string takes everything");
    }
}

/// Whether a cell has a visible letter.
fn has_letter(cell: &StyledCell) -> bool {
    !cell.look.hidden && (cell.c != ' ' || !cell.marks.is_empty())
}

/// Whether our font has all marks of the cell. Another font may render them with a width.
fn has_known_marks(cell: &StyledCell) -> bool {
    cell.marks.is_empty() || GlyphRequest::all(cell).skip(1).count() == cell.marks.len()
}

/// The letters of these cells, with blanks for those that are not visible.
fn letters(cells: &[StyledCell]) -> String {
    let mut letters = String::new();
    for cell in cells {
        if has_letter(cell) {
            letters.push(cell.c);
            letters.extend(&cell.marks);
        } else {
            letters.extend((0..cell.cols).map(|_| ' '));
        }
    }
    letters
}

pub(super) fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes text for XML. Characters that XML cannot hold become replacement characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\0'..'\x20' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}
