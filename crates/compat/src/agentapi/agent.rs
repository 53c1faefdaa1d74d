//! The agent that a request is about, accessed by actions of the kernel.

use paned_model::{AgentInfo, AgentState, Code, Delivery, PaneId, Refusal, Time};
use paned_server::compat_api::{Call, Rejection};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::input::{AgentapiInput, send_failed};
use crate::client::{DeliveryReply, KernelClient};

/// One agent, as its caller may see it.
pub(super) struct AgentapiAgent {
    pub(super) client: KernelClient,
    pub(super) pane: PaneId,
}

/// Whether an agent is busy, and its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct AgentapiStatus {
    pub(super) status: &'static str,
    pub(super) agent_type: String,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct AgentapiMessage {
    pub(super) id: u64,
    pub(super) content: String,
    pub(super) role: String,
    pub(super) time: Time,
}

#[derive(Deserialize)]
struct AgentapiMessagesReply {
    messages: Vec<AgentapiMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentapiPane {
    id: PaneId,
    created_at: Time,
    agent: Option<AgentInfo>,
}

impl AgentapiAgent {
    /// The agent that a request is about: the one in its path, the listener's own, or the newest.
    pub(super) async fn of(client: KernelClient, call: &mut Call) -> Result<Self, Rejection> {
        let name = call.name()?;
        let named = (!name.is_empty()).then(|| name.parse::<PaneId>()).transpose();
        let named = named.map_err(|bad| Refusal::invalid(bad.to_string()))?;
        // A listener for one agent serves no other, not even to clients that need no token.
        if let (Some(named), Some(own)) = (&named, &call.default_pane)
            && named != own
        {
            let sentence = format!("this listener serves only the agent in pane `{own}`");
            return Err(Refusal::new(Code::Forbidden, sentence).into());
        }
        if let Some(pane) = named.or_else(|| call.default_pane.clone()) {
            return Ok(Self { client, pane });
        }
        let panes: Vec<AgentapiPane> = client.act("agent:list", json!({})).await?;
        let running = panes.into_iter().filter(|pane| {
            pane.agent.as_ref().is_some_and(|agent| agent.state != AgentState::Exited)
        });
        let newest = running.max_by_key(|pane| pane.created_at).ok_or_else(|| {
            Refusal::not_found("no agent is running; start one with `paned agent new`")
        })?;
        Ok(Self { client, pane: newest.id })
    }

    /// Whether it is busy.
    pub(super) async fn status(&self) -> Result<AgentapiStatus, Refusal> {
        let agent: AgentInfo =
            self.client.act("agent:state", json!({ "paneId": self.pane })).await?;
        let status = status_word(agent.state).ok_or_else(|| {
            let sentence = format!("the agent in pane `{}` has exited", self.pane);
            Refusal::new(Code::Gone, sentence)
        })?;
        Ok(AgentapiStatus { status, agent_type: agent_type(&agent.profile) })
    }

    /// The messages to it and from it.
    pub(super) async fn messages(&self) -> Result<Vec<AgentapiMessage>, Refusal> {
        let all: AgentapiMessagesReply =
            self.client.act("agent:messages", json!({ "paneId": self.pane })).await?;
        Ok(all.messages)
    }

    /// Sends it a message.
    pub(super) async fn send(&self, input: AgentapiInput) -> Result<(), Rejection> {
        let text = match input {
            AgentapiInput::User(text) => text,
            AgentapiInput::Raw(text) => {
                // Only a pane that runs an agent is typed into: any other may be a person's shell.
                self.status().await?;
                let write = json!({ "paneId": self.pane, "text": text });
                return Ok(self.client.run("pane:write", write).await?);
            }
        };
        let DeliveryReply { outcome, evidence, agent } =
            self.client.message(self.pane.as_str(), &text, "refuse").await?;
        match outcome {
            // A queued message is delivered later; an error would make the client send it twice.
            Delivery::Submitted | Delivery::Queued | Delivery::Held => Ok(()),
            Delivery::Refused if status_word(agent.state) == Some("running") => Err(send_failed(
                "message can only be sent when the agent is waiting for user input",
            )),
            Delivery::Refused | Delivery::Drafted | Delivery::Unknown => Err(send_failed(
                &format!("it is {outcome}: {}", evidence.join("; "), outcome = outcome.as_str()),
            )),
        }
    }
}

/// agentapi's status for a state. An unknown state counts as running; an agent that asks something
/// waits for a person and counts as stable.
fn status_word(state: AgentState) -> Option<&'static str> {
    match state {
        AgentState::Starting | AgentState::Busy | AgentState::Unknown => Some("running"),
        AgentState::Ready | AgentState::Error | AgentState::Blocked | AgentState::Limited => {
            Some("stable")
        }
        AgentState::Exited => None,
    }
}

/// agentapi's name for a type of agent.
fn agent_type(profile: &str) -> String {
    if profile == "cursor-agent" { "cursor" } else { profile }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_is_never_stable() {
        for state in AgentState::ALL {
            let waits =
                state.takes_prompts() || matches!(state, AgentState::Blocked | AgentState::Limited);
            assert_eq!(status_word(state) == Some("stable"), waits, "{state}");
        }
        assert_eq!(status_word(AgentState::Exited), None);
    }
}
