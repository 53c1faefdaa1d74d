//! `grant:create-code`

use std::collections::BTreeSet;

use paned_model::{PaneId, PaneSet, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::create::resolve_panes;
use crate::access::AccessRequest;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::sign_in::{MAX_LABEL, SignInOffer, check_label};

/// For how long a code is good at most.
const MAX_CODE_SECONDS: u32 = 300;
/// For how long a grant is good at most: a year.
const MAX_GRANT_SECONDS: u32 = 31_536_000;

pub(in crate::actions) struct GrantCreateCode;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The scopes of the device's token.
    #[schemars(length(min = 1))]
    scopes: BTreeSet<Scope>,
    /// The panes that it covers, as for `grant:create`; defaults to all.
    panes: Option<BTreeSet<PaneId>>,
    /// A label for the device; when empty, the device chooses one.
    #[serde(default)]
    #[schemars(length(max = MAX_LABEL), regex(pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"))]
    label: String,
    /// How long the device stays signed in; 30 days when omitted.
    #[serde(default = "default_grant_seconds")]
    #[schemars(range(min = 1, max = MAX_GRANT_SECONDS))]
    expires_in_seconds: u32,
    /// How long the code is good for; 60 when omitted.
    #[serde(default = "default_code_seconds")]
    #[schemars(range(min = 1, max = MAX_CODE_SECONDS))]
    code_expires_in_seconds: u32,
}

fn default_grant_seconds() -> u32 {
    30 * 24 * 3600
}

fn default_code_seconds() -> u32 {
    60
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct GrantCreateCodeOutput {
    /// The code, which is shown only once.
    code: String,
    /// Until when it is good.
    code_expires_at: Time,
}

impl Action for GrantCreateCode {
    const NAME: &'static str = "grant:create-code";
    const DOC: &'static str = "Create a one-use code that signs in a device: `POST /sign-in` \
                              exchanges it for a token. The code is shown only once.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["code"];
    type Params = Params;
    type Answer = GrantCreateCodeOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<GrantCreateCodeOutput, Refusal> {
        params.check()?;
        let kernel = &context.kernel;
        let panes = match params.panes {
            None => PaneSet::All,
            Some(panes) => PaneSet::Only(resolve_panes(kernel, &panes)?),
        };
        let now = kernel.now();
        let code_expires_at = Time(now.0 + u64::from(params.code_expires_in_seconds) * 1000);
        let offer = SignInOffer {
            offered_by: context.caller.grant.clone(),
            created_with: context.caller.acts_with(),
            scopes: params.scopes,
            panes,
            label: params.label,
            grant_ms: u64::from(params.expires_in_seconds) * 1000,
            code_expires_at,
        };
        let code = kernel.sign_in_codes().create(offer, now)?;
        Ok(GrantCreateCodeOutput { code, code_expires_at })
    }
}

impl Params {
    fn check(&self) -> Result<(), Refusal> {
        if self.scopes.is_empty() {
            return Err(Refusal::invalid("a device needs at least one scope"));
        }
        check_label(&self.label)?;
        check_seconds("expiresInSeconds", self.expires_in_seconds, MAX_GRANT_SECONDS)?;
        check_seconds("codeExpiresInSeconds", self.code_expires_in_seconds, MAX_CODE_SECONDS)
    }
}

fn check_seconds(field: &str, seconds: u32, max: u32) -> Result<(), Refusal> {
    if (1..=max).contains(&seconds) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("`{field}` must be a number of seconds from 1 to {max}")))
}
