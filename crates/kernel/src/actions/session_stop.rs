//! `session:stop`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::close;
use super::visible::usual;
use crate::registry::{Action, Context, Kind};
use crate::stage::{Ask, OnViewClosed, StopRequest};
use crate::touches::Touches;

pub(super) struct SessionStop;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The session.
    #[serde(default = "usual")]
    name: String,
    /// Whether the programs of its panes go on unseen.
    #[serde(default)]
    keep_panes: bool,
    /// Whether it is meant although it ends the pane that this comes from.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Stopped {
    /// The panes that were ended with it.
    closed: Vec<PaneId>,
    /// The panes that go on unseen.
    kept: Vec<PaneId>,
}

impl Action for SessionStop {
    const NAME: &'static str = "session:stop";
    const DOC: &'static str = "Stop a session in tmux, and end the panes that were made for it.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = Stopped;

    fn touches(_: &Params) -> Touches {
        Touches::reached()
    }

    async fn run(context: Context, params: Params) -> Result<Stopped, Refusal> {
        let kernel = &context.kernel;
        let is_ending = !params.keep_panes && !params.itself;
        let request = StopRequest {
            name: params.name,
            grant: context.caller.grant.clone(),
            spared: context.caller.pane.clone().filter(|_| is_ending),
        };
        let shown = kernel.stages().own(kernel, |answer| Ask::Stop(request, answer)).await?;
        let mut stopped = Stopped { closed: Vec::new(), kept: Vec::new() };
        for id in shown {
            let Ok(pane) = kernel.panes().get(&id) else { continue };
            let on_closed = pane.lock().record.wish.as_ref().map(|wish| wish.on_closed);
            if params.keep_panes || on_closed != Some(OnViewClosed::Close) {
                stopped.kept.push(id);
                continue;
            }
            close(kernel, &pane).await?;
            stopped.closed.push(id);
        }
        Ok(stopped)
    }
}
