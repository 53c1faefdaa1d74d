//! Permissions: scopes over a set of panes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PaneRef, Time};

/// One permission. `admin` includes all the others.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// See panes, output and events.
    Read,
    /// Type into panes, resize them, change their meta.
    Input,
    /// Start programs.
    Spawn,
    /// Stop programs and delete panes.
    Kill,
    /// Answer approvals.
    Approve,
    /// Everything, including tokens and the server itself.
    Admin,
}

impl Scope {
    /// Every scope, weakest first.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Input, Self::Spawn, Self::Kill, Self::Approve, Self::Admin];

    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Input => "input",
            Self::Spawn => "spawn",
            Self::Kill => "kill",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let scopes = Self::ALL.map(Self::as_str).join(", ");
            format!("invalid scope `{}`: expected one of {scopes}", text.escape_debug())
        })
    }
}

/// Which panes a grant covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PaneSet {
    /// Every pane, now and later.
    All,
    /// These panes and those started from them. Later panes that reuse their names are not covered.
    Only(BTreeSet<PaneRef>),
}

/// Identifies one grant. It is not secret; the token is.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct GrantId(pub String);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The permissions of a token. The token itself is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// A label for users.
    pub label: String,
    /// What it permits.
    pub scopes: BTreeSet<Scope>,
    /// The panes it covers.
    pub panes: PaneSet,
    /// The pane it was created for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<PaneRef>,
    /// Whether a device got it for a sign-in code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub device: bool,
    /// The grants that its creator acted with, and those that these were created with. Empty for
    /// one that the owner has created outside of panes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created_with: Vec<GrantId>,
    /// When it was created.
    pub created_at: Time,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}
