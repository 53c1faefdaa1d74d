//! `server:status`

use std::collections::BTreeMap;

use paned_model::{EventId, Refusal, Scope, Time};
use paned_policy::agent::ProfileError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ServerStatus;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct ServerStatusOutput {
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
    /// Panes by status, of those that the caller reaches.
    panes: BTreeMap<&'static str, usize>,
    /// Agents by state, of those that the caller reaches.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<&'static str, usize>,
    /// Mistakes in the user's profiles of agents, as `file:line: sentence`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profile_mistakes: Vec<String>,
    /// The last event.
    last_event: EventId,
    /// Where the server finds programs: its PATH.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_path: Option<String>,
    /// What was wrong with the journal when the server started, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    journal_recovered: Option<String>,
    /// Why nothing can be stored at present, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

impl Action for ServerStatus {
    const NAME: &'static str = "server:status";
    const DOC: &'static str = "Show how the server is.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = ServerStatusOutput;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<ServerStatusOutput, Refusal> {
        let ActionContext { kernel, caller, .. } = &context;
        let address = &kernel.setup().address;
        let mut panes = BTreeMap::new();
        let mut agents = BTreeMap::new();
        let all = kernel.panes().list();
        for pane in all.iter().filter(|pane| kernel.reaches(&pane.id, caller)) {
            let state = pane.lock();
            *panes.entry(state.status().as_str()).or_default() += 1;
            if let Some(agent) = &state.agent {
                *agents.entry(agent.state.as_str()).or_default() += 1;
            }
        }
        let mistakes = kernel.agents().profiles().mistakes;
        Ok(ServerStatusOutput {
            ok: true,
            version: kernel.setup().version,
            pid: std::process::id(),
            url: address.url.clone(),
            socket: address.socket.clone(),
            started_at: kernel.started_at(),
            uptime_ms: kernel.now().since(kernel.started_at()),
            panes,
            agents,
            profile_mistakes: mistakes.iter().map(mistake_line).collect(),
            last_event: kernel.journal().last(),
            search_path: std::env::var("PATH").ok(),
            journal_recovered: kernel.journal_damage().map(str::to_owned),
            trouble: kernel.storage_problem(),
        })
    }
}

fn mistake_line(mistake: &ProfileError) -> String {
    format!("{}:{}: {}", mistake.file, mistake.line, mistake.sentence)
}
