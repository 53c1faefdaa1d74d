//! Renders a screen as text with colours, as SVG and as PNG, the way a user sees it.
//!
//! Fonts are compiled in. Nothing here reads a file, and the same screen always gives the same
//! bytes.

mod animation;
mod ansi;
mod canvas;
mod cell_size;
mod embed;
mod font;
mod font_set;
mod frame;
mod geometry;
mod glyph;
mod indexed;
mod outline;
mod palette;
mod png;
mod raster;
mod runs;
mod subset;
mod svg;
#[cfg(test)]
mod tests;

pub use animation::Animation;
pub use ansi::ansi;
pub use png::png;
pub use svg::svg;
