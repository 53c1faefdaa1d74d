//! What a client hears while a call runs, and how it ends one.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// When the first notice of progress is sent.
const FIRST_NOTICE: Duration = Duration::from_secs(1);
/// How often one is sent after that: clients give up on calls that are silent for a minute.
const NOTICE_INTERVAL: Duration = Duration::from_secs(5);

/// The client of one call.
pub(crate) struct CallProgress {
    context: RequestContext<RoleServer>,
    token: Option<ProgressToken>,
}

impl CallProgress {
    pub(crate) fn new(context: RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { context, token }
    }

    /// Runs a call until it is done or the client cancels it. A client that asked for it hears how
    /// long the call has run.
    pub(crate) async fn run<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let began = Instant::now();
        let mut notices = notices(began);
        let mut call = std::pin::pin!(call);
        loop {
            let now = tokio::select! {
                biased;
                () = self.context.ct.cancelled() => return None,
                answer = &mut call => return Some(answer),
                now = notices.tick(), if self.token.is_some() => now,
            };
            let Some(token) = &self.token else { continue };
            let sent = notify(&self.context.peer, token, now.duration_since(began));
            // A client that does not read its notices must not hold up the call.
            tokio::select! {
                biased;
                answer = &mut call => return Some(answer),
                () = self.context.ct.cancelled() => return None,
                () = sent => {}
            }
        }
    }
}

fn notices(began: Instant) -> Interval {
    let mut notices = interval_at(began + FIRST_NOTICE, NOTICE_INTERVAL);
    notices.set_missed_tick_behavior(MissedTickBehavior::Delay);
    notices
}

async fn notify(peer: &Peer<RoleServer>, token: &ProgressToken, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64().round();
    let notice = ProgressNotificationParam::new(token.clone(), seconds)
        .with_message(format!("still waiting after {seconds} s"));
    // An error means that the client is gone, which cancels the call.
    let _ = peer.notify_progress(notice).await;
}
