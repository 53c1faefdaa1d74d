//! `server:status`

use std::collections::BTreeMap;

use paned_model::{EventId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::Nothing;
use crate::registry::{Action, Context, Kind};

pub(super) struct ServerStatus;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    /// Always true: it answers.
    ok: bool,
    /// The version of paned.
    version: &'static str,
    /// The server's process.
    pid: u32,
    /// Where it can be reached over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Where it can be reached over a unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    /// When it was started.
    started_at: Time,
    /// How long ago that was, in milliseconds.
    uptime_ms: u64,
    /// Panes by status.
    panes: BTreeMap<&'static str, usize>,
    /// The last event.
    last_event: EventId,
    /// Why nothing can be written to the journal at present, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

impl Action for ServerStatus {
    const NAME: &'static str = "server:status";
    const DOC: &'static str = "Show how the server is.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Nothing;
    type Answer = Status;

    async fn run(context: Context, _: Nothing) -> Result<Status, Refusal> {
        let kernel = &context.kernel;
        let address = &kernel.setup().address;
        let mut panes = BTreeMap::new();
        for pane in kernel.panes().list() {
            *panes.entry(pane.lock().status().word()).or_default() += 1;
        }
        Ok(Status {
            ok: true,
            version: kernel.setup().version,
            pid: std::process::id(),
            url: address.url.clone(),
            socket: address.socket.clone(),
            started_at: kernel.started_at(),
            uptime_ms: kernel.now().since(kernel.started_at()),
            panes,
            last_event: kernel.journal().last(),
            trouble: kernel.journal().trouble(),
        })
    }
}
