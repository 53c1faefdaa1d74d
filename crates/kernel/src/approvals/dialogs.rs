//! Agents' questions as approvals. The agent's state says which question is on the screen; an
//! approval begins and ends with it, and is answered by `agent:answer`.

use paned_model::{
    AgentInfo, AgentState, ApprovalAnswer, ApprovalId, ApprovalInfo, ApprovalKind, ApprovalOption,
    ApprovalStatus, BlockKind, Dialog, Instance,
};
use paned_policy::approval::Asker;
use serde_json::json;

use super::entry::{OpenApproval, OpenDialog};
use super::request::bounded;
use super::{events, new_id};
use crate::Kernel;
use crate::panes::Pane;

/// Why the approval of a question ends when the question leaves the screen by itself.
const LEFT: &str = "the question left the screen: it was answered there, or the agent withdrew it";

impl Kernel {
    /// The published state of an agent has changed, and with it perhaps its question.
    pub(crate) fn note_dialog(&self, pane: &Pane, agent: &AgentInfo) {
        let dialog = agent.dialog.as_ref().filter(|_| agent.state != AgentState::Exited);
        let instance = pane.instance();
        let grant = pane.lock().record.grant.grant.id.clone();
        let mut table = self.approvals().lock();
        if let Some(at) = table.open.iter().position(|open| is_dialog_of(open, instance)) {
            let shown = table.open[at].dialog.as_mut();
            let is_same =
                shown.as_ref().is_some_and(|it| dialog.is_some_and(|new| new.id == it.id));
            if is_same {
                return;
            }
            match shown.and_then(|dialog| dialog.answering.take()) {
                Some(by) => table.end_dialog(self, at, by),
                None => table.end(self, at, ApprovalStatus::Withdrawn, Some(LEFT)),
            }
        }
        let Some(dialog) = dialog else { return };
        let asker = Asker { grants: vec![grant], pane: Some(instance.clone()), is_person: false };
        let open = OpenDialog { pane: pane.pane_ref(), id: dialog.id.clone(), answering: None };
        let approval = OpenApproval::of_dialog(self.dialog_info(pane, agent, dialog), asker, open);
        events::record_asked(self, &approval.info());
        table.open.push(approval);
    }

    /// A caller begins to answer the question on an agent's screen.
    pub(crate) fn begin_dialog_answer(&self, pane: &Pane, by: &str) -> Option<ApprovalId> {
        let mut table = self.approvals().lock();
        let open = table.open.iter_mut().find(|open| is_dialog_of(open, pane.instance()))?;
        open.dialog.as_mut()?.answering = Some(by.to_owned());
        Some(open.id().clone())
    }

    /// It has ended: the question is gone, or is still there.
    pub(crate) fn end_dialog_answer(&self, id: &ApprovalId, by: &str, is_answered: bool) {
        let mut table = self.approvals().lock();
        let Some(at) = table.position(id) else { return };
        match is_answered {
            true => table.end_dialog(self, at, by.to_owned()),
            false => {
                if let Some(dialog) = &mut table.open[at].dialog {
                    dialog.answering = None;
                }
            }
        }
    }

    fn dialog_info(&self, pane: &Pane, agent: &AgentInfo, dialog: &Dialog) -> ApprovalInfo {
        let options = dialog.options.iter().enumerate();
        ApprovalInfo {
            id: new_id(),
            kind: ApprovalKind::Dialog,
            status: ApprovalStatus::Open,
            subject: format!("{} {}", agent.profile, asks(dialog.kind)),
            action: None,
            caller: format!("pane:{}", pane.id),
            pane_id: Some(pane.id.clone()),
            instance: Some(pane.instance().clone()),
            rule: None,
            covers: None,
            details: bounded(json!({ "question": dialog.kind, "text": dialog.text })),
            options: options
                .map(|(at, option)| ApprovalOption {
                    number: at + 1,
                    label: option.label.clone(),
                    allows: option.allows,
                })
                .collect(),
            asked_at: self.now(),
            expires_at: None,
            waiting: true,
            answer: None::<ApprovalAnswer>,
        }
    }
}

fn is_dialog_of(open: &OpenApproval, instance: &Instance) -> bool {
    open.dialog.as_ref().is_some_and(|dialog| dialog.pane.instance == *instance)
}

fn asks(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Permission => "asks for permission",
        BlockKind::Plan => "asks whether to follow its plan",
        BlockKind::Question => "has a question",
        BlockKind::Trust => "asks whether to trust its folder",
        BlockKind::Login => "asks for a login",
        BlockKind::Limit => "asks how to continue after its usage limit",
    }
}
