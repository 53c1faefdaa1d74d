//! A tmux server of our own: its files, what it is configured with, and what its programs find in
//! their environment.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command as Process;

use super::error::Error;
use crate::SECRET_VARIABLES;
use crate::trusted_path::{TrustedDir, TrustedSocket};

/// The configuration of our own server. The user's is not read.
const CONFIG: &str = "\
set-option -s escape-time 10
set-option -s focus-events on
set-option -g history-limit 10000
set-option -gw allow-rename off
set-option -gw automatic-rename off
";
/// What sessions of ours need, whatever the user's file says.
const REQUIRED: [&[&str]; 3] = [
    &["set-option", "-s", "exit-empty", "off"],
    &["set-option", "-g", "destroy-unattached", "off"],
    &["set-option", "-g", "update-environment", ""],
];
/// The server option that says which state folder a server belongs to.
const OWNER_OPTION: &str = "@paned_owner";
/// The server option that says which version of the user's file was loaded.
pub(super) const CONFIG_OPTION: &str = "@paned_config";
/// Variables of the pane that our server was perhaps started in.
const PANE_VARIABLES: [&str; 2] = ["PANED_PANE", "POLY_PANE"];
/// Names of the socket's folder and of the files in our own one.
const CONFIG_FILE: &str = "tmux.conf";

/// A tmux server of our own.
#[derive(Clone, Debug)]
pub(super) struct OwnTmux {
    /// The configuration that we write.
    config: PathBuf,
    /// A file of the user's that is loaded after it.
    user_config: Option<PathBuf>,
    /// Whether other programs know the socket's place, too.
    pub(super) has_public_socket: bool,
    /// What programs of that server find in their environment.
    pub(super) variables: Vec<(String, String)>,
}

/// A version of the user's file.
#[derive(Debug)]
pub(super) struct UserConfig {
    path: PathBuf,
    version: String,
}

impl OwnTmux {
    /// With files in this folder.
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            config: folder.join(CONFIG_FILE),
            user_config: None,
            has_public_socket: false,
            variables: Vec::new(),
        }
    }

    pub(super) fn with_user_config(self, path: &Path) -> Self {
        Self { user_config: Some(path.to_owned()), ..self }
    }

    /// The configuration that tmux is started with.
    pub(super) fn config(&self) -> &Path {
        &self.config
    }

    /// Identifies the state folder.
    fn owner(&self) -> String {
        hash(self.config.as_os_str().as_encoded_bytes())
    }

    /// Writes the configuration.
    pub(super) fn prepare(&self, socket: &Path) -> Result<(), Error> {
        let untrusted = |error: crate::trusted_path::Error| Error::NoServer(error.to_string());
        TrustedDir::make_closed(folder(&self.config)).map_err(untrusted)?;
        if self.has_public_socket {
            TrustedDir::make_private(folder(socket)).map_err(untrusted)?;
        }
        let required = REQUIRED.map(|words| format!("{}\n", quoted(words))).concat();
        let owner = self.owner();
        let text = format!("{CONFIG}{required}set-option -s {OWNER_OPTION} {owner}\n");
        // Created again each time, so that nothing is written through a file or link of that name.
        let _ = fs::remove_file(&self.config);
        let mut open = fs::OpenOptions::new();
        let file = open.write(true).create_new(true).mode(0o600).open(&self.config);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Error::NoServer(format!("{}: {error}", self.config.display())))
    }

    /// Refuses a server at our socket that another program started.
    pub(super) async fn check_owner(
        &self,
        program: &Path,
        socket: &Path,
        limit: Duration,
    ) -> Result<(), Error> {
        if !self.has_public_socket || TrustedSocket::find(socket).is_err() {
            return Ok(());
        }
        let words = ["-N", "-S"].map(str::to_owned);
        let shown = socket.to_string_lossy().into_owned();
        let ask = ["show-options", "-sqv", OWNER_OPTION].map(str::to_owned);
        let args: Vec<_> = words.into_iter().chain([shown]).chain(ask).collect();
        let output = run(program, &args, limit).await?;
        let found = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || found.trim() == self.owner() {
            return Ok(());
        }
        Err(Error::Config(format!(
            "the tmux server at {} was started by another program; set `tmux.socket` in config.toml \
            to another name",
            socket.display()
        )))
    }

    /// The user's file as it is now, if there is one. A file that cannot be used keeps a tmux
    /// server from being started, but one that runs goes on without it.
    ///
    /// # Errors
    /// As [`OwnTmux::user_config`].
    pub(super) fn config_to_load(&self, socket: &Path) -> Result<Option<UserConfig>, Error> {
        self.user_config().or_else(|error| {
            let running = TrustedSocket::find(socket).and_then(|socket| socket.connect());
            running.map_err(|_| error.clone())?;
            tracing::warn!(%error, "the tmux server keeps its configuration");
            Ok(None)
        })
    }

    /// The user's file as it is now, if there is one.
    ///
    /// # Errors
    /// [`Error::Config`] when it cannot be read, or another user could change it.
    fn user_config(&self) -> Result<Option<UserConfig>, Error> {
        let Some(path) = &self.user_config else { return Ok(None) };
        let shown = path.display();
        let unreadable =
            |error| Error::Config(format!("cannot read the tmux configuration {shown}: {error}"));
        let path = path.canonicalize().map_err(unreadable)?;
        let refuse = |why: String| {
            Err(Error::Config(format!(
                "the tmux configuration {} is not used: {why}",
                path.display()
            )))
        };
        if let Err(error) = TrustedDir::open(folder(&path)) {
            return refuse(error.to_string());
        }
        let found = fs::symlink_metadata(&path).map_err(unreadable)?;
        let own = rustix::process::geteuid().as_raw();
        if ![0, own].contains(&found.uid()) {
            return refuse(format!("it belongs to another user (uid {})", found.uid()));
        }
        if !found.is_file() {
            return refuse("it is not a file".to_owned());
        }
        if found.mode() & 0o022 != 0 {
            let shown = path.display();
            return refuse(format!("other users can change it; run `chmod go-w {shown}`"));
        }
        let seconds = found.mtime();
        let nanos = found.mtime_nsec();
        let size = found.size();
        let version = hash(format!("{} {seconds} {nanos} {size}", path.display()).as_bytes());
        Ok(Some(UserConfig { path, version }))
    }

    /// Removes what is about the pane that we were perhaps started in.
    pub(super) fn clean_environment(process: &mut Process) {
        for name in SECRET_VARIABLES.into_iter().chain(PANE_VARIABLES) {
            process.env_remove(name);
        }
        process.env_remove("TMUX").env_remove("TMUX_PANE");
    }
}

