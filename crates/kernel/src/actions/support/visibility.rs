//! Whether and where a pane is shown in tmux: what the parameters of several actions mean.

use std::sync::Arc;

use paned_backend::tmux::{SessionName, TmuxPane};
use paned_model::{BackendKind, Refusal, Size};
use paned_policy::interactive::{InteractiveVerdict, judge};
use paned_policy::layout::NoRoom;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Kernel;
use crate::panes::Pane;
use crate::panes::close::close;
use crate::registry::ActionContext;
use crate::tmux_view::{OnViewClosed, ShowRequest, ViewLocation, ViewRequest, ViewSpec};

/// Whether a pane is shown in tmux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) enum Visibility {
    /// Never.
    Never,
    /// If its command is interactive, as editors are, and tmux is available.
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
    pub(in crate::actions) fn resolve(self, kernel: &Kernel) -> Result<ViewLocation, Refusal> {
        self.resolve_or(|| kernel.default_session())
    }

    /// The location that the parameters mean, with a session for those that name none.
    fn resolve_or(self, session: impl FnOnce() -> String) -> Result<ViewLocation, Refusal> {
        match (self.session, self.beside, self.tmux) {
            (named, None, None) => {
                named.as_deref().map_or(Ok(()), check_session_name)?;
                Ok(ViewLocation::Session { name: named.unwrap_or_else(session) })
            }
            (None, Some(beside), Some(tmux)) => {
                let pane = TmuxPane::parse(beside.as_bytes()).ok_or_else(|| {
                    Refusal::invalid("`beside` must be a tmux pane id such as `%3`")
                })?;
                Ok(ViewLocation::Beside { socket: socket(&tmux)?.into(), pane: pane.0 })
            }
            (Some(_), _, _) => {
                Err(Refusal::invalid("pass `session`, or `beside` and `tmux`, not both"))
            }
            (None, _, _) => Err(Refusal::invalid("`beside` and `tmux` must be passed together")),
        }
    }
}

/// Refuses what cannot be the name of a session.
pub(in crate::actions) fn check_session_name(name: &str) -> Result<(), Refusal> {
    SessionName::new(name).map(drop).map_err(|error| Refusal::invalid(error.to_string()))
}

/// The socket of `$TMUX`, which is the socket, the server's process and a session; a socket alone
/// is accepted, too.
pub(in crate::actions) fn socket(tmux: &str) -> Result<&str, Refusal> {
    let parts: Vec<&str> = tmux.rsplitn(3, ',').collect();
    let socket = if let [_, _, socket] = parts[..] { socket } else { tmux };
    if socket.starts_with('/') {
        return Ok(socket);
    }
    Err(Refusal::invalid("`tmux` must be the absolute path of a socket, or the value of `$TMUX`"))
}

/// The parameters about visibility.
#[derive(Clone, Debug, Default)]
pub(in crate::actions) struct VisibilityParams {
    /// `None`: in the given location, or in the session that follows.
    pub(in crate::actions) visible: Option<Visibility>,
    pub(in crate::actions) substrate: BackendKind,
    pub(in crate::actions) location: LocationParams,
    pub(in crate::actions) on_view_closed: Option<OnViewClosed>,
    /// Whether it waits for room; `None`: by who asks.
    pub(in crate::actions) wait: Option<bool>,
    /// Whether its output is meant for the client that starts it, so that no session follows it.
    pub(in crate::actions) is_background: bool,
}

/// A view that was asked for.
pub(in crate::actions) struct WantedView {
    pub(in crate::actions) spec: ViewSpec,
    /// Whether the pane is not to exist without it.
    pub(in crate::actions) is_required: bool,
}

/// What is done with a pane for which there is no room: what a person asks to see gets a window of
/// its own, what an agent starts waits.
pub(in crate::actions) fn no_room(context: &ActionContext, wait: Option<bool>) -> NoRoom {
    match wait {
        Some(true) => NoRoom::Wait,
        Some(false) => NoRoom::Skip,
        None if context.kernel.is_from_agent(&context.caller) => NoRoom::Wait,
        None => NoRoom::Window,
    }
}

/// The view that the parameters ask for, after a check that tmux is available.
pub(in crate::actions) async fn view_spec(
    context: &ActionContext,
    params: VisibilityParams,
    argv: Option<&[String]>,
) -> Result<Option<WantedView>, Refusal> {
    let kernel = &context.kernel;
    // Also where nothing is shown: a mistake is one whatever else is asked for.
    params.location.clone().resolve(kernel)?;
    let following = kernel.tmux_views().following();
    let is_required = match params.visible {
        Some(Visibility::Always) => true,
        Some(Visibility::Never | Visibility::Auto) => params.substrate == BackendKind::Tmux,
        None => params.substrate == BackendKind::Tmux || params.location.is_given(),
    };
    let is_preferred = || match params.visible {
        Some(Visibility::Auto) => needs_visible_terminal(kernel, argv),
        Some(Visibility::Never | Visibility::Always) => false,
        None => following.is_some() && !params.is_background,
    };
    if !is_required && !is_preferred() {
        return Ok(None);
    }
    let location =
        params.location.resolve_or(|| following.unwrap_or_else(|| kernel.default_session()))?;
    let on_closed = params.on_view_closed.unwrap_or_default();
    let spec = ViewSpec::new(location, on_closed, true, no_room(context, params.wait));
    match kernel.tmux_views().ask_at(kernel, &spec.location, ViewRequest::Ready).await {
        Ok(()) => Ok(Some(WantedView { spec, is_required })),
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

/// Shows a pane that was just started. If that fails, the pane is closed, unless it was only
/// preferred to show it.
pub(in crate::actions) async fn show(
    context: &ActionContext,
    pane: &Arc<Pane>,
    is_first: bool,
    is_required: bool,
    size: Size,
) -> Result<(), Refusal> {
    let kernel = &context.kernel;
    let Some(spec) = pane.lock().record.view.clone() else { return Ok(()) };
    let request = ShowRequest {
        pane: pane.id.clone(),
        location: spec.location.clone(),
        size,
        must_be_new: is_first,
        // A person's pane gets a window instead.
        replace_ok: spec.no_room != NoRoom::Window,
        no_room: spec.no_room,
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
        Err(refusal) if !is_required => {
            tracing::debug!(pane = %pane.id, %refusal, "cannot show a new pane");
            pane.lock().record.view = None;
            kernel.journal().record(Vec::new(), vec![pane.lock().record.put()]);
            Ok(())
        }
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
        let location = LocationParams { session, beside, tmux }.resolve_or(|| "main".to_owned());
        let location = location.map_err(|refusal| refusal.sentence);
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
        check([None, Some("%3"), None], Err("passed together"));
        check([None, Some("3"), Some("/x")], Err("such as `%3`"));
        check([None, Some("%3"), Some("default")], Err("absolute path"));
    }
}
