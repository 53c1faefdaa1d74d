//! One run of git: with limits, a deadline, and nothing of the server's environment.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use paned_model::{Code, Refusal};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::install::staging::Staging;

/// Sets limits for git and the programs that it starts, and becomes git.
const LIMITED: &str = "ulimit -f \"$1\" && { ulimit -v 8388608 2>/dev/null || :; } && shift && \
                       exec \"$@\"";
/// The unit of `ulimit -f`.
const BLOCK: u64 = 512;
/// What a file may hold where nothing else is said.
const SMALL_FILE: u64 = 1 << 20;
/// How much of git's messages is read.
const LONGEST_MESSAGE: u64 = 16 << 10;
const LONGEST_LINE: usize = 300;

/// Settings that come before those of the user. They turn off what could run a program.
const SETTINGS: [&str; 16] = [
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "protocol.ext.allow=never",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.askPass=",
    "core.alternateRefsCommand=true",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "transfer.unpackLimit=1",
    "pack.threads=1",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that git and ssh need to reach a server as the user.
const PASSED_ON: [&str; 16] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
    "ALL_PROXY",
];

const OWN: [(&str, &str); 8] = [
    ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oPermitLocalCommand=no"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
];

/// One run of git.
pub(super) struct GitCommand {
    args: Vec<String>,
    folder: PathBuf,
    messages: PathBuf,
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    largest_file: u64,
}

impl GitCommand {
    pub(super) fn new(staging: &Staging, args: &[&str]) -> Self {
        Self {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            folder: staging.path(""),
            messages: staging.path("messages"),
            input: None,
            output: None,
            largest_file: SMALL_FILE,
        }
    }

    /// Reads standard input from a file.
    pub(super) fn input(self, path: &Path) -> Self {
        Self { input: Some(path.to_owned()), ..self }
    }

    /// Writes standard output to a file.
    pub(super) fn output(self, path: &Path) -> Self {
        Self { output: Some(path.to_owned()), ..self }
    }

    /// How large each file that it writes may become.
    pub(super) fn largest_file(self, bytes: u64) -> Self {
        Self { largest_file: bytes, ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When it fails, with the last thing that git said, or exceeds its time.
    pub(super) async fn run(self, limit: Duration) -> Result<(), Refusal> {
        let mut group = match self.start() {
            Ok(child) => ProcessGroup(child),
            Err(error) => return Err(not_started(&error)),
        };
        match timeout(limit, group.0.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(self.failed(status)),
            Ok(Err(error)) => Err(Refusal::system("cannot wait for git", &error)),
            Err(_) => Err(Refusal::new(
                Code::Timeout,
                format!("git did not finish within {} s", limit.as_secs()),
            )),
        }
    }

    fn start(&self) -> io::Result<Child> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LIMITED, "sh"]).arg((self.largest_file / BLOCK).to_string());
        command.arg("git").args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(&self.args).current_dir(&self.folder);
        command.env_clear().envs(OWN);
        command.envs(PASSED_ON.iter().filter_map(|name| {
            let value: OsString = std::env::var_os(name)?;
            Some((name, value))
        }));
        let input = self.input.as_ref().map_or_else(|| File::open("/dev/null"), File::open)?;
        let output = self.output.as_ref().map(File::create).transpose()?;
        command.stdin(input).stdout(output.map_or_else(Stdio::null, Stdio::from));
        command.stderr(File::create(&self.messages)?);
        // A group of its own, to stop what git has started with it.
        command.process_group(0).kill_on_drop(true).spawn()
    }

    fn failed(&self, status: ExitStatus) -> Refusal {
        let mut text = Vec::new();
        let read = File::open(&self.messages)
            .and_then(|file| file.take(LONGEST_MESSAGE).read_to_end(&mut text));
        let text = String::from_utf8_lossy(if read.is_ok() { &text } else { b"" }).into_owned();
        if text.contains("git: not found") || status.code() == Some(127) {
            return not_started(&io::ErrorKind::NotFound.into());
        }
        if self.wrote_too_much(&text) {
            return super::too_large();
        }
        Refusal::invalid(match message(&text) {
            Some(line) => format!("git failed: {line}"),
            None => format!("git failed ({status})"),
        })
    }

    fn wrote_too_much(&self, text: &str) -> bool {
        let is_full = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|found| self.largest_file <= found.len() + BLOCK)
        };
        text.contains("File too large")
            || text.contains("signal 25")
            || self.output.as_ref().is_some_and(is_full)
    }
}

/// The line that says why: the first `fatal:` or `ERROR:`, else the last line.
fn message(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.contains("fatal: ") || line.starts_with("ERROR: "));
    let before =
        lines().find(|line| line.contains("Permission denied") || line.contains("Host key"));
    let line = before.or(line).or_else(|| lines().next_back())?;
    let line = line.trim_start_matches("fatal: ");
    let clean: String = line.chars().filter(|c| !c.is_control()).take(LONGEST_LINE).collect();
    Some(clean.trim_end_matches('.').to_owned())
}

fn not_started(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::new(
            Code::Unavailable,
            "git is not on the PATH of the server; install git, or copy the extension yourself and \
            install that folder",
        ),
        _ => Refusal::system("cannot start git", error),
    }
}

/// Ends the whole process group when it is dropped: after a time-out, or when the caller is gone.
struct ProcessGroup(Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // None once it has been waited for; the number may then belong to another process.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = id {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_why_is_chosen() {
        let check = |text: &str, expect: &str| assert_eq!(message(text).as_deref(), Some(expect));
        check("fatal: could not read Username\n", "could not read Username");
        check("warning: a\nfatal: b\nfatal: c\n", "b");
        check(
            "Host key verification failed.\nfatal: Could not read\n",
            "Host key verification failed",
        );
        check("a\nb\x1b[2J\n", "b[2J");
        assert_eq!(message("\n"), None);
    }
}
