//! The packages of the workspace, as `cargo metadata` lists them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A package that is not ours.
#[derive(Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// None for a local folder.
    pub(crate) source: Option<String>,
}

impl Package {
    /// Cargo writes the same source whichever mirror it used.
    pub(crate) fn is_from_registry(&self) -> bool {
        let source = self.source.as_deref().unwrap_or_default();
        source.starts_with("registry+") || source.starts_with("sparse+")
    }
}

/// Every package that the workspace is built of for these targets, without its own.
pub(crate) fn packages(root: &Path, targets: &[String]) -> Result<Vec<Package>> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root);
    for target in targets {
        command.args(["--filter-platform", target]);
    }
    let output = command.output().context("cargo cannot be asked for the packages")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {}", complaint.trim());
    read(&serde_json::from_slice(&output.stdout).context("cargo metadata is no JSON")?)
}

fn read(metadata: &Value) -> Result<Vec<Package>> {
    let ours = metadata["workspace_members"].as_array().context("no workspace members")?;
    // Packages for other targets are listed, too; only what is resolved is built.
    let built: Vec<&Value> =
        metadata["resolve"]["nodes"].as_array().into_iter().flatten().map(|it| &it["id"]).collect();
    let packages = metadata["packages"].as_array().context("no packages")?.iter();
    let foreign = packages.filter(|it| !ours.contains(&it["id"]) && built.contains(&&it["id"]));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let package = |it: &Value| Package {
        name: text(&it["name"]).unwrap_or_default(),
        version: text(&it["version"]).unwrap_or_default(),
        licence: text(&it["license"]),
        source: text(&it["source"]),
    };
    Ok(foreign.map(package).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_own_packages_and_those_of_other_machines_are_left_out() {
        let package =
            |id: &str| json!({ "id": id, "name": id, "version": "1.0.0", "source": null });
        let metadata = json!({
            "workspace_members": ["ours"],
            "packages": [package("ours"), package("theirs"), package("windows")],
            "resolve": { "nodes": [{ "id": "ours" }, { "id": "theirs" }] },
        });
        let names: Vec<_> = read(&metadata).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["theirs"]);
    }
}
