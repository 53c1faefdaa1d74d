//! A pane's screen as it is returned to clients. A client that waits for a change asks again and
//! again, so the last answer is cached as JSON until the screen has another revision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::{Offset, Refusal, Time};
use paned_term::{Screen, ScreenView, render};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cached_json::CachedJson;

/// The format of a screen besides its rows of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScreenFormat {
    /// Rows of text only.
    #[default]
    Text,
    /// With colours, as escape sequences.
    Ansi,
    /// As an SVG picture.
    Svg,
    /// As a PNG picture in base64.
    Png,
}

/// The moment that a screen is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScreenMoment {
    /// The screen is what the output before this offset has drawn.
    pub(crate) offset: Offset,
    /// When the last of that was printed, exact to a tenth of a second; none before any output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Time>,
    /// Whether older output is no longer kept, so that what it had drawn may be missing.
    pub(crate) truncated_start: bool,
}

/// A rendered screen.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RenderedScreen {
    #[serde(flatten)]
    view: ScreenView,
    /// The moment that it is of, if an earlier one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<ScreenMoment>,
    /// The rows above it, oldest first, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<Vec<String>>,
    /// The rows with colours, for `ansi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ansi: Option<String>,
    /// The picture, for `svg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
    /// The picture as base64, for `png`.
    #[serde(skip_serializing_if = "Option::is_none")]
    png: Option<String>,
}

impl RenderedScreen {
    pub(crate) fn of(screen: &Screen, format: ScreenFormat) -> Self {
        let mut ansi = None;
        let mut svg = None;
        let mut png = None;
        match format {
            ScreenFormat::Text => {}
            ScreenFormat::Ansi => ansi = Some(render::ansi(screen)),
            ScreenFormat::Svg => svg = Some(render::svg(screen)),
            ScreenFormat::Png => png = Some(BASE64_STANDARD.encode(render::png(screen, 1))),
        }
        Self { view: screen.view(), at: None, history: None, ansi, svg, png }
    }
}

/// The last screen that was rendered as rows of text.
#[derive(Default)]
pub(crate) struct ScreenCache(Mutex<Option<CachedScreen>>);

struct CachedScreen {
    json: CachedJson<RenderedScreen>,
    revision: u64,
}

impl ScreenCache {
    /// The screen as rows of text.
    pub(crate) fn get_or_render(
        &self,
        screen: &Screen,
    ) -> Result<CachedJson<RenderedScreen>, Refusal> {
        let mut cache = self.lock();
        let revision = screen.revision();
        if let Some(cached) = cache.as_ref().filter(|cached| cached.revision == revision) {
            return Ok(cached.json.clone());
        }
        let json = CachedJson::new(&RenderedScreen::of(screen, ScreenFormat::Text))?;
        *cache = Some(CachedScreen { json: json.clone(), revision });
        Ok(json)
    }

    fn lock(&self) -> MutexGuard<'_, Option<CachedScreen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;

    use super::*;

    #[test]
    fn a_screen_is_shown_anew_when_it_has_changed() {
        let (kept, mut screen) = (ScreenCache::default(), Screen::new(Size::default()));
        let mut check = |bytes: &[u8], as_before: bool| {
            let before = kept.get_or_render(&screen).unwrap();
            screen.feed(bytes);
            let shown = kept.get_or_render(&screen).unwrap();
            let expect = CachedJson::new(&RenderedScreen::of(&screen, ScreenFormat::Text)).unwrap();
            assert_eq!(format!("{shown:?}"), format!("{expect:?}"));
            assert_eq!(CachedJson::is_same(&before, &shown), as_before, "{bytes:?}");
        };
        check(b"", true);
        check(b"hello", false);
        check(b"\x1b[0m", true);
        check(b"\x1b[?2004h", false);
        check(b"\x1b]2;title\x07", false);
    }
}
