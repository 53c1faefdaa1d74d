//! `shell:run`

use std::process::Stdio;

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::process::Command;

use super::EmptyOutput;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{Folder, ShellCommand};
use crate::panes::environment::{self, EnvironmentSpec, PaneIdentity};
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};

pub(super) struct ShellRun;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// The command, for `sh -c`.
    #[schemars(with = "ShellCommand")]
    command: String,
    /// The absolute path of its working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
}

impl Action for ShellRun {
    const NAME: &'static str = "shell:run";
    const DOC: &'static str = "Run a shell command in the background; its output is discarded.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = EmptyOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::nothing()
    }

    fn commands(_: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        vec![params.command_to_judge()]
    }

    async fn run(context: ActionContext, params: Params) -> Result<EmptyOutput, Refusal> {
        if params.command.trim().is_empty() {
            return Err(Refusal::invalid("`command` is empty"));
        }
        environment::check_text("command", &params.command)?;
        if context.kernel.judges_commands_of(&context.caller) {
            let command = params.command_to_judge();
            context.kernel.check_judged(&context.caller, &context.permitted, command).await?;
        }
        let env = environment_of(&context);
        let home = env.iter().find(|(name, _)| name == "HOME").map(|(_, value)| value.as_str());
        let cwd = paned_backend::find_folder(params.cwd.as_deref(), home)?;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(params.command).current_dir(cwd).process_group(0);
        command.env_clear().envs(env);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|error| Refusal::system("cannot start a shell", &error))?;
        // Reaps the process so that it does not stay a zombie; its exit status is not used.
        tokio::spawn(async move { child.wait().await });
        Ok(EmptyOutput {})
    }
}

impl Params {
    fn command_to_judge(&self) -> CommandToJudge {
        let argv = ["/bin/sh", "-c", &self.command].map(str::to_owned).to_vec();
        CommandToJudge::new(argv, self.cwd.clone(), &EnvironmentSpec::default())
    }
}

/// The environment of the shell. One that a pane runs has that pane's identity: what it starts
/// counts as the pane's, with the same rights.
fn environment_of(context: &ActionContext) -> Vec<(String, String)> {
    let setup = context.kernel.setup();
    let caller = &context.caller;
    match (&caller.pane, &caller.pane_token) {
        (Some(pane), Some(token)) => {
            let program_folder = setup.program_folder.as_deref();
            let identity =
                PaneIdentity { id: &pane.id, address: &setup.address, token, program_folder };
            EnvironmentSpec::default().resolve(&setup.env, &identity)
        }
        (Some(_) | None, _) => setup.env.clone(),
    }
}
