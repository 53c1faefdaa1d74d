//! The read side of the kernel: events, output and screens; and authentication.

use std::sync::Arc;

use paned_backend::Output;
use paned_model::{
    Code, EventFilter, EventId, Grant, Instance, Offset, PaneId, PaneInfo, PaneRef, PaneSet,
    PaneStatus, Refusal, Scope,
};
use paned_policy::permit;
use paned_term::Screen;
use paned_term::screen::view::ScreenModes;
use serde::Deserialize;
use tokio::sync::watch;

use crate::activity::ActivityFeed;
use crate::grants::{Token, is_owner};
use crate::journal::{EventBatch, JournalEntry, JournalRead, JournalReader};
use crate::panes::screen::live_screen::visible_screen;
use crate::panes::{Pane, unreadable};
use crate::{Caller, Kernel};

pub(crate) fn unauthorized() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "a valid token is required: send `Authorization: Bearer <token>`",
    )
}

impl Kernel {
    /// Authenticates a token.
    ///
    /// # Errors
    /// When no grant belongs to it, or the grant has expired.
    pub fn authenticate(&self, token: &str) -> Result<Caller, Refusal> {
        let grant = self.grants().find(token).ok_or_else(unauthorized)?;
        let caller = caller(grant.clone(), Some((token, &grant)));
        self.check_authorized(&caller)?;
        Ok(caller)
    }

    /// The owner as caller, for a transport that only the owner can use. A pane's token says which
    /// pane the caller runs in.
    #[must_use]
    pub fn owner(&self, pane_token: Option<&str>) -> Caller {
        let found = pane_token.and_then(|token| Some((token, self.grants().find(token)?)));
        caller(self.owner_grant().clone(), found.as_ref().map(|(token, grant)| (*token, &**grant)))
    }

    /// Whether an authenticated caller's grant is still valid.
    pub(crate) fn is_authorized(&self, caller: &Caller) -> bool {
        self.is_valid_grant(&caller.grant)
    }

    /// Whether a grant was neither revoked nor has expired. The owner's never ends.
    pub(crate) fn is_valid_grant(&self, grant: &Grant) -> bool {
        let held = is_owner(grant) || self.grants().contains(&grant.id);
        held && !permit::is_expired(grant, self.now())
    }

