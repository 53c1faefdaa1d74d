//! `pty_spawn`

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use paned_model::{PaneInfo, Refusal, Size};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ToolCall, ToolEffect, replies};

/// The size of a session's terminal: wide enough that tools do not wrap their lines.
const SIZE: Size = Size { cols: 120, rows: 40 };
/// The tag of sessions that were started over MCP.
const TAG: &str = "mcp";

pub(super) struct PtySpawn;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// The program. For pipes, && or globs use "sh" with args ["-c", "..."]
    command: String,
    #[serde(default)]
    args: Vec<String>,
    /// What it is for, in a few words
    description: Option<String>,
    /// Working directory
    workdir: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    title: Option<String>,
    /// Send you a message when it exits; works only if you run in a pane
    #[serde(default)]
    notify_on_exit: bool,
    /// Stop it after this time
    timeout_seconds: Option<NonZeroU32>,
}

impl McpTool for PtySpawn {
    const NAME: &'static str = "pty_spawn";
    const DOC: &'static str = "Start a program in a terminal of its own that keeps running: servers, \
        watchers, builds, REPLs. Returns its ID at once. Next: pty_wait for the line that says it is \
        ready, pty_kill when done.";
    const EFFECT: ToolEffect = ToolEffect::Adds;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        if args.command.trim().is_empty() {
            return Err(Refusal::invalid("`command` is empty; name the program to start"));
        }
        if args.args.is_empty() && args.command.contains(char::is_whitespace) {
            check_one_program(&args.command)?;
        }
        let title = args.title.or_else(|| args.description.clone());
        let argv: Vec<String> = [args.command].into_iter().chain(args.args).collect();
        let params = json!({
            "argv": argv,
            "cwd": call.folder(args.workdir)?,
            "env": args.env,
            "size": SIZE,
            "title": title.map(|title| short(&title)),
            "tags": [TAG],
            "notifyOnExit": args.notify_on_exit,
            "notice": { "words": "pty", "description": args.description },
            "timeoutSeconds": args.timeout_seconds,
        });
        let pane: PaneInfo = call.act("pane:new", params).await?;
        let notifies = args.notify_on_exit && call.is_in_pane();
        let mut text = block(&pane, args.notify_on_exit, args.timeout_seconds);
        if args.notify_on_exit {
            text.push_str("\n\n");
            text.push_str(if notifies { WILL_NOTIFY } else { CANNOT_NOTIFY });
        }
        let facts = json!({
            "id": pane.id,
            "title": pane.title,
            "command": replies::command(&pane),
            "workdir": pane.cwd,
            "pid": pane.pid,
            "status": replies::status(&pane),
            "notifyOnExit": notifies,
            "timeoutSeconds": args.timeout_seconds,
        });
        Ok(ToolAnswer::new(text, facts))
    }
}

const WILL_NOTIFY: &str = "<system_reminder>A message with <pty_exited> will be sent to you when the \
    program exits. Do other work or end your turn; do not poll.</system_reminder>";
const CANNOT_NOTIFY: &str = "<system_reminder>You do not run in a pane of paned, so no message can be \
    sent to you. Use pty_wait to learn when the program exits.</system_reminder>";

/// A command line in place of a program is a common mistake; the kernel would only say that there
/// is no such program.
fn check_one_program(command: &str) -> Result<(), Refusal> {
    if command.starts_with('/') && std::path::Path::new(command).exists() {
        return Ok(());
    }
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let args: Vec<&str> = words.collect();
    let sentence = format!(
        "`command` is one program, without arguments: pass \"command\": {}, \"args\": {}, or \
         \"command\": \"sh\", \"args\": [\"-c\", {}]",
        json!(program),
        json!(args),
        json!(command)
    );
    Err(Refusal::invalid(sentence))
}

/// A title: one line, not too long.
fn short(title: &str) -> String {
    title.replace(char::is_control, " ").chars().take(120).collect()
}

fn block(pane: &PaneInfo, notifies: bool, timeout: Option<NonZeroU32>) -> String {
    let mut block = TextBlock::new("pty_spawned");
    replies::head(&mut block, pane);
    block.field("Workdir", &pane.cwd);
    block.field("PID", pane.pid.map_or_else(|| "none".to_owned(), |pid| pid.to_string()));
    block.field("Status", replies::status(pane));
    block.field("NotifyOnExit", notifies.to_string());
    let timeout = timeout.map_or_else(|| "none".to_owned(), |seconds| seconds.to_string());
    block.field("TimeoutSeconds", timeout);
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_in_place_of_a_program_is_refused_with_the_right_arguments() {
        let refusal = check_one_program("npm run dev").unwrap_err();
        assert!(
            refusal.sentence.contains(r#""command": "npm", "args": ["run","dev"]"#),
            "{refusal}"
        );
    }
}
