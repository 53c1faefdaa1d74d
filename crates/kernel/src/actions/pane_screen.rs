//! `pane:screen`

use paned_model::{PaneId, Refusal, Scope};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::panes::shown::{Format, Shown};
use crate::panes::{Pane, above, unreadable};
use crate::ready::Ready;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

const MOST_ROWS: usize = 1000;

pub(super) struct PaneScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How to show it beyond its rows of text.
    #[serde(default)]
    format: Format,
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
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Ready<Shown>;

    fn touches(params: &Params) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Ready<Shown>, Refusal> {
        let Params { pane_id, format, history } = params;
        if MOST_ROWS < history {
            return Err(Refusal::invalid(format!("`history` goes up to {MOST_ROWS}")));
        }
        let pane = context.kernel.panes().get(&pane_id)?;
        if (format, history) == (Format::Text, 0) {
            let shown = pane.clone();
            return context.kernel.look(&pane, move |screen| shown.shown.show(screen)).await?;
        }
        let look = move |screen: &Screen| Shown::of(screen, format);
        let mut shown = context.kernel.look(&pane, look).await?;
        if 0 < history {
            shown.history = Some(rows_above(&pane, history).await?);
        }
        Ready::new(&shown)
    }
}

async fn rows_above(pane: &Pane, rows: usize) -> Result<Vec<String>, Refusal> {
    let output = pane.readable()?;
    let known = pane.known(output.as_ref());
    let found = tokio::task::spawn_blocking(move || above(output.as_ref(), &known, rows));
    found.await.map_err(Refusal::internal)?.map_err(unreadable)
}
