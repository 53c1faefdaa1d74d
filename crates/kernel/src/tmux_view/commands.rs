//! Requests of clients: list and stop sessions, focus a pane, hide a pane.

use paned_backend::tmux::query::TmuxSession;
use paned_backend::tmux::{ControlClient, SessionId, SessionName, TmuxPaneView};
use paned_model::{Code, Grant, PaneId, PaneSet, Refusal, ViewState};

use super::session::SessionInfo;
use super::task::TmuxViewTask;
use super::{OnViewClosed, SessionStopRequest};
use crate::panes::Pane;

impl TmuxViewTask {
    /// All our sessions.
    pub(super) async fn sessions(&mut self) -> Result<Vec<SessionInfo>, Refusal> {
        // A query would start a server for nothing.
        if self.sessions.is_empty() {
            return Ok(Vec::new());
        }
        let client = self.client().await?;
        let sessions = client.sessions().await?;
        let views = client.views().await?;
        let ours = sessions.into_iter().filter(|session| self.sessions.contains_key(&session.name));
        let info = |session: TmuxSession| SessionInfo {
            panes: shown_in(&views, session.id),
            socket: self.server.socket().to_owned(),
            target: session.id.to_string(),
            attached: session.attached_clients,
            size: session.size,
            name: session.name,
        };
        Ok(ours.map(info).collect())
    }

    /// Ends a session and returns the panes that it showed. They are marked as hidden; the caller
    /// ends them.
    pub(super) async fn stop(
        &mut self,
        request: &SessionStopRequest,
    ) -> Result<Vec<PaneId>, Refusal> {
        let name = request.name.as_str();
        let missing =
            || Refusal::not_found(format!("no session `{name}`; `session:list` shows them"));
        if !self.sessions.contains_key(name) {
            return Err(missing());
        }
        let client = self.client().await?;
        let session = client.session(&SessionName::new(name)?).await?;
        let views = client.views().await?;
        let panes = shown_in(&views, session.id);
        let waiting: Vec<PaneId> = self
            .waiting
            .values()
            .filter(|showing| showing.location.session() == Some(name))
            .map(|showing| showing.pane.clone())
            .collect();
        let here = views.iter().filter(|view| view.session == session.id);
        let shown = here.map(|view| view.shows.as_ref()).chain(waiting.iter().map(Some));
        match self.coverage(shown, &request.grant) {
            GrantCoverage::All => self.check_spared(request, &panes, &waiting)?,
            GrantCoverage::Some => {
                let sentence = format!("the session `{name}` shows more than this grant reaches");
                return Err(Refusal::new(Code::Forbidden, sentence));
            }
            // The same message as for one that does not exist.
            GrantCoverage::None => return Err(missing()),
        }
        for pane in &waiting {
            self.queue.remove(pane);
            self.expire(pane, "the session was stopped");
        }
        panes.iter().for_each(|pane| self.mark_hidden(pane));
        self.session_stopped(name);
        client.kill_session(session.id).await?;
        self.observe().await;
        self.stop_if_empty(&client).await;
        Ok(panes.into_iter().chain(waiting).collect())
    }

    /// Gives a pane the focus.
    pub(super) async fn activate(&mut self, pane: &PaneId) -> Result<(), Refusal> {
        let client = self.client().await?;
        let view = self.view(&client, pane).await?;
        client.select_pane(view.id).await?;
        self.observe().await;
        Ok(())
    }

    /// Stops showing a pane.
    pub(super) async fn hide(&mut self, pane: &PaneId) -> Result<(), Refusal> {
        if self.queue.remove(pane).is_some() {
            self.waiting.remove(pane);
            self.set_state(pane, ViewState::Hidden);
            return Ok(());
        }
        let client = self.client().await?;
        let view = self.view(&client, pane).await?;
        self.mark_hidden(pane);
        client.kill_pane(view.id).await?;
        self.observe().await;
        self.make_room(&client, &[view.window]).await;
        self.stop_if_empty(&client).await;
        Ok(())
    }

    /// Refuses to stop a session if that would end the pane that must be spared.
    fn check_spared(
        &self,
        request: &SessionStopRequest,
        panes: &[PaneId],
        waiting: &[PaneId],
    ) -> Result<(), Refusal> {
        let Some(spared) = &request.spared else { return Ok(()) };
        let is_here = panes.iter().chain(waiting).any(|pane| *pane == spared.id);
        let is_ended = |pane: &Pane| {
            let state = pane.lock();
            state.record.view.as_ref().is_some_and(|spec| spec.on_closed == OnViewClosed::Close)
        };
        let own = self.kernel.panes().find(spared).filter(|pane| is_here && is_ended(pane));
        let Some(own) = own else { return Ok(()) };
        let sentence = format!(
            "this would end the pane `{}`, which it comes from; say `self` (`--self`) if that is meant, or keep the panes",
            own.id
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }

    /// How much of what a session shows a grant reaches. A tmux pane that shows none of ours is
    /// reached only by grants that reach everything.
    fn coverage<'a>(
        &self,
        shown: impl Iterator<Item = Option<&'a PaneId>>,
        grant: &Grant,
    ) -> GrantCoverage {
        if grant.panes == PaneSet::All {
            return GrantCoverage::All;
        }
        let is_reached =
            |pane: Option<&PaneId>| pane.is_some_and(|pane| self.kernel.grant_reaches(pane, grant));
        let reached: Vec<bool> = shown.map(is_reached).collect();
        match (reached.contains(&true), reached.contains(&false)) {
            (true, false) => GrantCoverage::All,
            (true, true) => GrantCoverage::Some,
            (false, _) => GrantCoverage::None,
        }
    }

    async fn view(&self, client: &ControlClient, pane: &PaneId) -> Result<TmuxPaneView, Refusal> {
        let views = client.views().await?.into_iter();
        let mut found = views.filter(|view| view.shows.as_ref() == Some(pane));
        let missing = || Refusal::not_found(format!("the pane `{pane}` is shown nowhere in tmux"));
        found.next().ok_or_else(missing)
    }
}

/// How much of a session a grant reaches.
enum GrantCoverage {
    All,
    Some,
    None,
}

/// The panes that a session shows.
fn shown_in(views: &[TmuxPaneView], session: SessionId) -> Vec<PaneId> {
    let here = views.iter().filter(|view| view.session == session);
    here.filter_map(|view| view.shows.clone()).collect()
}
