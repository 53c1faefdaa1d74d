//! `grant:create`

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use paned_model::{Grant, GrantId, PaneId, PaneRef, PaneSet, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::grants::{StoredGrant, random_name};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct GrantCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// What it may do.
    #[schemars(length(min = 1))]
    scopes: BTreeSet<Scope>,
    /// On which panes, and those started from them; on all when left out. They must exist: a grant
    /// reaches these panes, and not others that get their names later.
    panes: Option<BTreeSet<PaneId>>,
    /// What to call it.
    #[serde(default)]
    label: String,
    /// How long it is valid; for ever when left out.
    expires_in_seconds: Option<NonZeroU32>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct GrantCreateOutput {
    /// What was granted.
    grant: Grant,
    /// The token. It is shown only this once.
    token: String,
}

impl Action for GrantCreate {
    const NAME: &'static str = "grant:create";
    const DOC: &'static str =
        "Make a token with some scopes over some panes; it is shown this once.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["token"];
    type Params = Params;
    type Answer = GrantCreateOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<GrantCreateOutput, Refusal> {
        if params.scopes.is_empty() {
            return Err(Refusal::invalid(
                "a grant without scopes can do nothing; name at least one",
            ));
        }
        let panes = match params.panes {
            None => PaneSet::All,
            Some(panes) => PaneSet::Only(resolve_panes(&context.kernel, &panes)?),
        };
        let now = context.kernel.now();
        let expires = |seconds: NonZeroU32| Time(now.0 + u64::from(seconds.get()) * 1000);
        let (stored, token) = StoredGrant::new(Grant {
            id: GrantId(random_name(10)),
            label: params.label,
            scopes: params.scopes,
            panes,
            pane: None,
            created_at: now,
            expires_at: params.expires_in_seconds.map(expires),
        });
        let grant = stored.grant.clone();
        let ticket = context.kernel.store_grant(stored);
        let kernel = context.kernel.clone();
        let id = grant.id.clone();
        context.undo.add(ticket, move || drop(kernel.grants().remove(&id)));
        Ok(GrantCreateOutput { grant, token: token.reveal().to_owned() })
    }
}

/// The panes that have these names now.
fn resolve_panes(kernel: &Kernel, names: &BTreeSet<PaneId>) -> Result<BTreeSet<PaneRef>, Refusal> {
    names.iter().map(|name| Ok(kernel.panes().get(name)?.pane_ref())).collect()
}
