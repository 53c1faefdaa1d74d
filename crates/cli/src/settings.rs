//! All settings and their sources, in one table.
//!
//! A flag beats a `PANED_*` variable, which beats the variables of the tools we replace, which beat
//! `config.toml`, which beats agentmux's own file, which beats the default. Values stay text until
//! they are resolved here, so that a bad one gets the same error whatever its source. Nothing here
//! touches the state folder or the network.

mod agentmux_config;
mod compat;
mod suggest;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use paned_model::Refusal;
use paned_policy::interactive::UserRule;
use paned_policy::layout::{LayoutKind, LayoutLimits};

use crate::config::ConfigFile;

pub(crate) use agentmux_config::AgentmuxConfigFile;
pub(crate) use compat::CompatSettings;
pub(crate) use suggest::suggest;

/// One setting: its key in `config.toml`, its variables in order, its default.
struct SettingRow {
    key: &'static str,
    env: &'static [&'static str],
    default: Fallback,
}

enum Fallback {
    Text(&'static str),
    /// The state folder below the user's home or XDG folder.
    StateFolder,
    /// The same, for profiles of agents.
    ProfilesFolder,
}

const fn row(key: &'static str, env: &'static [&'static str], default: &'static str) -> SettingRow {
    SettingRow { key, env, default: Fallback::Text(default) }
}

/// The table. A flag is its key with `-` for `_`, where the command has it.
const TABLE: [SettingRow; 43] = [
    row("port", &["PANED_PORT", "POLY_PORT"], "7263"),
    row("host", &["PANED_HOST", "POLY_HOSTNAME"], "127.0.0.1"),
    SettingRow { key: "state_dir", env: &["PANED_STATE_DIR"], default: Fallback::StateFolder },
    SettingRow {
        key: "profiles_dir",
        env: &["PANED_PROFILES_DIR"],
        default: Fallback::ProfilesFolder,
    },
    row("autostart", &[], "true"),
    row("limits.panes", &["PANED_MAX_PANES"], "1000"),
    row("limits.agents", &["PANED_MAX_AGENTS"], "50"),
    row("limits.tape_bytes", &["PANED_TAPE_BYTES", "PTY_MAX_BUFFER_SIZE"], "16777216"),
    row("limits.meta_bytes", &["PANED_META_BYTES"], "65536"),
    row("limits.grace_ms", &["PANED_GRACE_MS"], "3000"),
    row(
        "limits.hook_ms",
        &["PANED_EVENT_HANDLER_TIMEOUT_MS", "POLY_EVENT_HANDLER_TIMEOUT_MS"],
        "5000",
    ),
    row("limits.events_kept", &["PANED_EVENTS_KEPT"], "200000"),
    row("limits.events_per_second", &["PANED_EVENTS_PER_SECOND"], "200"),
    row("limits.streams_per_grant", &["PANED_STREAMS_PER_GRANT"], "64"),
    row("limits.journal_bytes", &["PANED_JOURNAL_BYTES"], "268435456"),
    row("tmux.enabled", &["PANED_TMUX"], "true"),
    row("layout.kind", &["PANED_LAYOUT"], "vertical"),
    row("layout.main_pane_size", &["PANED_MAIN_PANE_SIZE"], "60"),
    row("layout.main_pane_min_width", &["PANED_MAIN_PANE_MIN_WIDTH"], "100"),
    row("layout.agent_pane_min_width", &["PANED_AGENT_PANE_MIN_WIDTH"], "52"),
    row("layout.min_height", &["PANED_MIN_HEIGHT"], "11"),
    row("subagent.command", &["PANED_SUBAGENT_COMMAND"], "opencode attach {url} --session {id}"),
    row("layout.waiting", &["PANED_LAYOUT_WAITING"], "20"),
    row("layout.patience_seconds", &["PANED_LAYOUT_PATIENCE_SECONDS"], "300"),
    row("interactive.visible", &[], ""),
    row("interactive.plain", &[], ""),
    row("doors.opencode_pty", &["PANED_DOOR_OPENCODE_PTY"], ""),
    row("doors.opencode_pty_serve", &[], "false"),
    row("doors.opencode_pty_host", &["PTY_WEB_HOSTNAME"], "::1"),
    row("doors.opencode_pty_port", &["PTY_WEB_PORT"], ""),
    row("doors.agentapi", &["PANED_DOOR_AGENTAPI"], ""),
    row("doors.agentmux", &["PANED_DOOR_AGENTMUX"], ""),
    row("doors.agentmux_serve", &[], "false"),
    row("doors.agentmux_host", &["AGENTMUX_HOST"], "127.0.0.1"),
    row("doors.agentmux_port", &["AGENTMUX_PORT"], "8765"),
    row("doors.agentmux_token", &["AGENTMUX_TOKEN"], ""),
    row("doors.agentmux_agent", &["AGENTMUX_AGENT"], "claude"),
    row("doors.agentmux_session", &["AGENTMUX_SESSION"], "agentmux"),
    row("doors.agentmux_workdir", &["AGENTMUX_WORKDIR"], ""),
    row("doors.agentmux_command", &["AGENTMUX_REPL_CMD"], ""),
    row("doors.agentmux_startup_delay", &["AGENTMUX_STARTUP_DELAY"], ""),
    row("doors.agentmux_any_target", &["AGENTMUX_ALLOW_EXTERNAL_TARGET"], "false"),
    row("doors.agentmux_one_at_a_time", &["PANED_AGENTMUX_ONE_AT_A_TIME"], "false"),
];

/// Every key that `config.toml` may hold.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.key)
}

/// The resolved settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The address to listen on; `None` when no source sets it, which means both loopback
    /// addresses.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    pub(crate) state_dir: PathBuf,
    /// The user's own profiles of agents.
    pub(crate) profiles_dir: PathBuf,
    pub(crate) panes: u64,
    pub(crate) agents: u64,
    pub(crate) tape_bytes: u64,
    pub(crate) meta_bytes: u64,
    pub(crate) grace_ms: u64,
    pub(crate) hook_ms: u64,
    pub(crate) events_kept: u64,
    pub(crate) journal_bytes: u64,
    pub(crate) events_per_second: u64,
    pub(crate) streams_per_grant: u64,
    /// Whether panes are shown in tmux at all.
    pub(crate) tmux_enabled: bool,
    /// How tmux windows are divided.
    pub(crate) layout: LayoutLimits,
    /// How many panes may wait for space there, and for how long.
    pub(crate) queue_limit: u64,
    pub(crate) queue_timeout_seconds: u64,
    /// The user's rules for which commands must be visible, and which need not be.
    pub(crate) rules: Vec<UserRule>,
    /// The command that shows a sub-agent, as a list of arguments.
    pub(crate) subagent: Vec<String>,
    /// Settings for the protocols of other tools.
    pub(crate) compat: CompatSettings,
}

