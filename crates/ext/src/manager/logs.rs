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
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The log is a file, and there is no event for a line in it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl ExtensionManager {
    pub(super) async fn read_log(&self, request: LogRequest) -> Result<LogText, Refusal> {
        let LogRequest { name, lines, after, wait_ms } = request;
        let (scan, _) = self.read().await?;
        let name = self.find(&scan, &name)?.name.clone();
        let position: Option<LogPosition> = match after {
            None => None,
            Some(after) => Some(after.parse().map_err(|()| {
                Refusal::invalid("`after` must be the `next` of an earlier answer")
            })?),
        };
        let lines = lines.unwrap_or(LINES).min(MOST_LINES);
        let wait = Duration::from_millis(wait_ms.unwrap_or(0)).min(LONGEST_WAIT);
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
