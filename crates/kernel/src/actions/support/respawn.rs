//! Starting the program of a pane again, as it was started.

use paned_model::Refusal;
use paned_policy::layout::NoRoom;

use super::visibility::Visibility;
use crate::Kernel;
use crate::actions::pane::new;
use crate::actions::pane::new::PaneCapability;
use crate::panes::launch_record::LaunchRecord;
use crate::panes::record::PaneTitle;
use crate::panes::{Pane, PaneRecord};
use crate::tmux_view::ViewLocation;

/// The parameters that start the program of a pane again, in a new pane without a name: the same
/// command line, folder, environment, umask, capabilities and view, and the size that it has now.
///
/// # Errors
/// When what was stored of its start cannot be read.
pub(in crate::actions) async fn respawn_params(
    kernel: &Kernel,
    pane: &Pane,
) -> Result<new::Params, Refusal> {
    let launch = LaunchRecord::of(kernel, pane).await?;
    let (record, size) = {
        let state = pane.lock();
        (state.record.clone(), state.size)
    };
    let environment = launch.map(|launch| launch.environment).unwrap_or_default();
    let mut params = new::Params {
        argv: Some(record.argv.clone()),
        cwd: Some(record.cwd.clone()),
        env: environment.env,
        inherit_env: environment.inherit_env,
        umask: environment.umask,
        size: Some(size),
        title: match &record.title {
            PaneTitle::Given(title) => Some(title.clone()),
            PaneTitle::Command(_) | PaneTitle::Program(_) | PaneTitle::Own(_) => None,
        },
        meta: record.meta.clone(),
        tags: record.tags.clone(),
        persist: record.persist,
        notify_on_exit: record.notify_on_exit,
        notice: record.notice.clone(),
        timeout_seconds: record.timeout_seconds.and_then(std::num::NonZeroU32::new),
        max_lines: record.max_lines.and_then(|most| most.try_into().ok()),
        can: Some(PaneCapability::of(&record.grant.grant)),
        is_trusted: true,
        ..new::Params::default()
    };
    copy_view(&mut params, &record);
    Ok(params)
}

/// Requests that a pane is shown where another is shown.
fn copy_view(params: &mut new::Params, record: &PaneRecord) {
    let Some(view) = record.view.as_ref().filter(|view| view.is_wanted_again()) else {
        params.visible = Some(Visibility::Never);
        return;
    };
    params.visible = Some(Visibility::Always);
    params.wait = (view.no_room == NoRoom::Wait).then_some(true);
    params.on_view_closed = Some(view.on_closed);
    match &view.location {
        ViewLocation::Session { name } => params.session = Some(name.clone()),
        ViewLocation::Beside { socket, pane } => {
            params.beside = Some(format!("%{pane}"));
            params.tmux = Some(socket.to_string_lossy().into_owned());
        }
    }
}
