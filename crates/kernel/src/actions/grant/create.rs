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
    /// The scopes: what the token permits.
    #[schemars(length(min = 1))]
    scopes: BTreeSet<Scope>,
    /// The panes it covers, with the panes started from them; defaults to all. They must exist:
    /// later panes that reuse their names are not covered.
    panes: Option<BTreeSet<PaneId>>,
    /// A label that describes it.
    #[serde(default)]
    label: String,
    /// How long it is valid; it does not expire when omitted.
    expires_in_seconds: Option<NonZeroU32>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct GrantCreateOutput {
    /// The token's id, scopes and panes.
    grant: Grant,
    /// The token, which is shown only once.
    token: String,
}

impl Action for GrantCreate {
    const NAME: &'static str = "grant:create";
    const DOC: &'static str =
        "Create a token with scopes over all or some panes. The token is shown only once.";
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
            return Err(Refusal::invalid("a token needs at least one scope"));
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
            device: false,
            created_with: context.caller.acts_with(),
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
pub(super) fn resolve_panes(
    kernel: &Kernel,
    names: &BTreeSet<PaneId>,
) -> Result<BTreeSet<PaneRef>, Refusal> {
    names.iter().map(|name| Ok(kernel.panes().get(name)?.pane_ref())).collect()
}
