//! The extensions of a server: the runtime of their programs, and the manager of their folder.

use std::sync::Arc;
use std::time::Duration;

use paned_ext::{ExtensionManager, ExtensionPaths, ExtensionRuntime, NodeChoice, RuntimeSetup};
use paned_kernel::Kernel;
use paned_kernel::extensions::ExtensionHost as _;
use paned_model::EventId;

use super::ServeOptions;

/// The extensions of a running server; none when they are turned off.
pub(super) struct ServerExtensions(Option<ExtensionRuntime>);

impl ServerExtensions {
    /// Starts the extensions. Returns before their programs are ready, but not before it is known
    /// which actions need their consent. Extensions that do not start are no reason not to serve.
    pub(super) async fn start(plan: &ServeOptions, kernel: &Kernel, first: EventId) -> Self {
        let settings = &plan.settings;
        if !settings.extensions_enabled {
            return Self(None);
        }
        let paths = ExtensionPaths::new(plan.state.folder());
        let (runtime, mut changes) = ExtensionRuntime::new(RuntimeSetup {
            kernel: kernel.clone(),
            paths: paths.clone(),
            first_event: first,
            hook_timeout: Duration::from_millis(settings.hook_ms),
            node: NodeChoice { program: settings.node.clone() },
        });
        let folder = settings.extensions_dir.clone();
        let manager = ExtensionManager::new(folder, paths, Arc::new(runtime.clone()));
        let manager = Arc::new(manager);
        kernel.set_extension_host(manager.clone());
        match manager.start_all().await {
            // Not awaited: the server serves meanwhile.
            Ok(starting) => drop(starting),
            Err(refusal) => tracing::error!(%refusal, "extensions are not started"),
        }
        tokio::spawn(async move {
            // Ends with the runtime, which holds the other end.
            while let Some(name) = changes.recv().await {
                tracing::info!(extension = name, "extension reloaded, because its files changed");
                if let Err(refusal) = manager.reload(Some(name)).await {
                    tracing::error!(%refusal, "an extension is not reloaded");
                }
            }
        });
        Self(Some(runtime))
    }

    /// Ends all their processes.
    pub(super) async fn stop(self) {
        if let Some(runtime) = self.0 {
            runtime.shutdown().await;
        }
    }
}
