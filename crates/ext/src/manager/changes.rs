//! Changes of the extensions folder and of the user's settings.

use std::fs;
use std::io;

use futures_util::future::join_all;
use paned_kernel::extensions::{
    CreateRequest, ExtensionInfo, ExtensionRemoval, InstallRequest, RemoveRequest, SetRequest,
    StarterFiles,
};
use paned_model::{Code, Refusal};

use super::{ExtensionManager, setup, setups};
use crate::install::{self, run_blocking};
use crate::names::check_name;
use crate::scan::{FoundExtension, Scan};
use crate::starter;
use crate::user_settings::{self, UserSettings};

impl ExtensionManager {
    pub(super) async fn install_one(
        &self,
        request: InstallRequest,
    ) -> Result<ExtensionInfo, Refusal> {
        // Before the change begins, because git may take minutes.
        let fetched = install::fetch(&self.folder, request).await?;
        let _change = self.change.lock().await;
        let (scan, _) = self.read().await?;
        self.check_exported_names(&scan, fetched.name())?;
        let folder = self.folder.clone();
        let installed = run_blocking(move || fetched.place(&folder, &scan)).await?;
        let mut info = self.restart(&installed.name).await?;
        info.left_out = installed.left_out;
        Ok(info)
    }

    pub(super) async fn remove_one(
        &self,
        request: RemoveRequest,
    ) -> Result<ExtensionRemoval, Refusal> {
        let _change = self.change.lock().await;
        let (scan, _) = self.read().await?;
        let FoundExtension { name, folder, link, manifest } =
            self.find(&scan, &request.name)?.clone();
        // Of an invalid folder, another one may have the name, and the state.
        let is_alone = scan.extensions.iter().filter(|other| other.name == name).count() == 1;
        if manifest.is_ok() {
            self.stop(&name, request.keep_data).await;
        }
        let extensions = self.folder.clone();
        let gone = folder.clone();
        run_blocking(move || install::delete(&extensions, &gone)).await?;
        let state = self.paths.folder(&name);
        let data = self.paths.data(&name);
        if request.keep_data || !is_alone || check_name(&name).is_err() {
            let data = Some(data).filter(|data| request.keep_data && data.is_dir());
            return Ok(ExtensionRemoval { name, folder, link, data });
        }
        let settings = self.settings_file();
        let forgotten = name.clone();
        run_blocking(move || {
            user_settings::change(&settings, &forgotten, |it| *it = UserSettings::default())?;
            match fs::remove_dir_all(&state) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Refusal::system(format!("cannot delete {}", state.display()), &error))
                }
                _ => Ok(()),
            }
        })
        .await?;
        Ok(ExtensionRemoval { name, folder, link, data: None })
    }

    pub(super) async fn reload_one(&self, name: &str) -> Result<ExtensionInfo, Refusal> {
        let _change = self.change.lock().await;
        self.restart(name).await
    }

    /// Reads the folder of one extension again, and starts it if it should run.
    async fn restart(&self, name: &str) -> Result<ExtensionInfo, Refusal> {
        let (scan, settings) = self.read().await?;
        // The manifest may have another name now, or be gone.
        self.stop_others(&setups(&scan, &settings)).await;
        let found = self.find(&scan, name)?;
        if let Some(setup) = setup(found, &settings) {
            self.start(setup).await;
        }
        Ok(self.info_from(found, &settings))
    }

    /// Refuses a name that is exported by an extension with another name in its manifest.
    fn check_exported_names(&self, scan: &Scan, name: &str) -> Result<(), Refusal> {
        let exports = |found: &&FoundExtension| {
            let state = self.runner.state(&found.name).filter(|_| found.name != name);
            state.and_then(|state| state.name).as_deref() == Some(name)
        };
        let Some(found) = scan.extensions.iter().find(exports) else { return Ok(()) };
        let folder = found.folder.display();
        let sentence = format!("the extension in {folder} has the name `{name}`; remove it first");
        Err(Refusal::new(Code::Conflict, sentence))
    }

    pub(super) async fn reload_all(&self) -> Result<Vec<ExtensionInfo>, Refusal> {
        let _change = self.change.lock().await;
        let (scan, settings) = self.read().await?;
        let setups = setups(&scan, &settings);
        self.stop_others(&setups).await;
        join_all(setups.into_iter().map(|setup| self.start(setup))).await;
        self.list_all().await
    }

    pub(super) async fn set_one(&self, request: SetRequest) -> Result<ExtensionInfo, Refusal> {
        let SetRequest { name, scopes, reset_scopes, enabled } = request;
        if scopes.is_none() && !reset_scopes && enabled.is_none() {
            let sentence = "nothing to change; pass `scopes`, `resetScopes` or `enabled`";
            return Err(Refusal::invalid(sentence));
        }
        if scopes.is_some() && reset_scopes {
            return Err(Refusal::invalid("pass either `scopes` or `resetScopes`"));
        }
        let _change = self.change.lock().await;
        let (scan, _) = self.read().await?;
        let found = self.find(&scan, &name)?;
        if let Err(reason) = &found.manifest {
            return Err(Refusal::new(Code::Conflict, reason.clone()));
        }
        let name = found.name.clone();
        let file = self.settings_file();
        let changed = name.clone();
        run_blocking(move || {
            user_settings::change(&file, &changed, |settings| {
                if scopes.is_some() || reset_scopes {
                    settings.scopes = scopes;
                }
                settings.disabled = enabled.map_or(settings.disabled, |enabled| !enabled);
            })
        })
        .await?;
        self.restart(&name).await
    }

    pub(super) async fn create_one(&self, request: CreateRequest) -> Result<StarterFiles, Refusal> {
        let CreateRequest { name, language, dir } = request;
        check_name(&name)?;
        if dir.as_ref().is_some_and(|dir| !dir.is_absolute()) {
            return Err(Refusal::invalid("`dir` must be an absolute path"));
        }
        let _change = self.change.lock().await;
        let is_ours = dir.as_ref().is_none_or(|dir| *dir == self.folder);
        if is_ours && let Some(taken) = self.read().await?.0.get(&name) {
            let folder = taken.folder.display();
            let sentence =
                format!("extension `{name}` exists already in {folder}; choose another name");
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        let parent = dir.unwrap_or_else(|| self.folder.clone());
        let starter = starter::Starter::new(&name, language);
        let test_command = starter.test_command.to_owned();
        let files = starter.files.iter().map(|(path, _)| path.clone()).collect();
        let target = name.clone();
        let folder =
            run_blocking(move || install::write_new(&parent, &target, &starter.files)).await?;
        let extension = match is_ours {
            true => Some(Box::new(self.restart(&name).await?)),
            false => None,
        };
        Ok(StarterFiles { name, folder, files, test_command, extension })
    }
}
