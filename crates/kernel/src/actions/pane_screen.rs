//! `pane:screen`

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::{PaneId, Refusal, Scope};
use paned_term::{Screen, View, render};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::{Action, Context, Kind};

pub(super) struct PaneScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How to show it beyond its rows of text.
    #[serde(default)]
    format: Format,
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

    async fn run(context: Context, Params { pane_id, format }: Params) -> Result<Shown, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        context.kernel.look(&pane, move |screen| show(screen, format)).await
    }
}

fn show(screen: &Screen, format: Format) -> Shown {
    let (mut ansi, mut svg, mut png) = (None, None, None);
    match format {
        Format::Text => {}
        Format::Ansi => ansi = Some(render::ansi(screen)),
        Format::Svg => svg = Some(render::svg(screen)),
        Format::Png => png = Some(BASE64_STANDARD.encode(render::png(screen, 1))),
    }
    Shown { view: screen.view(), ansi, svg, png }
}
