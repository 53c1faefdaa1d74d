//! The sessions of each grant. A session belongs to one grant; it ends when it is idle for long,
//! when its grant ends, or when its client says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use paned_kernel::{Caller, Kernel};
use paned_model::{Code, GrantId, Refusal};
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How many sessions one grant may hold.
const MAX_PER_GRANT: usize = 64;
/// How many sessions there may be.
const MAX_SESSIONS: usize = 512;
/// How long a session is kept without a request or an open stream.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// All sessions.
pub(crate) struct McpSessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    table: Mutex<HashMap<Arc<str>, SessionEntry>>,
}

struct SessionEntry {
    grant: GrantId,
    /// Requests and streams that are open.
    open: usize,
    used_at: Instant,
    closed: Arc<Notify>,
}

/// A request or a stream of a session; while it lives, the session is not idle.
pub(crate) struct SessionUse {
    sessions: Arc<McpSessions>,
    id: Arc<str>,
}

impl McpSessions {
    pub(crate) fn new() -> Arc<Self> {
        let mut manager = LocalSessionManager::default();
        // Idle sessions are ended here, where it is known which requests still run.
        manager.session_config.keep_alive = None;
        // A stream that its client closes ends its request, so there is none to resume.
        manager.session_config.sse_retry = None;
        Arc::new(Self { manager: Arc::new(manager), table: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, SessionEntry>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more session: where the caller's grant, or all together, hold as many as
    /// they may, the one that is idle for longest ends.
    ///
    /// # Errors
    /// When all of them are in use.
    pub(crate) async fn make_room(&self, caller: &Caller) -> Result<(), Refusal> {
        let idle = self.lock().surplus(&caller.grant.id)?;
        if let Some(idle) = idle {
            self.close(&idle).await;
        }
        Ok(())
    }

    /// Records a session that was just started, and watches over it until it ends.
    ///
    /// # Errors
    /// When others were started at the same time, and there are too many now.
    pub(crate) fn insert(
        self: &Arc<Self>,
        id: &str,
        caller: &Caller,
        kernel: &Kernel,
    ) -> Result<(), Refusal> {
        let id: Arc<str> = id.into();
        let closed = Arc::new(Notify::new());
        let entry = SessionEntry {
            grant: caller.grant.id.clone(),
            open: 0,
            used_at: Instant::now(),
            closed: closed.clone(),
        };
        {
            let mut table = self.lock();
            table.check_room(&caller.grant.id)?;
            table.insert(id.clone(), entry);
        }
        let sessions = self.clone();
        let caller = caller.clone();
        let kernel = kernel.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = kernel.wait_revoked(&caller) => {}
                () = sessions.wait_idle(&id) => {}
                () = closed.notified() => return,
            }
            sessions.close(&id).await;
        });
        Ok(())
    }

    /// Takes a session for a request of this caller. `None` if there is none, or if it is another
    /// caller's: both look the same.
    pub(crate) fn acquire(self: &Arc<Self>, id: &str, caller: &Caller) -> Option<SessionUse> {
        let mut table = self.lock();
        let (id, entry) = table.get_key_value(id)?;
        if entry.grant != caller.grant.id {
            return None;
        }
        let id = id.clone();
        table.get_mut(&id)?.open += 1;
        Some(SessionUse { sessions: self.clone(), id })
    }

    /// Waits until a session was idle for too long.
    async fn wait_idle(&self, id: &str) {
        while let Some(deadline) = self.idle_deadline(id) {
            if deadline <= Instant::now() {
                return;
            }
            sleep_until(deadline).await;
        }
    }

    /// When a session will have been idle for too long, if it is not used before; `None` if there
    /// is none.
    fn idle_deadline(&self, id: &str) -> Option<Instant> {
        let table = self.lock();
        let entry = table.get(id)?;
        let used_at = if 0 < entry.open { Instant::now() } else { entry.used_at };
        Some(used_at + IDLE_TIMEOUT)
    }

