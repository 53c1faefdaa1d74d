//! The table of settings: key, kind, default, variables and a sentence.
//!
//! The sample file, `docs/configuration.md`, `paned config show` and the errors about a value are
//! made from it.

use super::kind::SettingKind;
use super::permissions::DECISIONS;

/// One setting.
pub(crate) struct SettingRow {
    /// Its key in `config.toml`, with the section.
    pub(crate) key: &'static str,
    pub(super) default: SettingDefault,
    /// What it does. Shown in the sample and in the documentation.
    pub(crate) about: &'static str,
    pub(crate) kind: SettingKind,
    /// Its variables, the first that is set counts.
    pub(crate) env: &'static [&'static str],
    /// The flag of `paned serve` or of every command.
    pub(crate) flag: Option<&'static str>,
    pub(crate) is_secret: bool,
}

#[derive(Clone, Copy)]
pub(super) enum SettingDefault {
    Text(&'static str),
    /// The state folder below the user's home or XDG folder.
    StateFolder,
    /// The same, for profiles of agents.
    ProfilesFolder,
    /// The same, for extensions.
    ExtensionsFolder,
}

impl SettingRow {
    const fn kind(self, kind: SettingKind) -> Self {
        Self { kind, ..self }
    }

    const fn number(self, low: u64, high: u64) -> Self {
        self.kind(SettingKind::Number { low, high })
    }

    const fn env(self, env: &'static [&'static str]) -> Self {
        Self { env, ..self }
    }

    const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }

    const fn below(self, default: SettingDefault) -> Self {
        Self { default, kind: SettingKind::Folder, ..self }
    }

    const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// The default as it is written in the documentation.
    pub(crate) fn default_text(&self) -> &'static str {
        match self.default {
            SettingDefault::Text(text) => text,
            SettingDefault::StateFolder => "~/.local/state/paned",
            SettingDefault::ProfilesFolder => "~/.config/paned/profiles",
            SettingDefault::ExtensionsFolder => "~/.local/share/paned/extensions",
        }
    }
}

const fn row(key: &'static str, default: &'static str, about: &'static str) -> SettingRow {
    SettingRow {
        key,
        default: SettingDefault::Text(default),
        about,
        kind: SettingKind::Text,
        env: &[],
        flag: None,
        is_secret: false,
    }
}

/// The layouts that `layout.kind` can name.
pub(super) const LAYOUTS: &[&str] = &["vertical", "horizontal", "grid"];

/// The permissions that `compat.agentmux_permissions` can name.
const PERMISSIONS: &[&str] = &["agentmux", "ask", "auto"];

