//! `pane:paste`

use paned_model::{PaneId, Refusal, Scope};
use paned_term::paste::{PasteError, paste};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write::{LONG_LINE, enter, write};
use crate::access::AccessRequest;
use crate::actions::support::param_rules::PasteText;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PanePaste;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The text to paste.
    #[schemars(with = "PasteText")]
    text: String,
    /// Whether to press Enter afterwards, encoded for the terminal's modes. No other input can come
    /// in between.
    #[serde(default)]
    submit: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PanePasteOutput {
    /// The number of bytes typed, including Enter.
    bytes: usize,
    /// Whether the paste was bracketed, because the program had enabled it.
    bracketed: bool,
    /// A warning if the program may not receive all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

impl Action for PanePaste {
    const NAME: &'static str = "pane:paste";
    const DOC: &'static str =
        "Paste text as a terminal does, bracketed if the program enabled bracketed paste.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Input;
    const SECRETS: &'static [&'static str] = &["text"];
    type Params = Params;
    type Answer = PanePasteOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PanePasteOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let bracketed = context.kernel.modes(&pane).await?.bracketed_paste;
        let bytes = paste(&params.text, bracketed).map_err(refused)?;
        let mut parts = vec![bytes];
        if params.submit {
            parts.push(enter(&context.kernel, &pane).await?);
        }
        let count = parts.iter().map(Vec::len).sum();
        let typed = write(&context.kernel, &pane, parts).await?;
        Ok(PanePasteOutput {
            bytes: count,
            bracketed,
            warning: typed.long_line.then_some(LONG_LINE),
        })
    }
}

/// Why a text cannot be pasted, and what to do about it.
fn refused(why: PasteError) -> Refusal {
    let help = match why {
        PasteError::EndMarker(_) => "the program would take the text after it for keys",
        PasteError::Control(..) => {
            "only tabs and line ends can be pasted; press keys with `pane:keys`"
        }
    };
    Refusal::invalid(format!("{why}; {help}"))
}
