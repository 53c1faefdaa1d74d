//! `session:start`

use std::collections::BTreeMap;

use paned_model::{Refusal, Scope, Size};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::actions::pane::new;
use crate::actions::support::param_rules::{Argv, Environment, Folder, SessionNameText, Umask};
use crate::actions::support::visibility::Visibility;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{DEFAULT_SIZE, SessionInfo, ViewRequest};

pub(in crate::actions) struct SessionStart;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Its name: letters, digits, `_`, `.` and `-`; defaults to `main`, or to the setting
    /// `tmux.session`.
    #[schemars(with = "Option<SessionNameText>")]
    name: Option<String>,
    /// The program of its first pane; defaults to the user's login shell.
    #[schemars(with = "Option<Argv>")]
    argv: Option<Vec<String>>,
    /// The absolute path of its working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
    /// Variables to add to the server's environment, or the whole environment if `inheritEnv` is
    /// false.
    #[serde(default)]
    #[schemars(with = "Environment")]
    env: BTreeMap<String, String>,
    /// Whether the program inherits the server's environment; defaults to true.
    inherit_env: Option<bool>,
    /// Its file mode creation mask in octal, as in `022`; defaults to the server's.
    #[schemars(with = "Option<Umask>")]
    umask: Option<String>,
    /// The size of its window until a client attaches; defaults to 200 columns and 50 rows.
    size: Option<Size>,
    /// Whether new panes are shown in it by default.
    #[serde(default = "yes")]
    follow: bool,
}

fn yes() -> bool {
    true
}

impl Action for SessionStart {
    const NAME: &'static str = "session:start";
    const DOC: &'static str = "Start a tmux session with a program in its first pane.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["env"];
    type Params = Params;
    type Answer = SessionInfo;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        let pane = new::Params {
            argv: params.argv.clone(),
            cwd: params.cwd.clone(),
            env: params.env.clone(),
            inherit_env: params.inherit_env,
            ..new::Params::default()
        };
        vec![pane.command(&context.kernel)]
    }

    async fn run(context: ActionContext, params: Params) -> Result<SessionInfo, Refusal> {
        let Params { name, argv, cwd, env, inherit_env, umask, size, follow } = params;
        let name = name.unwrap_or_else(|| context.kernel.default_session());
        let size = size.unwrap_or(DEFAULT_SIZE).check().map_err(Refusal::invalid)?;
        let pane = new::Params {
            argv,
            cwd,
            env,
            inherit_env,
            umask,
            size: Some(size),
            visible: Some(Visibility::Always),
            session: Some(name.clone()),
            ..new::Params::default()
        };
        new::create_first(&context, pane).await?;
        let kernel = &context.kernel;
        if follow {
            let ask = |answer| ViewRequest::Follow(name.clone(), answer);
            kernel.tmux_views().ask_own(kernel, ask).await?;
        }
        let sessions = kernel.tmux_views().ask_own(kernel, ViewRequest::Sessions).await?;
        let started = sessions.into_iter().find(|session| session.name == name);
        started.ok_or_else(|| {
            Refusal::not_found(format!("the session `{name}` ended right after its start"))
        })
    }
}
