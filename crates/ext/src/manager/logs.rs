//! Reading the log of an extension for a caller.

use std::time::Duration;

use paned_kernel::extensions::{LogRequest, LogText};
use paned_model::Refusal;
use tokio::time::{Instant, sleep};

use super::ExtensionManager;
use crate::install::run_blocking;
use crate::log_reader::{self, LogPosition};

const LINES: usize = 200;
const MOST_LINES: usize = 100_000;
const LONGEST_WAIT_MS: u64 = 30_000;
/// The log is a file, and there is no event for a line in it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl ExtensionManager {
    pub(super) async fn read_log(&self, request: LogRequest) -> Result<LogText, Refusal> {
        let LogRequest { name, lines, after, wait_ms } = request;
        check_limits(lines, wait_ms)?;
        let (scan, _) = self.read().await?;
        let name = self.find(&scan, &name)?.name.clone();
        let position: Option<LogPosition> = match after {
            None => None,
            Some(after) => Some(after.parse().map_err(|()| {
                Refusal::invalid("`after` must be the `next` of an earlier answer")
            })?),
        };
        let lines = lines.unwrap_or(LINES);
        let wait = Duration::from_millis(wait_ms.unwrap_or(0));
        let deadline = Instant::now() + wait;
        let log = self.paths.log(&name);
        loop {
            let file = log.clone();
            let old = self.paths.old_log(&name);
            let read = move || match position {
                Some(position) => log_reader::after(&file, &old, position),
                None => log_reader::tail(&file, &old, lines),
            };
            let part = run_blocking(move || {
                read().map_err(|error| Refusal::system("cannot read the log", &error))
            });
            let part = part.await?;
            if !part.text.is_empty() || deadline <= Instant::now() {
                return Ok(LogText { text: part.text, next: part.next.to_string(), file: log });
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// Refuses more lines and a longer wait than the schema of the request allows.
fn check_limits(lines: Option<usize>, wait_ms: Option<u64>) -> Result<(), Refusal> {
    if lines.is_some_and(|lines| MOST_LINES < lines) {
        return Err(Refusal::invalid(format!("`lines` must be at most {MOST_LINES}")));
    }
    if wait_ms.is_some_and(|wait| LONGEST_WAIT_MS < wait) {
        return Err(Refusal::invalid(format!("`waitMs` must be at most {LONGEST_WAIT_MS}")));
    }
    Ok(())
}
