//! Settings for the protocols of other tools, under our names or theirs.

use std::path::PathBuf;
use std::time::Duration;

use paned_compat::{AgentmuxConfig, AgentmuxPermissions, CompatProtocol};
use paned_model::Refusal;
use paned_server::Secret;

use super::{Sources, kind};

/// How long an agent of agentmux may take to accept a prompt, in addition to its start-up delay.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters that a shell interprets.
const SHELL_METACHARACTERS: &[char] = &[
    '\'', '"', '\\', '$', '`', ';', '&', '|', '<', '>', '(', ')', '{', '}', '[', ']', '*', '?',
    '~', '#', '!', '\n',
];

/// Settings for the protocols of other tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompatSettings {
    /// Listeners with a port of their own, each written as after `--compat`.
    pub(crate) listeners: Vec<String>,
    /// The secret that clients of agentmux must send at its own port, if one is set.
    pub(crate) secret: Option<Secret>,
    /// How the agentmux protocol is served.
    pub(crate) agentmux: AgentmuxConfig,
    /// The file that the log is also written to while agentmux's protocol has a port of its own.
    pub(crate) log_file: Option<PathBuf>,
    /// Variables of other tools that name an address, while nothing switches their listener on;
    /// each with its protocol.
    pub(crate) unused_variables: Vec<(&'static str, CompatProtocol)>,
}

impl Sources<'_> {
    /// Resolves these settings.
    pub(super) fn compat(&self) -> Result<CompatSettings, Refusal> {
        let listeners = [self.opencode_pty()?, self.agentmux()?, self.agentapi()?, self.poly()?];
        let secret = self.pick("compat.agentmux_token")?.0;
        Ok(CompatSettings {
            listeners: listeners.into_iter().flatten().collect(),
            secret: (!secret.is_empty()).then_some(Secret(secret)),
            agentmux: self.agentmux_rules()?,
            log_file: self.optional_path("compat.agentmux_log_file")?,
            unused_variables: self.unused_variables()?,
        })
    }

    /// Variables that the log warns about: one left over from another tool opens no port by itself.
    fn unused_variables(&self) -> Result<Vec<(&'static str, CompatProtocol)>, Refusal> {
        let is_set = |(name, _): &(&'static str, CompatProtocol)| (self.env)(name).is_some();
        let mut found = Vec::new();
        if self.opencode_pty()?.is_none() {
            found.push(("PTY_WEB_PORT", CompatProtocol::OpencodePty));
        }
        if self.agentmux()?.is_none() {
            found.extend([
                ("AGENTMUX_PORT", CompatProtocol::Agentmux),
                ("AGENTMUX_HOST", CompatProtocol::Agentmux),
                ("AGENTMUX_TOKEN", CompatProtocol::Agentmux),
                ("AGENTMUX_LOG_FILE", CompatProtocol::Agentmux),
            ]);
        }
        found.retain(is_set);
        Ok(found)
    }

    /// The listener for opencode-pty: at an address of ours, or where the tool's own variables say
    /// once it is switched on. Its clients send no token, so every program on this machine is
    /// accepted, and a warning is logged.
    fn opencode_pty(&self) -> Result<Option<String>, Refusal> {
        let (address, _) = self.pick("compat.opencode_pty")?;
        if !address.is_empty() {
            return Ok(Some(format!("opencode-pty={address}")));
        }
        let port = "compat.opencode_pty_port";
        if !self.boolean("compat.opencode_pty_serve")? && !self.is_configured(port) {
            return Ok(None);
        }
        if self.pick(port)?.0.is_empty() {
            return Err(Refusal::invalid(
                "the listener for opencode-pty has no port: set PTY_WEB_PORT, or pass `--compat \
                opencode-pty=127.0.0.1:7264,open`",
            ));
        }
        let address = self.address("compat.opencode_pty_host", "compat.opencode_pty_port")?;
        Ok(Some(format!("opencode-pty={address},open")))
    }

    /// The listener for agentmux, once it is switched on. Its own variables mean what they mean for
    /// agentmux: without a token every program on this machine is accepted, and a warning is
    /// logged.
    fn agentmux(&self) -> Result<Option<String>, Refusal> {
        let (address, _) = self.pick("compat.agentmux")?;
        if !address.is_empty() {
            return Ok(Some(format!("agentmux={address}")));
        }
        let is_asked_for = self.boolean("compat.agentmux_serve")?
            || self.is_configured("compat.agentmux_host")
            || self.is_configured("compat.agentmux_port");
        if !is_asked_for {
            return Ok(None);
        }
        let address = self.address("compat.agentmux_host", "compat.agentmux_port")?;
        Ok(Some(format!("agentmux={address},open")))
    }

    /// Whether a flag or our own file sets it: variables and files of other tools may be left over.
    fn is_configured(&self, key: &'static str) -> bool {
        self.flags.contains_key(key) || self.file.get(key).is_some()
    }

    fn agentapi(&self) -> Result<Option<String>, Refusal> {
        let (address, _) = self.pick("compat.agentapi")?;
        Ok((!address.is_empty()).then(|| format!("agentapi={address}")))
    }

    /// The listener for Poly: at an address of ours, or where Poly's own variables say once it is
    /// switched on.
    fn poly(&self) -> Result<Option<String>, Refusal> {
        let (address, _) = self.pick("compat.poly")?;
        if !address.is_empty() {
            return Ok(Some(format!("poly={address}")));
        }
        if !self.boolean("compat.poly_serve")? {
            return Ok(None);
        }
        let address = self.address("compat.poly_host", "compat.poly_port")?;
        Ok(Some(format!("poly={address},open")))
    }

    /// Whether there is a listener for Poly: then Poly's variables are about that one, and not
    /// about our own port.
    pub(super) fn serves_poly(&self) -> Result<bool, Refusal> {
        self.poly().map(|listener| listener.is_some())
    }

    fn address(&self, host: &'static str, port: &'static str) -> Result<String, Refusal> {
        let port = self.valid(port)?;
        let host = match self.pick(host)?.0 {
            host if host == "localhost" => "127.0.0.1".to_owned(),
            host if host.contains(':') => format!("[{host}]"),
            host => host,
        };
        Ok(format!("{host}:{port}"))
    }

    fn agentmux_rules(&self) -> Result<AgentmuxConfig, Refusal> {
        let text = |key| Ok::<_, Refusal>(self.pick(key)?.0);
        let workdir = self.optional_path("compat.agentmux_workdir")?;
        Ok(AgentmuxConfig {
            agent: text("compat.agentmux_agent")?,
            prefix: text("compat.agentmux_session")?,
            workdir: workdir.map(|folder| folder.to_string_lossy().into_owned()),
            argv: command(&text("compat.agentmux_command")?),
            ready_timeout: READY_TIMEOUT + self.delay()?,
            one_at_a_time: self.boolean("compat.agentmux_one_at_a_time")?,
            any_target: self.boolean("compat.agentmux_any_target")?,
            permissions: match self.valid("compat.agentmux_permissions")?.as_str() {
                "ask" => AgentmuxPermissions::Ask,
                "auto" => AgentmuxPermissions::Auto,
                _ => AgentmuxPermissions::AsAgentmux,
            },
        })
    }

    /// A path, where one is set.
    fn optional_path(&self, key: &'static str) -> Result<Option<PathBuf>, Refusal> {
        let is_set = !self.pick(key)?.0.is_empty();
        is_set.then(|| self.path(key)).transpose()
    }

    /// agentmux slept this long before it looked at an agent; we extend the time-out by it.
    fn delay(&self) -> Result<Duration, Refusal> {
        let text = self.valid("compat.agentmux_startup_delay")?;
        Ok(Duration::from_secs_f64(kind::seconds(&text).unwrap_or_default()))
    }

    pub(super) fn boolean(&self, key: &'static str) -> Result<bool, Refusal> {
        Ok(kind::boolean(&self.valid(key)?).unwrap_or_default())
    }
}

