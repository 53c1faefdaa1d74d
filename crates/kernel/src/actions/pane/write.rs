//! `pane:write`

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_backend::InputReport;
use paned_model::frame::RefusalReason;
use paned_model::{Code, PaneId, Refusal, Scope};
use paned_term::keys::Key;
use paned_term::screen::view::ScreenModes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{Base64Text, exactly_one};
use crate::panes::pane::{late, pane_gone};
use crate::panes::{Pane, TypedInput};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = exactly_one(&["text", "base64"]))]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The exact text to type.
    text: Option<String>,
    /// The bytes to type as base64, for data that is not text.
    #[schemars(with = "Option<Base64Text>")]
    base64: Option<String>,
    /// Whether to press Enter afterwards, as a separate write, encoded for the terminal's modes. No
    /// other input can come in between.
    #[serde(default)]
    enter: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneWriteOutput {
    /// The number of bytes typed, including Enter.
    bytes: usize,
    /// A warning if the program may not receive all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

pub(in crate::actions) const LONG_LINE: &str = "a line is longer than 4095 bytes, the limit of \
    the terminal's line editor; the rest is dropped unless the program turns line editing off";

impl Action for PaneWrite {
    const NAME: &'static str = "pane:write";
    const DOC: &'static str = "Type the exact bytes into a pane.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Input;
    const SECRETS: &'static [&'static str] = &["text", "base64"];
    type Params = Params;
    type Answer = PaneWriteOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneWriteOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let mut parts = vec![bytes(params.text, params.base64)?];
        if params.enter {
            // Boxed to keep the future small: most writes come without Enter.
            parts.push(Box::pin(enter(&context.kernel, &pane)).await?);
        }
        let count = parts.iter().map(Vec::len).sum();
        let typed = write(&context.kernel, &pane, parts).await?;
        Ok(PaneWriteOutput { bytes: count, warning: typed.long_line.then_some(LONG_LINE) })
    }
}

fn bytes(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Refusal> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => BASE64_STANDARD
            .decode(base64)
            .map_err(|error| Refusal::invalid(format!("invalid `base64`: {error}"))),
        (None, None) => Err(Refusal::invalid("pass `text` or `base64` to specify what to type")),
        (Some(_), Some(_)) => Err(Refusal::invalid("pass `text` or `base64`, not both")),
    }
}

/// The bytes of the Enter key in the modes that the pane's screen is in.
pub(in crate::actions) async fn enter(
    kernel: &Kernel,
    pane: &Arc<Pane>,
) -> Result<Vec<u8>, Refusal> {
    let key: Key = "enter".parse().expect("every keyboard has one");
    encoder(pane)(&key, &kernel.modes(pane).await?)
}

/// How keys are encoded for a pane: only tmux knows which keyboard modes a program in one of its
/// own panes has set.
///
/// A key without an encoding is refused: the program's modes do not allow it.
pub(in crate::actions) fn encoder(
    pane: &Pane,
) -> impl Fn(&Key, &ScreenModes) -> Result<Vec<u8>, Refusal> {
    let encode = if pane.is_adopted() { Key::encode_in_tmux } else { Key::encode };
    move |key, modes| {
        encode(key, modes).map_err(|refused| Refusal::new(Code::Conflict, refused.to_string()))
    }
}

/// Types bytes, all of them or none, each part as a separate write.
pub(in crate::actions) async fn write(
    kernel: &Kernel,
    pane: &Pane,
    parts: Vec<Vec<u8>>,
) -> Result<InputReport, Refusal> {
    let limit = kernel.limits().input_bytes;
    let count = parts.first().map_or(0, Vec::len);
    if limit < count {
        let sentence = format!(
            "the text has {count} bytes, more than the limit of {limit}; type it in several parts"
        );
        return Err(Refusal::new(Code::Limit, sentence));
    }
    let status = pane.lock().status();
    if !status.is_live() {
        return Err(pane_gone(&pane.id, status));
    }
    kernel.panes().typing_activity.typed(&pane.id, Instant::now());
    let followed_input = kernel.agents().find(&pane.id).map(|agent| {
        let end = pane.output().map_or(0, |output| output.end());
        let typed = TypedInput { bytes: parts.concat(), at: kernel.now(), end };
        // The program may respond before the write is confirmed, and the task must see the input
        // before that output.
        agent.typing(&typed);
        (agent, typed)
    });
    match pane.type_in(parts).await? {
        Some(Ok(typed)) => {
            if let Some((agent, typed)) = followed_input {
                agent.typed(typed);
            }
            Ok(typed)
        }
        Some(Err(RefusalReason::Full)) => Err(Refusal::new(
            Code::Limit,
            format!(
                "the program in pane `{}` does not read its input; 1 MiB is already pending",
                pane.id
            ),
        )),
        Some(Err(RefusalReason::Failed)) if pane.is_adopted() => {
            let sentence = format!(
                "tmux does not respond, so pane `{}` may not have received the input",
                pane.id
            );
            Err(Refusal::new(Code::Unavailable, sentence))
        }
        Some(Err(RefusalReason::TimedOut)) => Err(late(&pane.id, "the input", false)),
        Some(Err(RefusalReason::Cancelled)) => Err(late(&pane.id, "the input", true)),
        Some(Err(
            RefusalReason::Gone
            | RefusalReason::Failed
            | RefusalReason::Held
            | RefusalReason::Stale
            | RefusalReason::Unread,
        ))
        | None => Err(pane_gone(&pane.id, pane.lock().status())),
    }
}
