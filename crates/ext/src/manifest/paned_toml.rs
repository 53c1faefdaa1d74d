//! `paned.toml`: a program in any language.

use std::collections::BTreeSet;
use std::path::Path;

use paned_model::{Refusal, Scope};
use serde::Deserialize;
use toml::Table;

use super::values::{ValueError, check_keys, one_line, patterns, scopes, timeout};
use super::{Manifest, Program};
use crate::names::check_name;

pub(super) const FILE: &str = "paned.toml";

const KEYS: [&str; 9] = [
    "name",
    "version",
    "description",
    "command",
    "scopes",
    "subscribe",
    "veto",
    "required",
    "timeoutMs",
];

/// The file. Its keys are checked before, to suggest what was meant.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PanedToml {
    name: String,
    version: Option<String>,
    description: Option<String>,
    command: Vec<String>,
    scopes: Option<Vec<String>>,
    #[serde(default)]
    subscribe: Vec<String>,
    #[serde(default)]
    veto: Vec<String>,
    #[serde(default)]
    required: bool,
    timeout_ms: Option<i64>,
}

pub(super) fn manifest(folder: &Path, text: &str) -> Result<Manifest, Refusal> {
    let path = folder.join(FILE);
    let refuse = |why: ValueError| Refusal::invalid(format!("{}: {why}", path.display()));
    let table: Table = text.parse().map_err(|error| refuse(syntax_error(text, &error)))?;
    check_keys(table.keys().map(String::as_str), &KEYS, "").map_err(refuse)?;
    let file: PanedToml =
        toml::from_str(text).map_err(|error| refuse(syntax_error(text, &error)))?;
    read(folder, file).map_err(refuse)
}

fn read(folder: &Path, file: PanedToml) -> Result<Manifest, ValueError> {
    check_name(&file.name).map_err(|refusal| refusal.sentence)?;
    if file.command.first().is_none_or(String::is_empty) {
        return Err("`command` is empty: write the program and its arguments, such as \
                    [\"python3\", \"main.py\"]"
            .into());
    }
    if file.command.iter().any(|word| word.contains('\0')) {
        return Err("`command` contains a NUL character".into());
    }
    let asked = file.scopes.as_deref().map(scopes).transpose()?;
    Ok(Manifest {
        name: file.name,
        version: one_line(file.version),
        description: one_line(file.description),
        program: Program::Command(file.command),
        scopes: asked.unwrap_or_else(|| BTreeSet::from([Scope::Read])),
        subscribe: patterns("subscribe", file.subscribe)?,
        veto: patterns("veto", file.veto)?,
        required: file.required,
        timeout: timeout(file.timeout_ms)?,
        folder: folder.to_owned(),
        missing: Vec::new(),
    })
}

/// The message of the parser with the line, on one line.
fn syntax_error(text: &str, error: &toml::de::Error) -> ValueError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message().replace('\n', " "))
}
