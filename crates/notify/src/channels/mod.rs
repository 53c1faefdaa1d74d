//! How a notification reaches a person.

mod command;
pub(crate) mod desktop;
mod webhook;

use std::path::PathBuf;
use std::time::Duration;

use paned_policy::notify::{NotifyChannel, NotifyRule};

use self::command::CommandChannel;
use self::desktop::DesktopProgram;
use self::webhook::WebhookChannel;
use crate::notice::Notice;

/// How long a program may take.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);

/// A failed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeliveryError {
    /// Why, and what to do.
    pub(crate) sentence: String,
    /// Whether it may succeed later.
    pub(crate) is_temporary: bool,
}

impl DeliveryError {
    pub(crate) fn lasting(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), is_temporary: false }
    }

    pub(crate) fn temporary(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), is_temporary: true }
    }
}

/// What a channel needs.
#[derive(Clone, Debug)]
pub(crate) struct ChannelSetup {
    pub(crate) desktop: DesktopProgram,
    /// The environment of programs.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) home: Option<PathBuf>,
}

/// Delivers a notification once.
pub(crate) async fn deliver(
    setup: &ChannelSetup,
    rule: &NotifyRule,
    channel: NotifyChannel,
    notice: &Notice,
) -> Result<(), DeliveryError> {
    match channel {
        NotifyChannel::Desktop => desktop::deliver(setup, notice).await,
        // Attached terminals follow the events: recording it is delivering it.
        NotifyChannel::Terminal => Ok(()),
        NotifyChannel::Command => CommandChannel { setup, rule }.deliver(notice).await,
        NotifyChannel::Webhook => WebhookChannel { setup, rule }.deliver(notice).await,
    }
}

/// What is wrong with a rule's channels, as far as it can be known before they are used.
pub(crate) fn problems(setup: &ChannelSetup, rule: &NotifyRule) -> Vec<String> {
    let problem = |channel: &NotifyChannel| match channel {
        NotifyChannel::Desktop => desktop::problem(setup),
        NotifyChannel::Terminal => None,
        NotifyChannel::Command => CommandChannel { setup, rule }.problem(),
        NotifyChannel::Webhook => WebhookChannel { setup, rule }.problem(),
    };
    rule.to.iter().filter_map(problem).collect()
}

/// Whether a program is on the PATH of this environment, or a path to one.
fn has_program(env: &[(String, String)], program: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = |path: PathBuf| {
        path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(program.into());
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    std::env::split_paths(path).any(|folder| is_program(folder.join(program)))
}