    /// Ends a session; its requests are cancelled and its streams end.
    pub(crate) async fn close(&self, id: &str) {
        if let Some(entry) = self.lock().remove(id) {
            entry.closed.notify_one();
        }
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(%error, "an MCP session was not closed cleanly");
        }
    }
}

impl SessionUse {
    /// The session's id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Cancels a request of the session.
    pub(crate) fn cancel(self, request: RequestId) {
        let reason = "the client closed the stream".to_owned();
        let params = CancelledNotificationParam::new(Some(request), Some(reason));
        let cancelled = ClientNotification::CancelledNotification(
            rmcp::model::CancelledNotification::new(params),
        );
        let message = ClientJsonRpcMessage::notification(cancelled);
        tokio::spawn(async move {
            let id = self.id.as_ref().into();
            // An error means that the session has ended, and its requests with it.
            let _ = self.sessions.manager.accept_message(&id, message).await;
        });
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.id) {
            entry.open = entry.open.saturating_sub(1);
            entry.used_at = Instant::now();
        }
    }
}

/// The sessions by id.
trait SessionTable {
    /// The session to end before this grant gets another one, if one has to.
    fn surplus(&self, grant: &GrantId) -> Result<Option<Arc<str>>, Refusal>;

    /// Refuses one more session of this grant if that would be too many.
    fn check_room(&self, grant: &GrantId) -> Result<(), Refusal>;
}

impl SessionTable for HashMap<Arc<str>, SessionEntry> {
    fn surplus(&self, grant: &GrantId) -> Result<Option<Arc<str>>, Refusal> {
        let Err(full) = self.check_room(grant) else { return Ok(None) };
        // A grant ends sessions of its own only.
        let idle = self.iter().filter(|(_, entry)| entry.grant == *grant && entry.open == 0);
        let idlest = idle.min_by_key(|(_, entry)| entry.used_at).map(|(id, _)| id.clone());
        idlest.map(Some).ok_or(full)
    }

    fn check_room(&self, grant: &GrantId) -> Result<(), Refusal> {
        let own = self.values().filter(|entry| entry.grant == *grant).count();
        if own < MAX_PER_GRANT && self.len() < MAX_SESSIONS {
            return Ok(());
        }
        let sentence = if own < MAX_PER_GRANT {
            format!("all {MAX_SESSIONS} MCP sessions are in use; end one and try again")
        } else {
            format!("this token has {MAX_PER_GRANT} MCP sessions in use; end one and try again")
        };
        Err(Refusal::new(Code::Limit, sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(grant: &str, open: usize, used_at: Instant) -> SessionEntry {
        SessionEntry { grant: GrantId(grant.into()), open, used_at, closed: Arc::default() }
    }

    fn table(count: usize, grant: &str, open: usize) -> HashMap<Arc<str>, SessionEntry> {
        let now = Instant::now();
        let entry = |n: usize| {
            let used_at = now + Duration::from_secs(n as u64);
            (format!("{grant}-{n}").into(), entry(grant, open, used_at))
        };
        (0..count).map(entry).collect()
    }

    #[test]
    fn one_more_session_ends_the_one_that_is_idle_for_longest() {
        let a = GrantId("a".into());
        assert_eq!(table(MAX_PER_GRANT - 1, "a", 0).surplus(&a), Ok(None));
        assert_eq!(table(MAX_PER_GRANT, "a", 0).surplus(&a), Ok(Some("a-0".into())));
        assert_eq!(table(MAX_PER_GRANT, "b", 0).surplus(&a), Ok(None));
    }

    #[test]
    fn sessions_in_use_are_not_ended_for_another() {
        let a = GrantId("a".into());
        let refusal = table(MAX_PER_GRANT, "a", 1).surplus(&a).unwrap_err();
        assert_eq!(refusal.code, Code::Limit);
        assert!(refusal.sentence.contains("this token has 64"), "{refusal}");
        let refusal = table(MAX_SESSIONS, "b", 0).surplus(&a).unwrap_err();
        assert!(refusal.sentence.contains("all 512"), "{refusal}");
    }
}
