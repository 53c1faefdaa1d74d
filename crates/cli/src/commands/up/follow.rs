//! `paned up --follow`: the output of all panes, each line behind its pane's name, until ctrl+c or
//! until all have ended.

use std::time::Duration;

use anyhow::{Context as _, Result};
use paned_model::PaneInfo;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::super::support::exit_status::ProgramExit;
use super::super::support::follow::{FollowedOutput, OutputFollower};
use super::super::support::line_splitter::LineSplitter;
use super::super::support::restart_note;
use super::start::PaneOutcome;
use crate::client::ApiClient;
use crate::out::{Out, StyledLine, TextStyle};

/// Which lines of a pane that ran before are shown first.
const LAST_LINES: usize = 10;
/// How long after its end a pane may be back, when a user has started it again.
const RESTART_TIME: Duration = Duration::from_millis(500);
/// The styles of names, in turn.
const STYLES: [TextStyle; 4] =
    [TextStyle::Good, TextStyle::Warn, TextStyle::Strong, TextStyle::Faint];

/// Follows the panes.
pub(super) async fn follow(out: Out, client: &ApiClient, panes: &[PaneOutcome]) -> Result<()> {
    let width = panes.iter().map(|pane| pane.name.len()).max().unwrap_or(0);
    let mut tasks = JoinSet::new();
    for (at, pane) in panes.iter().enumerate() {
        let name = format!("{:width$} | ", pane.name);
        let prefix = StyledLine::new(STYLES[at % STYLES.len()], &name);
        let followed = FollowedPane {
            out,
            client: client.clone(),
            id: pane.id.clone(),
            name: pane.name.clone(),
            prefix,
        };
        tasks.spawn(followed.run(pane.is_new));
    }
    let all_ended = async {
        while let Some(ended) = tasks.join_next().await {
            ended.context("following broke off")??;
        }
        anyhow::Ok(())
    };
    tokio::select! {
        ended = all_ended => ended,
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Ok(out.note("paned: the panes keep running; `paned down` ends them")?)
        }
    }
}

/// One pane that is followed.
struct FollowedPane {
    out: Out,
    client: ApiClient,
    id: String,
    name: String,
    prefix: StyledLine,
}

impl FollowedPane {
    async fn run(self, mut from_start: bool) -> Result<()> {
        loop {
            let Some(ended) = self.follow_run(from_start).await? else { return Ok(()) };
            self.say_ended(&ended)?;
            if !self.is_started_again(&ended).await? {
                return Ok(());
            }
            from_start = true;
        }
    }

    /// Shows one run to its end. None if the pane is gone.
    async fn follow_run(&self, from_start: bool) -> Result<Option<PaneInfo>> {
        let mut follower = OutputFollower::new(&self.client, self.out, &self.id, 0);
        let mut splitter = LineSplitter::default();
        if !from_start {
            follower.seek_last_lines(LAST_LINES).await?;
        }
        loop {
            match follower.next().await {
                Ok(FollowedOutput::Printed(bytes)) => {
                    splitter.feed(&bytes).iter().try_for_each(|line| self.show(line))?;
                }
                Ok(FollowedOutput::Missed(_)) => self.show("…")?,
                Ok(FollowedOutput::Ended(pane)) => {
                    splitter.finish().iter().try_for_each(|line| self.show(line))?;
                    return Ok(Some(*pane));
                }
                // It was closed.
                Err(error) if is_not_found(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn show(&self, line: &str) -> Result<()> {
        if self.out.is_json() {
            return Ok(self
                .out
                .json(&json!({ "pane": self.id, "name": self.name, "text": line }))?);
        }
        Ok(self.out.line(self.prefix.clone().then(TextStyle::Plain, line))?)
    }

    fn say_ended(&self, pane: &PaneInfo) -> Result<()> {
        let how = ProgramExit::of(pane);
        let how = how.map_or_else(|| pane.status.to_string(), ProgramExit::describe);
        let next = restart_note::suffix(pane, paned_keeper::time::now());
        Ok(self.out.note(format!("paned: {} has ended ({how}){next}", self.name))?)
    }

    /// Waits until the pane is started again; false if that is not to be expected.
    async fn is_started_again(&self, ended: &PaneInfo) -> Result<bool> {
        let mut pause = RESTART_TIME;
        loop {
            sleep(pause).await;
            let request = json!({ "paneId": self.id });
            let pane: PaneInfo = match self.client.call("pane:get", &request).await {
                Ok(pane) => pane,
                Err(error) if is_not_found(&error) => return Ok(false),
                Err(error) => return Err(error),
            };
            if pane.instance != ended.instance {
                return Ok(true);
            }
            let next = pane.restart.and_then(|restart| restart.next_at);
            let Some(next) = next else { return Ok(false) };
            let left = Duration::from_millis(next.since(paned_keeper::time::now()));
            pause = left.max(Duration::from_millis(100));
        }
    }
}

fn is_not_found(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<paned_model::Refusal>();
    refusal.is_some_and(|refusal| refusal.code == paned_model::Code::NotFound)
}
