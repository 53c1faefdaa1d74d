//! Renders a recording as one animated SVG in a window frame: text in an embedded font, moved by
//! style sheets alone, so that it plays wherever a picture is shown.
//!
//! Every row of the screen is a strip of the contents it ever has, side by side, behind an opening
//! that is one screen wide. An animation moves the strip from one content to the next. A row that
//! changes rarely costs little, and a content that comes back is stored once.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use paned_model::Size;

use super::embed;
use super::frame::RenderFrame;
use super::palette::mix;
use super::svg::{CELL, FONT_SIZE, TEXT_STYLE, escape, hex, row_elements};
use crate::Screen;
use crate::screen::styled_screen::Rgb;

/// The space around the screen.
const PADDING: u32 = 24;
/// The height of the bar with the title.
const BAR: u32 = 44;
/// The three buttons of the window.
const BUTTONS: [&str; 3] = ["#ff5f57", "#febc2e", "#28c840"];

/// A recording that becomes an animated picture. The size of its first screen is the size of all.
pub struct Animation {
    title: String,
    size: Size,
    times: Vec<Duration>,
    frames: Vec<RenderFrame>,
}

/// The contents of one row over time, each with the moment from which on it is shown.
type RowTimeline = Vec<(Duration, usize)>;

impl Animation {
    /// A recording without frames, in a window with this title.
    #[must_use]
    pub fn new(title: &str, size: Size) -> Self {
        Self { title: title.to_owned(), size, times: Vec::new(), frames: Vec::new() }
    }

    /// Adds a screen that is shown from this time on. Times rise.
    pub fn add(&mut self, at: Duration, screen: &Screen) {
        self.times.push(at);
        self.frames.push(RenderFrame::of(screen));
    }

