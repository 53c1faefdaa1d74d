//! The other three doors: events, output, view; and who is let in.

use std::sync::Arc;

use paned_backend::Output;
use paned_model::{
    Code, EventFilter, EventId, Instance, Offset, PaneId, PaneInfo, PaneRef, PaneSet, PaneStatus,
    Refusal, Scope,
};
use paned_policy::permit;
use paned_term::screen::view::ScreenModes;
use paned_term::{Screen, ScreenView};
use serde::Deserialize;
use tokio::sync::watch;

use crate::journal::{EventBatch, JournalEntry, JournalRead, JournalReader};
use crate::panes::live_screen::visible_screen;
use crate::panes::{Pane, unreadable};
use crate::{Caller, Kernel};

pub(crate) fn unauthorized() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "this needs a valid grant: send `Authorization: Bearer <token>`",
    )
}

impl Kernel {
    /// Lets in whoever has this token.
    ///
    /// # Errors
    /// When no grant, or one that is over, goes with it.
    pub fn authenticate(&self, token: &str) -> Result<Caller, Refusal> {
        let grant = self.grants().find(token).ok_or_else(unauthorized)?;
        let caller = Caller { pane: grant.pane.clone(), grant, client: None };
        self.check_authorized(&caller)?;
        Ok(caller)
    }

    /// The owner: whoever came in by a way that only the owner has. A pane's token says from which pane.
    #[must_use]
    pub fn owner(&self, pane_token: Option<&str>) -> Caller {
        let pane = pane_token.and_then(|token| self.grants().find(token)?.pane.clone());
        Caller { grant: self.owner_grant().clone(), pane, client: None }
    }

    /// Whether a caller who was let in still is.
    #[must_use]
    pub fn is_authorized(&self, caller: &Caller) -> bool {
        let held = is_owner(caller) || self.grants().contains(&caller.grant.id);
        held && !permit::is_expired(&caller.grant, self.now())
    }

