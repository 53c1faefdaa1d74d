//! Clients that want to know when a pane's screen changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use paned_model::{Code, PaneId, Refusal};
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSink};
use serde::Deserialize;
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::api::ClientContext;
use crate::resources;
use crate::tools::{ScreenReply, ToolCall};

/// How many screens one client may watch.
const MAX_WATCHES: usize = 32;
/// How long a screen that changes all the time is left alone between two notices.
const NOTICE_PAUSE: Duration = Duration::from_millis(500);
const DAY_MS: u64 = 86_400_000;

/// The screens that the client of one session watches. They end with it.
#[derive(Default)]
pub(crate) struct ScreenWatches(Arc<Mutex<HashMap<String, AbortHandle>>>);

impl ScreenWatches {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells this client of every change of a pane's screen from now on.
    ///
    /// # Errors
    /// When the client may not see the pane, or watches too many.
    pub(crate) async fn add(
        &self,
        client: ClientContext,
        pane: PaneId,
        uri: &str,
        peer: Peer<RoleServer>,
    ) -> Result<(), Refusal> {
        let screen = ScreenWatch::start(client, pane).await?;
        let mut watches = self.lock();
        watches.retain(|_, task| !task.is_finished());
        if MAX_WATCHES <= watches.len() && !watches.contains_key(uri) {
            return Err(too_many());
        }
        let task = tokio::spawn(screen.run(uri.to_owned(), Subscriber::Session(peer)));
        if let Some(before) = watches.insert(uri.to_owned(), task.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    /// Ends a watch, if there is one.
    pub(crate) fn remove(&self, uri: &str) {
        if let Some(task) = self.lock().remove(uri) {
            task.abort();
        }
    }
}

impl Drop for ScreenWatches {
    fn drop(&mut self) {
        self.lock().drain().for_each(|(_, task)| task.abort());
    }
}

fn too_many() -> Refusal {
    let sentence = format!("{MAX_WATCHES} screens are watched; unsubscribe from one first");
    Refusal::new(Code::Limit, sentence)
}

/// The part of a requested subscription that there is: screens of panes, and not too many.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let ours = uris.filter(|uri| resources::pane(uri).is_ok()).take(MAX_WATCHES).cloned();
    SubscriptionFilter::builder().resource_subscriptions(ours.collect::<Vec<_>>()).build()
}

/// Tells the client of one subscription of every change, until it ends.
pub(crate) async fn listen(client: ClientContext, subscription: &SubscriptionContext) {
    let uris = subscription.accepted().resource_subscriptions.iter().flatten();
    let watches = uris.map(async |uri| {
        let Ok(pane) = resources::pane(uri) else { return };
        let Ok(screen) = ScreenWatch::start(client.clone(), pane).await else { return };
        screen.run(uri.clone(), Subscriber::Stream(subscription.sink().clone())).await;
    });
    let watching = async {
        join_all(watches).await;
        // The subscription is the client's to end, also when nothing will change any more.
        subscription.cancelled().await;
    };
    tokio::select! {
        () = subscription.cancelled() => {}
        () = watching => {}
    }
}

/// Where notices of changes go.
enum Subscriber {
    /// The client of a session.
    Session(Peer<RoleServer>),
    /// The stream of one subscription.
    Stream(SubscriptionSink),
}

impl Subscriber {
    /// Sends a notice. Returns whether the client is still there.
    async fn notify(&self, uri: &str) -> bool {
        match self {
            Self::Session(peer) => {
                let notice = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(notice).await.is_ok()
            }
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// A screen that is watched.
struct ScreenWatch {
    call: ToolCall,
    pane: PaneId,
    revision: u64,
}

/// What is read of a wait.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScreenWaitReply {
    timed_out: bool,
}

impl ScreenWatch {
    async fn start(client: ClientContext, pane: PaneId) -> Result<Self, Refusal> {
        let call = ToolCall { client };
        let screen: ScreenReply = call.act("pane:screen", json!({ "paneId": pane })).await?;
        Ok(Self { call, pane, revision: screen.revision() })
    }

    /// Reports changes until the pane is gone, the client may not see it any more, or is gone
    /// itself.
    async fn run(mut self, uri: String, subscriber: Subscriber) {
        loop {
            let is_there = self.next_change().await.is_ok();
            if !subscriber.notify(&uri).await || !is_there {
                return;
            }
            // The screen may change all the time, and a client reads it after each notice.
            sleep(NOTICE_PAUSE).await;
        }
    }

    async fn next_change(&mut self) -> Result<(), Refusal> {
        let pane = &self.pane;
        loop {
            let params = json!({
                "paneId": pane,
                "screenChangeSince": self.revision,
                "exit": false,
                "timeoutMs": DAY_MS,
            });
            let waited: ScreenWaitReply = self.call.act("pane:wait", params).await?;
            let screen: ScreenReply =
                self.call.act("pane:screen", json!({ "paneId": pane })).await?;
            if screen.revision() != self.revision {
                self.revision = screen.revision();
                return Ok(());
            }
            if !waited.timed_out {
                // Its program has ended, and the screen will not change again.
                return Err(Refusal::new(Code::Gone, "the screen no longer changes"));
            }
        }
    }
}
