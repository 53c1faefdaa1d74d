//! `agent:explain`

use std::fmt::Write;

use paned_model::{AgentInfo, AgentState, Refusal, Scope, Source};
use paned_policy::agent::{Composer, Reason};
use schemars::JsonSchema;
use serde::Serialize;

use super::OnPane;
use super::agent::agent;
use crate::agents::{Ask, Looked};
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct AgentExplain;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    /// What it is doing.
    agent: AgentInfo,
    /// What speaks for or against that, strongest first.
    reasons: Vec<Evidence>,
    /// What makes that doubtful: the program is newer than its profile, or the profile no longer fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// What stands where a person types.
    composer: Typing,
    /// The same as lines for a person.
    text: String,
}

/// One piece of evidence.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evidence {
    /// Where it came from.
    source: Source,
    /// What it speaks for.
    says: AgentState,
    /// How much it counts, 0 to 1.
    #[serde(serialize_with = "paned_model::agent::hundredths")]
    weight: f32,
    /// How old it is, in milliseconds.
    age_ms: u64,
    /// The same in words.
    sentence: String,
}

/// What stands where a person types.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Typing {
    /// Whether there is anything.
    state: Holds,
    /// What, as far as it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What a composer holds.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Holds {
    /// It is not on the screen, or cannot be found.
    Hidden,
    /// Nothing.
    Empty,
    /// Somebody's words.
    Draft,
}

impl Action for AgentExplain {
    const NAME: &'static str = "agent:explain";
    const DOC: &'static str =
        "Show why an agent is taken to do what it does: all evidence, in words.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = Explained;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<Explained, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        kernel.agents().profiles();
        let looked = match kernel.agents().listener(&pane_id) {
            Some(listener) => listener.ask(Ask::Look).await,
            None => None,
        };
        let Some(Looked { seen, reasons, warnings, composer, .. }) = looked else {
            // It has ended, or nobody follows it.
            return agent(&pane)
                .map(|agent| explain(agent, Vec::new(), Vec::new(), Composer::Hidden));
        };
        Ok(explain(seen.info, reasons, warnings, composer))
    }
}

fn explain(
    agent: AgentInfo,
    reasons: Vec<Reason>,
    warnings: Vec<String>,
    composer: Composer,
) -> Explained {
    let (state, text) = match composer {
        Composer::Hidden => (Holds::Hidden, None),
        Composer::Empty => (Holds::Empty, None),
        Composer::Draft(text) => (Holds::Draft, Some(text)),
    };
    let composer = Typing { state, text };
    let text = lines(&agent, &reasons, &warnings, &composer);
    let reasons = reasons.into_iter().map(Evidence::from).collect();
    Explained { agent, reasons, warnings, composer, text }
}

impl From<Reason> for Evidence {
    fn from(reason: Reason) -> Self {
        let Reason { source, says, weight, age_ms, sentence } = reason;
        Self { source, says, weight, age_ms, sentence }
    }
}

/// Everything as lines for a person.
fn lines(agent: &AgentInfo, reasons: &[Reason], warnings: &[String], composer: &Typing) -> String {
    let mut text = agent.state.to_string();
    if let Some(kind) = agent.kind {
        let _ = write!(text, " ({kind})");
    }
    let sure = agent.confidence * 100.0;
    let _ = writeln!(text, ", {sure:.0} % sure, by profile {}", agent.profile);
    for reason in reasons {
        let (says, weight, sentence) = (reason.says, reason.weight, &reason.sentence);
        let _ = writeln!(text, "  {says:<8} {weight:.2}  {sentence}");
    }
    for warning in warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    if reasons.is_empty() {
        let why = match agent.state {
            AgentState::Exited => "its program has ended",
            _ => "nothing is known that speaks for or against it",
        };
        let _ = writeln!(text, "  {why}");
    }
    if let Some(dialog) = &agent.dialog {
        let _ = writeln!(text, "it asks: {}", dialog.text);
        for (number, option) in (1..).zip(&dialog.options) {
            let mark = if option.selected { '>' } else { ' ' };
            let _ = writeln!(text, "{mark} {number}. {}", option.label);
        }
    }
    let holds = match (composer.state, &composer.text) {
        (Holds::Hidden, _) => "the composer is not on the screen".to_owned(),
        (Holds::Empty, _) => "the composer is empty".to_owned(),
        (Holds::Draft, draft) => {
            format!("the composer holds a draft: {}", draft.as_deref().unwrap_or_default())
        }
    };
    let _ = writeln!(text, "{holds}");
    text
}
