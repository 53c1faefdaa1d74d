//! `pane:screen`

use std::sync::Arc;

use paned_backend::ReplayedScreen;
use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::cached_json::CachedJson;
use crate::panes::screen::screen_cache::{RenderedScreen, ScreenFormat};
use crate::panes::{Pane, scrollback, scrollback_at, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};
use crate::seek::Moment;

const MOST_ROWS: usize = 1000;

pub(in crate::actions) struct PaneScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The format to return besides the rows of text.
    #[serde(default)]
    format: ScreenFormat,
    /// Also return up to N rows that scrolled off its top.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    history: usize,
    /// The screen of an earlier moment, also of a pane that has ended: an offset in the output, or
    /// a time. The screen now when omitted.
    at: Option<ScreenAt>,
}

/// A moment in a pane's output.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "must be an offset or a time, such as 2026-11-18T20:42:23.690Z")]
enum ScreenAt {
    /// When the output before this offset was printed.
    Offset(Offset),
    /// At this time.
    Time(Time),
}

impl Action for PaneScreen {
    const NAME: &'static str = "pane:screen";
    const DOC: &'static str =
        "Show a pane's screen: rows, cursor, modes and, on request, a picture.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = CachedJson<RenderedScreen>;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        params: Params,
    ) -> Result<CachedJson<RenderedScreen>, Refusal> {
        let Params { pane_id, format, history, at } = params;
        if MOST_ROWS < history {
            return Err(Refusal::invalid(format!("`history` must be at most {MOST_ROWS}")));
        }
        let pane = context.kernel.panes().get(&pane_id)?;
        if let Some(at) = at {
            return screen_at(&context, &pane, at, (format, history)).await;
        }
        if (format, history) == (ScreenFormat::Text, 0) {
            let cached = pane.clone();
            return context
                .kernel
                .look(&pane, move |screen| cached.screen_cache.get_or_render(screen))
                .await?;
        }
        let render = move |screen: &Screen| RenderedScreen::of(screen, format);
        let mut rendered = context.kernel.look(&pane, render).await?;
        if 0 < history {
            rendered.history = Some(rows_above(&pane, history).await?);
        }
        CachedJson::new(&rendered)
    }
}

async fn screen_at(
    context: &ActionContext,
    pane: &Arc<Pane>,
    at: ScreenAt,
    (format, history): (ScreenFormat, usize),
) -> Result<CachedJson<RenderedScreen>, Refusal> {
    let moment = match at {
        ScreenAt::Offset(offset) => Moment::Offset(offset.0),
        ScreenAt::Time(time) => Moment::Time(time),
    };
    let render = move |drawn: &ReplayedScreen| RenderedScreen::of(drawn.screen(), format);
    let (mut rendered, moment) = context.kernel.screen_at(pane, moment, render).await?;
    if 0 < history {
        let output = pane.readable()?;
        let hints = pane.screen_hints(output.as_ref());
        let end = moment.offset.0;
        let draw = move || scrollback_at(output.as_ref(), &hints, history, end);
        let drawn = tokio::task::spawn_blocking(draw).await.map_err(Refusal::internal)?;
        rendered.history = Some(drawn.map_err(unreadable)?);
    }
    rendered.at = Some(moment);
    CachedJson::new(&rendered)
}

async fn rows_above(pane: &Pane, rows: usize) -> Result<Vec<String>, Refusal> {
    let output = pane.readable()?;
    let hints = pane.screen_hints(output.as_ref());
    let scrolled = tokio::task::spawn_blocking(move || scrollback(output.as_ref(), &hints, rows));
    scrolled.await.map_err(Refusal::internal)?.map_err(unreadable)
}
