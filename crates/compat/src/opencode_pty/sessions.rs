//! Operations on sessions, by actions of the kernel. Only a pane with our tag is a session.

use std::sync::Arc;

use futures_util::future::join_all;
use paned_kernel::{PaneOutput, PaneOutputChunk};
use paned_model::{Code, Offset, PaneId, PaneInfo, PaneStatus, Refusal};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::NAME;
use super::info::{PARENT, PtyCompatInfo};
use super::sockets::PtyCompatSockets;
use super::spawn::{PtyCompatSpawn, spawn_failed};
use crate::client::KernelClient;

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The sessions that a caller may see.
#[derive(Clone)]
pub(super) struct PtyCompatSessions {
    pub(super) client: KernelClient,
    pub(super) sockets: Arc<PtyCompatSockets>,
}

#[derive(Deserialize)]
struct PtyCompatKillReply {
    survivors: Vec<IgnoredAny>,
}

impl PtyCompatSessions {
    /// All of them, oldest first.
    pub(super) async fn list(&self) -> Result<Vec<PtyCompatInfo>, Refusal> {
        self.list_of(None).await
    }

    /// All of them, or those that were started for this session of opencode.
    pub(super) async fn list_of(
        &self,
        parent: Option<&str>,
    ) -> Result<Vec<PtyCompatInfo>, Refusal> {
        let panes = self.panes(parent).await?;
        Ok(panes.into_iter().map(|pane| self.info(pane)).collect())
    }

    async fn panes(&self, parent: Option<&str>) -> Result<Vec<PaneInfo>, Refusal> {
        let mut panes: Vec<PaneInfo> = self.client.act("pane:list", json!({ "tag": NAME })).await?;
        if let Some(parent) = parent {
            let of =
                |pane: &PaneInfo| pane.meta.get(PARENT).and_then(Value::as_str) == Some(parent);
            panes.retain(of);
        }
        Ok(panes)
    }

    /// One of them.
    ///
    /// # Errors
    /// If there is none, also if the id is not a valid pane id.
    pub(super) async fn get(&self, id: &str) -> Result<PaneInfo, Refusal> {
        let none = || Refusal::not_found("Session not found");
        match self.client.act::<PaneInfo>("pane:get", json!({ "paneId": id })).await {
            Ok(pane) if pane.tags.iter().any(|tag| tag == NAME) => Ok(pane),
            Ok(_) => Err(none()),
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Invalid) => Err(none()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Checks that this is a session, and returns its status. Typing into one or ending one does
    /// not need the right to read it, so the lookup runs as the owner; the action itself authorizes
    /// the caller.
    ///
    /// # Errors
    /// If there is none, or it is out of the caller's reach: a caller whose grant covers only some
    /// panes gets the same error in both cases.
    async fn check(&self, id: &str) -> Result<PaneStatus, Refusal> {
        if let Ok(pane) = id.parse() {
            self.client.shared.kernel.check_reach(&pane, &self.client.caller)?;
        }
        let mut as_owner = self.clone();
        as_owner.client.caller = self.client.shared.kernel.owner(None);
        as_owner.get(id).await.map(|pane| pane.status)
    }

    /// A session as its clients see it.
    pub(super) fn info(&self, pane: PaneInfo) -> PtyCompatInfo {
        // A reader at the end of the output: it waits for nothing and reads only the last byte.
        let reader = self.reader(&pane, pane.bytes).ok();
        PtyCompatInfo::new(pane, reader.is_some_and(|reader| reader.is_inside_line()))
    }

    /// Starts a session with this id.
    pub(super) async fn spawn(
        &self,
        id: &PaneId,
        spawn: PtyCompatSpawn,
    ) -> Result<PtyCompatInfo, Refusal> {
        let pane = self.client.act::<PaneInfo>("pane:new", spawn.params(id)).await;
        pane.map(|pane| self.info(pane)).map_err(|refusal| match refusal.code {
            Code::Unauthorized | Code::Forbidden | Code::Vetoed | Code::Denied => refusal,
            _ => spawn_failed(&refusal.sentence),
        })
    }

    /// Ends a session's program, and waits until all sockets have reported it. It is an error if
    /// one of its processes survives.
    pub(super) async fn kill(&self, id: &str) -> Result<(), Refusal> {
        self.check(id).await?;
        let killed: PtyCompatKillReply =
            self.client.act("pane:kill", json!({ "paneId": id })).await?;
        self.sockets.wait_flushed().await;
        if killed.survivors.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(Code::Busy, "some of its processes could not be stopped"))
    }

    /// Ends a session's program, then removes the session. All sockets have reported the exit
    /// before the removal, and the removal before this returns.
    pub(super) async fn close(&self, id: &str) -> Result<(), Refusal> {
        if self.check(id).await?.is_live() {
            // If this fails, `pane:close` will report it.
            let _ = self.kill(id).await;
        }
        self.client.run("pane:close", json!({ "paneId": id })).await?;
        self.sockets.wait_flushed().await;
        Ok(())
    }

    /// Ends and removes all of them, or those of this session of opencode, concurrently.
    pub(super) async fn clear(&self, parent: Option<&str>) -> Result<(), Refusal> {
        let panes = self.panes(parent).await?;
        let closing = panes.iter().map(|pane| self.close(pane.id.as_str()));
        let gone = |refusal: &Refusal| refusal.code == Code::NotFound;
        let mut refusals = join_all(closing).await.into_iter().filter_map(Result::err);
        refusals.find(|refusal| !gone(refusal)).map_or(Ok(()), Err)
    }

    /// Types into a session. It is not an error if its program has exited.
    pub(super) async fn write(&self, id: &str, data: &str) -> Result<(), Refusal> {
        self.check(id).await?;
        let params = json!({ "paneId": id, "text": data });
        match self.client.run("pane:write", params).await {
            Err(refusal) if refusal.code == Code::Gone => Ok(()),
            done => done,
        }
    }

    /// All output of a session that is kept; invalid UTF-8 is replaced.
    pub(super) async fn output(&self, id: &str) -> Result<String, Refusal> {
        let pane = self.get(id).await?;
        let mut reader = self.reader(&pane, pane.dropped)?;
        let mut bytes = Vec::new();
        let mut offset = pane.dropped;
        while offset < pane.bytes {
            match reader.next(CHUNK_BYTES).await? {
                PaneOutputChunk::Bytes(from, piece) => {
                    offset = from.0 + piece.len() as u64;
                    bytes.extend(piece);
                }
                PaneOutputChunk::Gap(_, to) => offset = to.0,
                PaneOutputChunk::End => break,
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A reader of a session's output from an offset on.
    pub(super) fn reader(&self, pane: &PaneInfo, from: u64) -> Result<PaneOutput, Refusal> {
        let KernelClient { shared, caller } = &self.client;
        shared.kernel.output(&pane.id, Offset(from), caller)
    }
}