/// Values from the command line, by key.
pub(crate) type SettingFlags = BTreeMap<&'static str, String>;

/// Looks up an environment variable.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this process. Variables that are empty or not UTF-8 count as unset.
pub(crate) fn process_env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// All sources of settings.
pub(crate) struct Sources<'a> {
    pub(crate) flags: &'a SettingFlags,
    pub(crate) env: Env<'a>,
    pub(crate) file: &'a ConfigFile,
    /// Looked up last, before the default.
    pub(crate) legacy: &'a AgentmuxConfigFile,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SettingOrigin {
    Flag(&'static str),
    Env(&'static str),
    File(PathBuf, usize),
    Legacy(PathBuf),
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(key) => write!(f, "`--{}`", key.replace('_', "-")),
            Self::Env(name) => write!(f, "`{name}`"),
            Self::File(path, line) => write!(f, "{} line {line}", path.display()),
            Self::Legacy(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("the default"),
        }
    }
}

impl Sources<'_> {
    /// Resolves all settings.
    ///
    /// # Errors
    /// When a value is invalid; the message names its source.
    pub(crate) fn resolve(&self) -> Result<Settings, Refusal> {
        let port = self.number("port", 0..=65535)?;
        let (host, origin) = self.pick("host")?;
        Ok(Settings {
            host: (origin != SettingOrigin::Default).then_some(host),
            port: u16::try_from(port).expect("the range was checked"),
            state_dir: self.state_dir()?,
            profiles_dir: self.profiles()?,
            panes: self.number("limits.panes", 1..=100_000)?,
            agents: self.number("limits.agents", 1..=100_000)?,
            tape_bytes: self.number("limits.tape_bytes", 4096..=1 << 40)?,
            meta_bytes: self.number("limits.meta_bytes", 2..=1 << 20)?,
            grace_ms: self.number("limits.grace_ms", 0..=600_000)?,
            hook_ms: self.number("limits.hook_ms", 1..=600_000)?,
            events_kept: self.number("limits.events_kept", 1000..=1 << 40)?,
            journal_bytes: self.number("limits.journal_bytes", 1 << 20..=1 << 40)?,
            events_per_second: self.number("limits.events_per_second", 1..=1_000_000)?,
            streams_per_grant: self.number("limits.streams_per_grant", 1..=512)?,
            tmux_enabled: self.boolean("tmux.enabled")?,
            layout: self.layout()?,
            queue_limit: self.number("layout.waiting", 0..=1000)?,
            queue_timeout_seconds: self.number("layout.patience_seconds", 1..=86_400)?,
            rules: self.rules()?,
            subagent: self.subagent()?,
            compat: self.compat()?,
        })
    }

    fn profiles(&self) -> Result<PathBuf, Refusal> {
        let (folder, origin) = self.pick("profiles_dir")?;
        let absolute = std::path::absolute(&folder);
        absolute.map_err(|error| Refusal::invalid(format!("{origin} is no folder: {error}")))
    }

    /// Whether a command that needs a server starts one.
    pub(crate) fn autostart(&self) -> Result<bool, Refusal> {
        self.boolean("autostart")
    }

    /// The state folder alone, which is all that a client needs.
    ///
    /// # Errors
    /// When nothing says where it is.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, Refusal> {
        let (folder, origin) = self.pick("state_dir")?;
        let absolute = std::path::absolute(&folder);
        absolute.map_err(|error| Refusal::invalid(format!("{origin} is no folder: {error}")))
    }

    fn layout(&self) -> Result<LayoutLimits, Refusal> {
        let (kind, origin) = self.pick("layout.kind")?;
        let layout = match kind.as_str() {
            "vertical" => LayoutKind::Vertical,
            "horizontal" => LayoutKind::Horizontal,
            "grid" => LayoutKind::Grid,
            other => {
                let other = other.escape_debug();
                let sentence = format!(
                    "{origin}: `{other}` is no layout; there are vertical, horizontal, grid"
                );
                return Err(Refusal::invalid(sentence));
            }
        };
        let number = |key, range| self.number(key, range).map(|number| number as u16);
        Ok(LayoutLimits {
            layout,
            main_pane_size: number("layout.main_pane_size", 20..=80)?,
            main_pane_min_width: number("layout.main_pane_min_width", 40..=1000)?,
            agent_pane_min_width: number("layout.agent_pane_min_width", 20..=1000)?,
            min_height: number("layout.min_height", 3..=1000)?,
        })
    }

    /// The user's rules, one command each: a program and its required arguments.
    fn rules(&self) -> Result<Vec<UserRule>, Refusal> {
        let mut rules = Vec::new();
        for (key, visible) in [("interactive.visible", true), ("interactive.plain", false)] {
            for line in self.pick(key)?.0.lines() {
                let mut words = line.split_whitespace().map(str::to_owned);
                if let Some(program) = words.next() {
                    rules.push(UserRule { program, args: words.collect(), visible });
                }
            }
        }
        Ok(rules)
    }

    /// A command as a list of arguments: from a string, split at whitespace, or from a list.
    fn subagent(&self) -> Result<Vec<String>, Refusal> {
        let (command, origin) = self.pick("subagent.command")?;
        let is_list = command.contains('\n');
        let words: Vec<String> = match is_list {
            true => command.lines().map(str::to_owned).collect(),
            false => command.split_whitespace().map(str::to_owned).collect(),
        };
        if words.is_empty() {
            return Err(Refusal::invalid(format!("{origin}: `subagent.command` is empty")));
        }
        Ok(words)
    }

    fn number(&self, key: &'static str, range: RangeInclusive<u64>) -> Result<u64, Refusal> {
        let (text, origin) = self.pick(key)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let text = text.escape_debug();
            let low = range.start();
            let high = range.end();
            let sentence = format!("{origin}: `{text}` is no {key}; it goes from {low} to {high}");
            Refusal::invalid(sentence)
        })
    }

    fn pick(&self, key: &'static str) -> Result<(String, SettingOrigin), Refusal> {
        let row = TABLE.iter().find(|row| row.key == key).expect("every setting is in the table");
        if let Some(value) = self.flags.get(key) {
            return Ok((value.clone(), SettingOrigin::Flag(row.key)));
        }
        let set = |name: &&'static str| Some(((self.env)(name)?, SettingOrigin::Env(name)));
        if let Some(found) = row.env.iter().find_map(set) {
            return Ok(found);
        }
        if let Some((value, line)) = self.file.get(key) {
            return Ok((value.to_owned(), SettingOrigin::File(self.file.path.clone(), line)));
        }
        if let Some((value, path)) = self.legacy.get(key) {
            return Ok((value.to_owned(), SettingOrigin::Legacy(path.clone())));
        }
        let default = match row.default {
            Fallback::Text(text) => text.to_owned(),
            Fallback::StateFolder => user_folder(self.env, "XDG_STATE_HOME", ".local/state")?,
            Fallback::ProfilesFolder => {
                format!("{}/profiles", user_folder(self.env, "XDG_CONFIG_HOME", ".config")?)
            }
        };
        Ok((default, SettingOrigin::Default))
    }
}

