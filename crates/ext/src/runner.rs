//! What the manager of the extensions' folders asks of the code that runs their programs.

use std::collections::BTreeSet;

use paned_kernel::BoxedFuture;
use paned_kernel::extensions::ExtensionStatus;
use paned_model::Scope;

use crate::Manifest;

/// An extension to start.
#[derive(Clone, Debug)]
pub struct ExtensionSetup {
    /// What its folder declares.
    pub manifest: Manifest,
    /// What its calls may do: what it asks for, unless the user chose otherwise.
    pub scopes: BTreeSet<Scope>,
}

/// How an extension runs now.
#[derive(Clone, Debug)]
pub struct RunState {
    /// The name that a Node package exports, if it is not the one in its manifest.
    pub name: Option<String>,
    /// Whether it runs.
    pub status: ExtensionStatus,
    /// Why, if it does not run: a sentence for users.
    pub reason: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// How often it was restarted since it was started or reloaded.
    pub restarts: u32,
    /// The events it receives now.
    pub events: Vec<String>,
    /// The actions it is asked about now.
    pub veto: Vec<String>,
    /// The actions it offers now.
    pub actions: Vec<String>,
}

/// Starts and stops the programs of extensions. They are known by the name in their manifest.
pub trait ExtensionRunner: Send + Sync + 'static {
    /// How this extension runs; none if it was never started.
    fn state(&self, name: &str) -> Option<RunState>;

    /// The names of all extensions in the folder, also of those that are turned off: no other may
    /// take one of them as the name that its module exports.
    fn set_installed(&self, names: BTreeSet<String>);

    /// Starts an extension, or restarts it with this setup if it is there, also one that is
    /// `failed`. Its place in the journal is kept. Returns when it is `running`, has failed, or
    /// after its 10 s for the start.
    fn start(&self, setup: ExtensionSetup) -> BoxedFuture<'_, ()>;

    /// Stops an extension and forgets it; returns when its process group has ended. Its place in
    /// the journal is kept if it may come back, else forgotten.
    fn stop<'a>(&'a self, name: &'a str, keep_place: bool) -> BoxedFuture<'a, ()>;
}
