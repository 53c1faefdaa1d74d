//! A program of the user: the notification is JSON on its standard input, and in variables.

use std::process::Stdio;

use paned_policy::notify::NotifyRule;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{ChannelSetup, DeliveryError, PROGRAM_TIMEOUT, has_program};
use crate::notice::{Notice, clean};

/// How much of what a program prints about its failure is kept.
const MAX_ERROR: usize = 300;

pub(super) struct CommandChannel<'a> {
    pub(super) setup: &'a ChannelSetup,
    pub(super) rule: &'a NotifyRule,
}

impl CommandChannel<'_> {
    pub(super) fn problem(&self) -> Option<String> {
        let program = self.rule.command.first()?;
        (!has_program(&self.setup.env, program)).then(|| no_program(program))
    }

    pub(super) async fn deliver(&self, notice: &Notice) -> Result<(), DeliveryError> {
        let Some((program, args)) = self.rule.command.split_first() else {
            return Err(DeliveryError::lasting("the rule has no command"));
        };
        let mut command = Command::new(program);
        command.args(args).env("PANED_NOTIFY_RULE", &notice.rule);
        command.env("PANED_NOTIFY_TEXT", notice.text());
        command.env("PANED_NOTIFY_PANE", &notice.subject.pane);
        run(self.setup, command, program, notice.to_json().to_string().as_bytes()).await
    }
}

fn no_program(program: &str) -> String {
    format!("there is no program `{}` on the PATH of the server", clean(program))
}

/// Runs a program to its end, with this input. It is killed when it takes too long.
pub(super) async fn run(
    setup: &ChannelSetup,
    mut command: Command,
    program: &str,
    input: &[u8],
) -> Result<(), DeliveryError> {
    let own: Vec<_> = command
        .as_std()
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command.env_clear().envs(setup.env.iter().map(|(name, value)| (name, value))).envs(own);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Its children end with it when it takes too long.
    command.process_group(0).kill_on_drop(true);
    if let Some(home) = &setup.home {
        command.current_dir(home);
    }
    let child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => DeliveryError::lasting(no_program(program)),
        _ => DeliveryError::temporary(format!("cannot start `{}`: {error}", clean(program))),
    })?;
    let pid = child.id();
    match timeout(PROGRAM_TIMEOUT, finish(child, input)).await {
        Ok(outcome) => outcome
            .map_err(|why| DeliveryError::lasting(format!("`{}` failed: {why}", clean(program)))),
        Err(_) => {
            kill_group(pid);
            let seconds = PROGRAM_TIMEOUT.as_secs();
            let program = clean(program);
            let sentence = format!("`{program}` did not end within {seconds} seconds");
            Err(DeliveryError::lasting(sentence))
        }
    }
}

async fn finish(mut child: Child, input: &[u8]) -> Result<(), String> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is no error.
        let _ = stdin.write_all(input).await;
    }
    let output = child.wait_with_output().await.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let last = printed.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = clean(last).chars().take(MAX_ERROR).collect();
    match last.as_str() {
        "" => Err(output.status.to_string()),
        last => Err(format!("{}: {last}", output.status)),
    }
}

fn kill_group(pid: Option<u32>) {
    let pid = pid.and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}
