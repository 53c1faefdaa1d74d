//! `pane:keys`

use paned_model::{Code, PaneId, Refusal, Scope};
use paned_term::keys::Key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::write::{LONG_LINE, encoder, write};
use crate::access::AccessRequest;
use crate::actions::support::param_rules::KeyName;
use crate::registry::{Action, ActionContext, ActionKind};

const MOST: usize = 1000;

pub(in crate::actions) struct PaneKeys;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Keys by name: `enter`, `ctrl+c`, `shift+tab`, `alt+x`, `up`, `f5`, `kp_enter`, `a`.
    #[schemars(with = "Vec<KeyName>", length(min = 1))]
    keys: Vec<String>,
    /// How many times to repeat the whole sequence.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1000))]
    repeat: usize,
}

fn once() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneKeysOutput {
    /// The number of bytes typed, encoded for the terminal's modes.
    bytes: usize,
    /// A warning if the program may not receive all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

impl Action for PaneKeys {
    const NAME: &'static str = "pane:keys";
    const DOC: &'static str = "Press keys by name, encoded for the terminal's current modes.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Input;
    const SECRETS: &'static [&'static str] = &["keys"];
    type Params = Params;
    type Answer = PaneKeysOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneKeysOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let keys = parse(&params.keys)?;
        if params.repeat == 0 {
            return Err(Refusal::invalid("`repeat` must be at least 1"));
        }
        if MOST < keys.len().saturating_mul(params.repeat) {
            let sentence = format!("too many keys: `keys` times `repeat` must be at most {MOST}");
            return Err(Refusal::new(Code::Limit, sentence));
        }
        let modes = context.kernel.modes(&pane).await?;
        let encode = encoder(&pane);
        let once: Result<Vec<_>, _> = keys.iter().map(|key| encode(key, &modes)).collect();
        let bytes = once?.concat().repeat(params.repeat);
        let count = bytes.len();
        let typed = write(&context.kernel, &pane, vec![bytes]).await?;
        Ok(PaneKeysOutput { bytes: count, warning: typed.long_line.then_some(LONG_LINE) })
    }
}

fn parse(names: &[String]) -> Result<Vec<Key>, Refusal> {
    if names.is_empty() {
        return Err(Refusal::invalid("`keys` is empty"));
    }
    let key =
        |name: &String| name.parse::<Key>().map_err(|error| Refusal::invalid(error.to_string()));
    names.iter().map(key).collect()
}
