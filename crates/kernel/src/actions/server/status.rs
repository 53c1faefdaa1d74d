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
    /// Always true.
    ok: bool,
    /// The version of paned.
    version: &'static str,
    /// The server's process id.
    pid: u32,
    /// Its TCP address.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The path of its unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    /// When it was started.
    started_at: Time,
    /// Time since the start, in milliseconds.
    uptime_ms: u64,
    /// The number of panes by status, of those that the token covers.
    panes: BTreeMap<&'static str, usize>,
    /// The number of agents by state, of those that the token covers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<&'static str, usize>,
    /// Errors in the user's agent profiles, as `file:line: message`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profile_mistakes: Vec<String>,
    /// The id of the last event.
    last_event: EventId,
    /// What was wrong with the journal when the server started, if it was damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    journal_recovered: Option<String>,
    /// Why changes cannot be saved now, if they cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

impl Action for ServerStatus {
    const NAME: &'static str = "server:status";
    const DOC: &'static str = "Show the server's status.";
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
            journal_recovered: kernel.journal_damage().map(str::to_owned),
            trouble: kernel.storage_problem(),
        })
    }
}

fn mistake_line(mistake: &ProfileError) -> String {
    format!("{}:{}: {}", mistake.file, mistake.line, mistake.sentence)
}
