//! `package.json`: a package in TypeScript or JavaScript, such as one of Poly.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use paned_model::{Refusal, Scope};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::values::{ValueError, check_keys, one_line, scopes, timeout};
use super::{Manifest, Program};
use crate::files::inside;
use crate::names::check_name;

pub(super) const FILE: &str = "package.json";

const PANED_KEYS: [&str; 3] = ["scopes", "required", "timeoutMs"];
/// What a Poly package may do when it does not say.
const DEFAULT_SCOPES: [Scope; 4] = [Scope::Read, Scope::Input, Scope::Spawn, Scope::Kill];
/// What Node and Bun try for a `main` without an ending, and in a folder.
const ENDINGS: [&str; 6] = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/// The object `"paned"`. Its keys are checked before, to suggest what was meant.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PanedObject {
    scopes: Option<Vec<String>>,
    #[serde(default)]
    required: bool,
    timeout_ms: Option<i64>,
}

/// The manifest; none if `main` is not a string, which is how Poly tells extensions from other
/// packages.
pub(super) fn manifest(
    folder: &Path,
    folder_name: &str,
    text: &str,
) -> Result<Option<Manifest>, Refusal> {
    let path = folder.join(FILE);
    let refuse = |why: ValueError| Refusal::invalid(format!("{}: {why}", path.display()));
    let parsed: Result<Map<String, Value>, _> =
        serde_json::from_str(text.trim_start_matches('\u{feff}'));
    let package = parsed.map_err(|error| refuse(error.to_string()))?;
    let Some(main) = package.get("main").and_then(Value::as_str) else { return Ok(None) };
    let main = find_main(folder, main).map_err(refuse)?;
    let name = name(&package, folder_name).map_err(refuse)?;
    let paned = paned_object(&package).map_err(refuse)?;
    let asked = paned.scopes.as_deref().map(scopes).transpose().map_err(refuse)?;
    let text = |key: &str| one_line(package.get(key).and_then(Value::as_str).map(str::to_owned));
    Ok(Some(Manifest {
        name,
        version: text("version"),
        description: text("description"),
        program: Program::Node(main),
        scopes: asked.unwrap_or_else(|| BTreeSet::from(DEFAULT_SCOPES)),
        subscribe: Vec::new(),
        veto: Vec::new(),
        required: paned.required,
        timeout: timeout(paned.timeout_ms).map_err(refuse)?,
        folder: folder.to_owned(),
        missing: missing_dependencies(folder, &package),
    }))
}

/// The package's name without `@scope/`, else the folder's. The name that the package exports is
/// known only once it is loaded.
fn name(package: &Map<String, Value>, folder_name: &str) -> Result<String, ValueError> {
    let named = package.get("name").and_then(Value::as_str).unwrap_or_default();
    let short = named.rsplit('/').next().unwrap_or_default();
    if check_name(short).is_ok() {
        return Ok(short.to_owned());
    }
    match check_name(folder_name) {
        Ok(()) => Ok(folder_name.to_owned()),
        // The folder's name is only a fallback: the package's own is the mistake to mend.
        Err(refusal) if short.is_empty() => Err(refusal.sentence),
        Err(_) => check_name(short).map(|()| String::new()).map_err(|refusal| refusal.sentence),
    }
}

fn paned_object(package: &Map<String, Value>) -> Result<PanedObject, ValueError> {
    let Some(value) = package.get("paned") else { return Ok(PanedObject::default()) };
    let object = value.as_object().ok_or("`paned` must be an object")?;
    check_keys(object.keys().map(String::as_str), &PANED_KEYS, " in `paned`")?;
    PanedObject::deserialize(value).map_err(|error| format!("`paned`: {error}"))
}

/// The file that `main` names, as Node finds it.
fn find_main(folder: &Path, main: &str) -> Result<PathBuf, ValueError> {
    let shown: String = main.chars().take(200).collect();
    let shown = shown.escape_debug();
    let main = Path::new(main);
    let refuse = |why: String| format!("`main` is `{shown}`: {why}");
    if main.is_absolute() {
        return Err(refuse("write it relative to the folder of the extension".into()));
    }
    let with_ending = ENDINGS.map(|ending| {
        let mut path = main.as_os_str().to_owned();
        path.push(format!(".{ending}"));
        PathBuf::from(path)
    });
    let in_folder = ENDINGS.map(|ending| main.join(format!("index.{ending}")));
    let candidates = std::iter::once(main.to_owned()).chain(with_ending).chain(in_folder);
    for candidate in candidates {
        let found = inside(folder, &candidate).map_err(refuse)?;
        if found.is_some_and(|found| found.is_file()) {
            return Ok(folder.join(candidate));
        }
    }
    Err(refuse("the file does not exist".into()))
}

/// The dependencies that Node would not find from this folder.
fn missing_dependencies(folder: &Path, package: &Map<String, Value>) -> Vec<String> {
    let Some(dependencies) = package.get("dependencies").and_then(Value::as_object) else {
        return Vec::new();
    };
    // Node follows links before it looks for packages.
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let is_there =
        |name: &str| real.ancestors().any(|above| above.join("node_modules").join(name).exists());
    let names = dependencies.keys().filter(|name| is_package_name(name));
    names.filter(|name| !is_there(name)).cloned().collect()
}

/// Names that npm would not take are left to npm to refuse.
fn is_package_name(name: &str) -> bool {
    let short = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map(|(_, short)| short),
        None => Some(name),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    let is_plain =
        |word: &str| !word.is_empty() && !word.starts_with('.') && word.chars().all(fits);
    name.len() <= 214 && short.is_some_and(is_plain) && !name.contains("..")
}
