//! `grant:revoke`

use paned_model::{GrantId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Empty;
use crate::dispatch::draft;
use crate::journal::Change;
use crate::registry::{Action, Context, Kind};
use crate::start::GRANT;

pub(super) struct GrantRevoke;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// The grant, as `grant:list` shows it.
    id: GrantId,
}

impl Action for GrantRevoke {
    const NAME: &'static str = "grant:revoke";
    const DOC: &'static str = "End a grant; whoever came in by it is cut off within a second.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: Kind = Kind::Change;
    type Params = Params;
    type Answer = Empty;

    async fn run(context: Context, Params { id }: Params) -> Result<Empty, Refusal> {
        let kernel = &context.kernel;
        if kernel.grants().remove(&id).is_none() {
            return Err(Refusal::not_found(format!("no grant `{}`", id.0.escape_debug())));
        }
        kernel.forget_token(&id);
        let revoked = draft("grant:revoked", &json!({ "id": id }));
        let delete = Change::Delete { kind: GRANT, key: id.to_string() };
        kernel.journal().record(vec![revoked], vec![delete]);
        Ok(Empty {})
    }
}
