//! Settings: where a value comes from, and what it must be.
//!
//! A flag beats a `PANED_*` variable, which beats the variables of the tools we replace, which beat
//! `config.toml`, which beats agentmux's own file, which beats the default. Values stay text until
//! they are resolved here, so that a bad one gets the same error whatever its source. Nothing here
//! touches the state folder or the network.

mod agentmux_config;
mod compat;
mod kind;
mod listen;
mod other_tools;
pub(crate) mod page;
mod permissions;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use paned_kernel::PermissionSetup;
use paned_model::Refusal;
use paned_policy::interactive::UserRule;
use paned_policy::layout::{LayoutKind, LayoutLimits};
use paned_policy::notify::NotifyRules;

use crate::config::ConfigFile;

pub(crate) use agentmux_config::AgentmuxConfigFile;
pub(crate) use compat::CompatSettings;
pub(crate) use kind::SettingKind;
pub(crate) use listen::ListenAddress;
pub(crate) use other_tools::{UnusedVariable, unused_variables};
use table::SettingDefault;
pub(crate) use table::{SettingRow, TABLE, find, keys};

/// The resolved settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The address to listen on; `None` when no source sets it, which means both loopback
    /// addresses.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    /// Where other machines can reach the server, if anywhere.
    pub(crate) listen: Option<ListenAddress>,
    /// Names of this server besides its addresses.
    pub(crate) names: Vec<String>,
    /// The user's own certificate.
    pub(crate) tls_files: Option<TlsFiles>,
    pub(crate) state_dir: PathBuf,
    /// The user's own profiles of agents.
    pub(crate) profiles_dir: PathBuf,
    /// The folder with extensions.
    pub(crate) extensions_dir: PathBuf,
    /// Whether extensions are run.
    pub(crate) extensions_enabled: bool,
    /// The program that runs Node packages, if the user chose one.
    pub(crate) node: Option<PathBuf>,
    pub(crate) panes: u64,
    pub(crate) agents: u64,
    /// How many agents in a row may start each other.
    pub(crate) agent_depth: u64,
    /// Agents at once that one agent has started.
    pub(crate) agents_per_agent: u64,
    pub(crate) tape_bytes: u64,
    /// How many lines of each pane can be read; 0 for all that are kept.
    pub(crate) lines: u64,
    pub(crate) meta_bytes: u64,
    pub(crate) grace_ms: u64,
    pub(crate) hook_ms: u64,
    /// Actions that need the approval of a person.
    pub(crate) approval_actions: Vec<String>,
    /// How long such an approval can be answered, and how long a request waits for it.
    pub(crate) approval_expire_seconds: u64,
    pub(crate) approval_wait_seconds: u64,
    pub(crate) events_kept: u64,
    pub(crate) journal_bytes: u64,
    pub(crate) events_per_second: u64,
    pub(crate) streams_per_grant: u64,
    /// Whether panes are shown in tmux at all.
    pub(crate) tmux_enabled: bool,
    /// The session that is meant where a request names none.
    pub(crate) session: String,
    /// The socket of our tmux server, if it is not in the state folder.
    pub(crate) tmux_socket: Option<PathBuf>,
    /// The user's configuration of our tmux server.
    pub(crate) tmux_config: Option<PathBuf>,
    /// How tmux windows are divided.
    pub(crate) layout: LayoutLimits,
    /// How many panes may wait for space there, and for how long.
    pub(crate) queue_limit: u64,
    pub(crate) queue_timeout_seconds: u64,
    /// After how long without output a pane may be replaced there; 0 for never.
    pub(crate) quiet_seconds: u64,
    /// The user's rules for which commands must be visible, and which need not be.
    pub(crate) rules: Vec<UserRule>,
    /// The command that shows a sub-agent, as a list of arguments.
    pub(crate) subagent: Vec<String>,
    /// The rules for notifications.
    pub(crate) notify: NotifyRules,
    /// Which programs callers may start.
    pub(crate) permissions: PermissionSetup,
    /// Settings for the protocols of other tools.
    pub(crate) compat: CompatSettings,
}

/// The user's own certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// Values from the command line, by key.
pub(crate) type SettingFlags = BTreeMap<&'static str, String>;

/// Looks up an environment variable.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this process. Variables that are empty or not UTF-8 count as unset.
pub(crate) fn process_env(name: &str) -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let is_polys = |port: &String| {
        set("PANED_URL").is_some() && names_own_server(port, set("POLY_BASE_URL").as_deref())
    };
    set(name).filter(|value| name != "POLY_PORT" || !is_polys(value))
}

