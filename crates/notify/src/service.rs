//! The service: its task, and what the actions `notify:*` ask of it.

use std::path::PathBuf;
use std::sync::Arc;

use paned_kernel::notifications::{Notifier, NotifyRuleInfo, NotifyTestResult};
use paned_kernel::{BoxedFuture, Kernel};
use paned_model::{Code, EventId, Refusal};
use paned_policy::notify::{NotifyRule, NotifyRules};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::channels::desktop::DesktopProgram;
use crate::channels::{self, ChannelSetup};
use crate::notice::Notice;
use crate::task::NotifyTask;

/// What the service needs.
pub struct NotifySetup {
    /// The kernel whose events are followed.
    pub kernel: Kernel,
    /// The rules of the configuration.
    pub rules: NotifyRules,
    /// The file with the place in the journal.
    pub place: PathBuf,
    /// The first event of this run of the server.
    pub first_event: EventId,
    /// The environment of the programs that are started.
    pub env: Vec<(String, String)>,
}

/// Notifications of a running server.
pub struct NotifyService {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What the actions see.
struct NotifyActions {
    kernel: Kernel,
    rules: Arc<NotifyRules>,
    channels: Arc<ChannelSetup>,
}

impl NotifyService {
    /// Starts it; nothing without rules.
    #[must_use]
    pub fn start(setup: NotifySetup) -> Option<Self> {
        if setup.rules.0.is_empty() {
            return None;
        }
        let home = setup.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.into());
        let channels =
            Arc::new(ChannelSetup { desktop: DesktopProgram::of_system(), env: setup.env, home });
        let rules = Arc::new(setup.rules);
        for rule in &rules.0 {
            for problem in channels::problems(&channels, rule) {
                tracing::warn!(rule = rule.name, problem, "a rule cannot notify");
            }
        }
        let kernel = setup.kernel;
        kernel.set_notifier(Arc::new(NotifyActions {
            kernel: kernel.clone(),
            rules: rules.clone(),
            channels: channels.clone(),
        }));
        let (stop, stopped) = watch::channel(false);
        let task = NotifyTask::new(kernel, rules, channels, &setup.place, setup.first_event);
        Some(Self { stop, task: tokio::spawn(task.run(stopped)) })
    }

    /// Ends it. What is not delivered yet is delivered by the next run of the server.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the task for notifications failed");
        }
    }
}

impl Notifier for NotifyActions {
    fn list(&self) -> Vec<NotifyRuleInfo> {
        let info = |rule: &NotifyRule| NotifyRuleInfo {
            name: rule.name.clone(),
            on: rule.on.iter().map(|trigger| trigger.as_str().to_owned()).collect(),
            to: rule.to.iter().map(|channel| channel.as_str().to_owned()).collect(),
            problems: channels::problems(&self.channels, rule),
        };
        self.rules.0.iter().map(info).collect()
    }

    fn test(
        &self,
        rule: Option<String>,
    ) -> BoxedFuture<'_, Result<Vec<NotifyTestResult>, Refusal>> {
        Box::pin(async move {
            let chosen: Vec<&NotifyRule> = match &rule {
                Some(name) => vec![self.find(name)?],
                None => self.rules.0.iter().collect(),
            };
            let mut results = Vec::new();
            for rule in chosen {
                results.extend(self.test_rule(rule).await);
            }
            Ok(results)
        })
    }
}

impl NotifyActions {
    fn find(&self, name: &str) -> Result<&NotifyRule, Refusal> {
        self.rules.0.iter().find(|rule| rule.name == name).ok_or_else(|| {
            let names: Vec<_> = self.rules.0.iter().map(|rule| rule.name.as_str()).collect();
            let names = names.join(", ");
            let sentence = format!("no rule `{name}` for notifications; there are: {names}");
            Refusal::new(Code::NotFound, sentence)
        })
    }

    /// Delivers a test through each channel of a rule, once and without repetition.
    async fn test_rule(&self, rule: &NotifyRule) -> Vec<NotifyTestResult> {
        let mut results = Vec::new();
        for channel in &rule.to {
            let time = self.kernel.time();
            let delivery = format!("test.{}.{}.{}", time.0, rule.name, channel.as_str());
            let notice = Notice::test(&rule.name, delivery, time);
            let error = channels::deliver(&self.channels, rule, *channel, &notice).await.err();
            let error = error.map(|error| error.sentence);
            self.kernel.record_notification(&notice.record(*channel, error.clone()));
            let channel = channel.as_str().to_owned();
            results.push(NotifyTestResult { rule: rule.name.clone(), channel, error });
        }
        results
    }
}
