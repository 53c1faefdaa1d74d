//! The actions, one file each: name, one-sentence doc, parameters, answer, `run`.

mod agent;
mod agent_answer;
mod agent_cleanup;
mod agent_create;
mod agent_explain;
mod agent_interrupt;
mod agent_last;
mod agent_list;
mod agent_message;
mod agent_messages;
mod agent_profiles;
mod agent_record;
mod agent_restart;
mod agent_set_state;
mod agent_start;
mod agent_state;
mod agent_wait;
mod event_emit;
mod grant_create;
mod grant_list;
mod grant_revoke;
mod layout_apply;
mod layout_get;
mod layout_hide;
mod layout_place;
mod layout_plan;
mod layout_save;
mod meta;
mod pane_activate;
mod pane_adopt;
mod pane_close;
mod pane_delete_meta;
mod pane_get;
mod pane_get_meta;
mod pane_keys;
mod pane_kill;
mod pane_list;
mod pane_new;
mod pane_paste;
mod pane_read;
mod pane_remove;
mod pane_rename;
mod pane_resize;
mod pane_run;
mod pane_screen;
mod pane_search;
mod pane_set_meta;
mod pane_update_meta;
mod pane_wait;
mod pane_write;
mod server_status;
mod server_stop;
mod server_upgrade;
mod session_list;
mod session_start;
mod session_stop;
mod shell_run;
mod subagent_closed;
mod subagent_opened;
mod tmux_list;
mod visibility;
mod wait_limit;

use std::sync::Arc;

use paned_model::{PaneId, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::agent_start::restart_failed;
use crate::Kernel;
use crate::panes::Pane;
use crate::registry::Registry;

/// Every action there is.
pub(crate) fn registry() -> Registry {
    Registry::new()
        .with::<agent_answer::AgentAnswer>()
        .with::<agent_cleanup::AgentCleanup>()
        .with::<agent_create::AgentCreate>()
        .with::<agent_explain::AgentExplain>()
        .with::<agent_interrupt::AgentInterrupt>()
        .with::<agent_last::AgentLast>()
        .with::<agent_list::AgentList>()
        .with::<agent_message::AgentMessage>()
        .with::<agent_messages::AgentMessages>()
        .with::<agent_profiles::AgentProfiles>()
        .with::<agent_record::AgentRecordAction>()
        .with::<agent_restart::AgentRestart>()
        .with::<agent_set_state::AgentSetState>()
        .with::<agent_state::AgentStateAction>()
        .with::<agent_wait::AgentWait>()
        .with::<event_emit::EventEmit>()
        .with::<grant_create::GrantCreate>()
        .with::<grant_list::GrantList>()
        .with::<grant_revoke::GrantRevoke>()
        .with::<layout_apply::LayoutApply>()
        .with::<layout_get::LayoutGet>()
        .with::<layout_hide::LayoutHide>()
        .with::<layout_place::LayoutPlace>()
        .with::<layout_plan::LayoutPlanAction>()
        .with::<layout_save::LayoutSave>()
        .with::<pane_activate::PaneActivate>()
        .with::<pane_adopt::PaneAdopt>()
        .with::<pane_close::PaneClose>()
        .with::<pane_delete_meta::PaneDeleteMeta>()
        .with::<pane_get::PaneGet>()
        .with::<pane_get_meta::PaneGetMeta>()
        .with::<pane_keys::PaneKeys>()
        .with::<pane_kill::PaneKill>()
        .with::<pane_list::PaneList>()
        .with::<pane_new::PaneNew>()
        .with::<pane_paste::PanePaste>()
        .with::<pane_read::PaneRead>()
        .with::<pane_remove::PaneRemove>()
        .with::<pane_rename::PaneRename>()
        .with::<pane_resize::PaneResize>()
        .with::<pane_run::PaneRun>()
        .with::<pane_screen::PaneScreen>()
        .with::<pane_search::PaneSearch>()
        .with::<pane_set_meta::PaneSetMeta>()
        .with::<pane_update_meta::PaneUpdateMeta>()
        .with::<pane_wait::PaneWait>()
        .with::<pane_write::PaneWrite>()
        .with::<server_status::ServerStatus>()
        .with::<server_stop::ServerStop>()
        .with::<server_upgrade::ServerUpgrade>()
        .with::<session_list::SessionList>()
        .with::<session_start::SessionStart>()
        .with::<session_stop::SessionStop>()
        .with::<shell_run::ShellRun>()
        .with::<subagent_closed::SubagentClosed>()
        .with::<subagent_opened::SubagentOpened>()
        .with::<tmux_list::TmuxList>()
}

/// Ends a pane's program and removes the pane, unless one of its processes survives.
pub(crate) async fn close(kernel: &Kernel, pane: &Arc<Pane>) -> Result<(), Refusal> {
    let (_, survivors) = pane_kill::kill(kernel, pane, kernel.limits().kill_grace, false).await?;
    if survivors.is_empty() { pane_remove::forget(kernel, pane).await } else { Ok(()) }
}

/// Parameters that name a pane and nothing else.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PaneIdParams {
    /// The pane.
    pane_id: PaneId,
}

/// No parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// An empty answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EmptyOutput {}
