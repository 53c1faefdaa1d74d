//! Notifications as the `notify:*` actions see them. Another crate decides and delivers: the kernel
//! knows it by [`Notifier`] only.

use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::BoxedFuture;
use paned_model::{Code, EventId, PaneId, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Kernel;
use crate::tmux_view::ViewRequest;

/// What delivers notifications.
pub trait Notifier: Send + Sync + 'static {
    /// The rules of the configuration.
    fn list(&self) -> Vec<NotifyRuleInfo>;

    /// Delivers a test notification through the channels of one or every rule.
    fn test(&self, rule: Option<String>)
    -> BoxedFuture<'_, Result<Vec<NotifyTestResult>, Refusal>>;
}

/// A rule of the configuration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotifyRuleInfo {
    /// Its name.
    pub name: String,
    /// What it is about: `blocked`, `done`, `error`, `limited`, `exit`, `pattern` or `approval`.
    pub on: Vec<String>,
    /// How it notifies: `desktop`, `terminal`, `command` or `webhook`.
    pub to: Vec<String>,
    /// Why some of it does not work, and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What became of a test notification.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotifyTestResult {
    /// The rule.
    pub rule: String,
    /// How it notified.
    pub channel: String,
    /// Why it failed; absent if it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What became of a notification, for the journal. It quotes nothing from the terminal.
#[derive(Clone, Debug)]
pub struct NotifyRecord {
    /// The rule.
    pub rule: String,
    /// How it notified.
    pub channel: String,
    /// What it was about, in words.
    pub about: String,
    /// The event that caused it; none for a line of output.
    pub event: Option<EventId>,
    /// Identifies the delivery.
    pub delivery: String,
    /// The payload fields that say which pane it is about: `paneId` and `instance`.
    pub subject: Value,
    /// How many before it were left out.
    pub left_out: u32,
    /// Why it failed; none if it was delivered.
    pub error: Option<String>,
}

/// The notifier, once there is one.
#[derive(Default)]
pub(crate) struct NotifierSlot(Mutex<Option<Arc<dyn Notifier>>>);

impl NotifierSlot {
    fn set(&self, notifier: Option<Arc<dyn Notifier>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = notifier;
    }

    fn get(&self) -> Option<Arc<dyn Notifier>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Kernel {
    /// Sets what delivers notifications. It is dropped when the kernel stops.
    pub fn set_notifier(&self, notifier: Arc<dyn Notifier>) {
        self.inner.notifier.set(Some(notifier));
    }

    pub(crate) fn drop_notifier(&self) {
        self.inner.notifier.set(None);
    }

    /// What delivers notifications.
    ///
    /// # Errors
    /// When the configuration has no rules.
    pub(crate) fn notifier(&self) -> Result<Arc<dyn Notifier>, Refusal> {
        self.inner.notifier.get().ok_or_else(|| {
            let sentence = "there are no rules for notifications: add a section `[notify.NAME]` to \
                            config.toml, then `paned server restart`";
            Refusal::new(Code::NotFound, sentence)
        })
    }

    /// Records what became of a notification, as `notify:sent` or `notify:failed`.
    pub fn record_notification(&self, record: &NotifyRecord) {
        let mut payload = json!({
            "rule": record.rule,
            "channel": record.channel,
            "about": record.about,
            "delivery": record.delivery,
        });
        for field in ["paneId", "instance"] {
            if let Some(value) = record.subject.get(field) {
                payload[field] = value.clone();
            }
        }
        if let Some(event) = record.event {
            payload["event"] = json!(event);
        }
        if 0 < record.left_out {
            payload["leftOut"] = json!(record.left_out);
        }
        match &record.error {
            None => self.emit("notify:sent", &payload),
            Some(error) => {
                payload["error"] = json!(error);
                self.emit("notify:failed", &payload);
            }
        }
    }

    /// Whether a person is looking at a pane: it is attached to a terminal or a page that holds its
    /// size, or it has the focus of an attached tmux session.
    pub async fn is_looked_at(&self, pane: &PaneId) -> bool {
        let Ok(found) = self.panes().get(pane) else { return false };
        let (location, is_held) = {
            let state = found.lock();
            let location = state.record.view.as_ref().map(|view| view.location.clone());
            (location, state.size_held_by.is_some())
        };
        let Some(location) = location else { return is_held };
        let ask = |answer| ViewRequest::Snapshot(location.clone(), answer);
        let Ok(window) = self.tmux_views().ask_at(self, &location, ask).await else { return false };
        let is_focused =
            window.views.iter().any(|view| view.focused && view.shows.as_ref() == Some(pane));
        is_focused && window.is_attached
    }
}
