//! The caller of an action.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Weak};

use paned_model::{Grant, GrantId, PaneRef, PaneSet, Scope};
use serde::{Serialize, Serializer};

use crate::client::ConnectedClient;
use crate::grants::{Token, is_owner};
use crate::{Kernel, KernelInner};

/// An authenticated caller: its grant, and the pane it runs in.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What it may do.
    pub grant: Arc<Grant>,
    /// The pane it runs in, proven by that pane's token.
    pub pane: Option<PaneRef>,
    /// That token, for programs that are started on its behalf.
    pub(crate) pane_token: Option<Arc<Token>>,
    /// Its connection, if that is persistent: such a client may hold the sizes of panes.
    pub client: Option<Arc<ConnectedClient>>,
    /// The extension that calls. Actions that its call runs have the same extension.
    pub extension: Option<Arc<str>>,
    /// Whether it is a client of the opencode-pty listener: OpenCode's permissions apply to what
    /// it starts.
    pub is_opencode: bool,
}

impl Caller {
    /// The same caller on a persistent connection of this kind.
    #[must_use]
    pub fn connected(self, kernel: &Kernel, kind: &str) -> Self {
        Self { client: Some(ConnectedClient::new(kernel.clone(), kind)), ..self }
    }
}

/// The name of a caller in events and for hooks. The prefix tells the kinds apart, so that no
/// label of a token can look like another caller.
pub(crate) struct CallerLabel<'a>(pub(crate) &'a Caller);

impl fmt::Display for CallerLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Caller { grant, pane, extension, .. } = self.0;
        match (extension, pane) {
            (Some(extension), _) => write!(f, "ext:{extension}"),
            (None, Some(pane)) => write!(f, "pane:{}", pane.id),
            (None, None) if !self.0.is_owner() => write!(f, "token:{}", grant.id),
            (None, None) if grant.scopes.contains(&Scope::Admin) => f.write_str("owner"),
            // A listener that needs no token gives the owner's grant without its rights.
            (None, None) => f.write_str("anonymous"),
        }
    }
}

impl Serialize for CallerLabel<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Caller {
    /// Its name in events: `ext:NAME`, `pane:ID`, `token:ID`, `owner` or `anonymous`.
    #[must_use]
    pub fn label(&self) -> String {
        CallerLabel(self).to_string()
    }

    /// The grants that it acts with, and those that these were created with. The owner's is not
    /// among them: over the unix socket every program of the user has that.
    pub(crate) fn acts_with(&self) -> Vec<GrantId> {
        let own = (!self.is_owner()).then(|| self.grant.id.clone());
        let pane = self.pane_token.as_ref().and_then(|token| Token::grant_of(token.reveal()));
        let above = self.grant.created_with.iter().cloned();
        let mut grants: Vec<_> = own.into_iter().chain(pane).chain(above).collect();
        grants.dedup();
        grants
    }

    /// Whether it has the owner's grant, which cannot be revoked.
    pub(crate) fn is_owner(&self) -> bool {
        is_owner(&self.grant)
    }
}

/// The grant of an extension. It is kept in memory only and has no token; dropping this ends it.
#[must_use = "dropping it ends the grant"]
pub struct ExtensionGrant {
    /// Weak, because an owner of this may itself be owned by the kernel.
    kernel: Weak<KernelInner>,
    caller: Caller,
}

impl ExtensionGrant {
    /// The extension as a caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The same caller with no other scope than that of `event:emit`: an extension records events
    /// of its own whatever its scopes are.
    #[must_use]
    pub fn emitter(&self) -> Caller {
        let mut caller = self.caller.clone();
        Arc::make_mut(&mut caller.grant).scopes = BTreeSet::from([Scope::Input]);
        caller
    }
}

impl Drop for ExtensionGrant {
    fn drop(&mut self) {
        let Some(inner) = self.kernel.upgrade() else { return };
        inner.grants.remove_extension(&self.caller.grant);
    }
}

impl Kernel {
    /// The grant `ext:NAME` of an extension, with these scopes over all panes. It is not stored and
    /// not listed, and no token belongs to it.
    pub fn extension_grant(&self, extension: &str, scopes: BTreeSet<Scope>) -> ExtensionGrant {
        let name = format!("ext:{extension}");
        let grant = Arc::new(Grant {
            id: GrantId(name.clone()),
            label: name,
            scopes,
            panes: PaneSet::All,
            pane: None,
            device: false,
            created_with: Vec::new(),
            created_at: self.now(),
            expires_at: None,
        });
        self.grants().insert_extension(grant.clone());
        let extension = Some(extension.into());
        let caller = Caller {
            grant,
            pane: None,
            pane_token: None,
            client: None,
            extension,
            is_opencode: false,
        };
        ExtensionGrant { kernel: Arc::downgrade(&self.inner), caller }
    }
}
