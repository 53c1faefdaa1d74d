//! Where a tmux server is, and how a control client is started for it. It does not connect.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command as Process};

use super::client::DEADLINE;
use super::error::Error;
use super::ids::SessionId;
use super::own_server::OwnTmux;
use crate::SECRET_VARIABLES;
use crate::trusted_path::{self, TrustedDir, TrustedSocket};

/// The session of our client on a server of our own. Our lists do not show it.
pub(super) const ANCHOR_SESSION: &str = "_paned";
/// Flags of the control client: its size does not count, it gets no output, and tmux never waits
/// for it.
const FLAGS: &str = "ignore-size,no-output,pause-after=1";
/// The oldest tmux with client flags and `run-shell -C`.
const MIN_VERSION: (u32, u32) = (3, 2);
/// A tmux server, running or not.
#[derive(Clone, Debug)]
pub struct TmuxServerAddr {
    program: PathBuf,
    socket: PathBuf,
    kind: TmuxServerKind,
}

#[derive(Clone, Debug)]
enum TmuxServerKind {
    /// Our own.
    Own(OwnTmux),
    /// A foreign server; we attach to this session, or to the one that tmux chooses.
    Foreign(Option<SessionId>),
}

/// The command of a control client, not yet running.
pub(super) struct ControlLaunch {
    process: Process,
    /// Kept open until tmux runs, which starts in its folder.
    _folder: Option<TrustedSocket>,
}

impl ControlLaunch {
    pub(super) fn spawn(mut self) -> io::Result<Child> {
        self.process.spawn()
    }
}

/// Whether a server that does not run may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartPolicy {
    /// Yes, if it is ours.
    IfOwn,
    /// No.
    Never,
}

impl TmuxServerAddr {
    /// A server of our own, with socket and configuration in this folder, which only its owner may
    /// enter. It is started on first use and outlives this process.
    #[must_use]
    pub fn own(folder: &Path) -> Self {
        let kind = TmuxServerKind::Own(OwnTmux::new(folder));
        Self { program: "tmux".into(), socket: folder.join("tmux.sock"), kind }
    }

    /// A server of our own with its socket elsewhere, where other programs may look for it.
    #[must_use]
    pub fn with_socket(mut self, socket: &Path) -> Self {
        if let TmuxServerKind::Own(own) = &mut self.kind {
            own.has_public_socket = true;
            self.socket = socket.to_owned();
        }
        self
    }

    /// A server of our own that loads a file of the user's after our configuration.
    #[must_use]
    pub fn with_user_config(mut self, path: &Path) -> Self {
        if let TmuxServerKind::Own(own) = self.kind {
            self.kind = TmuxServerKind::Own(own.with_user_config(path));
        }
        self
    }

    /// A server of our own whose programs find these variables in their environment.
    #[must_use]
    pub fn with_variables(mut self, variables: Vec<(String, String)>) -> Self {
        if let TmuxServerKind::Own(own) = &mut self.kind {
            own.variables = variables;
        }
        self
    }

    /// A server that we did not start and never start. Layout events come only from the session
    /// that we are attached to.
    #[must_use]
    pub fn foreign(socket: &Path, session: Option<SessionId>) -> Self {
        Self {
            program: "tmux".into(),
            socket: socket.to_owned(),
            kind: TmuxServerKind::Foreign(session),
        }
    }

    /// The same foreign server by whatever session it has; none if this names no session.
    pub(super) fn any_session(&self) -> Option<Self> {
        match self.kind {
            TmuxServerKind::Foreign(Some(_)) => {
                Some(Self { kind: TmuxServerKind::Foreign(None), ..self.clone() })
            }
            TmuxServerKind::Foreign(None) | TmuxServerKind::Own(_) => None,
        }
    }

    /// The server that the variable `TMUX` names: socket, process and session.
    #[must_use]
    pub fn from_variable(value: &str) -> Option<Self> {
        let mut parts = value.rsplitn(3, ',');
        let session = parts.next()?.parse().ok().map(SessionId);
        let _pid = parts.next()?;
        let socket = parts.next().filter(|socket| !socket.is_empty())?;
        Some(Self::foreign(Path::new(socket), session))
    }

    /// The same server, reached with another tmux program.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Where the server listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What is special about a server of our own.
    pub(super) fn own_tmux(&self) -> Option<&OwnTmux> {
        match &self.kind {
            TmuxServerKind::Own(own) => Some(own),
            TmuxServerKind::Foreign(_) => None,
        }
    }

