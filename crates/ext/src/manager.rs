//! The manager of the extensions folder: answers the `ext:*` actions.
//!
//! It knows what is in the folder and what the user decided, and has the runner start and stop the
//! programs. Changes happen one after the other.

mod changes;
mod info;
mod logs;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use paned_kernel::BoxedFuture;
use paned_kernel::extensions::{
    CreateRequest, ExtensionHost, ExtensionInfo, ExtensionRemoval, InstallRequest, LogRequest,
    LogText, RemoveRequest, SetRequest, StarterFiles,
};
use paned_model::Refusal;
use tokio::sync::Mutex;

use crate::install::{self, run_blocking};
use crate::scan::{FoundExtension, Scan};
use crate::user_settings::{self, SettingsByName};
use crate::{ExtensionPaths, ExtensionRunner, ExtensionSetup};

/// The manager of the extensions folder.
pub struct ExtensionManager {
    /// The folder with the extensions.
    folder: PathBuf,
    paths: ExtensionPaths,
    runner: Arc<dyn ExtensionRunner>,
    /// Held during a change of the folder or the settings.
    change: Mutex<()>,
    /// Entries that were reported as ignored.
    ignored: StdMutex<HashSet<PathBuf>>,
    /// The extensions that the runner was given, by the name in their manifest.
    started: StdMutex<HashSet<String>>,
}

impl ExtensionManager {
    /// A manager of the extensions in this folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf, paths: ExtensionPaths, runner: Arc<dyn ExtensionRunner>) -> Self {
        Self {
            folder,
            paths,
            runner,
            change: Mutex::default(),
            ignored: StdMutex::default(),
            started: StdMutex::default(),
        }
    }

    /// Starts every extension that is not turned off, and deletes what an interrupted installation
    /// left behind. The runner knows all of them when this returns; the future that it returns
    /// waits until they run, and need not be polled.
    ///
    /// # Errors
    /// When the extensions folder or the user's settings cannot be read.
    pub async fn start_all(&self) -> Result<BoxedFuture<'_, ()>, Refusal> {
        let _change = self.change.lock().await;
        let folder = self.folder.clone();
        run_blocking(move || {
            install::clean_up(&folder);
            Ok(())
        })
        .await?;
        let (scan, settings) = self.read().await?;
        let setups = setups(&scan, &settings);
        let starts: Vec<_> = setups.into_iter().map(|setup| self.start(setup)).collect();
        Ok(Box::pin(async move { drop(join_all(starts).await) }))
    }

    fn start(&self, setup: ExtensionSetup) -> BoxedFuture<'_, ()> {
        self.lock_started().insert(setup.manifest.name.clone());
        self.runner.start(setup)
    }

    async fn stop(&self, name: &str, keep_place: bool) {
        self.lock_started().remove(name);
        self.runner.stop(name, keep_place).await;
    }

    /// Stops those that should not run: their folder is gone or invalid, or the user turned them
    /// off.
    async fn stop_others(&self, wanted: &[ExtensionSetup]) {
        let is_wanted = |name: &String| wanted.iter().any(|setup| setup.manifest.name == *name);
        let mut others: Vec<String> = self.lock_started().iter().cloned().collect();
        others.retain(|name| !is_wanted(name));
        join_all(others.iter().map(|name| self.stop(name, true))).await;
    }

    fn lock_started(&self) -> MutexGuard<'_, HashSet<String>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in the folder now, and what the user decided.
    async fn read(&self) -> Result<(Scan, SettingsByName), Refusal> {
        let folder = self.folder.clone();
        let settings = self.settings_file();
        let read = move || Ok((Scan::read(&folder)?, user_settings::load(&settings)?));
        let (scan, settings) = run_blocking(read).await?;
        self.report_ignored(&scan);
        self.runner.set_installed(scan.names());
        Ok((scan, settings))
    }

    fn report_ignored(&self, scan: &Scan) {
        let mut reported = self.ignored.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &scan.ignored {
            if reported.insert(path.clone()) {
                let path = path.display();
                tracing::debug!(
                    "{path} is not an extension: it has no manifest, or is not a folder"
                );
            }
        }
    }

    fn settings_file(&self) -> PathBuf {
        // A name of an extension has no dot.
        self.paths.root().join("settings.json")
    }
}

/// What should run.
fn setups(scan: &Scan, settings: &SettingsByName) -> Vec<ExtensionSetup> {
    scan.extensions.iter().filter_map(|found| setup(found, settings)).collect()
}

/// What the runner is to start; none if the manifest is invalid or the user turned it off.
fn setup(found: &FoundExtension, settings: &SettingsByName) -> Option<ExtensionSetup> {
    let manifest = found.manifest.as_ref().ok()?.clone();
    let settings = settings.get(&manifest.name).cloned().unwrap_or_default();
    if settings.disabled {
        return None;
    }
    let scopes = settings.scopes.unwrap_or_else(|| manifest.scopes.clone());
    Some(ExtensionSetup { manifest, scopes })
}

impl ExtensionHost for ExtensionManager {
    fn list(&self) -> BoxedFuture<'_, Result<Vec<ExtensionInfo>, Refusal>> {
        Box::pin(self.list_all())
    }

    fn info(&self, name: String) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>> {
        Box::pin(async move { self.info_of(&name).await })
    }

    fn install(&self, request: InstallRequest) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>> {
        Box::pin(self.install_one(request))
    }

    fn remove(&self, request: RemoveRequest) -> BoxedFuture<'_, Result<ExtensionRemoval, Refusal>> {
        Box::pin(self.remove_one(request))
    }

    fn reload(&self, name: Option<String>) -> BoxedFuture<'_, Result<Vec<ExtensionInfo>, Refusal>> {
        Box::pin(async move {
            match name {
                Some(name) => self.reload_one(&name).await.map(|info| vec![info]),
                None => self.reload_all().await,
            }
        })
    }

    fn create(&self, request: CreateRequest) -> BoxedFuture<'_, Result<StarterFiles, Refusal>> {
        Box::pin(self.create_one(request))
    }

    fn logs(&self, request: LogRequest) -> BoxedFuture<'_, Result<LogText, Refusal>> {
        Box::pin(self.read_log(request))
    }

    fn set(&self, request: SetRequest) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>> {
        Box::pin(self.set_one(request))
    }
}

#[cfg(test)]
mod tests;
