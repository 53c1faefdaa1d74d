//! `pane:screen`

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::{PaneId, Refusal, Scope};
use paned_term::{Screen, View, render};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::panes::{Pane, above};
use crate::registry::{Action, Context, Kind};

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

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// Rows of text only.
    #[default]
    Text,
    /// With colours, as escape sequences.
    Ansi,
    /// As a picture made of text.
    Svg,
    /// As a picture, in base64.
    Png,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    #[serde(flatten)]
    view: View,
    /// The rows above it, oldest first, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<String>>,
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

impl Action for PaneScreen {
    const NAME: &'static str = "pane:screen";
    const DOC: &'static str =
        "Show a pane's screen: rows, cursor, modes, and a picture where asked for.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Shown;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Shown, Refusal> {
        let Params { pane_id, format, history } = params;
        if MOST_ROWS < history {
            return Err(Refusal::invalid(format!("`history` goes up to {MOST_ROWS}")));
        }
        let pane = context.kernel.panes().get(&pane_id)?;
        let mut shown = context.kernel.look(&pane, move |screen| show(screen, format)).await?;
        if 0 < history {
            shown.history = Some(rows_above(&pane, history).await?);
        }
        Ok(shown)
    }
}

async fn rows_above(pane: &Pane, rows: usize) -> Result<Vec<String>, Refusal> {
    let output = pane.readable()?;
    let known = pane.known(output.as_ref());
    let found = tokio::task::spawn_blocking(move || above(output.as_ref(), &known, rows));
    found.await.map_err(Refusal::internal)?.map_err(Refusal::internal)
}

fn show(screen: &Screen, format: Format) -> Shown {
    let (mut ansi, mut svg, mut png) = (None, None, None);
    match format {
        Format::Text => {}
        Format::Ansi => ansi = Some(render::ansi(screen)),
        Format::Svg => svg = Some(render::svg(screen)),
        Format::Png => png = Some(BASE64_STANDARD.encode(render::png(screen, 1))),
    }
    Shown { view: screen.view(), history: None, ansi, svg, png }
}
