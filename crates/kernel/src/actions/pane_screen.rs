//! `pane:screen`

use paned_model::{PaneId, Refusal, Scope};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::cached_json::CachedJson;
use crate::panes::screen_cache::{RenderedScreen, ScreenFormat};
use crate::panes::{Pane, scrollback, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

const MOST_ROWS: usize = 1000;

pub(super) struct PaneScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How to show it beyond its rows of text.
    #[serde(default)]
    format: ScreenFormat,
    /// Show up to so many rows that scrolled off its top, too.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    history: usize,
}

impl Action for PaneScreen {
    const NAME: &'static str = "pane:screen";
    const DOC: &'static str =
        "Show a pane's screen: rows, cursor, modes, and a picture where asked for.";
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
            return Err(Refusal::invalid(format!("`history` goes up to {MOST_ROWS}")));
        }
        let pane = context.kernel.panes().get(&pane_id)?;
        if (format, history) == (ScreenFormat::Text, 0) {
            let shown = pane.clone();
            return context
                .kernel
                .look(&pane, move |screen| shown.screen_cache.get_or_render(screen))
                .await?;
        }
        let look = move |screen: &Screen| RenderedScreen::of(screen, format);
        let mut shown = context.kernel.look(&pane, look).await?;
        if 0 < history {
            shown.history = Some(rows_above(&pane, history).await?);
        }
        CachedJson::new(&shown)
    }
}

async fn rows_above(pane: &Pane, rows: usize) -> Result<Vec<String>, Refusal> {
    let output = pane.readable()?;
    let known = pane.screen_hints(output.as_ref());
    let found = tokio::task::spawn_blocking(move || scrollback(output.as_ref(), &known, rows));
    found.await.map_err(Refusal::internal)?.map_err(unreadable)
}
