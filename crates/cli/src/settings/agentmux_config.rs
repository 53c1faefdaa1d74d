//! agentmux's own settings file, which is looked up last.
//!
//! A port in it opens no listener by itself: the file may be left over from another installation.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::Env;

/// Keys of the file, each with our own key.
const KEYS: [(&str, &str); 10] = [
    ("host", "compat.agentmux_host"),
    ("port", "compat.agentmux_port"),
    ("token", "compat.agentmux_token"),
    ("agent", "compat.agentmux_agent"),
    ("session_prefix", "compat.agentmux_session"),
    ("workdir", "compat.agentmux_workdir"),
    ("repl_cmd", "compat.agentmux_command"),
    ("startup_delay", "compat.agentmux_startup_delay"),
    ("log_file", "compat.agentmux_log_file"),
    ("allow_external_target", "compat.agentmux_any_target"),
];

/// What the file says, by our keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentmuxConfigFile {
    path: PathBuf,
    values: BTreeMap<&'static str, String>,
}

impl AgentmuxConfigFile {
    /// Reads the first file that exists and parses, as agentmux does; others are skipped.
    pub(crate) fn read(env: Env<'_>) -> Self {
        let open = |path: PathBuf| {
            let text = fs::read_to_string(&path).ok()?;
            Some(Self { values: parse(&text)?, path })
        };
        candidate_paths(env).into_iter().find_map(open).unwrap_or_default()
    }

    /// A value and the file it comes from.
    pub(super) fn get(&self, key: &str) -> Option<(&str, &PathBuf)> {
        self.values.get(key).map(|value| (value.as_str(), &self.path))
    }
}

fn candidate_paths(env: Env<'_>) -> Vec<PathBuf> {
    let home = env("HOME");
    let named = env("AGENTMUX_CONFIG_FILE").map(|path| match (path.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => path,
    });
    let usual = home.as_ref().map(|home| format!("{home}/.config/agentmux/config.json"));
    let is_true =
        |word: String| ["1", "true", "yes", "on"].contains(&word.to_ascii_lowercase().trim());
    let here =
        env("AGENTMUX_ALLOW_CWD_CONFIG").is_some_and(is_true).then(|| "agentmux.json".to_owned());
    [named, usual, here].into_iter().flatten().map(PathBuf::from).collect()
}

fn parse(text: &str) -> Option<BTreeMap<&'static str, String>> {
    let file: Map<String, Value> = serde_json::from_str(text).ok()?;
    let values = KEYS.iter().filter_map(|(name, key)| {
        let text = match file.get(*name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(boolean) => boolean.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((*key, text)).filter(|(_, text)| !text.is_empty())
    });
    Some(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read() {
        let text = r#"{"host":"0.0.0.0","port":1,"token":"t","startup_delay":2.5,
            "allow_external_target":true,"workdir":null,"other":[]}"#;
        let expect = [
            ("compat.agentmux_any_target", "true"),
            ("compat.agentmux_host", "0.0.0.0"),
            ("compat.agentmux_port", "1"),
            ("compat.agentmux_startup_delay", "2.5"),
            ("compat.agentmux_token", "t"),
        ];
        let expect = expect.map(|(key, value)| (key, value.to_owned()));
        assert_eq!(parse(text), Some(expect.into()));
        assert_eq!(parse("[]"), None);
        assert_eq!(parse("{"), None);
    }

    #[test]
    fn the_first_file_that_makes_sense_counts() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_string_lossy().into_owned();
        let usual = folder.path().join(".config/agentmux");
        fs::create_dir_all(&usual).unwrap();
        fs::write(usual.join("config.json"), r#"{"agent":"usual"}"#).unwrap();
        fs::write(folder.path().join("bad.json"), "{").unwrap();
        fs::write(folder.path().join("good.json"), r#"{"agent":"named"}"#).unwrap();
        let agent = |named: Option<&str>| {
            let env = |name: &str| match name {
                "HOME" => Some(home.clone()),
                "AGENTMUX_CONFIG_FILE" => named.map(str::to_owned),
                _ => None,
            };
            let legacy = AgentmuxConfigFile::read(&env);
            legacy.get("compat.agentmux_agent").map(|(agent, _)| agent.to_owned())
        };
        assert_eq!(agent(None).as_deref(), Some("usual"));
        assert_eq!(agent(Some("~/good.json")).as_deref(), Some("named"));
        assert_eq!(agent(Some("~/bad.json")).as_deref(), Some("usual"));
        assert_eq!(agent(Some("~/none.json")).as_deref(), Some("usual"));
    }
}
