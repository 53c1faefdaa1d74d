//! The fonts embedded in an SVG: of each face only the glyphs that the picture shows.

use std::collections::BTreeSet;
use std::ptr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::cell_size::CellSize;
use super::font_set::{FontFace, FontSet};
use super::frame::RenderFrame;
use super::glyph::{GlyphRequest, GlyphSource};
use super::subset::subset;

/// The font families to use: embedded ones first, then the viewer's own.
pub(super) const FAMILIES: &str =
    "paned, paned-symbols, paned-cjk, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The style sheet that embeds the fonts of a picture with these frames.
pub(super) fn fonts(frames: &[RenderFrame], cell: CellSize) -> String {
    let faces = FontSet::get();
    let named = [
        (&faces.regular, "paned", "normal"),
        (&faces.bold, "paned", "bold"),
        (&faces.symbols, "paned-symbols", "normal"),
        (&faces.cjk, "paned-cjk", "normal"),
    ];
    let mut sheet = String::new();
    for (face, family, weight) in named {
        let mut used = characters(frames, face, cell);
        if used.is_empty() {
            continue;
        }
        // Blanks between words are text too.
        used.insert(' ');
        let font = STANDARD.encode(subset(&face.font, &used));
        sheet += &format!(
            "@font-face{{font-family:{family};font-weight:{weight};\
             src:url(data:font/ttf;base64,{font})}}"
        );
    }
    sheet
}

/// The characters of these frames that use this face.
fn characters(frames: &[RenderFrame], face: &FontFace, cell: CellSize) -> BTreeSet<char> {
    let cells = frames.iter().flat_map(RenderFrame::cells).map(|(_, cell)| cell);
    let shown = cells.filter(|cell| !cell.look.hidden);
    let wanted: BTreeSet<GlyphRequest> = shown.flat_map(GlyphRequest::all).collect();
    let is_of_face = |wanted: &GlyphRequest| matches!(wanted.source(cell), GlyphSource::Face(found, _) if ptr::eq(found, face));
    wanted.into_iter().filter(is_of_face).map(|wanted| wanted.c).collect()
}
