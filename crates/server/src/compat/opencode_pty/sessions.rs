//! What can be done with sessions, by actions of the kernel. A pane without our tag is no session.

use std::sync::Arc;

use futures_util::future::join_all;
use paned_kernel::{Caller, PaneOutput, PaneOutputChunk};
use paned_model::{Code, Offset, PaneId, PaneInfo, PaneStatus, Refusal};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use super::NAME;
use super::info::PtyCompatInfo;
use super::spawn::{PtyCompatSpawn, spawn_failed};
use crate::state::ServerState;

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The sessions that somebody may see.
#[derive(Clone)]
pub(super) struct PtyCompatSessions {
    pub(super) shared: Arc<ServerState>,
    pub(super) caller: Caller,
}

#[derive(Deserialize)]
struct PtyCompatKillReply {
    survivors: Vec<IgnoredAny>,
}

impl PtyCompatSessions {
    /// All of them, oldest first.
    pub(super) async fn list(&self) -> Result<Vec<PtyCompatInfo>, Refusal> {
        let panes: Vec<PaneInfo> = self.act("pane:list", json!({ "tag": NAME })).await?;
        Ok(panes.into_iter().map(|pane| self.info(pane)).collect())
    }

    /// One of them.
    ///
    /// # Errors
    /// When there is none, also where the name can be nobody's.
    pub(super) async fn get(&self, id: &str) -> Result<PaneInfo, Refusal> {
        let none = || Refusal::not_found("Session not found");
        match self.act::<PaneInfo>("pane:get", json!({ "paneId": id })).await {
            Ok(pane) if pane.tags.iter().any(|tag| tag == NAME) => Ok(pane),
            Ok(_) => Err(none()),
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Invalid) => Err(none()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Makes sure that this is a session, and says how it is. To type into one or to end one needs no right to see it,
    /// so we look ourselves; whether it may be done, the action says.
    ///
    /// # Errors
    /// When there is none, or the caller does not reach it: a caller over some panes is told the same in both cases.
    async fn check(&self, id: &str) -> Result<PaneStatus, Refusal> {
        if let Ok(pane) = id.parse() {
            self.shared.kernel.check_reach(&pane, &self.caller)?;
        }
        let ours = Self { caller: self.shared.kernel.owner(None), ..self.clone() };
        ours.get(id).await.map(|pane| pane.status)
    }

    /// A session as its clients see it.
    pub(super) fn info(&self, pane: PaneInfo) -> PtyCompatInfo {
        // The first that is not there yet: nothing is waited for or read but the last byte.
        let printed = self.reader(&pane, pane.bytes).ok();
        PtyCompatInfo::new(pane, printed.is_some_and(|printed| printed.is_inside_line()))
    }

    /// Starts one under this id.
    pub(super) async fn spawn(
        &self,
        id: &PaneId,
        spawn: PtyCompatSpawn,
    ) -> Result<PtyCompatInfo, Refusal> {
        let pane = self.act::<PaneInfo>("pane:new", spawn.params(id)).await;
        pane.map(|pane| self.info(pane)).map_err(|refusal| match refusal.code {
            Code::Unauthorized | Code::Forbidden | Code::Vetoed | Code::Denied => refusal,
            _ => spawn_failed(&refusal.sentence),
        })
    }

    /// Ends one; it is an error when something of it lives on. Every socket has told of it then.
    pub(super) async fn kill(&self, id: &str) -> Result<(), Refusal> {
        self.check(id).await?;
        let killed: PtyCompatKillReply = self.act("pane:kill", json!({ "paneId": id })).await?;
        self.shared.opencode_pty.wait_flushed().await;
        if killed.survivors.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(Code::Busy, "some of its processes could not be ended"))
    }

    /// Ends and forgets one, one after the other: every socket has told of its end before it is forgotten, and of that
    /// before it is answered.
    pub(super) async fn close(&self, id: &str) -> Result<(), Refusal> {
        if self.check(id).await?.is_live() {
            // If that does not work, the next will say so.
            let _ = self.kill(id).await;
        }
        self.act::<IgnoredAny>("pane:close", json!({ "paneId": id })).await?;
        self.shared.opencode_pty.wait_flushed().await;
        Ok(())
    }

    /// Ends and forgets all of them, at once.
    pub(super) async fn clear(&self) -> Result<(), Refusal> {
        let panes: Vec<PaneInfo> = self.act("pane:list", json!({ "tag": NAME })).await?;
        let closing = panes.iter().map(|pane| self.close(pane.id.as_str()));
        let gone = |refusal: &Refusal| refusal.code == Code::NotFound;
        let mut refusals = join_all(closing).await.into_iter().filter_map(Result::err);
        refusals.find(|refusal| !gone(refusal)).map_or(Ok(()), Err)
    }

    /// Types into one; to one that has ended nothing happens.
    pub(super) async fn write(&self, id: &str, data: &str) -> Result<(), Refusal> {
        self.check(id).await?;
        let params = json!({ "paneId": id, "text": data });
        match self.act::<IgnoredAny>("pane:write", params).await {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.code == Code::Gone => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// All that is kept of what one printed; what is no UTF-8 is replaced.
    pub(super) async fn output(&self, id: &str) -> Result<String, Refusal> {
        let pane = self.get(id).await?;
        let mut reader = self.reader(&pane, pane.dropped)?;
        let (mut bytes, mut at) = (Vec::new(), pane.dropped);
        while at < pane.bytes {
            match reader.next(CHUNK_BYTES).await? {
                PaneOutputChunk::Bytes(from, piece) => {
                    at = from.0 + piece.len() as u64;
                    bytes.extend(piece);
                }
                PaneOutputChunk::Gap(_, to) => at = to.0,
                PaneOutputChunk::End => break,
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What one prints from an offset on.
    pub(super) fn reader(&self, pane: &PaneInfo, from: u64) -> Result<PaneOutput, Refusal> {
        self.shared.kernel.output(&pane.id, Offset(from), &self.caller)
    }

    async fn act<T: DeserializeOwned>(&self, name: &str, params: Value) -> Result<T, Refusal> {
        let answer = self.shared.dispatch(name, params.to_string(), &self.caller).await?;
        serde_json::from_slice(&answer).map_err(Refusal::internal)
    }
}
