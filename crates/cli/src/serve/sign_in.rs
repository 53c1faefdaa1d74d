//! The link with which `paned serve` signs the user's browser in.

use paned_kernel::Kernel;
use paned_model::Refusal;
use serde_json::Value;

use crate::commands::web::{LONG_CODE_SECONDS, link, owner_device};

/// A link to the web page, good for one browser and a few minutes.
///
/// # Errors
/// When too many codes are open.
pub(super) async fn link_for_owner(kernel: &Kernel, url: &str) -> Result<String, Refusal> {
    let params = serde_json::to_vec(&owner_device(LONG_CODE_SECONDS)).map_err(Refusal::internal)?;
    let answer = kernel
        .dispatch("grant:create-code", &bytes::Bytes::from(params), &kernel.owner(None))
        .await?;
    let answer: Value =
        serde_json::from_str(&Box::<str>::from(answer)).map_err(Refusal::internal)?;
    let code = answer.get("code").and_then(Value::as_str).unwrap_or_default();
    Ok(link(url, code))
}
