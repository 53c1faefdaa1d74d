//! Whether and where a pane is shown in tmux: what the parameters of several actions mean.

use std::sync::Arc;

use paned_model::{BackendKind, Refusal, Size};
use paned_policy::interactive::{InteractiveVerdict, judge};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Kernel;
use crate::panes::Pane;
use crate::panes::close::close;
use crate::registry::ActionContext;
use crate::tmux_view::{OnViewClosed, ShowRequest, ViewLocation, ViewRequest, ViewSpec};

/// Whether a pane is shown in tmux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) enum Visibility {
    /// Only if a location is given.
    #[default]
    Never,
    /// If its command needs a visible terminal, as editors do, and there is a tmux.
    Auto,
    /// Always.
    Always,
}

/// The location in tmux, as callers give it.
#[derive(Clone, Debug, Default)]
pub(in crate::actions) struct LocationParams {
    pub(in crate::actions) session: Option<String>,
    pub(in crate::actions) beside: Option<String>,
    pub(in crate::actions) tmux: Option<String>,
}

impl LocationParams {
    fn is_given(&self) -> bool {
        self.session.is_some() || self.beside.is_some() || self.tmux.is_some()
    }

    /// The location that the parameters mean.
    pub(in crate::actions) fn resolve(self) -> Result<ViewLocation, Refusal> {
        match (self.session, self.beside, self.tmux) {
            (session, None, None) => {
                Ok(ViewLocation::Session { name: session.unwrap_or_else(usual) })
            }
            (None, Some(beside), Some(tmux)) => {
                let pane = beside.strip_prefix('%').and_then(|number| number.parse().ok());
                let pane = pane.ok_or_else(|| {
                    Refusal::invalid("`beside` is the name of a tmux pane, as in `%3`")
                })?;
                Ok(ViewLocation::Beside { socket: socket(&tmux)?.into(), pane })
            }
            (Some(_), _, _) => {
                Err(Refusal::invalid("say `session`, or `beside` and `tmux`, not both"))
            }
            (None, _, _) => Err(Refusal::invalid("`beside` and `tmux` go together")),
        }
    }
}

/// The default name of a session.
pub(in crate::actions) fn usual() -> String {
    "main".to_owned()
}

/// The socket of `$TMUX`, which is the socket, the server's process and a session; a socket alone
/// is accepted, too.
pub(in crate::actions) fn socket(tmux: &str) -> Result<&str, Refusal> {
    let parts: Vec<&str> = tmux.rsplitn(3, ',').collect();
    let socket = if let [_, _, socket] = parts[..] { socket } else { tmux };
    if socket.starts_with('/') {
        return Ok(socket);
    }
    Err(Refusal::invalid("`tmux` is the absolute path of a socket, or what `$TMUX` says"))
}

/// The parameters about visibility.
#[derive(Clone, Debug, Default)]
pub(in crate::actions) struct VisibilityParams {
    pub(in crate::actions) visible: Visibility,
    pub(in crate::actions) substrate: BackendKind,
    pub(in crate::actions) location: LocationParams,
    pub(in crate::actions) on_view_closed: Option<OnViewClosed>,
}

/// The view that the parameters ask for, after a check that tmux is available.
pub(in crate::actions) async fn view_spec(
    kernel: &Kernel,
    params: VisibilityParams,
    argv: Option<&[String]>,
) -> Result<Option<ViewSpec>, Refusal> {
    let is_required = params.visible == Visibility::Always
        || params.substrate == BackendKind::Tmux
        || params.location.is_given() && params.visible == Visibility::Never;
    let is_preferred =
        || params.visible == Visibility::Auto && needs_visible_terminal(kernel, argv);
    if !is_required && !is_preferred() {
        return Ok(None);
    }
    let spec = ViewSpec::new(params.location.resolve()?, params.on_view_closed.unwrap_or_default());
    match kernel.tmux_views().ask_at(kernel, &spec.location, ViewRequest::Ready).await {
        Ok(()) => Ok(Some(spec)),
        Err(refusal) if is_required => Err(refusal),
        // Visibility was a preference only.
        Err(_) => Ok(None),
    }
}

/// Whether a command needs a visible terminal; a login shell does.
fn needs_visible_terminal(kernel: &Kernel, argv: Option<&[String]>) -> bool {
    let Some(argv) = argv else { return true };
    let rules = kernel.setup().tmux_view.as_ref().map(|view| view.rules.as_slice());
    matches!(judge(argv, rules.unwrap_or_default()), InteractiveVerdict::Interactive { .. })
}

/// Shows a pane that was just started. If that fails, the pane is closed.
pub(in crate::actions) async fn show(
    context: &ActionContext,
    pane: &Arc<Pane>,
    is_first: bool,
    size: Size,
) -> Result<(), Refusal> {
    let kernel = &context.kernel;
    let Some(spec) = pane.lock().record.view.clone() else { return Ok(()) };
    let request = ShowRequest {
        pane: pane.id.clone(),
        location: spec.location.clone(),
        size,
        must_be_new: is_first,
        replace_ok: true,
        wait_ok: true,
        grant: context.caller.grant.clone(),
    };
    let placed = kernel
        .tmux_views()
        .ask_at(kernel, &spec.location, |answer| ViewRequest::Show(request, answer))
        .await;
    match placed {
        Ok(_) => Ok(()),
        // The program has exited already, which is not a failure to show it.
        Err(_) if has_ended(pane) => Ok(()),
        Err(refusal) => {
            close(kernel, pane).await?;
            Err(refusal)
        }
    }
}

/// Whether its program has exited. The tape has that before the table.
fn has_ended(pane: &Pane) -> bool {
    let state = pane.lock();
    let is_on_tape = || state.output().is_some_and(|output| output.ending().is_some());
    !state.status().is_live() || is_on_tape()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: [Option<&str>; 3], expect: Result<ViewLocation, &str>) {
        let [session, beside, tmux] = said.map(|word| word.map(str::to_owned));
        let location =
            LocationParams { session, beside, tmux }.resolve().map_err(|refusal| refusal.sentence);
        match (location, expect) {
            (Ok(location), Ok(expect)) => assert_eq!(location, expect),
            (Err(sentence), Err(part)) => assert!(sentence.contains(part), "{sentence}"),
            (location, expect) => panic!("{location:?} for {expect:?}"),
        }
    }

    #[test]
    fn a_spot_is_a_session_or_beside_somebodys_pane() {
        let session = |name: &str| Ok(ViewLocation::Session { name: name.to_owned() });
        let beside = || Ok(ViewLocation::Beside { socket: "/tmp/t,1/default".into(), pane: 3 });
        check([None, None, None], session("main"));
        check([Some("a"), None, None], session("a"));
        check([None, Some("%3"), Some("/tmp/t,1/default,77,0")], beside());
        check([Some("a"), Some("%3"), None], Err("not both"));
        check([None, Some("%3"), None], Err("go together"));
        check([None, Some("3"), Some("/x")], Err("as in `%3`"));
        check([None, Some("%3"), Some("default")], Err("absolute path"));
    }
}