/// Every setting, in the order of the documentation.
pub(crate) const TABLE: &[SettingRow] = &[
    row("port", "7263", "TCP port of the server; 0 chooses a free one, which a restart keeps")
        .number(0, 65535)
        .env(&["PANED_PORT", "POLY_PORT"])
        .flag("--port"),
    row("host", "localhost", "Address of the server: 127.0.0.1, ::1 or localhost, which is both")
        .kind(SettingKind::Loopback)
        .env(&["PANED_HOST", "POLY_HOSTNAME"])
        .flag("--host"),
    row("state_dir", "", "State folder of the server: panes, journal, tapes, logs")
        .below(SettingDefault::StateFolder)
        .env(&["PANED_STATE_DIR"])
        .flag("--state-dir"),
    row("profiles_dir", "", "Folder with your own agent profiles")
        .below(SettingDefault::ProfilesFolder)
        .env(&["PANED_PROFILES_DIR"]),
    row("extensions_dir", "", "Folder with your extensions, one folder each")
        .below(SettingDefault::ExtensionsFolder)
        .env(&["PANED_EXTENSIONS_DIR", "POLY_EXTENSIONS_DIR"])
        .flag("--extensions-dir"),
    row(
        "autostart",
        "true",
        "Whether `new`, `run`, `agent new`, `session start`, `ext install` and `ext new` start the \
         server if none is running; PANED_NO_AUTOSTART=1 also turns it off",
    )
    .kind(SettingKind::Boolean),
    row(
        "server.listen",
        "",
        "Address at which other machines reach the server, with TLS and a token: `lan` for the local \
         network, or ADDRESS[:PORT]; the port is 7443 unless named",
    )
    .kind(SettingKind::Listen)
    .env(&["PANED_LISTEN"])
    .flag("--listen"),
    row(
        "server.names",
        "",
        "Names by which clients may call the server besides its addresses, such as that of a reverse \
         proxy: HOST or HOST:PORT",
    )
    .kind(SettingKind::Names)
    .flag("--name"),
    row(
        "server.tls_cert",
        "",
        "Your own certificate for `listen`, with its chain, as PEM; paned makes one if there is none",
    )
    .kind(SettingKind::File)
    .flag("--tls-cert"),
    row("server.tls_key", "", "The key of your own certificate, as PEM")
        .kind(SettingKind::File)
        .flag("--tls-key"),
    row("limits.panes", "1000", "Maximum number of running panes")
        .number(1, 100_000)
        .env(&["PANED_MAX_PANES"]),
    row("limits.agents", "50", "Maximum number of running agents")
        .number(1, 100_000)
        .env(&["PANED_MAX_AGENTS"]),
    row(
        "limits.agent_depth",
        "3",
        "How deep agents may start agents: with 1, only those that a person started; with 0, none",
    )
    .number(0, 60)
    .env(&["PANED_AGENT_DEPTH"]),
    row(
        "limits.agents_per_agent",
        "10",
        "Maximum number of running agents that one agent has started, itself or through others",
    )
    .number(0, 100_000)
    .env(&["PANED_AGENTS_PER_AGENT"]),
    row("limits.tape_bytes", "16777216", "Bytes of output kept for each pane")
        .number(4096, 1 << 40)
        .env(&["PANED_TAPE_BYTES", "PTY_MAX_BUFFER_SIZE"]),
    row(
        "limits.lines",
        "0",
        "Lines of output kept for each pane, of those that fit into `tape_bytes`; 0 keeps them all",
    )
    .number(0, u32::MAX as u64)
    .env(&["PANED_MAX_LINES", "PTY_MAX_BUFFER_LINES"]),
    row("limits.meta_bytes", "65536", "Maximum bytes of metadata of each pane")
        .number(2, 1 << 20)
        .env(&["PANED_META_BYTES"]),
    row(
        "limits.grace_ms",
        "3000",
        "Milliseconds between SIGTERM and SIGKILL when a pane is killed",
    )
    .number(0, 600_000)
    .env(&["PANED_GRACE_MS"]),
    row(
        "limits.hook_ms",
        "5000",
        "Milliseconds that an event handler may take before the server continues without it",
    )
    .number(1, 600_000)
    .env(&["PANED_EVENT_HANDLER_TIMEOUT_MS", "POLY_EVENT_HANDLER_TIMEOUT_MS"]),
    row("limits.events_kept", "200000", "Events that the journal keeps")
        .number(1000, 1 << 40)
        .env(&["PANED_EVENTS_KEPT"]),
    row("limits.events_per_second", "200", "Events that one client may emit per second")
        .number(1, 1_000_000)
        .env(&["PANED_EVENTS_PER_SECOND"]),
    row("limits.streams_per_grant", "64", "Maximum number of open streams per token")
        .number(1, 512)
        .env(&["PANED_STREAMS_PER_GRANT"]),
    row("limits.journal_bytes", "268435456", "Maximum size of the journal on disk, in bytes")
        .number(1 << 20, 1 << 40)
        .env(&["PANED_JOURNAL_BYTES"]),
    row(
        "approvals.actions",
        "",
        "Actions that wait for the approval of a person unless you call them yourself, such as \
         [\"pane:remove\", \"session:*\"]",
    )
    .kind(SettingKind::Actions),
    row("approvals.expire_seconds", "1800", "Seconds in which an approval can be answered; then it is denied")
        .number(10, 604_800)
        .env(&["PANED_APPROVAL_EXPIRE_SECONDS"]),
    row(
        "approvals.wait_seconds",
        "240",
        "Seconds that a request waits for an approval before it is answered that there is none yet",
    )
    .number(1, 86_400)
    .env(&["PANED_APPROVAL_WAIT_SECONDS"]),
    row("extensions.enabled", "true", "Whether the server runs extensions")
        .kind(SettingKind::Boolean)
        .env(&["PANED_EXTENSIONS"]),
    row(
        "extensions.node",
        "",
        "Program that runs extensions in TypeScript and JavaScript: the path of Node 20 or newer, or \
         of Bun; default: the one on PATH",
    )
    .kind(SettingKind::Folder)
    .env(&["PANED_NODE"]),
    row("tmux.enabled", "true", "Whether panes can be shown in tmux")
        .kind(SettingKind::Boolean)
        .env(&["PANED_TMUX"]),
    row("tmux.session", "main", "Name of the session that is meant where a request names none")
        .kind(SettingKind::Session)
        .env(&["PANED_SESSION_NAME", "POLY_SESSION_NAME"]),
    row(
        "tmux.socket",
        "",
        "Socket of paned's tmux server: a name, as after `tmux -L`, or an absolute path; default: a \
         socket in the state folder",
    )
    .kind(SettingKind::TmuxSocket)
    .env(&["PANED_TMUX_SOCKET", "POLY_TMUX_SOCKET"]),
    row(
        "tmux.config",
        "",
        "Configuration file of paned's tmux server, such as one with your own prefix key; it is \
         loaded after paned's own and must not be writable by other users",
    )
    .kind(SettingKind::File)
    .env(&["PANED_TMUX_CONFIG", "POLY_TMUX_CONFIG"]),
    row("layout.kind", "vertical", "How panes are arranged in a tmux window")
        .kind(SettingKind::Choice(LAYOUTS))
        .env(&["PANED_LAYOUT"]),
    row("layout.main_pane_size", "60", "Percent of the window for the main pane")
        .number(20, 80)
        .env(&["PANED_MAIN_PANE_SIZE"]),
    row("layout.main_pane_min_width", "100", "Minimum width of the main pane, in columns")
        .number(40, 1000)
        .env(&["PANED_MAIN_PANE_MIN_WIDTH"]),
    row("layout.agent_pane_min_width", "52", "Minimum width of the other panes, in columns")
        .number(20, 1000)
        .env(&["PANED_AGENT_PANE_MIN_WIDTH"]),
    row("layout.min_height", "11", "Minimum height of a pane, in rows")
        .number(3, 1000)
        .env(&["PANED_MIN_HEIGHT"]),
    row("layout.waiting", "20", "Maximum number of panes that wait for space in a window")
        .number(0, 1000)
        .env(&["PANED_LAYOUT_WAITING"]),
    row("layout.patience_seconds", "300", "Seconds after which a pane no longer waits for space")
        .number(1, 86_400)
        .env(&["PANED_LAYOUT_PATIENCE_SECONDS"]),
    row(
        "layout.replace_quiet_seconds",
        "0",
        "Seconds without output after which an agent's pane may replace one whose state is not \
         known; 0 is never",
    )
    .number(0, 86_400)
    .env(&["PANED_LAYOUT_REPLACE_QUIET_SECONDS"]),
    row(
        "subagent.command",
        "opencode attach {url} --session {id}",
        "Command that shows a subagent; `{url}` and `{id}` are replaced",
    )
    .kind(SettingKind::Command)
    .env(&["PANED_SUBAGENT_COMMAND"]),
    row(
        "interactive.visible",
        "",
        "Commands that need a terminal that the user can see, such as [\"psql\", \"ssh -t\"]",
    )
    .kind(SettingKind::Commands),
    row(
        "interactive.plain",
        "",
        "Commands that do not need one, although paned considers them interactive",
    )
    .kind(SettingKind::Commands),
    row(
        "permissions.deny",
        "",
        "Commands that may not be started, such as [\"rm -rf\", \"git push --force\"]; they take precedence over all other rules",
    )
    .kind(SettingKind::Commands),
    row(
        "permissions.ask",
        "",
        "Commands that a person is asked about first; they take precedence over those that are allowed",
    )
    .kind(SettingKind::Commands),
    row(
        "permissions.allow",
        "",
        "Commands that may be started, such as [\"git status*\", \"npm test *\"]; a `*` stands for any arguments",
    )
    .kind(SettingKind::Commands),
    row(
        "permissions.agents",
        "ask",
        "What is done about a command that no rule matches, if an agent starts it",
    )
    .kind(SettingKind::Choice(DECISIONS))
    .env(&["PANED_PERMISSIONS_AGENTS"]),
    row("permissions.cli", "allow", "The same for commands that you start yourself")
        .kind(SettingKind::Choice(DECISIONS)),
    row("permissions.tokens", "allow", "The same for other tokens, and for extensions")
        .kind(SettingKind::Choice(DECISIONS)),
    row(
        "permissions.opencode_files",
        "true",
        "Whether OpenCode's own permissions apply to what clients of opencode-pty start: `permission.bash` \
         and `permission.external_directory` in opencode.json",
    )
    .kind(SettingKind::Boolean),
    row(
        "compat.opencode_pty",
        "",
        "Listener for clients of opencode-pty: ADDRESS:PORT, with `,open` for clients without a \
         token",
    )
    .kind(SettingKind::Listener("opencode-pty"))
    .env(&["PANED_COMPAT_OPENCODE_PTY"])
    .flag("--compat"),
    row(
        "compat.opencode_pty_serve",
        "false",
        "Whether to listen for clients of opencode-pty at the two settings below, open to every \
         program of this machine",
    )
    .kind(SettingKind::Boolean)
    .flag("--compat"),
    row("compat.opencode_pty_host", "::1", "Address of that listener").env(&["PTY_WEB_HOSTNAME"]),
    row("compat.opencode_pty_port", "", "Port of that listener")
        .kind(SettingKind::OptionalPort)
        .env(&["PTY_WEB_PORT"]),
    row(
        "compat.agentapi",
        "",
        "Listener for clients of agentapi: ADDRESS:PORT, with `,open` for clients without a \
         token and `,pane=NAME` for one agent",
    )
    .kind(SettingKind::Listener("agentapi"))
    .env(&["PANED_COMPAT_AGENTAPI"])
    .flag("--compat"),
    row(
        "compat.poly",
        "",
        "Listener for clients of Poly: ADDRESS:PORT, with `,open` for clients without a token",
    )
    .kind(SettingKind::Listener("poly"))
    .env(&["PANED_COMPAT_POLY"])
    .flag("--compat"),
    row(
        "compat.poly_serve",
        "false",
        "Whether to listen for clients of Poly at the two settings below, open to every program of \
         this machine; their variables then no longer set `port` and `host`",
    )
    .kind(SettingKind::Boolean)
    .flag("--compat"),
    row("compat.poly_host", "127.0.0.1", "Address of that listener").env(&["POLY_HOSTNAME"]),
    row("compat.poly_port", "4096", "Port of that listener")
        .number(0, 65535)
        .env(&["POLY_PORT"]),
    row(
        "compat.agentmux",
        "",
        "Listener for clients of agentmux: ADDRESS:PORT, with `,open` for clients without a \
         token",
    )
    .kind(SettingKind::Listener("agentmux"))
    .env(&["PANED_COMPAT_AGENTMUX"])
    .flag("--compat"),
    row(
        "compat.agentmux_serve",
        "false",
        "Whether to listen for clients of agentmux at the two settings below, as \
         `paned agentmux serve` does",
    )
    .kind(SettingKind::Boolean)
    .flag("--compat"),
    row("compat.agentmux_host", "127.0.0.1", "Address of that listener").env(&["AGENTMUX_HOST"]),
    row("compat.agentmux_port", "8765", "Port of that listener")
        .number(0, 65535)
        .env(&["AGENTMUX_PORT"]),
    row("compat.agentmux_token", "", "Token that clients of agentmux must send; default: none")
        .env(&["AGENTMUX_TOKEN"])
        .secret(),
    row("compat.agentmux_agent", "claude", "Agent that agentmux's sessions run")
        .env(&["AGENTMUX_AGENT"]),
    row("compat.agentmux_session", "agentmux", "Prefix for the names of agentmux's sessions")
        .env(&["AGENTMUX_SESSION"]),
    row(
        "compat.agentmux_workdir",
        "",
        "Working directory of agentmux's sessions; default: your home folder",
    )
    .kind(SettingKind::Folder)
    .env(&["AGENTMUX_WORKDIR"]),
    row("compat.agentmux_command", "", "Command of agentmux's sessions; default: the command of the profile")
        .kind(SettingKind::Command)
        .env(&["AGENTMUX_REPL_CMD"]),
    row(
        "compat.agentmux_permissions",
        "agentmux",
        "Whether agentmux's agents ask before they act; agentmux: claude in your own mode, codex in \
         a sandbox around its folder, outside of which it asks",
    )
    .kind(SettingKind::Choice(PERMISSIONS))
    .env(&["PANED_AGENTMUX_PERMISSIONS"]),
    row(
        "compat.agentmux_log_file",
        "",
        "File that the server's log and each request of agentmux's clients are also written to",
    )
    .kind(SettingKind::File)
    .env(&["AGENTMUX_LOG_FILE"]),
    row(
        "compat.agentmux_startup_delay",
        "",
        "Seconds added to the 30 s that an agent of agentmux may take to get ready",
    )
    .kind(SettingKind::Seconds)
    .env(&["AGENTMUX_STARTUP_DELAY"]),
    row(
        "compat.agentmux_any_target",
        "false",
        "Whether clients of agentmux may use panes that agentmux did not start",
    )
    .kind(SettingKind::Boolean)
    .env(&["AGENTMUX_ALLOW_EXTERNAL_TARGET"]),
    row(
        "compat.agentmux_one_at_a_time",
        "false",
        "Whether agentmux's /run answers 409 while another session is busy",
    )
    .kind(SettingKind::Boolean)
    .env(&["PANED_AGENTMUX_ONE_AT_A_TIME"]),
];