    /// The picture. It starts again at `end`. A viewer that does not play it, or was asked to show
    /// less motion, shows the last frame.
    #[must_use]
    pub fn svg(&self, end: Duration) -> String {
        let mut contents = RowContents::default();
        let timelines: Vec<_> =
            (0..self.size.rows).map(|row| self.timeline(row, &mut contents)).collect();
        let mut out = self.head();
        out.push_str("<defs>\n");
        for (id, elements) in contents.elements.iter().enumerate().skip(1) {
            let _ = writeln!(out, r#"<g id="r{id}">{}</g>"#, elements.replace('\n', ""));
        }
        out.push_str("</defs>\n<style>\n");
        for (row, timeline) in timelines.iter().enumerate() {
            self.keyframes(&mut out, row, timeline, end);
        }
        out.push_str("@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n");
        out.push_str("</style>\n");
        for (row, timeline) in (0..).zip(&timelines) {
            self.strip(&mut out, row, timeline);
        }
        out.push_str("</svg>\n");
        out
    }

    /// What this row shows when. Rows that are always empty have an empty timeline.
    fn timeline(&self, row: u16, contents: &mut RowContents) -> RowTimeline {
        let mut timeline = RowTimeline::new();
        for (at, frame) in self.times.iter().zip(&self.frames) {
            let id = contents.id(row_elements(frame, row));
            if timeline.last().is_none_or(|last| last.1 != id) {
                timeline.push((*at, id));
            }
        }
        timeline
    }

    fn head(&self) -> String {
        let screen = self.screen_size();
        let width = screen.0 + 2 * PADDING;
        let height = screen.1 + BAR + PADDING;
        let background = self.background();
        let fill = hex(background);
        let edge = hex(mix(background, Rgb(255, 255, 255), 38));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" \
             font-family=\"{}\" font-size=\"{FONT_SIZE}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{title}</title>\n<style>{TEXT_STYLE}{fonts}</style>\n\
             <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"10\" \
             fill=\"{fill}\" stroke=\"{edge}\"/>\n",
            embed::FAMILIES,
            width - 1,
            height - 1,
            title = escape(&self.title),
            fonts = embed::fonts(&self.frames, CELL),
        );
        for (x, colour) in (0..).map(|n| PADDING + n * 20).zip(BUTTONS) {
            let _ = writeln!(out, r#"<circle cx="{x}" cy="22" r="6" fill="{colour}"/>"#);
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"27\" text-anchor=\"middle\" font-size=\"14\" fill=\"#8b919d\" \
             font-family=\"system-ui,sans-serif\">{}</text>",
            width / 2,
            escape(&self.title)
        );
        out
    }

    fn background(&self) -> Rgb {
        self.frames.first().map_or(crate::colours::BACKGROUND, |frame| frame.palette.background)
    }

    fn screen_size(&self) -> (u32, u32) {
        let Size { cols, rows } = self.size;
        (u32::from(cols) * u32::from(CELL.width), u32::from(rows) * u32::from(CELL.height))
    }

    /// The animation of one row, if it ever changes.
    fn keyframes(&self, out: &mut String, row: usize, timeline: &RowTimeline, end: Duration) {
        if timeline.len() < 2 {
            return;
        }
        let seconds = end.as_secs_f64();
        let _ = write!(out, "#s{row}{{animation:k{row} {seconds:.2}s step-end infinite}}");
        let _ = write!(out, "@keyframes k{row}{{");
        for (n, (at, _)) in timeline.iter().enumerate() {
            // The first content is shown from the beginning, whenever the recording begins.
            let percent = if n == 0 { 0.0 } else { 100.0 * at.as_secs_f64() / seconds };
            let left = self.offset(n);
            let _ = write!(out, "{percent:.3}%{{transform:translateX(-{left}px)}}");
        }
        out.push_str("}\n");
    }

    /// The contents of one row side by side, moved to the last one.
    fn strip(&self, out: &mut String, row: u32, timeline: &RowTimeline) {
        let Some(last) = timeline.len().checked_sub(1) else { return };
        let width = self.screen_size().0;
        let height = CELL.height;
        let top = BAR + row * u32::from(CELL.height);
        let moved = self.offset(last);
        let _ = write!(
            out,
            "<svg x=\"{PADDING}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" overflow=\"hidden\">\
             <g id=\"s{row}\" style=\"transform:translateX(-{moved}px)\">"
        );
        for (n, (_, id)) in timeline.iter().enumerate() {
            if *id != 0 {
                let _ = write!(out, r##"<use href="#r{id}" x="{}"/>"##, self.offset(n));
            }
        }
        out.push_str("</g></svg>\n");
    }

    /// How far right the content of this number is.
    fn offset(&self, number: usize) -> u64 {
        number as u64 * u64::from(self.screen_size().0)
    }
}

/// All different contents that rows have; number 0 is an empty row.
struct RowContents {
    ids: HashMap<String, usize>,
    elements: Vec<String>,
}

impl Default for RowContents {
    fn default() -> Self {
        Self { ids: HashMap::from([(String::new(), 0)]), elements: vec![String::new()] }
    }
}

impl RowContents {
    fn id(&mut self, elements: String) -> usize {
        let next = self.elements.len();
        *self.ids.entry(elements).or_insert_with_key(|elements| {
            self.elements.push(elements.clone());
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 10, rows: 3 };

    /// The picture of a recording with these outputs, one each second.
    fn picture(outputs: &[&str]) -> String {
        let mut screen = Screen::new(SIZE);
        screen.feed(b"\x1b[?25l");
        let mut animation = Animation::new("a <b>", SIZE);
        for (n, output) in outputs.iter().enumerate() {
            screen.feed(output.as_bytes());
            animation.add(Duration::from_secs(n as u64), &screen);
        }
        animation.svg(Duration::from_secs(outputs.len() as u64))
    }

    #[test]
    fn only_rows_that_change_move() {
        let svg = picture(&["one\r\ntwo", "\x1b[1;1Hsix", "\x1b[1;1Hone"]);
        assert_eq!(svg.matches("@keyframes").count(), 1, "{svg}");
        assert!(svg.contains("@keyframes k0{0.000%{transform:translateX(-0px)}33.333%"), "{svg}");
    }

    #[test]
    fn a_content_is_stored_once_and_an_empty_row_never() {
        let svg = picture(&["one\r\none", "\x1b[1;1Htwo", "\x1b[1;1Hone"]);
        let count = |what: &str| svg.matches(what).count();
        assert_eq!((count("<g id=\"r"), count("<use")), (2, 4), "{svg}");
    }

    #[test]
    fn without_animation_the_last_frame_is_shown() {
        let svg = picture(&["one", "\x1b[1;1Htwo"]);
        assert!(svg.contains("<g id=\"s0\" style=\"transform:translateX(-100px)\">"), "{svg}");
    }

    #[test]
    fn it_is_xml_whatever_its_title() {
        let svg = picture(&["<&>", "\x1b[1;1H\"x\""]);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
        assert_eq!(title.text(), Some("a <b>"));
    }
}
