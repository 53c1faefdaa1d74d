//! `approval:answer`

use paned_model::{ApprovalId, ApprovalInfo, Code, PaneRef, Refusal, Scope};
use paned_policy::approval::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::AccessRequest;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ApprovalAnswerAction;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The approval.
    id: ApprovalId,
    /// `allow` for this one request, `allow-pane` for later ones of the pane that it covers, too,
    /// or `deny`; for an agent's question also an option: its number from 1, or its text.
    answer: AnswerText,
    /// Why it is denied; the caller that asked gets this.
    reason: Option<String>,
}

/// An answer.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum AnswerText {
    /// An option by its number, counted from 1.
    Number(usize),
    /// A verdict, or an option by its text.
    Text(String),
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct ApprovalAnswerOutput {
    /// The approval as it is now.
    approval: ApprovalInfo,
    /// The keys that were pressed to answer an agent's question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pressed: Option<Vec<String>>,
}

impl Action for ApprovalAnswerAction {
    const NAME: &'static str = "approval:answer";
    const DOC: &'static str = "Answer an approval: allow or deny a request, or choose an option of \
                              an agent's question, unless it has changed.";
    const SCOPE: Scope = Scope::Approve;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] =
        &["answer", "pressed", "approval.details", "approval.options"];
    type Params = Params;
    type Answer = ApprovalAnswerOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<ApprovalAnswerOutput, Refusal> {
        let kernel = &context.kernel;
        let dialog = kernel.check_may_answer(&params.id, &context.caller)?;
        if let Some(dialog) = dialog {
            return answer_dialog(&context, params, dialog).await;
        }
        let verdict = verdict(params.answer, params.reason)?;
        let by = context.caller.label();
        let approval = kernel.answer_approval(&params.id, &verdict, &by)?;
        Ok(ApprovalAnswerOutput { approval, pressed: None })
    }
}

fn verdict(answer: AnswerText, reason: Option<String>) -> Result<Verdict, Refusal> {
    let text = match answer {
        AnswerText::Text(text) => text.to_lowercase(),
        AnswerText::Number(number) => number.to_string(),
    };
    match (text.as_str(), reason) {
        ("deny" | "no", reason) => Ok(Verdict::Deny(reason.filter(|it| !it.trim().is_empty()))),
        ("allow" | "yes" | "allow-pane", Some(_)) => {
            Err(Refusal::invalid("`reason` is only for `deny`"))
        }
        ("allow" | "yes", None) => Ok(Verdict::Allow),
        ("allow-pane", None) => Ok(Verdict::AllowForPane),
        (other, _) => Err(Refusal::invalid(format!(
            "invalid answer `{}`: use `allow`, `allow-pane` or `deny`",
            other.escape_debug()
        ))),
    }
}

/// Presses the keys of an option, by the action that checks that the question is still the same.
async fn answer_dialog(
    context: &ActionContext,
    params: Params,
    (pane, dialog): (PaneRef, String),
) -> Result<ApprovalAnswerOutput, Refusal> {
    let ActionContext { kernel, caller, .. } = context;
    if params.reason.is_some() {
        let sentence = "an agent's question takes no reason; choose an option, or send a message \
                       with `agent:message`";
        return Err(Refusal::invalid(sentence));
    }
    if kernel.panes().find(&pane).is_none() {
        let sentence = format!("pane `{}`, which asks, was removed", pane.id);
        return Err(Refusal::new(Code::Gone, sentence));
    }
    let option = match params.answer {
        AnswerText::Number(number) => json!(number),
        AnswerText::Text(text) => match text.as_str() {
            "allow" => json!("yes"),
            "allow-pane" => json!("always"),
            "deny" => json!("no"),
            _ => json!(text),
        },
    };
    let request = json!({ "paneId": pane.id, "option": option, "dialogId": dialog }).to_string();
    let answer = kernel.dispatch("agent:answer", request.as_bytes(), caller).await?;
    let answer: Value = serde_json::from_str(answer.get()).map_err(Refusal::internal)?;
    let pressed = serde_json::from_value(answer["pressed"].clone()).unwrap_or_default();
    let approval = kernel.visible_approval(&params.id, caller)?;
    Ok(ApprovalAnswerOutput { approval, pressed: Some(pressed) })
}
