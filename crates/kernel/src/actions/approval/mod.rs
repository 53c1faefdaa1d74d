//! Actions on approvals.

pub(in crate::actions) mod answer;
pub(in crate::actions) mod forget;
pub(in crate::actions) mod get;
pub(in crate::actions) mod list;

use paned_model::ApprovalId;
use schemars::JsonSchema;
use serde::Deserialize;

/// Parameters that name an approval and nothing else.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct ApprovalIdParams {
    /// The approval.
    id: ApprovalId,
}
