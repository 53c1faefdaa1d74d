//! The log: lines on standard error, JSON for programs, readable for people. While the protocol of
//! agentmux is served, also in the file that its users have named.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use paned_compat::REQUEST_LOG;
use paned_model::Refusal;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

/// The variable that says what is logged, as in `info` or `warn,paned_kernel=debug`.
const VARIABLE: &str = "PANED_LOG";

/// Starts the log.
///
/// # Errors
/// When `PANED_LOG` is not a valid filter, or the file cannot be written.
pub(super) fn start(file: Option<&Path>) -> Result<()> {
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.is_empty());
    let wanted = wanted.unwrap_or_else(|| "info".to_owned());
    // The MCP library logs whole messages, with what is typed into panes.
    let wanted = format!("rmcp=off,{wanted}");
    let filter = filter(&wanted)?;
    // The log may be a file on a full disk. The library would report a lost line with `eprintln!`,
    // which panics there.
    let log = fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    let log = if io::stderr().is_terminal() {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        log.compact().with_ansi(!no_colour).with_filter(filter).boxed()
    } else {
        let log = log.json().flatten_event(true).with_current_span(false).with_span_list(false);
        log.with_filter(filter).boxed()
    };
    let Some(file) = file else {
        tracing_subscriber::registry().with(log).init();
        return Ok(());
    };
    // With one line for each request, which the log of the server has not.
    let filter = self::filter(&format!("{wanted},{REQUEST_LOG}=debug"))?;
    let copy = fmt::layer().with_writer(Mutex::new(open(file)?)).log_internal_errors(false);
    let copy = copy.compact().with_ansi(false).with_filter(filter);
    tracing_subscriber::registry().with(log).with(copy).init();
    Ok(())
}

fn filter(wanted: &str) -> Result<EnvFilter, Refusal> {
    EnvFilter::try_new(wanted).map_err(|error| {
        let wanted = wanted.escape_debug();
        Refusal::invalid(format!("`{VARIABLE}`: invalid filter `{wanted}` ({error}); try `info`"))
    })
}

/// Opens the file at its end, with its folder. Only the user can read what is made here.
fn open(path: &Path) -> Result<File, Refusal> {
    let folder = path.parent().unwrap_or(path);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.and_then(|()| open()).map_err(|error| {
        let path = path.display();
        Refusal::invalid(format!(
            "cannot write the log {path}: {error}; unset AGENTMUX_LOG_FILE, or name another file"
        ))
    })
}
