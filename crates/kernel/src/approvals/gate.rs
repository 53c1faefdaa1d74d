//! The gate between a permitted call and its run: whether a person is to be asked first.

use paned_model::{ApprovalKind, Code, Instance, PaneId, Refusal, Scope};
use paned_policy::permit;
use serde::Serialize;
use serde_json::{Value, json};

use super::decision::Allowance;
use super::request::{Coverage, NewApproval, RequestDigest};
use crate::access::AccessRequest;
use crate::permissions::AskedCommand;
use crate::redact::redact;
use crate::registry::{ActionDefinition, ActionKind};
use crate::{Caller, Kernel};

/// What allowed a call, for its events.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AllowedBy {
    /// The scope that the action needs, which the caller's grant has.
    pub(crate) scope: Scope,
    /// The permission rule that applied, as it is written in its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// The approval of a person.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) allowance: Option<Allowance>,
}

/// What the rules and the configuration say about a call.
#[derive(Default)]
pub(crate) struct CallVerdict {
    /// The permission rule that applied.
    pub(crate) rule: Option<String>,
    /// What a person is to be asked before it runs.
    pub(crate) question: Option<ApprovalQuestion>,
}

/// What a person is asked about a call.
pub(crate) struct ApprovalQuestion {
    /// What asks.
    pub(crate) kind: ApprovalKind,
    /// What is asked, in one line, without secrets.
    pub(crate) subject: String,
    /// What else a person needs to know; the call's parameters are always shown.
    pub(crate) details: Value,
    /// What an answer for the pane covers, if such an answer is offered.
    pub(crate) coverage: Option<Coverage>,
}

/// A call that may need an approval.
#[derive(Clone, Copy)]
pub(crate) struct GatedCall<'a> {
    pub(crate) action: &'a ActionDefinition,
    /// Its parameters as they were sent.
    pub(crate) params: &'a [u8],
    pub(crate) access: &'a AccessRequest,
    pub(crate) caller: &'a Caller,
}

/// A pane that a call names, and which one it was when the call was authorized.
type NamedPane = (PaneId, Option<Instance>);

impl Kernel {
    /// What allows a call: its scope, or the approval of a person if one must be asked. Waits for
    /// that.
    ///
    /// # Errors
    /// `denied` when a person, a rule or the expiry has denied it, `timeout` when there is no
    /// answer yet.
    pub(crate) async fn pass_gate(
        &self,
        call: GatedCall<'_>,
        asked: Option<AskedCommand>,
    ) -> Result<AllowedBy, Refusal> {
        let CallVerdict { rule, question } = self.judge_call(call, asked);
        let scope = call.action.scope;
        let Some(question) = question else {
            return Ok(AllowedBy { scope, rule, allowance: None });
        };
        // Boxed to keep the future small: it is rarely polled.
        let allowance = Box::pin(self.ask_about(call, rule.clone(), question)).await?;
        Ok(AllowedBy { scope, rule, allowance: Some(allowance) })
    }

    /// What the rules and the configuration say about a call.
    fn judge_call(&self, call: GatedCall<'_>, asked: Option<AskedCommand>) -> CallVerdict {
        let Some(asked) = asked else {
            return CallVerdict { rule: None, question: self.question_of_configuration(call) };
        };
        let rule = asked.verdict.deciding_rule().map(str::to_owned);
        let question = Some(question_of_rules(call.action, asked));
        CallVerdict { rule, question }
    }

    /// Whether the configuration lists the action as one that needs an approval.
    fn question_of_configuration(&self, call: GatedCall<'_>) -> Option<ApprovalQuestion> {
        let listed = &self.setup().approvals.actions;
        let name = &*call.action.name;
        if listed.is_empty() || !listed.iter().any(|pattern| matches(pattern, name)) {
            return None;
        }
        // Otherwise the answer would need an answer.
        if name.starts_with("approval:") || is_trusted(call.caller) {
            return None;
        }
        Some(ApprovalQuestion {
            kind: ApprovalKind::Action,
            subject: subject(name, call.access.named_panes()),
            details: Value::Null,
            coverage: Some(Coverage {
                key: format!("action {name}"),
                sentence: format!("every `{name}` of this pane"),
            }),
        })
    }

