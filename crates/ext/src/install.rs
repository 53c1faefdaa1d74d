//! Putting extensions in place: from a git repository or a local folder.
//!
//! Everything is written to a private staging folder inside the extensions folder, checked there,
//! and renamed into place. Nothing of an extension is run, and symbolic links never lead outside.

mod copy;
mod git;
mod source;
mod staging;
mod tree;

use std::path::{Path, PathBuf};

use paned_kernel::extensions::InstallRequest;
use paned_model::{Code, Refusal};
use tokio::task::spawn_blocking;

use crate::Manifest;
use crate::names::check_name;
use crate::scan::Scan;
use source::Source;
pub(crate) use staging::{Staging, clean_up};
use tree::LeftOut;

/// An extension that was fetched and checked, but is not in place yet.
pub(crate) struct FetchedExtension {
    staging: Staging,
    manifest: Manifest,
    left_out: LeftOut,
    replace: bool,
}

/// An extension that is in place.
pub(crate) struct InstalledExtension {
    pub(crate) name: String,
    /// What was not installed, and why.
    pub(crate) left_out: Vec<String>,
}

/// Fetches what was asked for and checks it.
///
/// # Errors
/// When it cannot be fetched, is not an extension, or is beyond a limit.
pub(crate) async fn fetch(
    extensions: &Path,
    request: InstallRequest,
) -> Result<FetchedExtension, Refusal> {
    if let Some(name) = &request.name {
        check_name(name)?;
    }
    let source = Source::parse(&request.source, request.rev.as_deref())?;
    let staging = Staging::new(extensions)?;
    let fallback = request.name.clone().unwrap_or_else(|| source.folder_name());
    let left_out = match source {
        Source::Git(source) => git::fetch(&source, &staging).await?,
        Source::Folder(folder) => {
            let staged = staging.new_folder();
            run_blocking(move || copy::copy(&folder, &staged)).await?
        }
    };
    let manifest = Manifest::read_as(&staging.new_folder(), &fallback);
    let manifest = manifest.map_err(|refusal| staging.without_path(refusal))?;
    let manifest = manifest.ok_or_else(|| not_an_extension(&request.source))?;
    check_wanted_name(&manifest, request.name.as_deref())?;
    Ok(FetchedExtension { staging, manifest, left_out, replace: request.replace })
}

impl FetchedExtension {
    /// The name of the extension.
    pub(crate) fn name(&self) -> &str {
        &self.manifest.name
    }

    /// Refuses if the name is taken and nothing is to be replaced.
    pub(crate) fn check_conflict(&self, scan: &Scan) -> Result<(), Refusal> {
        let Some(taken) = scan.get(self.name()) else { return Ok(()) };
        if self.replace {
            return Ok(());
        }
        let name = self.name();
        let folder = taken.folder.display();
        let sentence = format!(
            "extension `{name}` is already installed in {folder}; pass `replace` to replace it"
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }

    /// Puts it in place. What was there is kept until the new one is there.
    pub(crate) fn place(
        self,
        extensions: &Path,
        scan: &Scan,
    ) -> Result<InstalledExtension, Refusal> {
        self.check_conflict(scan)?;
        let name = self.manifest.name.clone();
        let present = scan.get(&name).filter(|_| self.replace);
        let target = present.map_or_else(|| extensions.join(&name), |found| found.folder.clone());
        match present {
            Some(_) => self.staging.replace(&target)?,
            None => self.staging.place(&target)?,
        }
        Ok(InstalledExtension { name, left_out: self.left_out.sentences() })
    }
}

fn check_wanted_name(manifest: &Manifest, wanted: Option<&str>) -> Result<(), Refusal> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != manifest.name) else { return Ok(()) };
    Err(Refusal::invalid(format!(
        "the extension is called `{}` in its manifest, not `{wanted}`; its actions have that name",
        manifest.name
    )))
}

fn not_an_extension(source: &str) -> Refusal {
    Refusal::invalid(format!(
        "{} is not an extension: it has neither `paned.toml` nor a `package.json` whose `main` is \
        a string at its top",
        source.escape_debug()
    ))
}

/// Runs code that waits for the disk.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    spawn_blocking(work).await.map_err(Refusal::internal)?
}

/// Deletes an extension: its folder, or only its link.
pub(crate) fn delete(extensions: &Path, folder: &Path) -> Result<(), Refusal> {
    let staging = Staging::new(extensions)?;
    staging.take(folder)
}

/// A folder for a new extension, with its files, which is put in place when it is whole.
pub(crate) fn write_new(
    parent: &Path,
    name: &str,
    files: &[(PathBuf, String)],
) -> Result<PathBuf, Refusal> {
    let staging = Staging::new(parent)?;
    let folder = staging.new_folder();
    tree::write_files(&folder, files)?;
    let target = parent.join(name);
    staging.place(&target)?;
    Ok(target)
}

#[cfg(test)]
mod tests;
