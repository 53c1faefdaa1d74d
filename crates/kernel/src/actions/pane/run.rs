//! `pane:run`

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use paned_model::{PaneId, PaneInfo, Refusal, Scope, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::new;
use super::read::{MOST_LINES, PaneReadOutput, check_limit};
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    Argv, Environment, Folder, ProgramText, Umask, exactly_one,
};
use crate::actions::support::visibility::Visibility;
use crate::panes::environment::EnvironmentSpec;
use crate::panes::text::reading;
use crate::panes::text::reading::LinesRead;
use crate::panes::unreadable;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};

const LINES: usize = 500;

pub(in crate::actions) struct PaneRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = exactly_one(&["argv", "command"]))]
pub(in crate::actions) struct Params {
    /// The program and its arguments.
    #[schemars(with = "Option<Argv>")]
    argv: Option<Vec<String>>,
    /// A command for `sh -c`, instead of `argv`.
    #[schemars(with = "Option<ProgramText>")]
    command: Option<String>,
    /// The id of the pane; generated when omitted.
    id: Option<PaneId>,
    /// The absolute path of its working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
    /// Variables to add to the server's environment, or the whole environment if `inheritEnv` is
    /// false.
    #[serde(default)]
    #[schemars(with = "Environment")]
    env: BTreeMap<String, String>,
    /// Whether it inherits the server's environment; defaults to true.
    inherit_env: Option<bool>,
    /// Its file mode creation mask in octal, as in `022`; defaults to the server's.
    #[schemars(with = "Option<Umask>")]
    umask: Option<String>,
    /// The size of its terminal; defaults to 80 columns and 24 rows.
    size: Option<Size>,
    /// Stop it after this many seconds.
    timeout_seconds: Option<NonZeroU32>,
    /// Return at most the last N lines of output: defaults to 500, up to 10000.
    #[schemars(range(max = 10_000))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneRunOutput {
    /// The pane. It stays readable until it is deleted: `pane:read` returns all of its output.
    pane_id: PaneId,
    /// Its exit code, if it exited by itself.
    exit_code: Option<u8>,
    /// The signal that terminated it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<String>,
    /// Whether it timed out.
    timed_out: bool,
    /// Its run time in milliseconds.
    duration_ms: u64,
    /// The number of the first line in `output`. If that is `truncated`, `pane:read` with `offset`
    /// reads the lines before it.
    first: u64,
    /// The last lines of its output.
    output: PaneReadOutput,
}

impl Action for PaneRun {
    const NAME: &'static str = "pane:run";
    const DOC: &'static str =
        "Run a command in a new pane until it exits, and return its exit code and output.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["env", "output"];
    type Params = Params;
    type Answer = PaneRunOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::nothing()
    }

    fn commands(_: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        let environment = EnvironmentSpec {
            env: params.env.clone(),
            inherit_env: params.inherit_env,
            umask: None,
        };
        let argv = argv(params.argv.clone(), params.command.clone());
        let command = |argv| CommandToJudge::new(argv, params.cwd.clone(), &environment);
        argv.map(command).into_iter().collect()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneRunOutput, Refusal> {
        let argv = argv(params.argv, params.command)?;
        check_limit(params.limit, MOST_LINES, "lines")?;
        let new = new::Params {
            argv: Some(argv),
            id: params.id,
            cwd: params.cwd,
            env: params.env,
            inherit_env: params.inherit_env,
            umask: params.umask,
            size: params.size,
            timeout_seconds: params.timeout_seconds,
            visible: Some(Visibility::Never),
            ..new::Params::default()
        };
        let pane = new::create(&context, new).await?;
        pane.ended().await;
        let limit = params.limit.unwrap_or(LINES);
        let output = pane.readable()?;
        let end = output.end();
        let output = reading::last(output.as_ref(), end, limit).map_err(unreadable)?;
        Ok(PaneRunOutput::new(pane.info(), output))
    }
}

impl PaneRunOutput {
    fn new(pane: PaneInfo, output: LinesRead) -> Self {
        Self {
            pane_id: pane.id,
            exit_code: pane.exit_code,
            exit_signal: pane.exit_signal,
            timed_out: pane.timed_out,
            duration_ms: pane.ended_at.map_or(0, |at| at.since(pane.created_at)),
            first: output.lines.first().map_or(output.total, |line| line.n),
            output: output.into(),
        }
    }
}

fn argv(argv: Option<Vec<String>>, command: Option<String>) -> Result<Vec<String>, Refusal> {
    match (argv, command) {
        (Some(argv), None) if argv.is_empty() => Err(Refusal::invalid("`argv` must not be empty")),
        (Some(argv), None) => Ok(argv),
        (None, Some(command)) => Ok(vec!["/bin/sh".into(), "-c".into(), command]),
        (None, None) => Err(Refusal::invalid("pass `argv` or `command` to specify what to run")),
        (Some(_), Some(_)) => Err(Refusal::invalid("pass `argv` or `command`, not both")),
    }
}
