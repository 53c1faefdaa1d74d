//! Runs git, with a deadline and without asking anybody anything.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use paned_model::{Code, Refusal};
use tokio::process::Command;
use tokio::time::timeout;

use crate::Kernel;

/// How long git may take; a checkout of a large tree takes a while.
const PATIENCE: Duration = Duration::from_secs(120);

/// What git prints when run in a folder.
pub(super) async fn git(kernel: &Kernel, folder: &Path, args: &[&str]) -> Result<String, Refusal> {
    let env = kernel.setup().env.iter().filter(|(name, _)| !is_about_a_repository(name));
    let mut command = Command::new("git");
    command.env_clear().envs(env.map(|(name, value)| (name, value)));
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.arg("-C").arg(folder).args(args).stdin(Stdio::null()).kill_on_drop(true);
    let outcome = timeout(PATIENCE, command.output()).await.map_err(|_| {
        let sentence = format!("git {} took longer than {} s", args[0], PATIENCE.as_secs());
        Refusal::new(Code::Timeout, sentence)
    })?;
    let output = outcome
        .map_err(|error| Refusal::new(Code::Unavailable, format!("git cannot be run: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().last().unwrap_or_default().trim_start_matches("fatal: ");
    Err(Refusal::new(Code::Conflict, format!("git {} failed: {said}", args[0])))
}

/// Variables that would point git elsewhere.
fn is_about_a_repository(name: &str) -> bool {
    matches!(name, "GIT_DIR" | "GIT_WORK_TREE" | "GIT_INDEX_FILE" | "GIT_COMMON_DIR" | "GIT_PREFIX")
}