/// The path of `config.toml`, and whether the user named it.
pub(crate) fn config_path(flag: Option<&Path>, env: Env<'_>) -> Result<(PathBuf, bool), Refusal> {
    let named = flag.map(Path::to_owned).or_else(|| env("PANED_CONFIG").map(PathBuf::from));
    match named {
        Some(path) => Ok((path, true)),
        None => {
            let folder = user_folder(env, "XDG_CONFIG_HOME", ".config")?;
            Ok((Path::new(&folder).join("config.toml"), false))
        }
    }
}

/// Our folder below the one that a variable names, or below the default one in the home folder.
fn user_folder(env: Env<'_>, variable: &str, usual: &str) -> Result<String, Refusal> {
    let named = env(variable).filter(|path| Path::new(path).is_absolute());
    let parent = named.or_else(|| env("HOME").map(|home| format!("{home}/{usual}")));
    let parent = parent.ok_or_else(|| {
        let sentence =
            format!("neither `{variable}` nor `HOME` is set; say where with `--state-dir`");
        Refusal::invalid(sentence)
    })?;
    Ok(format!("{parent}/paned"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settles `port` from these sources.
    pub(super) fn settle(
        flag: Option<&str>,
        env: &[(&str, &str)],
        file: &str,
    ) -> Result<Settings, Refusal> {
        let flags = flag.map(|port| ("port", port.to_owned())).into_iter().collect();
        let file = ConfigFile::parse(Path::new("/c/config.toml"), file)?;
        let env = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned()).or((name == "HOME").then(|| "/h".into()))
        };
        let legacy = &AgentmuxConfigFile::default();
        Sources { flags: &flags, env: &env, file: &file, legacy }.resolve()
    }

    #[track_caller]
    fn check(flag: Option<&str>, env: &[(&str, &str)], file: &str, port: u16) {
        assert_eq!(settle(flag, env, file).unwrap().port, port);
    }

    #[test]
    fn flag_then_ours_then_the_seeds_then_file_then_default() {
        let (ours, seeds, file) = (("PANED_PORT", "2"), ("POLY_PORT", "3"), "port = 4");
        check(Some("1"), &[ours, seeds], file, 1);
        check(None, &[seeds, ours], file, 2);
        check(None, &[seeds], file, 3);
        check(None, &[], file, 4);
        check(None, &[], "", 7263);
    }

    #[test]
    fn a_bad_value_is_refused_with_its_place() {
        let said = |flag, env: &[(&str, &str)], file| settle(flag, env, file).unwrap_err().sentence;
        assert!(said(Some("x"), &[], "").starts_with("`--port`: `x` is no port"));
        assert!(said(None, &[("POLY_PORT", "65536")], "").starts_with("`POLY_PORT`: `65536`"));
        let sentence = said(None, &[], "\n[limits]\npanes = 0");
        assert!(
            sentence.starts_with("/c/config.toml line 3: `0` is no limits.panes"),
            "{sentence}"
        );
    }

    #[test]
    fn layouts_and_rules_are_read() {
        let file = "[layout]\nkind = 'grid'\nmin_height = 8\n[interactive]\nvisible = ['x repl', 'y']\nplain = ['vim']";
        let settings = settle(None, &[], file).unwrap();
        let expect =
            LayoutLimits { layout: LayoutKind::Grid, min_height: 8, ..LayoutLimits::default() };
        assert_eq!(settings.layout, expect);
        let rule = |program: &str, args: &[&str], visible| UserRule {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            visible,
        };
        let expect = [rule("x", &["repl"], true), rule("y", &[], true), rule("vim", &[], false)];
        assert_eq!(settings.rules, expect);
        let wrong = settle(None, &[], "[layout]\nkind = 'round'").unwrap_err();
        assert!(wrong.sentence.contains("line 2: `round` is no layout"), "{}", wrong.sentence);
        assert!(settle(None, &[], "[layout]\nmain_pane_size = 90").is_err());
    }

    #[test]
    fn tmux_is_on_unless_it_is_switched_off() {
        let enabled =
            |env: &[(&str, &str)], file| settle(None, env, file).map(|it| it.tmux_enabled);
        assert_eq!(enabled(&[], ""), Ok(true));
        assert_eq!(enabled(&[], "[tmux]\nenabled = false"), Ok(false));
        assert_eq!(enabled(&[("PANED_TMUX", "true")], "[tmux]\nenabled = false"), Ok(true));
        assert!(enabled(&[], "[tmux]\nenabled = 'perhaps'").is_err());
    }

    #[test]
    fn the_default_host_is_told_from_one_that_was_said() {
        assert_eq!(settle(None, &[], "").unwrap().host, None);
        let said = settle(None, &[("POLY_HOSTNAME", "127.0.0.1")], "").unwrap();
        assert_eq!(said.host.as_deref(), Some("127.0.0.1"));
    }

    #[test]
    fn the_state_folder_is_the_users() {
        let folder = |env: &[(&str, &str)]| settle(None, env, "").unwrap().state_dir;
        assert_eq!(folder(&[]), Path::new("/h/.local/state/paned"));
        assert_eq!(folder(&[("XDG_STATE_HOME", "/x")]), Path::new("/x/paned"));
        assert_eq!(folder(&[("XDG_STATE_HOME", "relative")]), Path::new("/h/.local/state/paned"));
        assert_eq!(folder(&[("PANED_STATE_DIR", "/p")]), Path::new("/p"));
    }

    #[test]
    fn no_setting_has_two_rows() {
        let keys: std::collections::BTreeSet<_> = keys().collect();
        assert_eq!(keys.len(), TABLE.len());
    }
}
