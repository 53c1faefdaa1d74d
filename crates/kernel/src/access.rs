//! What a call touches, and whether its caller may touch that.
//!
//! Every action says for its parameters what it is about; [`Kernel::permit`] checks all of it in one place, before the
//! action runs. An action cannot leave it out: `Action::touches` has no default.

use paned_model::{AgentState, Code, Grant, PaneId, PaneRef, PaneSet, Refusal, Scope};
use paned_policy::permit::{self, Denial};

use crate::agents::AgentRequest;
use crate::{Caller, Kernel};

/// What a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    extent: AccessExtent,
    panes: Vec<PaneId>,
    tmux_server: bool,
    operation: AccessOperation,
}

/// What is done to the panes that a call names, where that needs more than to reach them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessOperation {
    Other,
    /// It is typed into, which may answer a question on its screen.
    Input,
    /// It is ended; also if it is the caller's own, where the caller says so.
    End {
        itself: bool,
    },
}

/// How far a call goes beyond the panes that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessExtent {
    /// No further.
    Named,
    /// As far as its caller's grant reaches: the action asks [`Kernel::reaches`] about every pane it finds, and leaves
    /// the others out of what it does and of what it answers.
    Reachable,
    /// To every pane.
    All,
}

impl AccessRequest {
    fn new(extent: AccessExtent, panes: Vec<PaneId>) -> Self {
        Self { extent, panes, tmux_server: false, operation: AccessOperation::Other }
    }

    /// No pane: what the scope allows is all there is to it.
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

    /// Every pane, or what only a grant over every pane may see or do.
    #[must_use]
    pub fn all_panes() -> Self {
        Self::new(AccessExtent::All, Vec::new())
    }

    /// The panes are typed into. What answers a question of an agent does not come from the agent itself.
    #[must_use]
    pub fn typing(self) -> Self {
        Self { operation: AccessOperation::Input, ..self }
    }

    /// The panes are ended; also the one that the caller speaks from, if it says that it means `itself`.
    #[must_use]
    pub fn ending(self, itself: bool) -> Self {
        Self { operation: AccessOperation::End { itself }, ..self }
    }

    /// A tmux server that the caller names, if it names one. A tmux client obeys its server, so this is for `admin` over
    /// all panes alone.
    #[must_use]
    pub fn with_tmux_server(mut self, socket: Option<&str>) -> Self {
        self.tmux_server |= socket.is_some();
        self
    }
}

impl Kernel {
    /// Whether a caller may touch what a call touches. A pane that does not exist is refused in the same words as one
    /// that the grant does not reach.
    pub(crate) fn permit(&self, touches: &AccessRequest, caller: &Caller) -> Result<(), Refusal> {
        if touches.extent == AccessExtent::All {
            needs_all_panes(caller, "this is about every pane")?;
        }
        if touches.tmux_server {
            permit::scope(&caller.grant, Scope::Admin).map_err(|_| {
                let sentence = "to name a tmux server needs the scope `admin`";
                Refusal::new(Code::Forbidden, sentence)
            })?;
            needs_all_panes(caller, "a tmux server shows more than single panes")?;
        }
        touches.panes.iter().try_for_each(|pane| self.check_reach(pane, caller))?;
        match touches.operation {
            AccessOperation::Other | AccessOperation::Input => Ok(()),
            AccessOperation::End { itself } => {
                touches.panes.iter().try_for_each(|pane| self.check_self_end(pane, caller, itself))
            }
        }
    }

    /// Refuses to end the pane that the caller speaks from, unless it says that it means that.
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
            "this would end the pane `{id}`, which it comes from; say `self` (`--self`) if that is meant"
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }

    /// Whether what a caller types may be typed: a question in an agent's pane is not answered from within that pane, or
    /// from one that was started there, unless the pane was started with the right to `approve`. By which way the caller
    /// came does not matter: the socket gives every program in a pane the rights of the owner.
    pub(crate) async fn permit_typing(
        &self,
        touches: &AccessRequest,
        caller: &Caller,
    ) -> Result<(), Refusal> {
        let (AccessOperation::Input, Some(own)) = (touches.operation, &caller.pane) else {
            return Ok(());
        };
        let lineage = self.panes().lineage_of(own);
        for id in &touches.panes {
            let Ok(pane) = self.panes().get(id) else { continue };
            let may_approve = pane.lock().record.grant.grant.scopes.contains(&Scope::Approve);
            if may_approve || !lineage.contains(pane.instance()) {
                continue;
            }
            // By a fresh look: what was last seen is some milliseconds old.
            if let Some(agent) = self.agents().find(id) {
                let _ = agent.ask(AgentRequest::Inspect).await;
            }
            let state = pane.lock().agent.as_ref().map(|agent| agent.state);
            let Some(why) = state.and_then(pending_question) else { continue };
            let sentence = format!(
                "the agent in pane `{id}` {why}, and this comes from that agent: to answer it needs the scope `approve`, \
                 which the pane was not started with"
            );
            return Err(Refusal::new(Code::Forbidden, sentence));
        }
        Ok(())
    }

    /// Whether a caller's grant reaches a pane.
    #[must_use]
    pub fn reaches(&self, id: &PaneId, caller: &Caller) -> bool {
        self.check_reach(id, caller).is_ok()
    }

    /// Whether a caller's grant reaches a pane; the refusal if it does not, which is the same for a pane that does not
    /// exist.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_reach(&self, id: &PaneId, caller: &Caller) -> Result<(), Refusal> {
        if self.grant_reaches(id, &caller.grant) {
            return Ok(());
        }
        Err(Refusal::new(Code::Forbidden, Denial::Pane(id.clone()).to_string()))
    }

    /// Whether a grant reaches the pane that has this name now.
    pub(crate) fn grant_reaches(&self, id: &PaneId, grant: &Grant) -> bool {
        // A grant over all panes needs no lineage.
        grant.panes == PaneSet::All || permit::reaches(grant, &self.panes().lineage(id))
    }

    /// Whether a grant reaches a pane, also one that is gone: what happened to it is shown or not by that.
    pub(crate) fn grant_reaches_ref(&self, pane: &PaneRef, grant: &Grant) -> bool {
        grant.panes == PaneSet::All || permit::reaches(grant, &self.panes().lineage_of(pane))
    }
}

/// Why what is typed into an agent could answer a question. A state that is not known may hide one: an agent that makes its
/// own pane too small to show a question must not get past this.
fn pending_question(state: AgentState) -> Option<&'static str> {
    match state {
        AgentState::Blocked => Some("asks a question"),
        AgentState::Starting | AgentState::Unknown => {
            Some("may be asking a question that cannot be seen")
        }
        AgentState::Ready
        | AgentState::Busy
        | AgentState::Limited
        | AgentState::Error
        | AgentState::Exited => None,
    }
}

/// Refuses a grant over some panes only.
fn needs_all_panes(caller: &Caller, why: &str) -> Result<(), Refusal> {
    if caller.reaches_all() {
        return Ok(());
    }
    let sentence = format!("{why}, and this grant reaches only some");
    Err(Refusal::new(Code::Forbidden, sentence))
}

impl Caller {
    /// Whether its grant reaches every pane.
    #[must_use]
    pub fn reaches_all(&self) -> bool {
        self.grant.panes == PaneSet::All
    }
}
