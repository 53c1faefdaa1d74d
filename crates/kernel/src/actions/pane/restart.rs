//! `pane:restart`

use std::time::Duration;

use paned_model::{Code, PaneId, PaneInfo, Refusal, Scope};
use paned_policy::permit;
use schemars::JsonSchema;
use serde::Deserialize;

use super::kill::check_grace;
use crate::access::AccessRequest;
use crate::actions::support::next_run::{check_run_again, end_for_next_run, run_again};
use crate::panes::environment::EnvironmentSpec;
use crate::panes::restart::RestartCause;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneRestart;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// How long a running program may take to exit when asked, in milliseconds, before it is
    /// killed.
    #[schemars(range(max = 600_000))]
    grace_ms: Option<u64>,
    /// End a running program at once, and without its keeper if that does not answer.
    #[serde(default)]
    force: bool,
    /// Confirms that the caller may end the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

impl Action for PaneRestart {
    const NAME: &'static str = "pane:restart";
    const DOC: &'static str = "End a pane's program if it runs, and start it again as it was started, under the same name. The output so far \
         stays readable as `<name>.previous`.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["agent.dialog", "lastLine"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).ending(params.itself)
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        let Ok(pane) = context.kernel.panes().get(&params.pane_id) else { return Vec::new() };
        let state = pane.lock();
        let argv = state.record.argv.clone();
        let cwd = state.record.cwd.clone();
        let command = CommandToJudge::new(argv, Some(cwd), &EnvironmentSpec::default());
        vec![CommandToJudge { is_trusted: true, ..command }]
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        permit::scope(&context.caller.grant, Scope::Kill)
            .map_err(|denial| Refusal::new(Code::Forbidden, denial.to_string()))?;
        let pane = kernel.panes().get(&params.pane_id)?;
        let usual = if params.force { Duration::ZERO } else { kernel.limits().kill_grace };
        let grace = check_grace(params.grace_ms)?.unwrap_or(usual);
        check_run_again(&context, &pane).await?;
        end_for_next_run(kernel, &pane, grace, params.force).await?;
        let new = run_again(&context, &pane, RestartCause::Request).await?;
        Ok(new.info())
    }
}