impl UserConfig {
    /// Whether it is what was loaded, by the server's [`CONFIG_OPTION`].
    pub(super) fn is(&self, loaded: &str) -> bool {
        self.version == loaded
    }

    /// Loads it into a running server. Returns what tmux says is wrong with it; like tmux at its
    /// start, everything else of the file counts.
    ///
    /// # Errors
    /// When tmux cannot be run or does not answer.
    pub(super) async fn load(
        &self,
        program: &Path,
        socket: &Path,
        limit: Duration,
    ) -> Result<Vec<String>, Error> {
        let path = self.path.to_string_lossy().into_owned();
        let mut args = ["-u", "-N", "-S", &socket.to_string_lossy()].map(str::to_owned).to_vec();
        let version = ["set-option", "-s", CONFIG_OPTION, &self.version];
        let load = ["source-file", &path];
        let commands: [&[&str]; 2] = [&version, &load];
        for words in commands.into_iter().chain(REQUIRED) {
            args.extend(words.iter().map(|word| (*word).to_owned()).chain([";".to_owned()]));
        }
        let output = run(program, &args, limit).await?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(lines.map(|line| self.sentence(line)).collect())
    }

    /// What tmux says, with the file where tmux does not name it.
    fn sentence(&self, line: &str) -> String {
        let path = self.path.display().to_string();
        if line.starts_with(&path) { line.to_owned() } else { format!("{path}: {line}") }
    }
}

async fn run(program: &Path, args: &[String], limit: Duration) -> Result<Output, Error> {
    let mut process = Process::new(program);
    process.args(args).stdin(Stdio::null()).current_dir("/").kill_on_drop(true);
    OwnTmux::clean_environment(&mut process);
    let output = tokio::time::timeout(limit, process.output()).await;
    let output = output.map_err(|_| Error::Timeout(limit))?;
    output.map_err(|error| Error::spawn_failed(program, &error))
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// The same for every build of paned (FNV-1a).
fn hash(bytes: &[u8]) -> String {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, add))
}

/// Words of our own as a line of a configuration.
fn quoted(words: &[&str]) -> String {
    let quote = |word: &&str| if word.is_empty() { "''".to_owned() } else { (*word).to_owned() };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[track_caller]
    fn check(own: &OwnTmux, expect: Result<(), &str>) {
        let found = own.user_config().map(|_| ()).map_err(|error| error.to_string());
        match (found, expect) {
            (Ok(()), Ok(())) => {}
            (Err(sentence), Err(part)) => assert!(sentence.contains(part), "{sentence}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_of_the_users_is_loaded_only_if_no_other_user_can_change_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.conf");
        let own = OwnTmux::new(dir.path()).with_user_config(&path);
        check(&own, Err("cannot read the tmux configuration"));
        fs::write(&path, "set -g prefix C-a\n").unwrap();
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        check(&own, Ok(()));
        mode(0o664);
        check(&own, Err("chmod go-w"));
        mode(0o600);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        check(&own, Err("is not used"));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        check(&OwnTmux::new(dir.path()).with_user_config(dir.path()), Err("is not a file"));
        let before = own.user_config().unwrap().unwrap();
        fs::write(&path, "set -g prefix C-b\n# more\n").unwrap();
        assert!(!own.user_config().unwrap().unwrap().is(&before.version));
    }
}
