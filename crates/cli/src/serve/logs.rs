//! The log: lines on standard error, JSON for programs, readable for people.

use std::io::{self, IsTerminal};

use anyhow::Result;
use paned_model::Refusal;
use tracing_subscriber::EnvFilter;

/// The variable that says what is logged, as in `info` or `warn,paned_kernel=debug`.
const VARIABLE: &str = "PANED_LOG";

/// Starts the log.
///
/// # Errors
/// When `PANED_LOG` is not a valid filter.
pub(super) fn start() -> Result<()> {
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.is_empty());
    let wanted = wanted.unwrap_or_else(|| "info".to_owned());
    let filter = EnvFilter::try_new(&wanted).map_err(|error| {
        let wanted = wanted.escape_debug();
        Refusal::invalid(format!("`{VARIABLE}`: invalid filter `{wanted}` ({error}); try `info`"))
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // The log may be a file on a full disk. The library would report a lost line with `eprintln!`,
    // which panics there.
    let log = log.log_internal_errors(false);
    if io::stderr().is_terminal() {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        log.compact().with_ansi(!no_colour).init();
    } else {
        log.json().flatten_event(true).with_current_span(false).with_span_list(false).init();
    }
    Ok(())
}
