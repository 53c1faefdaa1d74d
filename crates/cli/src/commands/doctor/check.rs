//! The result of one check.

use serde::Serialize;

/// The result of one check, and what to do about it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) ok: bool,
    pub(super) detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl Check {
    /// A check that passed.
    pub(super) fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, detail: detail.into(), hint: None }
    }

    /// A check that failed, with what to do about it.
    pub(super) fn bad(
        name: &'static str,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { name, ok: false, detail: detail.into(), hint: Some(hint.into()) }
    }
}
