//! `pane:write`

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::frame::Refused;
use paned_model::{Code, PaneId, Refusal, Scope};
use paned_substrate::{Command, Typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::panes::Pane;
use crate::panes::pane::gone;
use crate::registry::{Action, Context, Kind};
use crate::{Kernel, agents};

pub(super) struct PaneWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// What to type, exactly: no Enter is added.
    text: Option<String>,
    /// What to type as base64, for bytes that are no text.
    base64: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    /// How many bytes were typed.
    bytes: usize,
    /// What the program may not get of that, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

pub(super) const LONG_LINE: &str = "a line is longer than the 4095 bytes that a terminal's line editor takes; it drops the rest, unless the program \
     switches line editing off";

impl Action for PaneWrite {
    const NAME: &'static str = "pane:write";
    const DOC: &'static str = "Type exactly these bytes into a pane.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Input;
    const SECRETS: &'static [&'static str] = &["text", "base64"];
    type Params = Params;
    type Answer = Written;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Written, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let bytes = bytes(params.text, params.base64)?;
        let count = bytes.len();
        let typed = write(&context.kernel, &pane, bytes).await?;
        Ok(Written { bytes: count, warning: typed.long_line.then_some(LONG_LINE) })
    }
}

fn bytes(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Refusal> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => BASE64_STANDARD
            .decode(base64)
            .map_err(|error| Refusal::invalid(format!("`base64` cannot be read: {error}"))),
        (None, None) => Err(Refusal::invalid("say what to type, as `text` or as `base64`")),
        (Some(_), Some(_)) => {
            Err(Refusal::invalid("say what to type as `text` or as `base64`, not both"))
        }
    }
}

/// Types bytes, all of them or none.
pub(super) async fn write(kernel: &Kernel, pane: &Pane, bytes: Vec<u8>) -> Result<Typed, Refusal> {
    let limit = kernel.limits().input;
    if limit < bytes.len() {
        let sentence = format!("{} bytes at once are too many; the limit is {limit}", bytes.len());
        return Err(Refusal::new(Code::Limit, sentence));
    }
    let status = pane.lock().status();
    if !status.is_live() {
        return Err(gone(&pane.id, status));
    }
    let (reply, answer) = oneshot::channel();
    let heard = kernel.agents().listener(&pane.id).map(|agent| {
        let end = pane.output().map_or(0, |output| output.end());
        (agent, agents::Typed { bytes: bytes.clone(), at: kernel.now(), end })
    });
    let sent = pane.commands()?.send(Command::Input(bytes, reply)).await;
    match (sent, answer.await) {
        (Ok(()), Ok(Ok(typed))) => {
            if let Some((agent, typed)) = heard {
                agent.typed(typed);
            }
            Ok(typed)
        }
        (Ok(()), Ok(Err(Refused::Full))) => Err(Refusal::new(
            Code::Limit,
            format!("the program in pane `{}` does not read; 1 MiB waits for it already", pane.id),
        )),
        (Ok(()), Ok(Err(Refused::Failed))) if pane.is_adopted() => {
            let sentence =
                format!("tmux does not answer, so pane `{}` may have got none of it", pane.id);
            Err(Refusal::new(Code::Unavailable, sentence))
        }
        (
            Ok(()),
            Ok(Err(
                Refused::Gone | Refused::Failed | Refused::Held | Refused::Moved | Refused::Unread,
            ))
            | Err(_),
        )
        | (Err(_), _) => Err(gone(&pane.id, pane.lock().status())),
    }
}