/// A command as a list of arguments: from a list, or from a string, which goes to a shell unless it
/// is simple.
fn command(text: &str) -> Option<Vec<String>> {
    let own = |words: &mut dyn Iterator<Item = &str>| words.map(str::to_owned).collect();
    let sets_a_variable = text.split_whitespace().next().is_some_and(|word| word.contains('='));
    match text {
        text if text.trim().is_empty() => None,
        text if text.contains('\n') => Some(own(&mut text.lines())),
        text if text.contains(SHELL_METACHARACTERS) || sets_a_variable => {
            Some(["/bin/sh", "-c", text].map(str::to_owned).into())
        }
        text => Some(own(&mut text.split_whitespace())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use super::*;

    fn compat(env: &[(&str, &str)], file: &str) -> CompatSettings {
        settle(None, env, file).unwrap().compat
    }

    #[test]
    fn the_listener_of_opencode_pty_is_where_its_clients_look() {
        let on = "[compat]\nopencode_pty_serve = true";
        let listener = |env: &[(&str, &str)]| compat(env, on).listeners.pop();
        let (port, host) = (("PTY_WEB_PORT", "81"), ("PTY_WEB_HOSTNAME", "127.0.0.1"));
        assert!(settle(None, &[host], on).unwrap_err().sentence.contains("PTY_WEB_PORT"));
        assert_eq!(compat(&[port, host], "").listeners, [""; 0], "left over");
        assert_eq!(
            compat(&[port, host], "").unused_variables,
            [("PTY_WEB_PORT", CompatProtocol::OpencodePty)]
        );
        assert_eq!(compat(&[port], on).unused_variables, []);
        let file = "[compat]\nopencode_pty_port = 82";
        let listeners = compat(&[host], file).listeners;
        assert_eq!(listeners, ["opencode-pty=127.0.0.1:82,open"]);
        assert_eq!(listener(&[port]).as_deref(), Some("opencode-pty=[::1]:81,open"));
        assert_eq!(listener(&[port, host]).as_deref(), Some("opencode-pty=127.0.0.1:81,open"));
        let ours = ("PANED_COMPAT_OPENCODE_PTY", "[::1]:9,open");
        assert_eq!(listener(&[port, ours]).as_deref(), Some("opencode-pty=[::1]:9,open"));
    }

    #[test]
    fn the_listener_of_agentmux_is_where_its_clients_look() {
        let on = "[compat]\nagentmux_serve = true";
        let listener = |env: &[(&str, &str)]| compat(env, on).listeners.pop();
        let (port, host) = (("AGENTMUX_PORT", "81"), ("AGENTMUX_HOST", "localhost"));
        let left = compat(&[port, host, ("AGENTMUX_TOKEN", "x")], "");
        assert_eq!(left.listeners, [""; 0], "left over");
        assert_eq!(left.unused_variables.len(), 3);
        assert_eq!(listener(&[port]).as_deref(), Some("agentmux=127.0.0.1:81,open"));
        assert_eq!(listener(&[host]).as_deref(), Some("agentmux=127.0.0.1:8765,open"));
        let served = compat(&[], "[compat]\nagentmux_serve = true").listeners;
        assert_eq!(served, ["agentmux=127.0.0.1:8765,open"]);
        let ours = ("PANED_COMPAT_AGENTMUX", "[::1]:9");
        assert_eq!(listener(&[port, ours]).as_deref(), Some("agentmux=[::1]:9"));
    }

    #[test]
    fn the_variables_of_poly_name_one_listener() {
        let own = ("POLY_PORT", "81");
        let settings = settle(None, &[own], "").unwrap();
        assert_eq!((settings.port, settings.compat.listeners.len()), (81, 0));
        let on = "port = 82\n[compat]\npoly_serve = true";
        let settings = settle(None, &[own, ("POLY_HOSTNAME", "::1")], on).unwrap();
        assert_eq!((settings.port, settings.host), (82, None));
        assert_eq!(settings.compat.listeners, ["poly=[::1]:81,open"]);
        let settings = settle(None, &[], "[compat]\npoly_serve = true").unwrap();
        assert_eq!(settings.compat.listeners, ["poly=127.0.0.1:4096,open"]);
        let ours = ("PANED_COMPAT_POLY", "127.0.0.1:81");
        let settings = settle(None, &[own, ours, ("PANED_PORT", "83")], "").unwrap();
        assert_eq!(settings.port, 83);
        assert_eq!(settings.compat.listeners, ["poly=127.0.0.1:81"]);
    }

    #[test]
    fn agentmuxs_own_names_count() {
        let env = [
            ("AGENTMUX_TOKEN", "s"),
            ("AGENTMUX_AGENT", "codex"),
            ("AGENTMUX_SESSION", "work"),
            ("AGENTMUX_WORKDIR", "~/src"),
            ("AGENTMUX_REPL_CMD", "codex --model=x"),
            ("AGENTMUX_STARTUP_DELAY", "1.5"),
            ("AGENTMUX_ALLOW_EXTERNAL_TARGET", "Yes"),
            ("AGENTMUX_LOG_FILE", "~/mux.log"),
        ];
        let compat =
            compat(&env, "[compat]\nagentmux_one_at_a_time = true\nagentmux_permissions = 'auto'");
        assert_eq!(compat.log_file, Some(PathBuf::from("/h/mux.log")));
        assert_eq!(compat.secret, Some(Secret("s".to_owned())));
        let expect = AgentmuxConfig {
            agent: "codex".to_owned(),
            prefix: "work".to_owned(),
            workdir: Some("/h/src".to_owned()),
            argv: Some(vec!["codex".to_owned(), "--model=x".to_owned()]),
            ready_timeout: Duration::from_millis(31_500),
            one_at_a_time: true,
            any_target: true,
            permissions: AgentmuxPermissions::Auto,
        };
        assert_eq!(compat.agentmux, expect);
        assert!(!format!("{compat:?}").contains("\"s\""));
    }

    #[test]
    fn without_a_word_it_is_as_it_always_was() {
        assert_eq!(compat(&[], ""), CompatSettings::default());
        assert_eq!(compat(&[("AGENTMUX_STARTUP_DELAY", "-1")], ""), CompatSettings::default());
        assert!(settle(None, &[("AGENTMUX_STARTUP_DELAY", "x")], "").is_err());
        assert!(settle(None, &[], "[compat]\nagentmux_permissions = 'never'").is_err());
        assert!(settle(None, &[("AGENTMUX_ALLOW_EXTERNAL_TARGET", "x")], "").is_err());
    }

    #[track_caller]
    fn check(text: &str, words: Option<&[&str]>) {
        let words = words.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(command(text), words, "{text}");
    }

    #[test]
    fn a_command_that_a_shell_must_read_goes_to_one() {
        check("", None);
        check(" ", None);
        check("claude --x", Some(&["claude", "--x"]));
        check("claude\n--a b", Some(&["claude", "--a b"]));
        check("A=1 claude", Some(&["/bin/sh", "-c", "A=1 claude"]));
        check("claude 'a b'", Some(&["/bin/sh", "-c", "claude 'a b'"]));
        check("cd x && claude", Some(&["/bin/sh", "-c", "cd x && claude"]));
    }
}
