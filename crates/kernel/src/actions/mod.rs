//! The actions, one file each: name, one-sentence doc, parameters, answer, `run`.

pub(crate) mod agent;
mod approval;
mod audit;
mod event_emit;
mod event_list;
pub(crate) mod ext;
pub(crate) mod grant;
pub(crate) mod layout;
pub(crate) mod notify;
pub(crate) mod pane;
pub(crate) mod permission_test;
mod server;
pub(crate) mod session;
mod shell_run;
pub(crate) mod subagent;
pub(crate) mod support;
mod tmux_list;

use paned_model::PaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::agent::start::restart_failed;
pub(crate) use self::support::next_run::restart_pane;
use crate::registry::Registry;

/// Every action there is.
#[expect(clippy::too_many_lines, reason = "a table of actions")]
pub(crate) fn registry() -> Registry {
    Registry::new()
        .with::<agent::answer::AgentAnswer>()
        .with::<agent::cancel::AgentCancel>()
        .with::<agent::cleanup::AgentCleanup>()
        .with::<agent::create::AgentCreate>()
        .with::<agent::explain::AgentExplain>()
        .with::<agent::interrupt::AgentInterrupt>()
        .with::<agent::last::AgentLast>()
        .with::<agent::list::AgentList>()
        .with::<agent::message::AgentMessage>()
        .with::<agent::messages::AgentMessages>()
        .with::<agent::profiles::AgentProfiles>()
        .with::<agent::record::AgentRecordAction>()
        .with::<agent::restart::AgentRestart>()
        .with::<agent::set_state::AgentSetState>()
        .with::<agent::state::AgentStateAction>()
        .with::<agent::wait::AgentWait>()
        .with::<approval::answer::ApprovalAnswerAction>()
        .with::<approval::forget::ApprovalForget>()
        .with::<approval::get::ApprovalGet>()
        .with::<approval::list::ApprovalList>()
        .with::<audit::list::AuditList>()
        .with::<event_emit::EventEmit>()
        .with::<event_list::EventList>()
        .with::<ext::info::ExtInfo>()
        .with::<ext::install::ExtInstall>()
        .with::<ext::list::ExtList>()
        .with::<ext::logs::ExtLogs>()
        .with::<ext::new::ExtNew>()
        .with::<ext::reload::ExtReload>()
        .with::<ext::remove::ExtRemove>()
        .with::<ext::set::ExtSet>()
        .with::<grant::create::GrantCreate>()
        .with::<grant::create_code::GrantCreateCode>()
        .with::<grant::list::GrantList>()
        .with::<grant::revoke::GrantRevoke>()
        .with::<layout::apply::LayoutApply>()
        .with::<layout::get::LayoutGet>()
        .with::<layout::hide::LayoutHide>()
        .with::<layout::place::LayoutPlace>()
        .with::<layout::plan::LayoutPlanAction>()
        .with::<layout::save::LayoutSave>()
        .with::<notify::list::NotifyList>()
        .with::<notify::test::NotifyTest>()
        .with::<pane::activate::PaneActivate>()
        .with::<pane::adopt::PaneAdopt>()
        .with::<pane::close::PaneClose>()
        .with::<pane::delete_meta::PaneDeleteMeta>()
        .with::<pane::get::PaneGet>()
        .with::<pane::get_meta::PaneGetMeta>()
        .with::<pane::keys::PaneKeys>()
        .with::<pane::kill::PaneKill>()
        .with::<pane::list::PaneList>()
        .with::<pane::marks::PaneMarks>()
        .with::<pane::new::PaneNew>()
        .with::<pane::paste::PanePaste>()
        .with::<pane::prune::PanePrune>()
        .with::<pane::read::PaneRead>()
        .with::<pane::record::PaneRecordAction>()
        .with::<pane::release::PaneRelease>()
        .with::<pane::remove::PaneRemove>()
        .with::<pane::rename::PaneRename>()
        .with::<pane::resize::PaneResize>()
        .with::<pane::restart::PaneRestart>()
        .with::<pane::run::PaneRun>()
        .with::<pane::screen::PaneScreen>()
        .with::<pane::search::PaneSearch>()
        .with::<pane::set_meta::PaneSetMeta>()
        .with::<pane::tag::PaneTag>()
        .with::<pane::update_meta::PaneUpdateMeta>()
        .with::<pane::wait::PaneWait>()
        .with::<pane::write::PaneWrite>()
        .with::<permission_test::PermissionTest>()
        .with::<server::status::ServerStatus>()
        .with::<server::stop::ServerStop>()
        .with::<server::upgrade::ServerUpgrade>()
        .with::<session::list::SessionList>()
        .with::<session::start::SessionStart>()
        .with::<session::stop::SessionStop>()
        .with::<shell_run::ShellRun>()
        .with::<subagent::closed::SubagentClosed>()
        .with::<subagent::opened::SubagentOpened>()
        .with::<tmux_list::TmuxList>()
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

impl Registry {
    /// The kernel's own actions, for pages and types that are written from them.
    #[must_use]
    pub fn built_in() -> Self {
        registry()
    }
}
