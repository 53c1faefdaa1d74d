//! `paned config show`: each setting with its value and its source.

use anyhow::Result;
use paned_model::near::closest;
use paned_model::{Code, Refusal};
use serde::Serialize;

use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};
use crate::settings::{self, AgentmuxConfigFile, SettingOrigin, SettingRow, Sources, process_env};

/// A setting as it is shown.
#[derive(Serialize)]
struct ShownSetting {
    key: &'static str,
    /// `None` for a secret that is set.
    value: Option<String>,
    /// What kind of source it is.
    source: &'static str,
    /// The flag, the variable, or the file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

pub(super) fn run(context: &CliContext, keys: &[String]) -> Result<()> {
    let rows = chosen(keys)?;
    let flags = context.flags();
    let file = context.load_config()?;
    let legacy = &AgentmuxConfigFile::read(&process_env);
    let sources = Sources { flags: &flags, env: &process_env, file: &file, legacy };
    let shown: Vec<_> =
        rows.into_iter().map(|row| setting(&sources, row)).collect::<Result<_, _>>()?;
    if context.out.is_json() {
        return Ok(context.out.json(&shown)?);
    }
    let table = TextTable::new(&["SETTING", "VALUE", "SOURCE"], shown, |setting| {
        let style = if setting.at.is_some() { TextStyle::Strong } else { TextStyle::Plain };
        let value = match setting.value.as_deref() {
            None => "(hidden)",
            Some("") => "-",
            Some(value) => value,
        };
        let source = setting.at.unwrap_or_else(|| setting.source.to_owned());
        [setting.key.into(), StyledLine::new(style, value), short(&source).into()]
    });
    context.out.table(&table)?;
    match file.mistakes.len() {
        0 => Ok(()),
        count => {
            let path = file.path.display();
            let sentence = format!("errors in {path}: {count}; `paned config check` shows them");
            Ok(context.out.note(StyledLine::new(TextStyle::Bad, &sentence))?)
        }
    }
}

/// The rows with these keys, or all.
fn chosen(keys: &[String]) -> Result<Vec<&'static SettingRow>, Refusal> {
    if keys.is_empty() {
        return Ok(settings::TABLE.iter().collect());
    }
    let find = |key: &String| {
        settings::find(key).ok_or_else(|| {
            let hint = match closest(key, settings::keys()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`paned config show` lists all".to_owned(),
            };
            let sentence = format!("no setting `{}`; {hint}", key.escape_debug());
            Refusal::new(Code::NotFound, sentence)
        })
    };
    keys.iter().map(find).collect()
}

fn setting(sources: &Sources<'_>, row: &'static SettingRow) -> Result<ShownSetting, Refusal> {
    let (value, origin) = sources.shown(row)?;
    let source = match origin {
        SettingOrigin::Flag(_) => "flag",
        SettingOrigin::Env(_) => "variable",
        SettingOrigin::File(..) | SettingOrigin::Legacy(_) => "file",
        SettingOrigin::Default => "default",
    };
    let at = (origin != SettingOrigin::Default).then(|| origin.to_string().replace('`', ""));
    let is_hidden = row.is_secret && !value.is_empty();
    let value = (!is_hidden).then(|| value.replace('\n', ", "));
    Ok(ShownSetting { key: row.key, value, source, at })
}

/// A path below the home folder with `~`.
fn short(path: &str) -> String {
    let home = process_env("HOME").unwrap_or_default();
    match path.strip_prefix(&home).filter(|rest| !home.is_empty() && rest.starts_with('/')) {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}
