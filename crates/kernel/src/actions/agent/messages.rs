//! `agent:messages`

use std::sync::Arc;

use paned_model::{Refusal, Scope, Time};
use paned_policy::agent::{Profile, ScreenSnapshot};
use paned_policy::conversation::{ConversationMessage, Speaker, split_messages};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::actions::support::agents::agent;
use crate::panes::{Pane, scrollback};
use crate::registry::{Action, ActionContext, ActionKind};

/// How many rows above the screen are read.
const ROWS: usize = 1000;

pub(in crate::actions) struct AgentMessages;

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AgentMessagesOutput {
    /// The messages, oldest first, as far as they are on the screen or in the scrollback.
    messages: Vec<AgentChatMessage>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AgentChatMessage {
    /// Its index among those that were found, counted from 0.
    id: usize,
    /// The sender.
    role: AgentChatRole,
    /// The text, with the line breaks of the screen.
    content: String,
    /// When the agent's pane was created: a screen contains no times.
    time: Time,
}

/// The sender of a message.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AgentChatRole {
    /// The user.
    User,
    /// The agent.
    Agent,
}

impl Action for AgentMessages {
    const NAME: &'static str = "agent:messages";
    const DOC: &'static str = "Show an agent's conversation, as far as its screen and scrollback \
                              contain it.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = AgentMessagesOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<AgentMessagesOutput, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        agent(&pane)?;
        let profile = context.kernel.agents().profile_of(&pane)?;
        let rows = rows(&context.kernel, &pane, &profile).await?;
        let time = pane.created_at;
        let found = split_messages(&rows, &profile.messages).into_iter().enumerate();
        let messages = found.map(|(id, ConversationMessage { speaker, text })| {
            let role = match speaker {
                Speaker::User => AgentChatRole::User,
                Speaker::Agent => AgentChatRole::Agent,
            };
            AgentChatMessage { id, role, content: text, time }
        });
        Ok(AgentMessagesOutput { messages: messages.collect() })
    }
}

/// The rows above an agent's composer, with those that scrolled away.
async fn rows(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    profile: &Arc<Profile>,
) -> Result<Vec<String>, Refusal> {
    let screen = kernel.look(pane, ScreenSnapshot::of).await?;
    let output = pane.readable()?;
    let hints = pane.screen_hints(output.as_ref());
    let scrolled = tokio::task::spawn_blocking(move || scrollback(output.as_ref(), &hints, ROWS));
    let mut rows = scrolled.await.map_err(Refusal::internal)?.map_err(Refusal::internal)?;
    rows.extend_from_slice(&screen.view.rows[..screen.last_turn(profile).end]);
    Ok(rows)
}
