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
use super::super::support::output_range::OutputSelection;
use super::super::support::output_writer::{JsonFormat, LineFormat, OutputFormat, OutputWriter};
use super::super::support::restart_note;
use super::start::PaneOutcome;
use crate::client::{self, ApiClient};
use crate::context::CliContext;
use crate::out::{Out, Prefixes};

/// Which lines of a pane that ran before are shown first.
const LAST_LINES: OutputSelection = OutputSelection { lines: Some(10), since: None };
/// How long after its end a pane may be back, when a user has started it again.
const RESTART_TIME: Duration = Duration::from_millis(500);

/// Follows the panes.
pub(super) fn follow(
    context: &CliContext,
    client: &ApiClient,
    panes: &[PaneOutcome],
) -> Result<()> {
    let prefixes = Prefixes::new(panes.iter().map(|pane| pane.name.as_str()));
    let mut followed = Vec::new();
    for pane in panes {
        let start = if pane.is_new { 0 } else { LAST_LINES.find(context, &pane.id)?.start };
        followed.push(FollowedPane {
            out: context.out,
            client: client.clone(),
            id: pane.id.clone(),
            name: pane.name.clone(),
            format: format(context.out, pane, &prefixes),
            start,
        });
    }
    client::block_on(follow_all(context.out, followed))?
}

/// How the lines of a pane are shown.
fn format(out: Out, pane: &PaneOutcome, prefixes: &Prefixes) -> OutputFormat {
    match out.is_json() {
        true => OutputFormat::Json(JsonFormat { pane: pane.id.clone(), is_numbered: false }),
        false => OutputFormat::Lines(LineFormat {
            prefix: Some(prefixes.of(&pane.name)),
            has_colours: out.has_colour(),
            ..LineFormat::default()
        }),
    }
}

async fn follow_all(out: Out, panes: Vec<FollowedPane>) -> Result<()> {
    let mut tasks = JoinSet::new();
    for pane in panes {
        tasks.spawn(pane.run());
    }
    let all_ended = async {
        while let Some(ended) = tasks.join_next().await {
            ended.context("following was interrupted")??;
        }
        anyhow::Ok(())
    };
    tokio::select! {
        ended = all_ended => ended,
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Ok(out.note("paned: the panes keep running; `paned down` stops them")?)
        }
    }
}

/// One pane that is followed.
struct FollowedPane {
    out: Out,
    client: ApiClient,
    id: String,
    name: String,
    format: OutputFormat,
    /// Where its output is shown from.
    start: u64,
}

impl FollowedPane {
    async fn run(mut self) -> Result<()> {
        loop {
            let Some(ended) = self.follow_run().await? else { return Ok(()) };
            self.report_exit(&ended)?;
            if !self.is_started_again(&ended).await? {
                return Ok(());
            }
            self.start = 0;
        }
    }

    /// Shows one run to its end. `None` if the pane is gone.
    async fn follow_run(&self) -> Result<Option<PaneInfo>> {
        let mut follower = OutputFollower::new(&self.client, self.out, &self.id, self.start);
        let mut writer = OutputWriter::new(self.out, self.format.clone());
        loop {
            match follower.next().await {
                Ok(FollowedOutput::Printed(printed)) => writer.print_timed(&printed)?,
                Ok(FollowedOutput::Missed(bytes)) => writer.missed(bytes)?,
                Ok(FollowedOutput::Ended(pane)) => {
                    writer.finish()?;
                    return Ok(Some(*pane));
                }
                // It was closed.
                Err(error) if is_not_found(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn report_exit(&self, pane: &PaneInfo) -> Result<()> {
        let how = ProgramExit::of(pane);
        let how = how.map_or_else(|| pane.status.to_string(), ProgramExit::describe);
        let next = restart_note::suffix(pane, paned_keeper::time::now());
        Ok(self.out.note(format!("paned: {} has exited ({how}){next}", self.name))?)
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