    async fn ask_about(
        &self,
        call: GatedCall<'_>,
        rule: Option<String>,
        question: ApprovalQuestion,
    ) -> Result<Allowance, Refusal> {
        let GatedCall { action, params, access, caller } = call;
        let rate = self.limits().events_per_second;
        self.budgets().event(&caller.grant, || 2 * params.len(), rate, self.now())?;
        let named = self.named_panes(access);
        let ApprovalQuestion { kind, subject, mut details, coverage } = question;
        if details.is_null() {
            details = json!({});
        }
        details["params"] = json!(redact(params, &action.secrets));
        let new = NewApproval {
            kind,
            subject,
            details,
            rule,
            coverage,
            action: action.name.clone(),
            request: RequestDigest::new(&action.name, params, &named),
            caller: caller.clone(),
            expires_after: None,
        };
        let asked = Box::pin(self.ask_approval(new));
        // Like a question: the grant may end while its caller waits.
        let decision = self.until_revoked(caller, ActionKind::Question, asked).await??;
        let allowance = decision.allowance(&action.name)?;
        // Much may have changed while a person thought about it.
        self.check_authorized(caller)?;
        self.permit(access, caller)?;
        self.permit_typing(access, caller)?;
        self.check_unchanged(&named)?;
        Ok(allowance)
    }

    /// The panes that a call names, as they are now.
    fn named_panes(&self, access: &AccessRequest) -> Vec<NamedPane> {
        let instance = |id: &PaneId| Some(self.panes().get(id).ok()?.instance().clone());
        access.named_panes().iter().map(|id| (id.clone(), instance(id))).collect()
    }

    /// Refuses a call whose names mean other panes than those that were approved.
    fn check_unchanged(&self, named: &[NamedPane]) -> Result<(), Refusal> {
        for (id, before) in named {
            let now = self.panes().get(id).ok().map(|pane| pane.instance().clone());
            if now != *before {
                let sentence = format!(
                    "pane `{id}` is another one than when the approval was asked for; nothing was \
                    done. Send the request again to ask about the new pane"
                );
                return Err(Refusal::new(Code::Conflict, sentence));
            }
        }
        Ok(())
    }
}

/// What a person is asked about a command. Its arguments are hidden where the action's command line
/// may hold secrets.
fn question_of_rules(action: &ActionDefinition, asked: AskedCommand) -> ApprovalQuestion {
    let AskedCommand { verdict, argv, key } = asked;
    let command = argv.join(" ").replace(char::is_control, " ");
    let program = argv.first().map(|it| it.replace(char::is_control, " ")).unwrap_or_default();
    let is_hidden = action.secrets.iter().any(|secret| secret == "argv");
    let (subject, details, coverage) = match is_hidden {
        true => (format!("run `{}`, which starts `{program}`", action.name), Value::Null, None),
        false => (
            format!("run `{command}`"),
            json!({ "reason": verdict.reason, "steps": verdict.steps }),
            Some(Coverage {
                key: format!("command {key}"),
                sentence: format!("the command `{command}` from this pane"),
            }),
        ),
    };
    ApprovalQuestion { kind: ApprovalKind::Rule, subject, details, coverage }
}

/// Whether a name of the configuration means this action: the name itself, or its start and `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Whether the configuration does not apply to a caller: one that may do everything, outside of
/// panes and extensions. That is the owner, who would be asked.
fn is_trusted(caller: &Caller) -> bool {
    let is_admin = permit::scope(&caller.grant, Scope::Admin).is_ok();
    is_admin && caller.reaches_all() && caller.pane.is_none() && caller.extension.is_none()
}

fn subject(action: &str, panes: &[PaneId]) -> String {
    match panes {
        [] => format!("run `{action}`"),
        [pane] => format!("run `{action}` on pane {pane}"),
        [first, rest @ ..] => {
            format!("run `{action}` on pane {first} and {} others", rest.len())
        }
    }
}
