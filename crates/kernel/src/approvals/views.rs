//! Who sees which approvals, and who may answer them.

use std::sync::Arc;

use paned_model::{ApprovalId, ApprovalInfo, Code, PaneRef, Refusal, Scope};
use paned_policy::approval::{Answerer, Asker, may_answer};

use super::entry::pane_of;
use super::memory::RememberedAnswer;
use super::table::missing;
use crate::panes::Pane;
use crate::{Caller, Kernel};

impl Kernel {
    /// The approvals that a caller may see, oldest first: those that are open, and with `ended`
    /// also the last ones that are not.
    pub(crate) fn visible_approvals(&self, ended: bool, caller: &Caller) -> Vec<ApprovalInfo> {
        let mut found: Vec<(ApprovalInfo, Asker)> = {
            let mut table = self.approvals().lock();
            table.expire(self, self.now());
            let last = table.ended.iter().rev().filter(|_| ended);
            let last = last.map(|it| (it.info.clone(), it.asker.clone()));
            let open = table.open.iter().map(|it| (it.info(), it.asker.clone()));
            last.chain(open).collect()
        };
        found.retain(|(info, asker)| self.sees(caller, info, asker));
        found.sort_by(|(a, _), (b, _)| (a.asked_at, &a.id).cmp(&(b.asked_at, &b.id)));
        found.into_iter().map(|(info, _)| info).collect()
    }

    /// An approval that a caller may see.
    ///
    /// # Errors
    /// When there is none of this id, or the caller may not see it.
    pub(crate) fn visible_approval(
        &self,
        id: &ApprovalId,
        caller: &Caller,
    ) -> Result<ApprovalInfo, Refusal> {
        let found = self.visible_approvals(true, caller).into_iter().find(|info| info.id == *id);
        found.ok_or_else(|| missing(id))
    }

    /// The answers for panes that a caller may see, oldest first.
    pub(crate) fn visible_remembered(&self, caller: &Caller) -> Vec<RememberedAnswer> {
        let mut found = self.approvals().lock().remembered.clone();
        found.retain(|answer| self.grant_reaches_ref(&answer.pane(), &caller.grant));
        found
    }

    /// Deletes an answer that holds for a pane. Returns it.
    ///
    /// # Errors
    /// When there is none of this id, or the caller may not see it.
    pub(crate) fn forget_answer(
        &self,
        id: &ApprovalId,
        caller: &Caller,
    ) -> Result<RememberedAnswer, Refusal> {
        let is_visible = self.visible_remembered(caller).iter().any(|answer| answer.id == *id);
        let mut table = self.approvals().lock();
        let at = table.remembered.iter().position(|answer| answer.id == *id && is_visible);
        let at = at.ok_or_else(|| {
            let shown = id.0.escape_debug();
            let sentence = format!(
                "no answer for a pane has the id `{shown}`; `approval:list` lists them under \
                `remembered`"
            );
            Refusal::not_found(sentence)
        })?;
        let answer = table.remembered.remove(at);
        self.journal().record(Vec::new(), vec![answer.delete()]);
        Ok(answer)
    }

    /// Checks that a caller may answer an approval, as far as that depends on who it is. Returns
    /// the question on an agent's screen that it is about, if it is about one: the pane, and the id
    /// of the question.
    ///
    /// # Errors
    /// When there is none, the caller may not see it, or may not answer it.
    pub(crate) fn check_may_answer(
        &self,
        id: &ApprovalId,
        caller: &Caller,
    ) -> Result<Option<(PaneRef, String)>, Refusal> {
        let info = self.visible_approval(id, caller)?;
        let (asker, dialog) = {
            let mut table = self.approvals().lock();
            let Some(open) = table.find(id) else { return Err(table.not_open(id)) };
            let dialog = open.dialog.as_ref().map(|it| (it.pane.clone(), it.id.clone()));
            (open.asker.clone(), dialog)
        };
        let reaches = match pane_of(&info) {
            Some(pane) => self.grant_reaches_ref(&pane, &caller.grant),
            None => caller.reaches_all(),
        };
        let answerer = self.answerer(caller, reaches);
        may_answer(&asker, &answerer).map_err(|denial| {
            let sentence = format!("approval {id}: {denial}");
            Refusal::new(Code::Forbidden, sentence)
        })?;
        Ok(dialog)
    }

    fn sees(&self, caller: &Caller, info: &ApprovalInfo, asker: &Asker) -> bool {
        match pane_of(info) {
            Some(pane) => self.grant_reaches_ref(&pane, &caller.grant),
            None => caller.reaches_all() || asker.grants.contains(&caller.grant.id),
        }
    }

    fn answerer(&self, caller: &Caller, reaches: bool) -> Answerer {
        let grants = caller.acts_with();
        let Some(own) = &caller.pane else {
            return Answerer { grants, reaches, is_whole_lineage: true, ..Answerer::default() };
        };
        let pane = self.panes().find(own);
        let may_approve =
            |pane: &Arc<Pane>| pane.lock().record.grant.grant.scopes.contains(&Scope::Approve);
        Answerer {
            grants,
            lineage: self.panes().lineage_of(own),
            is_whole_lineage: pane
                .as_ref()
                .is_some_and(|pane| pane.lock().record.has_all_ancestors()),
            is_agent: self.is_from_agent(caller),
            pane_may_approve: pane.as_ref().is_some_and(may_approve),
            reaches,
        }
    }

    /// Whether a caller is an agent, or runs in a pane that an agent has started.
    pub(crate) fn is_from_agent(&self, caller: &Caller) -> bool {
        0 < self.agents_above(caller)
    }
}