    /// Waits until a caller's grant is revoked or expires. Open streams end then.
    pub async fn wait_revoked(&self, caller: &Caller) {
        if caller.is_owner() {
            return std::future::pending().await;
        }
        let mut changed: watch::Receiver<u64> = self.grants().watch();
        while self.is_authorized(caller) {
            let left = caller.grant.expires_at.map(|at| at.since(self.now()));
            let expiry = async {
                match left {
                    Some(left) => tokio::time::sleep(std::time::Duration::from_millis(left)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = changed.changed() => {}
                () = expiry => {}
            }
        }
    }

    /// The events after an id, or from now on, that pass the filter and that the caller may see.
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

    /// The panes that print from now on, at most once a second, as far as the caller may see them.
    ///
    /// # Errors
    /// When the caller may not read.
    pub fn activity(&self, caller: &Caller) -> Result<ActivityFeed, Refusal> {
        self.check_authorized(caller)?;
        may_read(caller)?;
        Ok(ActivityFeed::new(self.clone(), caller.clone()))
    }

    /// Waits while a pane is being started: it is already listed, but cannot be read yet.
    ///
    /// # Errors
    /// When there is no such pane, or the caller may not see it.
    pub async fn wait_started(&self, pane: &PaneId, caller: &Caller) -> Result<(), Refusal> {
        let starting = self.readable_pane(pane, caller)?;
        let mut changes = starting.watch();
        let is_there = || self.panes().get(pane).is_ok_and(|found| Arc::ptr_eq(&found, &starting));
        while starting.lock().status() == PaneStatus::Starting && is_there() {
            if changes.changed().await.is_err() {
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
        let changes = pane.watch();
        let first = output.first();
        Ok(PaneOutput { pane, output, at: from, first, changes })
    }

    /// Reads a pane's screen as everything it printed up to now makes it.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        pane: &Arc<Pane>,
        read: impl FnOnce(&Screen) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let output = pane.readable()?;
        let end = output.end();
        let result =
            pane.with_screen(output, end, |screen, hints| read(visible_screen(screen, hints)));
        result.await.map_err(unreadable)
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

/// A caller with this grant. The token of a pane's grant says which pane it runs in.
fn caller(grant: Arc<Grant>, proof: Option<(&str, &Grant)>) -> Caller {
    let proof = proof.and_then(|(token, of)| Some((token, of.pane.clone()?)));
    let (pane, pane_token) = match proof {
        Some((token, pane)) => (Some(pane), Some(Arc::new(Token::from_text(token)))),
        None => (None, None),
    };
    Caller { grant, pane, pane_token, client: None, extension: None, is_opencode: false }
}

fn may_read(caller: &Caller) -> Result<(), Refusal> {
    let denied = |denial: permit::Denial| Refusal::new(Code::Forbidden, denial.to_string());
    permit::scope(&caller.grant, Scope::Read).map_err(denied)
}

/// A caller's events. Pull-based: costs nothing while it is not polled.
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
                JournalRead::Entries(batch) => {
                    let batch = self.visible(batch);
                    if !batch.is_empty() {
                        return JournalRead::Entries(batch);
                    }
                }
                other => return other,
            }
        }
    }

    /// Everything up to here was read or left out: where another feed would continue.
    #[must_use]
    pub fn seen(&self) -> EventId {
        self.reader.seen()
    }

    /// The events that the caller's grant reaches: all of them, or those about its panes.
    fn visible(&self, batch: Arc<EventBatch>) -> Arc<EventBatch> {
        if self.caller.grant.panes == PaneSet::All {
            return batch;
        }
        let visible = batch.iter().filter(|entry| self.kernel.sees_event(entry, &self.caller));
        Arc::new(EventBatch::new(visible.cloned().collect()))
    }
}

impl Kernel {
    /// Whether a caller's grant reaches an event: any event, or one about its panes.
    pub(crate) fn sees_event(&self, entry: &JournalEntry, caller: &Caller) -> bool {
        /// The pane of an event. An event without an instance is visible only to grants over all
        /// panes.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct EventSubject {
            pane_id: PaneId,
            instance: Instance,
        }
        if caller.reaches_all() {
            return true;
        }
        let about = serde_json::from_str::<EventSubject>(&entry.payload);
        about.is_ok_and(|EventSubject { pane_id: id, instance }| {
            self.grant_reaches_ref(&PaneRef { id, instance }, &caller.grant)
        })
    }
}

/// A pane's output from an offset on. Pull-based: a slow reader never blocks the pane.
pub struct PaneOutput {
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    at: Offset,
    /// What could be read when this reader began. It may still read on from before what can be
    /// read by now: a limit of lines costs a reader that keeps up nothing.
    first: u64,
    changes: watch::Receiver<u64>,
}

/// One read of a pane's output.
#[derive(Debug, PartialEq, Eq)]
pub enum PaneOutputChunk {
    /// Bytes, from this offset on.
    Bytes(Offset, Vec<u8>),
    /// Bytes between these offsets are no longer kept.
    Gap(Offset, Offset),
    /// The program has exited, and all its output was read.
    End,
}

impl PaneOutput {
    /// The pane as it is now, also after it was removed.
    #[must_use]
    pub fn info(&self) -> PaneInfo {
        self.pane.info()
    }

    /// Whether the output ends inside a line. False if the last byte cannot be read.
    #[must_use]
    pub fn is_inside_line(&self) -> bool {
        let mut last = [b'\n'];
        let end = self.output.end();
        end.checked_sub(1).is_some_and(|at| {
            matches!(self.output.read(at, &mut last), Ok(Ok(1))) && last != [b'\n']
        })
    }

    /// The next piece, at most `max` bytes. Waits while there is none.
    ///
    /// # Errors
    /// When the output cannot be read.
    pub async fn next(&mut self, max: usize) -> Result<PaneOutputChunk, Refusal> {
        loop {
            // Before the read, so that no output between the read and the wait is missed.
            self.changes.mark_unchanged();
            let has_exited = !self.pane.lock().status().is_live();
            if let Some(chunk) = self.read(max)? {
                return Ok(chunk);
            }
            if has_exited || self.changes.changed().await.is_err() {
                return Ok(PaneOutputChunk::End);
            }
        }
    }

    fn read(&mut self, max: usize) -> Result<Option<PaneOutputChunk>, Refusal> {
        if self.at.0 < self.first {
            let from = std::mem::replace(&mut self.at, Offset(self.first));
            return Ok(Some(PaneOutputChunk::Gap(from, self.at)));
        }
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