/// Whether a port is that of the server whose pane we are in: each pane has `POLY_PORT` for old
/// clients, and a server that is started there must not take it for its own setting.
fn names_own_server(port: &str, url: Option<&str>) -> bool {
    url.is_some_and(|url| url.rsplit_once(':').is_some_and(|(_, own)| own == port))
}

/// The names of the variables that are set in this process.
pub(crate) fn process_variables() -> impl Iterator<Item = String> {
    let names = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    names.filter_map(|(name, _)| name.into_string().ok())
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
pub(crate) enum SettingOrigin {
    Flag(&'static str),
    Env(&'static str),
    File(PathBuf, usize),
    Legacy(PathBuf),
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "`{flag}`"),
            Self::Env(name) => write!(f, "`{name}`"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
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
        let port = self.number("port")?;
        let (host, origin) = self.pick("host")?;
        Ok(Settings {
            host: (origin != SettingOrigin::Default).then_some(host),
            port: u16::try_from(port).expect("the range was checked"),
            listen: self.listen()?,
            names: self.valid("server.names")?.lines().map(str::to_owned).collect(),
            tls_files: self.tls_files()?,
            state_dir: self.state_dir()?,
            profiles_dir: self.profiles()?,
            extensions_dir: self.path("extensions_dir")?,
            extensions_enabled: self.boolean("extensions.enabled")?,
            node: self.file("extensions.node")?,
            panes: self.number("limits.panes")?,
            agents: self.number("limits.agents")?,
            agent_depth: self.number("limits.agent_depth")?,
            agents_per_agent: self.number("limits.agents_per_agent")?,
            tape_bytes: self.number("limits.tape_bytes")?,
            lines: self.number("limits.lines")?,
            meta_bytes: self.number("limits.meta_bytes")?,
            grace_ms: self.number("limits.grace_ms")?,
            hook_ms: self.number("limits.hook_ms")?,
            approval_actions: self.approval_actions()?,
            approval_expire_seconds: self.number("approvals.expire_seconds")?,
            approval_wait_seconds: self.number("approvals.wait_seconds")?,
            events_kept: self.number("limits.events_kept")?,
            journal_bytes: self.number("limits.journal_bytes")?,
            events_per_second: self.number("limits.events_per_second")?,
            streams_per_grant: self.number("limits.streams_per_grant")?,
            tmux_enabled: self.boolean("tmux.enabled")?,
            session: self.valid("tmux.session")?,
            tmux_socket: self.tmux_socket()?,
            tmux_config: self.file("tmux.config")?,
            layout: self.layout()?,
            queue_limit: self.number("layout.waiting")?,
            queue_timeout_seconds: self.number("layout.patience_seconds")?,
            quiet_seconds: self.number("layout.replace_quiet_seconds")?,
            rules: self.rules()?,
            subagent: self.subagent()?,
            notify: self.file.notify.clone(),
            permissions: self.permissions()?,
            compat: self.compat()?,
        })
    }

    fn listen(&self) -> Result<Option<ListenAddress>, Refusal> {
        let text = self.valid("server.listen")?;
        let address = (!text.is_empty()).then(|| text.parse().map_err(Refusal::invalid));
        address.transpose()
    }

    fn tls_files(&self) -> Result<Option<TlsFiles>, Refusal> {
        match (self.file("server.tls_cert")?, self.file("server.tls_key")?) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => Err(Refusal::invalid(
                "`server.tls_cert` and `server.tls_key` belong together; set both or neither",
            )),
        }
    }

    /// The actions that need an approval: names, or their start and `*`.
    fn approval_actions(&self) -> Result<Vec<String>, Refusal> {
        let key = "approvals.actions";
        let (text, origin) = self.pick(key)?;
        let actions: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        for action in actions.iter().filter(|action| !action.is_empty()) {
            let name = action.strip_suffix('*').unwrap_or(action);
            if !name.chars().all(fits) || (!name.contains(':') && name.len() == action.len()) {
                return Err(Refusal::invalid(format!(
                    "{origin}: invalid `{key}`: `{}` is not the name of an action such as \
                    `pane:remove`, or the start of one and `*`",
                    action.escape_debug()
                )));
            }
        }
        Ok(actions.into_iter().filter(|action| !action.is_empty()).collect())
    }

    fn profiles(&self) -> Result<PathBuf, Refusal> {
        self.path("profiles_dir")
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
        self.path("state_dir")
    }

    /// The session that a variable names for this command. What the file says is known to the
    /// server.
    pub(crate) fn session_of_variable(&self) -> Result<Option<String>, Refusal> {
        let name = self.valid("tmux.session")?;
        let is_named = matches!(self.pick("tmux.session")?.1, SettingOrigin::Env(_));
        Ok(is_named.then_some(name))
    }

    /// Where our tmux server listens: `tmux -L NAME` looks in a folder of the user's.
    fn tmux_socket(&self) -> Result<Option<PathBuf>, Refusal> {
        let text = self.valid("tmux.socket")?;
        if text.is_empty() || text.starts_with('/') {
            return Ok((!text.is_empty()).then(|| PathBuf::from(text)));
        }
        let parent = (self.env)("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
        let user = rustix::process::geteuid().as_raw();
        Ok(Some(Path::new(&parent).join(format!("tmux-{user}")).join(text)))
    }

    /// A file as an absolute path, if there is one.
    fn file(&self, key: &str) -> Result<Option<PathBuf>, Refusal> {
        let is_set = !self.pick(key)?.0.is_empty();
        is_set.then(|| self.path(key)).transpose()
    }

    /// A folder or file as an absolute path: `~` is the home folder, and a relative path in a
    /// file is relative to that file.
    fn path(&self, key: &str) -> Result<PathBuf, Refusal> {
        let (text, origin) = self.pick(key)?;
        let path = self.expand_home(&text);
        let parent = match &origin {
            SettingOrigin::File(file, _) | SettingOrigin::Legacy(file) => file.parent(),
            SettingOrigin::Flag(_) | SettingOrigin::Env(_) | SettingOrigin::Default => None,
        };
        let path = parent.map_or_else(|| path.clone(), |parent| parent.join(&path));
        let absolute = std::path::absolute(path);
        absolute.map_err(|error| Refusal::invalid(format!("{origin}: invalid `{key}`: {error}")))
    }

    /// A value as `paned config show` prints it, and where it comes from.
    pub(crate) fn shown(&self, row: &SettingRow) -> Result<(String, SettingOrigin), Refusal> {
        let (text, origin) = self.pick(row.key)?;
        if text.is_empty() || !matches!(row.kind, SettingKind::Folder | SettingKind::File) {
            return Ok((text, origin));
        }
        Ok((self.path(row.key)?.to_string_lossy().into_owned(), origin))
    }

    fn expand_home(&self, text: &str) -> PathBuf {
        let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest, (self.env)("HOME")) {
            (Some(rest), Some(home)) => PathBuf::from(format!("{home}{rest}")),
            _ => PathBuf::from(text),
        }
    }

    fn layout(&self) -> Result<LayoutLimits, Refusal> {
        let kind = self.valid("layout.kind")?;
        let layout = match kind.as_str() {
            "horizontal" => LayoutKind::Horizontal,
            "grid" => LayoutKind::Grid,
            _ => LayoutKind::Vertical,
        };
        let number = |key| self.number(key).map(|number| number as u16);
        Ok(LayoutLimits {
            layout,
            main_pane_size: number("layout.main_pane_size")?,
            main_pane_min_width: number("layout.main_pane_min_width")?,
            agent_pane_min_width: number("layout.agent_pane_min_width")?,
            min_height: number("layout.min_height")?,
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

    fn number(&self, key: &'static str) -> Result<u64, Refusal> {
        let text = self.valid(key)?;
        text.parse().map_err(|_| Refusal::internal(format!("the kind of `{key}` is not a number")))
    }

    /// A value that its kind takes.
    fn valid(&self, key: &'static str) -> Result<String, Refusal> {
        let (text, origin) = self.pick(key)?;
        match row(key).kind.check(&text) {
            Ok(()) => Ok(text),
            Err(why) => Err(Refusal::invalid(format!("{origin}: invalid `{key}`: {why}"))),
        }
    }

    /// A value and where it comes from.
    ///
    /// # Errors
    /// When the default depends on a home folder, and there is none.
    pub(crate) fn pick(&self, key: &str) -> Result<(String, SettingOrigin), Refusal> {
        let row = row(key);
        if let Some(value) = self.flags.get(row.key) {
            return Ok((value.clone(), SettingOrigin::Flag(row.flag.unwrap_or(row.key))));
        }
        let set = |name: &&'static str| Some(((self.env)(name)?, SettingOrigin::Env(name)));
        let is_polys = matches!(row.key, "port" | "host") && self.serves_poly()?;
        let names = row.env.iter().filter(|name| !(is_polys && name.starts_with("POLY_")));
        if let Some(found) = names.into_iter().find_map(set) {
            return Ok(found);
        }
        if let Some((value, line)) = self.file.get(row.key) {
            return Ok((value.to_owned(), SettingOrigin::File(self.file.path.clone(), line)));
        }
        if let Some((value, path)) = self.legacy.get(row.key) {
            return Ok((value.to_owned(), SettingOrigin::Legacy(path.clone())));
        }
        let default = match row.default {
            SettingDefault::Text(text) => text.to_owned(),
            SettingDefault::StateFolder => user_folder(self.env, "XDG_STATE_HOME", ".local/state")?,
            SettingDefault::ProfilesFolder => {
                format!("{}/profiles", user_folder(self.env, "XDG_CONFIG_HOME", ".config")?)
            }
            SettingDefault::ExtensionsFolder => {
                format!("{}/extensions", user_folder(self.env, "XDG_DATA_HOME", ".local/share")?)
            }
        };
        Ok((default, SettingOrigin::Default))
    }
}

fn row(key: &str) -> &'static SettingRow {
    find(key).expect("every setting is in the table")
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
        let sentence = format!("neither {variable} nor HOME is set; set HOME to your home folder");
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
        let file = ConfigFile::parse(Path::new("/c/config.toml"), file).checked()?;
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
        let expect = "`--port`: invalid `port`: `x` is not a number from 0 to 65535";
        assert_eq!(said(Some("x"), &[], ""), expect);
        let expect = "`POLY_PORT`: invalid `port`: `65536` is not a number from 0 to 65535";
        assert_eq!(said(None, &[("POLY_PORT", "65536")], ""), expect);
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
        let expect = ":2: invalid `layout.kind`: `round` is not vertical, horizontal or grid";
        assert!(wrong.sentence.ends_with(expect), "{}", wrong.sentence);
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
    fn other_machines_are_served_where_the_user_says_so() {
        let settings = settle(None, &[], "").unwrap();
        assert_eq!((settings.listen, settings.names, settings.tls_files), (None, vec![], None));
        let file = "[server]\nlisten = 'lan'\nnames = ['box', 'box.example:8443']\n\
                    tls_cert = 'cert.pem'\ntls_key = '/k.pem'";
        let settings = settle(None, &[], file).unwrap();
        assert_eq!(settings.listen, Some("lan:7443".parse().unwrap()));
        assert_eq!(settings.names, ["box", "box.example:8443"]);
        let files = TlsFiles { cert: "/c/cert.pem".into(), key: "/k.pem".into() };
        assert_eq!(settings.tls_files, Some(files));
        let settings = settle(None, &[("PANED_LISTEN", "10.0.0.2:1")], file).unwrap();
        assert_eq!(settings.listen, Some("10.0.0.2:1".parse().unwrap()));
        let refused = |file| settle(None, &[], file).unwrap_err().sentence;
        assert!(refused("[server]\ntls_cert = 'c'").contains("belong together"));
        assert!(
            refused("[server]\nlisten = 'all'").contains("`all` is not an address to listen on")
        );
        assert!(refused("host = '0.0.0.0'").contains("`--listen lan` serves other machines"));
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
    fn folders_are_expanded_and_relative_to_their_file() {
        let folder = |env: &[(&str, &str)], file| settle(None, env, file).unwrap().state_dir;
        assert_eq!(folder(&[], "state_dir = '~/foo'"), Path::new("/h/foo"));
        assert_eq!(folder(&[], "state_dir = '~'"), Path::new("/h"));
        assert_eq!(folder(&[], "state_dir = 's/./t'"), Path::new("/c/s/t"));
        assert_eq!(folder(&[], "state_dir = '/a'"), Path::new("/a"));
        assert_eq!(folder(&[("PANED_STATE_DIR", "~/x")], ""), Path::new("/h/x"));
        let here = std::env::current_dir().unwrap();
        assert_eq!(folder(&[("PANED_STATE_DIR", "x")], ""), here.join("x"));
        assert_eq!(folder(&[("PANED_STATE_DIR", "~x")], ""), here.join("~x"));
    }

    #[test]
    fn the_port_of_the_server_around_a_pane_is_no_setting() {
        let url = || Some("http://127.0.0.1:7263");
        assert!(names_own_server("7263", url()));
        assert!(!names_own_server("263", url()));
        assert!(!names_own_server("7263", None));
    }

    #[test]
    fn a_mistake_in_the_file_is_reported_although_a_flag_beats_it() {
        let refusal = settle(Some("1"), &[], "port = 'x'").unwrap_err();
        assert!(refusal.sentence.contains(":1: invalid `port`"), "{}", refusal.sentence);
    }
}
