//! Which panes a call accesses, and whether its caller may access them.
//!
//! Every action declares what a call with its parameters accesses; [`Kernel::permit`] checks that
//! in one place, before the action runs. An action cannot omit the declaration: `Action::access`
//! has no default.

use paned_model::{AgentState, Code, Grant, PaneId, PaneRef, PaneSet, Refusal, Scope};
use paned_policy::permit::{self, Denial};

use crate::names::missing_pane;
use crate::{Caller, Kernel};

/// What a call accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    extent: AccessExtent,
    panes: Vec<PaneId>,
    tmux_server: bool,
    operation: AccessOperation,
}

/// What a call does to the panes that it names, where that needs more than reaching them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessOperation {
    Other,
    /// Types into the pane, which may answer a question on its screen.
    Input,
    /// Ends the pane; the caller's own pane only with `itself`.
    End {
        itself: bool,
    },
}

/// Which panes a call accesses beyond those that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessExtent {
    /// None.
    Named,
    /// All that its caller's grant reaches: the action asks [`Kernel::reaches`] about every pane it
    /// finds, and leaves the others out of what it does and of what it answers.
    Reachable,
    /// Every pane.
    All,
}

impl AccessRequest {
    fn new(extent: AccessExtent, panes: Vec<PaneId>) -> Self {
        Self { extent, panes, tmux_server: false, operation: AccessOperation::Other }
    }

    /// No pane: only the scope is checked.
    #[must_use]
    pub fn nothing() -> Self {
        Self::new(AccessExtent::Named, Vec::new())
    }

    /// This pane.
    #[must_use]
    pub fn pane(pane: &PaneId) -> Self {
        Self::new(AccessExtent::Named, vec![pane.clone()])
    }

    /// These panes.
    #[must_use]
    pub fn panes<'a>(panes: impl IntoIterator<Item = &'a PaneId>) -> Self {
        Self::new(AccessExtent::Named, panes.into_iter().cloned().collect())
    }

    /// Those of all panes that the caller's grant reaches. The action itself leaves the others out.
    #[must_use]
    pub fn reachable() -> Self {
        Self::new(AccessExtent::Reachable, Vec::new())
    }

    /// Every pane, or something that only a grant over every pane may see or do.
    #[must_use]
    pub fn all_panes() -> Self {
        Self::new(AccessExtent::All, Vec::new())
    }

    /// The panes that the call names.
    pub(crate) fn named_panes(&self) -> &[PaneId] {
        &self.panes
    }

    /// The call types into the panes. An agent must not answer its own question.
    #[must_use]
    pub fn typing(self) -> Self {
        Self { operation: AccessOperation::Input, ..self }
    }

    /// The call ends the panes; the one that the caller runs in only with `itself`.
    #[must_use]
    pub fn ending(self, itself: bool) -> Self {
        Self { operation: AccessOperation::End { itself }, ..self }
    }

    /// The call names a tmux server, if `socket` is given. A tmux client obeys its server, so only
    /// `admin` over all panes may do that.
    #[must_use]
    pub fn with_tmux_server(mut self, socket: Option<&str>) -> Self {
        self.tmux_server |= socket.is_some();
        self
    }
}

impl Kernel {
    /// Checks that a caller may access what a call accesses. A pane that does not exist gets the
    /// same refusal as one that the grant does not reach.
    pub(crate) fn permit(&self, access: &AccessRequest, caller: &Caller) -> Result<(), Refusal> {
        if access.extent == AccessExtent::All {
            needs_all_panes(caller, "this concerns every pane")?;
        }
        if access.tmux_server {
            permit::scope(&caller.grant, Scope::Admin).map_err(|_| {
                let sentence = "naming a tmux server requires the scope `admin`";
                Refusal::new(Code::Forbidden, sentence)
            })?;
            needs_all_panes(caller, "a tmux server can show any pane")?;
        }
        access.panes.iter().try_for_each(|pane| self.check_reach(pane, caller))?;
        match access.operation {
            AccessOperation::Other | AccessOperation::Input => Ok(()),
            AccessOperation::End { itself } => {
                access.panes.iter().try_for_each(|pane| self.check_self_end(pane, caller, itself))
            }
        }
    }

