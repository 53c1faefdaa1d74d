//! `permission:test`

use std::collections::BTreeMap;
use std::path::PathBuf;

use paned_model::{Refusal, Scope};
use paned_policy::permissions::{PermissionDecision, PermissionStep, PermissionVerdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::{Argv, Environment, Folder, ProgramText, exactly_one};
use crate::panes::environment::{EnvironmentSpec, check_text};
use crate::permissions::{CommandToJudge, OpenCodeProject, SpawnerKind};
use crate::registry::{Action, ActionContext, ActionKind};

pub(super) struct PermissionTest;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = exactly_one(&["argv", "command"]))]
pub(super) struct Params {
    /// The program and its arguments.
    #[schemars(with = "Option<Argv>")]
    argv: Option<Vec<String>>,
    /// A command for `sh -c`, instead of `argv`.
    #[schemars(with = "Option<ProgramText>")]
    command: Option<String>,
    /// The absolute path of the working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
    /// Variables that the request would set.
    #[serde(default)]
    #[schemars(with = "Environment")]
    env: BTreeMap<String, String>,
    /// As whom it would be started; defaults to the caller of this action.
    #[serde(rename = "as")]
    spawner: Option<Spawner>,
    /// The `permission` object of OpenCode's configuration, whose rules also count.
    open_code: Option<Map<String, Value>>,
    /// The absolute path of the project of that configuration; defaults to `cwd`.
    #[schemars(with = "Option<Folder>")]
    project: Option<String>,
}

/// As whom a command is started.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Spawner {
    /// The owner, with the CLI.
    Cli,
    /// A program in an agent's pane.
    Agent,
    /// Another token, or an extension.
    Token,
    /// A client of the opencode-pty listener.
    Opencode,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionTestOutput {
    /// What would be done: the strictest decision of all steps.
    decision: PermissionDecision,
    /// As whom it was judged.
    #[serde(rename = "as")]
    spawner: Spawner,
    /// Why, in one sentence.
    reason: String,
    /// The commands that it runs, with the decision about each.
    steps: Vec<PermissionStep>,
}

impl Action for PermissionTest {
    const NAME: &'static str = "permission:test";
    const DOC: &'static str =
        "Show what the permission rules say about a command, and why, without running it.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    const SECRETS: &'static [&'static str] = &["env"];
    type Params = Params;
    type Answer = PermissionTestOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::nothing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PermissionTestOutput, Refusal> {
        let kernel = &context.kernel;
        let spawner = params.spawner.unwrap_or_else(|| kernel.spawner_kind(&context.caller).into());
        let argv = argv(params.argv, params.command)?;
        let environment = EnvironmentSpec { env: params.env, inherit_env: None, umask: None };
        environment.check()?;
        check_folder("cwd", params.cwd.as_deref())?;
        check_folder("project", params.project.as_deref())?;
        let project = params.open_code.map(|permission| {
            let folder = params.project.or(params.cwd.clone()).unwrap_or_else(|| "/".to_owned());
            let config = json!({ "permission": permission }).to_string();
            OpenCodeProject::given(PathBuf::from(folder), &config)
        });
        let command = CommandToJudge::new(argv, params.cwd, &environment);
        let judged = kernel.judge_command(spawner.into(), command, project).await?;
        let PermissionVerdict { decision, reason, steps } = judged;
        Ok(PermissionTestOutput { decision, spawner, reason, steps })
    }
}

fn check_folder(field: &'static str, folder: Option<&str>) -> Result<(), Refusal> {
    let Some(folder) = folder else { return Ok(()) };
    check_text(field, folder)?;
    match folder.starts_with('/') {
        true => Ok(()),
        false => Err(Refusal::invalid(format!("`{field}` must be an absolute path"))),
    }
}

fn argv(argv: Option<Vec<String>>, command: Option<String>) -> Result<Vec<String>, Refusal> {
    let argv = match (argv, command) {
        (Some(argv), None) if !argv.is_empty() => argv,
        (None, Some(command)) => vec!["/bin/sh".to_owned(), "-c".to_owned(), command],
        _ => {
            return Err(Refusal::invalid(
                "pass either `argv` or `command` to specify what to judge",
            ));
        }
    };
    argv.iter().try_for_each(|arg| check_text("argv", arg))?;
    Ok(argv)
}

impl From<SpawnerKind> for Spawner {
    fn from(kind: SpawnerKind) -> Self {
        match kind {
            SpawnerKind::Owner => Self::Cli,
            SpawnerKind::Agent => Self::Agent,
            SpawnerKind::Token => Self::Token,
            SpawnerKind::OpenCode => Self::Opencode,
        }
    }
}

impl From<Spawner> for SpawnerKind {
    fn from(spawner: Spawner) -> Self {
        match spawner {
            Spawner::Cli => Self::Owner,
            Spawner::Agent => Self::Agent,
            Spawner::Token => Self::Token,
            Spawner::Opencode => Self::OpenCode,
        }
    }
}