/// Every key that `config.toml` may hold.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.key)
}

/// The row of a key.
pub(crate) fn find(key: &str) -> Option<&'static SettingRow> {
    TABLE.iter().find(|row| row.key == key)
}

/// Variables that are no setting of the file, with what each does.
pub(crate) const OTHER_VARIABLES: &[(&str, &str)] = &[
    ("PANED_CONFIG", "Path of the configuration file; `--config` takes precedence"),
    ("PANED_SOCKET", "Unix socket of the server to connect to, like `--socket`"),
    ("PANED_URL", "Address of the server to connect to, like `--url`"),
    ("PANED_TOKEN", "Token for PANED_URL or `--url`"),
    ("PANED_NO_AUTOSTART", "`1`: commands do not start the server"),
    ("PANED_LOG", "Log level of the server: error, warn, info, debug or trace"),
    (
        "PANED_RUNTIME_DIR",
        "Folder for the unix sockets of panes, if the path of the default one is too long",
    ),
    ("PANED_PANE", "Set in each pane: its id"),
    ("NO_COLOR", "If not empty: no colour"),
    ("VISUAL", "Editor for `paned config edit`; otherwise EDITOR, otherwise vi"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_has_two_rows() {
        let unique: std::collections::BTreeSet<_> = keys().collect();
        assert_eq!(unique.len(), TABLE.len());
    }

    #[test]
    fn every_default_is_valid() {
        for row in TABLE {
            let text = row.default_text();
            assert_eq!(row.kind.check(text), Ok(()), "{}", row.key);
        }
    }

    #[test]
    fn every_sentence_is_one_line_without_a_full_stop() {
        let others = OTHER_VARIABLES.iter().map(|(_, about)| *about);
        for about in TABLE.iter().map(|row| row.about).chain(others) {
            assert!(!about.is_empty() && !about.contains('\n') && !about.ends_with('.'), "{about}");
        }
    }
}