    /// Refuses to end the pane that the caller runs in, unless `itself` is set.
    pub(crate) fn check_self_end(
        &self,
        id: &PaneId,
        caller: &Caller,
        itself: bool,
    ) -> Result<(), Refusal> {
        let own = caller.pane.as_ref().filter(|own| own.id == *id && !itself);
        if own.and_then(|own| self.panes().find(own)).is_none() {
            return Ok(());
        }
        let sentence = format!(
            "this would stop pane `{id}`, from which the request comes; set `self` to confirm"
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }

    /// Refuses input into an agent's pane that comes from that agent, or from a pane started there,
    /// unless the pane was started with the right to `approve`. Otherwise an agent could approve
    /// its own tool calls. The agent's state is not asked: an agent can clear its screen, or shrink
    /// it, and so hide its question from us. The transport does not matter: the unix socket gives
    /// every program in a pane the rights of the owner.
    pub(crate) fn permit_typing(
        &self,
        access: &AccessRequest,
        caller: &Caller,
    ) -> Result<(), Refusal> {
        let Some(own) = &caller.pane else { return Ok(()) };
        if access.operation != AccessOperation::Input {
            return Ok(());
        }
        let lineage = self.panes().lineage_of(own);
        for id in &access.panes {
            let Ok(pane) = self.panes().get(id) else { continue };
            let locked = pane.lock();
            let is_agent = locked.agent.as_ref().is_some_and(|it| it.state != AgentState::Exited);
            let may_approve = locked.record.grant.grant.scopes.contains(&Scope::Approve);
            if !is_agent || may_approve || !lineage.contains(pane.instance()) {
                continue;
            }
            let sentence = format!(
                "the agent in pane `{id}` cannot type into its own pane, because it could \
                approve its own requests; start the pane with the capability `approve` to allow \
                it"
            );
            return Err(Refusal::new(Code::Forbidden, sentence));
        }
        Ok(())
    }

    /// Whether a caller's grant reaches a pane.
    pub(crate) fn reaches(&self, id: &PaneId, caller: &Caller) -> bool {
        self.grant_reaches(id, &caller.grant)
    }

    /// Whether a caller's grant reaches a pane; the refusal if it does not, which is the same for a
    /// pane that does not exist.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_reach(&self, id: &PaneId, caller: &Caller) -> Result<(), Refusal> {
        if self.grant_reaches(id, &caller.grant) {
            return Ok(());
        }
        Err(missing_pane(Code::Forbidden, id, Denial::Pane(id.clone()).to_string()))
    }

    /// Whether a grant reaches the pane that has this name now.
    pub(crate) fn grant_reaches(&self, id: &PaneId, grant: &Grant) -> bool {
        // A grant over all panes needs no lineage.
        grant.panes == PaneSet::All || permit::reaches(grant, &self.panes().lineage(id))
    }

    /// Whether a grant reaches a pane, also one that is gone: its events are visible by the same
    /// rule.
    pub(crate) fn grant_reaches_ref(&self, pane: &PaneRef, grant: &Grant) -> bool {
        grant.panes == PaneSet::All || permit::reaches(grant, &self.panes().lineage_of(pane))
    }
}

/// Refuses a grant over some panes only.
fn needs_all_panes(caller: &Caller, why: &str) -> Result<(), Refusal> {
    if caller.reaches_all() {
        return Ok(());
    }
    let sentence = format!("{why}, but this token covers only some panes");
    Err(Refusal::new(Code::Forbidden, sentence))
}

impl Caller {
    /// Whether its grant reaches every pane.
    #[must_use]
    pub fn reaches_all(&self) -> bool {
        self.grant.panes == PaneSet::All
    }
}
