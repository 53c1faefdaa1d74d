//! `pane:screen`

use paned_model::{PaneId, Refusal, Scope};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::cached_json::CachedJson;
use crate::panes::screen::screen_cache::{RenderedScreen, ScreenFormat};
use crate::panes::{Pane, scrollback, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

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
        let Params { pane_id, format, history } = params;
        if MOST_ROWS < history {
            return Err(Refusal::invalid(format!("`history` must be at most {MOST_ROWS}")));
        }
        let pane = context.kernel.panes().get(&pane_id)?;
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

async fn rows_above(pane: &Pane, rows: usize) -> Result<Vec<String>, Refusal> {
    let output = pane.readable()?;
    let hints = pane.screen_hints(output.as_ref());
    let scrolled = tokio::task::spawn_blocking(move || scrollback(output.as_ref(), &hints, rows));
    scrolled.await.map_err(Refusal::internal)?.map_err(unreadable)
}