    /// The tmux program.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Whether the server is of our own.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.kind, TmuxServerKind::Own(_))
    }

    /// A control client that is ready to run. A tmux client does what its server says, also run
    /// programs, so it connects only to a server of this user: the socket and every folder above it
    /// belong to us or to root and cannot be replaced by other users, its listener runs as us, and
    /// tmux starts inside the very folder that was checked.
    pub(super) fn launch(&self, start: StartPolicy) -> Result<ControlLaunch, Error> {
        if let Some(own) = self.own_tmux() {
            self.check()?;
            if start == StartPolicy::IfOwn {
                own.prepare(&self.socket)?;
            } else {
                TrustedDir::open_private(self.socket.parent().unwrap_or(Path::new("/")))
                    .map_err(no_server)?;
            }
            let process = self.process(start, self.socket.as_os_str(), Path::new("/"));
            return Ok(ControlLaunch { process, _folder: None });
        }
        let socket = TrustedSocket::find(&self.socket).map_err(no_server)?;
        socket.connect().map_err(no_server)?;
        let process = match socket.folder().descriptor_path() {
            Some(folder) => {
                self.process(start, Path::new(".").join(socket.name()).as_os_str(), &folder)
            }
            // No other user can change the path, so the name is as good as the descriptor.
            None => self.process(start, socket.path().as_os_str(), Path::new("/")),
        };
        Ok(ControlLaunch { process, _folder: Some(socket) })
    }

    /// In its own process group, so that a Ctrl-C for us does not reach it.
    fn process(&self, start: StartPolicy, socket: &OsStr, folder: &Path) -> Process {
        let mut process = Process::new(&self.program);
        process.args(self.arguments(start, socket));
        OwnTmux::clean_environment(&mut process);
        process.current_dir(folder).process_group(0);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        process.kill_on_drop(true);
        process
    }

    fn arguments(&self, start: StartPolicy, socket: &OsStr) -> Vec<OsString> {
        let mut args: Vec<OsString> = ["-u", "-C", "-S"].map(OsString::from).into();
        args.push(socket.to_owned());
        if start == StartPolicy::Never || !self.is_own() {
            args.push("-N".into());
        }
        let words = |args: &mut Vec<OsString>, words: &[&str]| {
            args.extend(words.iter().map(OsString::from))
        };
        match &self.kind {
            TmuxServerKind::Own(own) => {
                words(&mut args, &["-f"]);
                args.push(own.config().into());
                let target = format!("={ANCHOR_SESSION}:");
                words(
                    &mut args,
                    &["new-session", "-A", "-E", "-s", ANCHOR_SESSION, "-n", ANCHOR_SESSION],
                );
                words(&mut args, &["-x", "80", "-y", "24", "-c", "/", "-f", FLAGS, "exit"]);
                // Set before the program can exit, so the pane stays, and costs no process.
                words(&mut args, &[";", "set-option", "-w", "-t", &target, "remain-on-exit", "on"]);
                words(&mut args, &[";", "set-option", "-t", &target, "@paned_anchor", "1"]);
            }
            TmuxServerKind::Foreign(session) => {
                words(&mut args, &["attach-session", "-E", "-f", FLAGS]);
                if let Some(session) = session {
                    words(&mut args, &["-t", &session.to_string()]);
                }
            }
        }
        args
    }

    /// Checks that its tmux program is there and new enough. The server need not run.
    ///
    /// # Errors
    /// When there is none, it is too old, or it does not answer.
    pub async fn check_program(&self) -> Result<(), Error> {
        self.version(DEADLINE).await.map(drop)
    }

    /// Asks tmux for its version.
    pub(super) async fn version(&self, limit: Duration) -> Result<String, Error> {
        let mut process = Process::new(&self.program);
        for name in SECRET_VARIABLES {
            process.env_remove(name);
        }
        let run = process
            .arg("-V")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(limit, run).await.map_err(|_| Error::Timeout(limit))?;
        let missing = || Error::TmuxNotFound(self.program.display().to_string());
        let output = output.map_err(|error| Error::spawn_failed(&self.program, &error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.trim().strip_prefix("tmux ").ok_or_else(missing)?;
        if is_new_enough(version) {
            Ok(version.to_owned())
        } else {
            Err(Error::TooOld(version.to_owned()))
        }
    }

    /// The command with which a user attaches to it.
    #[must_use]
    pub fn attach_command(&self, session: SessionId) -> Vec<OsString> {
        let socket = OsString::from(self.socket.as_os_str());
        let mut args = vec![self.program.clone().into(), "-S".into(), socket];
        args.extend(["attach-session".into(), "-t".into(), session.to_string().into()]);
        args
    }

    /// Checks that the socket's path is short enough for the system.
    fn check(&self) -> Result<(), Error> {
        // The smallest limit of the systems we know, with its final NUL.
        if self.socket.as_os_str().as_bytes().len() < 104 {
            return Ok(());
        }
        Err(Error::NoServer(format!("the path {} is too long for a socket", self.socket.display())))
    }
}

/// The version of the tmux on the `PATH`, such as `3.3a`.
///
/// # Errors
/// When there is none, it is too old, or it does not answer.
pub async fn installed_version() -> Result<String, Error> {
    // The folder does not matter: nothing is connected to.
    TmuxServerAddr::own(Path::new("/")).version(DEADLINE).await
}

fn no_server(error: trusted_path::Error) -> Error {
    Error::NoServer(error.to_string())
}

/// `3.3a`, `next-3.6`, `openbsd-7.4`, `master`: development versions are new.
fn is_new_enough(version: &str) -> bool {
    let number = version.strip_prefix("next-").unwrap_or(version);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let mut parts =
        number.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    MIN_VERSION <= (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_told_from_new_ones() {
        for new in ["3.2", "3.2a", "3.3a", "3.10", "4.0", "next-3.6", "master", "openbsd-7.4"] {
            assert!(is_new_enough(new), "{new}");
        }
        for old in ["3.1c", "2.9", "1.8", "next-3.1", "3"] {
            assert!(!is_new_enough(old), "{old}");
        }
    }

    #[test]
    fn a_variable_names_a_place() {
        let addr = TmuxServerAddr::from_variable("/tmp/a,b/default,12,3").unwrap();
        assert_eq!(addr.socket(), Path::new("/tmp/a,b/default"));
        assert!(matches!(addr.kind, TmuxServerKind::Foreign(Some(SessionId(3)))));
        for wrong in ["", "x", ",1,2", "a,b"] {
            assert!(TmuxServerAddr::from_variable(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_foreign_server_is_never_started() {
        let addr = TmuxServerAddr::foreign(Path::new("/x"), None);
        assert!(addr.arguments(StartPolicy::IfOwn, OsStr::new("x")).contains(&"-N".into()));
    }

    #[test]
    fn a_socket_that_cannot_be_is_refused() {
        assert!(TmuxServerAddr::own(Path::new("/x")).check().is_ok());
        assert!(TmuxServerAddr::own(Path::new(&"/long".repeat(30))).check().is_err());
    }
}
