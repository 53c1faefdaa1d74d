//! The process of an extension: a group of its own, with pipes for the protocol and for its log.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a program may take after each step that asks it to end.
const GRACE: Duration = Duration::from_secs(2);

/// What is started.
#[derive(Clone, Debug)]
pub(crate) struct ProgramCommand {
    pub(crate) argv: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) env: Vec<(String, String)>,
}

/// A running extension. Dropping it kills its process group.
pub(crate) struct ExtensionProcess {
    child: Child,
    group: Pid,
    /// Where the process is written down while it runs.
    record: PathBuf,
    is_reaped: bool,
}

/// The pipes of a new process.
pub(crate) struct ProcessPipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// A process as it is written down, for a server that finds it running after it was killed itself.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProcessRecord {
    pid: i32,
    /// When it was started, as the system says: a later process with the same id has another.
    started: String,
}

impl ExtensionProcess {
    /// Starts the program. Ends one that an earlier server left running first.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub(crate) fn spawn(
        command: &ProgramCommand,
        record: &Path,
    ) -> io::Result<(Self, ProcessPipes)> {
        end_leftover(record);
        let ProgramCommand { argv, folder, env } = command;
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // Relative to the extension's folder, as its own scripts are. A bare name is searched on
        // PATH.
        let program = match program.contains('/') {
            true => folder.join(program),
            false => PathBuf::from(program),
        };
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let group = pid.ok_or_else(|| io::Error::other("it ended at once"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self { child, group, record: record.to_owned(), is_reaped: false };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            process.kill();
            return Err(io::Error::other("it has no pipes"));
        };
        process.write_record();
        Ok((process, ProcessPipes { stdin, stdout, stderr }))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.group.as_raw_nonzero().get().cast_unsigned()
    }

    /// Waits until the program has exited.
    pub(crate) async fn exited(&mut self) -> ExitStatus {
        let status = self.child.wait().await;
        self.is_reaped = true;
        status.unwrap_or_else(|_| ExitStatus::from_raw(0))
    }

    /// Ends the program: waits for it if it was asked to end already, then sends SIGTERM, then
    /// SIGKILL. Afterwards nothing of its group is left.
    pub(crate) async fn end(&mut self, was_asked: bool) {
        let is_ended =
            self.is_reaped || (was_asked && timeout(GRACE, self.exited()).await.is_ok()) || {
                self.signal(Signal::TERM);
                timeout(GRACE, self.exited()).await.is_ok()
            };
        // Also after an exit: it may have left programs of its own behind.
        self.kill();
        if !is_ended {
            self.exited().await;
        }
        let _ = fs::remove_file(&self.record);
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    fn write_record(&self) {
        let pid = self.group.as_raw_nonzero().get();
        let Some(started) = start_time(pid) else { return };
        let text = serde_json::to_string(&ProcessRecord { pid, started }).unwrap_or_default();
        if let Err(error) = fs::write(&self.record, text) {
            tracing::debug!(%error, "cannot write down the process of an extension");
        }
    }
}

impl Drop for ExtensionProcess {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
        }
    }
}

/// Ends the process that an earlier server wrote down here and did not end.
fn end_leftover(record: &Path) {
    let text = fs::read_to_string(record).unwrap_or_default();
    let Ok(ProcessRecord { pid, started }) = serde_json::from_str(&text) else { return };
    if let Some(group) = Pid::from_raw(pid)
        && start_time(pid).is_some_and(|found| found == started)
    {
        tracing::info!(pid, "ending an extension that an earlier server left running");
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = fs::remove_file(record);
}

/// When a process was started; none if that is not known. Linux only: elsewhere a program that
/// ignores the end of its standard input stays when the server is killed.
fn start_time(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may hold anything.
    let fields = stat.rsplit_once(')')?.1;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let ticks = fields.split_ascii_whitespace().nth(19)?;
    Some(format!("{ticks} {}", boot.trim()))
}

/// How an exit is described.
pub(crate) fn exit_sentence(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with status {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it exited".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProgramCommand {
        let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        ProgramCommand { argv, folder: "/".into(), env }
    }

    fn is_alive(pid: i32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
    }

    async fn first_line(stdout: ChildStdout) -> String {
        use tokio::io::{AsyncBufReadExt, BufReader};
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await.unwrap();
        line.trim().to_owned()
    }

    #[tokio::test]
    async fn a_program_that_ignores_every_request_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("process.json");
        let script = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done";
        let (mut process, pipes) = ExtensionProcess::spawn(&shell(script), &record).unwrap();
        let child: i32 = first_line(pipes.stdout).await.parse().unwrap();
        assert!(is_alive(child) && record.exists());
        process.end(false).await;
        let is_gone = async {
            while is_alive(child) {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(10), is_gone).await.expect("its child has ended");
        assert!(!record.exists());
    }

    #[tokio::test]
    async fn a_leftover_of_an_earlier_server_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("process.json");
        let (mut first, _pipes) = ExtensionProcess::spawn(&shell("sleep 1000"), &record).unwrap();
        let (mut second, _pipes) = ExtensionProcess::spawn(&shell("exit 3"), &record).unwrap();
        assert_eq!(first.exited().await.signal(), Some(9));
        assert_eq!(exit_sentence(second.exited().await), "it exited with status 3");
        let stale = ProcessRecord { pid: std::process::id().cast_signed(), started: "1 x".into() };
        fs::write(&record, serde_json::to_string(&stale).unwrap()).unwrap();
        end_leftover(&record);
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let argv = vec!["./missing".to_owned()];
        let command = ProgramCommand { argv, folder: dir.path().into(), env: Vec::new() };
        assert!(ExtensionProcess::spawn(&command, &dir.path().join("p")).is_err());
    }
}
