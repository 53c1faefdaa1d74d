//! `POST /sign-in`: exchanges a one-use code for the token of a new grant. It needs no token, so a
//! wrong code counts as a failed login.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::Request;
use paned_kernel::SignedIn;
use paned_model::{Code, GrantId, Refusal, Scope, Time, parse_error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServerLimits;
use crate::http::call::read_body;
use crate::http::reply::{HandlerResult, json};
use crate::http::request::RequestContext;
use crate::state::ServerState;
use crate::transport::peer_user::LoopbackConn;

/// The longest body: clients without a token need no more.
const MAX_BODY: usize = 4096;

/// The body of `POST /sign-in`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignInRequest {
    /// The code.
    code: String,
    /// A name for this device, if the code has none.
    #[schemars(length(max = 100), regex(pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"))]
    label: Option<String>,
}

/// The answer of `POST /sign-in`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInResponse {
    /// The token, which is shown only once.
    token: String,
    /// The id by which `grant:list` shows it and `grant:revoke` ends it.
    id: GrantId,
    /// Its label.
    label: String,
    /// Until when it is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    /// What it permits.
    scopes: BTreeSet<Scope>,
}

/// Exchanges the code in the body.
pub(crate) async fn sign_in(shared: Arc<ServerState>, request: Request) -> HandlerResult {
    let limits = shared.limits;
    let limits = ServerLimits { body_bytes: limits.body_bytes.min(MAX_BODY), ..limits };
    let context = request.extensions().get::<RequestContext>();
    let login_limit = context.map(|context| context.login_limit.clone());
    let loopback = context.and_then(|context| context.loopback);
    let body = read_body(request.into_body(), &limits).await?;
    let refuse = |refusal| match &login_limit {
        Some(limit) => limit.refuse(refusal),
        None => refusal,
    };
    if body.trim_ascii().is_empty() {
        return Err(refuse(missing_code()).into());
    }
    let SignInRequest { code, label } = parse(&body)?;
    // Only now, as it reads a table of all connections: wrong codes must stay cheap.
    if shared.kernel.is_sign_in_code(&code) && loopback.is_some_and(LoopbackConn::is_of_other_user)
    {
        return Err(other_user().into());
    }
    let signed_in = shared.kernel.sign_in(&code, label.as_deref()).await.map_err(refuse)?;
    let SignedIn { token, grant } = signed_in;
    let response = SignInResponse {
        token,
        id: grant.id,
        label: grant.label,
        expires_at: grant.expires_at,
        scopes: grant.scopes,
    };
    Ok(json(serde_json::to_vec(&response).map_err(Refusal::internal)?))
}

fn parse(body: &[u8]) -> Result<SignInRequest, Refusal> {
    let mut json = serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { "" } else { &field };
        Refusal::invalid(parse_error::explain(field, &error.inner().to_string()))
    })
}

fn other_user() -> Refusal {
    let sentence = "sign-in codes are for programs of the user who runs this server";
    Refusal::new(Code::Forbidden, sentence)
}

fn missing_code() -> Refusal {
    let sentence = r#"a sign-in code is required: send {"code":…}"#;
    Refusal::new(Code::Unauthorized, sentence)
}
