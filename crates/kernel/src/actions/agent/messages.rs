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
    /// The messages, oldest first, as far as they are on the screen or above it.
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
    /// When the agent's pane was created: a screen has no times.
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
    const DOC: &'static str = "Show what was said to an agent and by it, as far as its screen and the rows above it show it.";
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
    rows.extend_from_slice(&screen.view.rows[..end(&screen, profile)]);
    Ok(rows)
}

/// Where the composer begins: the rows of the last turn go up to it.
fn end(screen: &ScreenSnapshot, profile: &Profile) -> usize {
    let rows = &screen.view.rows;
    let (turn, _) = screen.last_turn(profile);
    let start = turn.first().and_then(|first| rows.iter().position(|row| std::ptr::eq(row, first)));
    let prompt = profile.composer.as_ref().and_then(|composer| composer.prompt.as_ref());
    // A turn without a row of its own: the composer is right below the last message.
    let last = || rows.iter().rposition(|row| prompt.is_some_and(|prompt| prompt.is_in(row)));
    start.map(|start| start + turn.len()).or_else(last).unwrap_or(rows.len())
}