    /// Waits until a caller is let in no more. Open streams end then.
    pub async fn wait_revoked(&self, caller: &Caller) {
        if is_owner(caller) {
            return std::future::pending().await;
        }
        let mut changed: watch::Receiver<u64> = self.grants().watch();
        while self.is_authorized(caller) {
            let left = caller.grant.expires_at.map(|at| at.since(self.now()));
            let over = async {
                match left {
                    Some(left) => tokio::time::sleep(std::time::Duration::from_millis(left)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = changed.changed() => {}
                () = over => {}
            }
        }
    }

    /// The events after an id, or those from now on: those that are wanted and that the caller may see.
    ///
    /// # Errors
    /// When the caller may see none.
    pub fn events(
        &self,
        after: Option<EventId>,
        include: EventFilter,
        caller: &Caller,
    ) -> Result<EventFeed, Refusal> {
        self.check_authorized(caller)?;
        may_read(caller)?;
        let reader = self.journal().read(after, include);
        Ok(EventFeed { reader, kernel: self.clone(), caller: caller.clone() })
    }

    /// Waits while a pane is being started: others know of it by then, and it cannot be read yet.
    ///
    /// # Errors
    /// When there is no such pane, or the caller may not see it.
    pub async fn wait_started(&self, pane: &PaneId, caller: &Caller) -> Result<(), Refusal> {
        let starting = self.readable_pane(pane, caller)?;
        let mut stirred = starting.watch();
        let is_there = || self.panes().get(pane).is_ok_and(|found| Arc::ptr_eq(&found, &starting));
        while starting.lock().status() == PaneStatus::Starting && is_there() {
            if stirred.changed().await.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// What a pane has printed, from an offset on.
    ///
    /// # Errors
    /// When there is no such pane, or the caller may not see it.
    pub fn output(
        &self,
        pane: &PaneId,
        from: Offset,
        caller: &Caller,
    ) -> Result<PaneOutput, Refusal> {
        let pane = self.readable_pane(pane, caller)?;
        let output = pane.readable()?;
        let stirred = pane.watch();
        Ok(PaneOutput { pane, output, at: from, changes: stirred })
    }

    /// A pane's screen, as everything it printed up to now makes it.
    ///
    /// # Errors
    /// When there is no such pane, or the caller may not see it.
    pub async fn view(&self, pane: &PaneId, caller: &Caller) -> Result<ScreenView, Refusal> {
        let pane = self.readable_pane(pane, caller)?;
        self.look(&pane, Screen::view).await
    }

    /// Looks at a pane's screen as everything it printed up to now makes it.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        pane: &Arc<Pane>,
        look: impl FnOnce(&Screen) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let output = pane.readable()?;
        let end = output.end();
        let looked = pane.with_screen(output, end, |seen, known| look(visible_screen(seen, known)));
        looked.await.map_err(unreadable)
    }

    /// The modes a pane's terminal is in.
    pub(crate) async fn modes(&self, pane: &Arc<Pane>) -> Result<ScreenModes, Refusal> {
        self.look(pane, Screen::modes).await
    }

    pub(crate) fn readable_pane(&self, id: &PaneId, caller: &Caller) -> Result<Arc<Pane>, Refusal> {
        self.check_authorized(caller)?;
        may_read(caller)?;
        self.check_reach(id, caller)?;
        self.panes().get(id)
    }
}

/// Whether nobody can revoke what this caller may do.
fn is_owner(caller: &Caller) -> bool {
    caller.grant.id.0 == "owner"
}

fn may_read(caller: &Caller) -> Result<(), Refusal> {
    let denied = |denial: permit::Denial| Refusal::new(Code::Forbidden, denial.to_string());
    permit::scope(&caller.grant, Scope::Read).map_err(denied)
}

/// A caller's events. Pulls; costs nothing while nobody asks.
pub struct EventFeed {
    reader: JournalReader,
    kernel: Kernel,
    caller: Caller,
}

impl EventFeed {
    /// The next events, at most `max`. Waits while there are none.
    pub async fn next(&mut self, max: usize) -> JournalRead {
        loop {
            match self.reader.next(max).await {
                JournalRead::Entries(portion) => {
                    let portion = self.visible(portion);
                    if !portion.is_empty() {
                        return JournalRead::Entries(portion);
                    }
                }
                other => return other,
            }
        }
    }

    /// Those the caller's grant reaches: all of them, or those about its panes.
    fn visible(&self, portion: Arc<EventBatch>) -> Arc<EventBatch> {
        if self.caller.grant.panes == PaneSet::All {
            return portion;
        }
        let ours = portion.iter().filter(|entry| self.is_visible(entry));
        Arc::new(EventBatch::new(ours.cloned().collect()))
    }

    fn is_visible(&self, entry: &JournalEntry) -> bool {
        /// An event that does not say which instance it is about is about none that could be reached.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct EventSubject {
            pane_id: PaneId,
            instance: Instance,
        }
        let about = serde_json::from_str::<EventSubject>(&entry.payload);
        about.is_ok_and(|EventSubject { pane_id: id, instance }| {
            self.kernel.grant_reaches_ref(&PaneRef { id, instance }, &self.caller.grant)
        })
    }
}

/// A pane's output from an offset on. Pulls; a slow reader never holds up the pane.
pub struct PaneOutput {
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    at: Offset,
    changes: watch::Receiver<u64>,
}

/// What a reader of output is given.
#[derive(Debug, PartialEq, Eq)]
pub enum PaneOutputChunk {
    /// Bytes, from this offset on.
    Bytes(Offset, Vec<u8>),
    /// Bytes between these offsets are no longer kept.
    Gap(Offset, Offset),
    /// The program has ended, and everything it printed was given.
    End,
}

impl PaneOutput {
    /// The pane as it is now, also after it was removed.
    #[must_use]
    pub fn info(&self) -> PaneInfo {
        self.pane.info()
    }

    /// Whether what was printed last is a line that has not ended yet. What cannot be read is none.
    #[must_use]
    pub fn is_inside_line(&self) -> bool {
        let (mut last, end) = ([b'\n'], self.output.end());
        end.checked_sub(1).is_some_and(|at| {
            matches!(self.output.read(at, &mut last), Ok(Ok(1))) && last != [b'\n']
        })
    }

    /// The next piece, at most `max` bytes. Waits while there is none.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn next(&mut self, max: usize) -> Result<PaneOutputChunk, Refusal> {
        loop {
            // Before the look, so that nothing printed between look and wait is missed.
            self.changes.mark_unchanged();
            let over = !self.pane.lock().status().is_live();
            if let Some(piece) = self.read(max)? {
                return Ok(piece);
            }
            if over || self.changes.changed().await.is_err() {
                return Ok(PaneOutputChunk::End);
            }
        }
    }

    fn read(&mut self, max: usize) -> Result<Option<PaneOutputChunk>, Refusal> {
        let wanted = self.output.end().saturating_sub(self.at.0).min(max as u64);
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or(max)];
        let from = self.at;
        match self.output.read(from.0, &mut bytes).map_err(unreadable)? {
            Ok(0) => Ok(None),
            Ok(read) => {
                bytes.truncate(read);
                self.at = Offset(from.0 + read as u64);
                Ok(Some(PaneOutputChunk::Bytes(from, bytes)))
            }
            Err(gap) => {
                self.at = Offset(gap.first);
                Ok(Some(PaneOutputChunk::Gap(from, self.at)))
            }
        }
    }
}
