//! `grant:revoke`

use paned_model::{GrantId, Refusal, Scope};
use paned_policy::names::{NameCandidate, NameMatches, NameRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::grants::GRANT_KIND;
use crate::grants::Token;
use crate::journal::{RecordChange, draft};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct GrantRevoke;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The id that `grant:list` shows, or the token itself, which is never recorded in an event.
    id: GrantId,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct GrantRevokeOutput {
    /// The id of the revoked token.
    id: GrantId,
}

impl Action for GrantRevoke {
    const NAME: &'static str = "grant:revoke";
    const DOC: &'static str = "Revoke a token. Clients that use it are disconnected within a \
                              second.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = GrantRevokeOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(
        context: ActionContext,
        Params { id }: Params,
    ) -> Result<GrantRevokeOutput, Refusal> {
        let kernel = &context.kernel;
        let id = Token::grant_of(&id.0).unwrap_or(id);
        if kernel.grants().remove(&id).is_none() {
            return Err(missing_grant(kernel, &id));
        }
        kernel.remove_token_file(&id);
        let revoked = draft("grant:revoked", &json!({ "id": id }));
        let delete = RecordChange::Delete { kind: GRANT_KIND, key: id.to_string() };
        kernel.journal().record(vec![revoked], vec![delete]);
        Ok(GrantRevokeOutput { id })
    }
}

/// The refusal of a grant that does not exist, with those that may be meant. The grants of panes
/// are not meant by their label, which is the name of their pane.
fn missing_grant(kernel: &Kernel, id: &GrantId) -> Refusal {
    let grants = kernel.grants().list();
    let candidates = grants.iter().filter(|grant| grant.pane.is_none());
    let candidates: Vec<NameCandidate> = candidates
        .map(|grant| NameCandidate { id: grant.id.to_string(), title: grant.label.clone() })
        .collect();
    let found = NameMatches::find(&id.0, &candidates, NameRule::Any);
    let question = found.question().map(|question| format!("; {question}")).unwrap_or_default();
    let sentence = format!("no token `{}`{question}", id.0.escape_debug());
    let NameMatches { matches, near } = found;
    let details = json!({ "name": id, "field": "id", "matches": matches, "near": near });
    Refusal::not_found(sentence).with_details(details)
}
