//! `agent:explain`

use std::fmt::Write;

use paned_model::{AgentInfo, AgentState, Refusal, Scope, StateSource};
use paned_policy::agent::{Composer, EvidenceItem};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::actions::support::agents::agent;
use crate::agents::{AgentInspection, AgentRequest};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentExplain;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentExplainOutput {
    /// What it is doing.
    agent: AgentInfo,
    /// The evidence for and against that, strongest first.
    reasons: Vec<AgentEvidence>,
    /// Reasons for doubt: the program is newer than its profile, or the profile no longer fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The agent's input line.
    composer: ComposerInfo,
    /// The same, as readable text.
    text: String,
}

/// One piece of evidence.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentEvidence {
    /// Where it came from.
    source: StateSource,
    /// The state that it supports.
    says: AgentState,
    /// Its weight, 0 to 1.
    #[serde(serialize_with = "paned_model::agent::hundredths")]
    weight: f32,
    /// How old it is, in milliseconds.
    age_ms: u64,
    /// The same in words.
    sentence: String,
}

/// The agent's input line.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct ComposerInfo {
    /// What it contains.
    state: ComposerState,
    /// Its text, as far as it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What a composer contains.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::actions) enum ComposerState {
    /// It is not on the screen, or was not found.
    Hidden,
    /// Nothing.
    Empty,
    /// Text that is not submitted yet.
    Draft,
}

impl Action for AgentExplain {
    const NAME: &'static str = "agent:explain";
    const DOC: &'static str = "Explain how an agent's state was determined, with all evidence.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = AgentExplainOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<AgentExplainOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        kernel.agents().profiles();
        let inspection = match kernel.agents().find(&pane_id) {
            Some(agent) => agent.ask(AgentRequest::Inspect).await,
            None => None,
        };
        let Some(AgentInspection { seen, reasons, warnings, composer, .. }) = inspection else {
            // It has exited, or no task follows it.
            return agent(&pane)
                .map(|agent| explain(agent, Vec::new(), Vec::new(), Composer::Hidden));
        };
        Ok(explain(seen.info, reasons, warnings, composer))
    }
}

fn explain(
    agent: AgentInfo,
    reasons: Vec<EvidenceItem>,
    warnings: Vec<String>,
    composer: Composer,
) -> AgentExplainOutput {
    let (state, text) = match composer {
        Composer::Hidden => (ComposerState::Hidden, None),
        Composer::Empty => (ComposerState::Empty, None),
        Composer::Draft(text) => (ComposerState::Draft, Some(text)),
    };
    let composer = ComposerInfo { state, text };
    let text = lines(&agent, &reasons, &warnings, &composer);
    let reasons = reasons.into_iter().map(AgentEvidence::from).collect();
    AgentExplainOutput { agent, reasons, warnings, composer, text }
}

impl From<EvidenceItem> for AgentEvidence {
    fn from(reason: EvidenceItem) -> Self {
        let EvidenceItem { source, supports: says, weight, age_ms, sentence } = reason;
        Self { source, says, weight, age_ms, sentence }
    }
}

/// Everything as readable text.
fn lines(
    agent: &AgentInfo,
    reasons: &[EvidenceItem],
    warnings: &[String],
    composer: &ComposerInfo,
) -> String {
    let mut text = agent.state.to_string();
    if let Some(kind) = agent.kind {
        let _ = write!(text, " ({kind})");
    }
    let sure = agent.confidence * 100.0;
    let _ = writeln!(text, ", {sure:.0}% confidence (profile {})", agent.profile);
    for reason in reasons {
        let state = reason.supports;
        let weight = reason.weight;
        let sentence = &reason.sentence;
        let _ = writeln!(text, "  {state:<8} {weight:.2}  {sentence}");
    }
    for warning in warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    if reasons.is_empty() {
        let why = match agent.state {
            AgentState::Exited => "its program has exited",
            _ => "no evidence for or against it",
        };
        let _ = writeln!(text, "  {why}");
    }
    if let Some(dialog) = &agent.dialog {
        let _ = writeln!(text, "question: {}", dialog.text);
        for (number, option) in (1..).zip(&dialog.options) {
            let mark = if option.selected { '>' } else { ' ' };
            let _ = writeln!(text, "{mark} {number}. {}", option.label);
        }
    }
    let holds = match (composer.state, &composer.text) {
        (ComposerState::Hidden, _) => "composer: not on the screen".to_owned(),
        (ComposerState::Empty, _) => "composer: empty".to_owned(),
        (ComposerState::Draft, draft) => {
            format!("composer: draft `{}`", draft.as_deref().unwrap_or_default())
        }
    };
    let _ = writeln!(text, "{holds}");
    text
}
