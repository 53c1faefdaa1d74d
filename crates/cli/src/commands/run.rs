//! `paned run`: runs a program in a fresh pane to its end, as if it ran here.

mod keeper_follower;
mod session;
mod writer;

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use paned_keeper::tty_guard::TtyGuard;
use paned_model::{Code, Exit, PaneId, PaneInfo, Refusal, Size};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use self::keeper_follower::KeeperFollower;
use self::session::{Finish, RunOutcome, RunSession, RunSource, RunState};
use self::writer::WriterThread;
use super::duration::seconds;
use super::follow::OutputFollower;
use super::output::PaneReadReply;
use super::output_writer::{OutputFormat, OutputWriter};
use super::tty::{self, SignalListener};
use super::{is_unavailable, new, params, read};
use crate::client::{self, ApiClient};
use crate::context::CliContext;
use crate::out::is_closed;
use paned_term::queries::QueryFilter;

const EXAMPLES: &str = "\
Examples:
  paned run -- cargo test
  paned run --timeout 60s -- ./slow || echo $?    124 when time ran out
  paned run --keep --id build -- make             the pane stays, for `paned logs build`
  paned run --json -- make                        how it ended and what it printed, as JSON

The program has a terminal of its own, as large as yours, and lives on the server: what it prints is shown \
as it comes, as plain lines where that is no terminal of yours. In your terminal it draws as it would without us; \
only what it asks its terminal is not shown there, because the server answers that. --raw shows every byte, wherever it goes. \
All of it is shown: a program that prints faster than its output is read waits, as it would for a pipe. Only over TCP, from another \
machine, some may be lost; then that is said, and the exit code is not 0.

^C and ^\\ are pressed in its pane, where they are keys to it, and signals elsewhere; SIGHUP, SIGUSR1 and SIGUSR2 \
are passed on; SIGTERM ends it with all that it started, and so does our own end. It gets nothing from standard \
input: to type into a program, use `paned new` and `paned attach`. Afterwards the pane is closed, and what the \
program left running with it, unless you say --keep.

--json answers the last 10000 lines, up to 1 MiB of them and 2000 characters of each; `first` is the number of the \
first one, and `truncated` and `cut` say what was left out. Then the pane is kept, too, and `kept` is true: \
`paned logs` has what is kept of it until you close it.

The exit code is the program's own; 128 and the signal's number when one ended it; 124 when time ran out; 127 when \
there is no such program, 126 when it cannot be executed. A program that goes on when nobody reads our output any \
more, as in `paned run -- yes | head -1`, is ended unless you say --keep, and the exit code is 141, as for one that \
writes into a pipe.";

/// What a shell answers when there is no such program, and when it is none that can be executed.
const NO_PROGRAM: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// What it says of a program that prints into a pipe that nobody reads: 128 and SIGPIPE.
const SIGPIPE_CODE: u8 = 141;
/// How many lines are answered with `--json`, the last ones: as many as the server gives at once.
const MAX_LINES: usize = 10_000;
/// How long a server that is away is waited for once the program has ended, and how often it is asked.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Run a program in a fresh pane to its end, with its output and exit code as ours
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to name the pane; a name is made up when left out
    #[arg(long)]
    id: Option<PaneId>,
    /// Where to run it [default: here]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// A variable on top of the server's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = new::pair)]
    env: Vec<(String, String)>,
    /// How large its terminal is, as in 120x40 [default: as yours, and with it]
    #[arg(long)]
    size: Option<Size>,
    /// End it after so long, as in 90s or 10m; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    timeout: Option<u32>,
    /// Keep the pane, and what the program left running
    #[arg(long)]
    keep: bool,
    /// Show every byte, wherever it goes; your terminal may then answer what the program asks its own
    #[arg(long)]
    raw: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    argv: Vec<String>,
}

#[cfg(test)]
impl Args {
    /// The program and its arguments.
    pub(crate) fn argv(&self) -> &[String] {
        &self.argv
    }
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    // Before there are threads. It says something only if we die while a program uses our terminal.
    let guard = context.out.is_terminal().then(|| TtyGuard::spawn(io::stdout().as_fd()));
    client::block_on(run_to_end(context, args, guard.and_then(Result::ok)))?
}

async fn run_to_end(context: &CliContext, args: Args, guard: Option<TtyGuard>) -> Result<ExitCode> {
    let client = context.client()?;
    // Before the pane is there, so that no signal leaves it behind.
    let mut signals = SignalListener::catch()?;
    let (keep, follows_size, form) = (args.keep, args.size.is_none(), form(context, args.raw));
    let shows_bytes = form == OutputFormat::Raw && context.out.is_terminal();
    let questions = (shows_bytes && !args.raw).then(QueryFilter::default);
    let is_near = !client.is_remote();
    let pane = match client.action("pane:new", &request(args, is_near)?).await {
        Ok(pane) => read::<PaneInfo>(pane)?,
        Err(error) => return not_started(context, error),
    };
    let id = pane.id.to_string();
    let source = match KeeperFollower::connect(context, &pane, !keep).await {
        Some(keeper) => RunSource::Keeper(keeper),
        None => RunSource::Server(OutputFollower::new(&client, context.out, &id, 0)),
    };
    let course = RunSession {
        client: client.clone(),
        pane: id.clone(),
        source,
        writer: WriterThread::new(OutputWriter::new(context.out, form)),
        shows_bytes,
        questions,
        follows_size,
        state: RunState::default(),
        guard,
    };
    let outcome = course.run(&mut signals).await;
    let answer = match &outcome {
        Ok(RunOutcome::Ended(finish)) if context.out.is_json() => {
            Some(answer(&client, &pane, finish, keep).await)
        }
        Ok(_) | Err(_) => None,
    };
    let is_part = matches!(&answer, Some(Ok(answer)) if answer.is_truncated);
    // Whatever went wrong, nothing is left behind that nobody asked for.
    match (keep, is_part) {
        (true, _) => note(context, &format!("paned: the pane {id} is kept")),
        (false, true) => kill_rest(context, &client, &id).await,
        (false, false) => close(context, &client, &id).await,
    }
    if let Some(answer) = answer {
        print(context, &answer?)?;
    }
    code(context, outcome?)
}

/// Says something that nobody may read: our exit code is for the program all the same.
fn note(context: &CliContext, text: &str) {
    let _ = context.out.note(text);
}

/// A program that is not there, or none: a shell's exit codes for that.
fn not_started(context: &CliContext, error: anyhow::Error) -> Result<ExitCode> {
    let refusal: Refusal = error.downcast()?;
    let how = refusal.details.as_ref().and_then(|details| details.get("program"));
    let code = match how.and_then(Value::as_str) {
        Some("missing") => NO_PROGRAM,
        Some(_) => NOT_EXECUTABLE,
        None if refusal.sentence.starts_with("cannot run ") => NOT_EXECUTABLE,
        None => return Err(refusal.into()),
    };
    let _ = context.out.refusal(&refusal);
    Ok(code.into())
}

fn code(context: &CliContext, outcome: RunOutcome) -> Result<ExitCode> {
    let finish = match outcome {
        RunOutcome::Ended(finish) => finish,
        RunOutcome::Signalled(asked) => {
            note(context, "paned: what was left of the output is not shown");
            return Ok(asked.code().into());
        }
        RunOutcome::OutputClosed => return Ok(SIGPIPE_CODE.into()),
    };
    let lost = || Refusal::new(Code::Gone, "how the program ended is not known: its keeper died");
    let ended = finish.ended.ok_or_else(lost)?;
    if 0 < finish.missed && ended.code() == 0 {
        let sentence = "the program went well, but not all of its output is shown";
        return Err(Refusal::new(Code::Gone, sentence).into());
    }
    Ok(ended.into())
}

fn form(context: &CliContext, raw: bool) -> OutputFormat {
    match context.out.is_json() {
        true => OutputFormat::Silent,
        false if raw || context.out.is_terminal() => OutputFormat::Raw,
        false => OutputFormat::Lines,
    }
}

fn request(args: Args, is_near: bool) -> Result<Value> {
    let text = |(name, value): (String, String)| (name, Value::String(value));
    Ok(params([
        ("id", json!(args.id)),
        ("argv", json!(args.argv)),
        ("cwd", json!(new::from_here(args.cwd)?)),
        ("env", args.env.into_iter().map(text).collect::<Map<_, _>>().into()),
        ("size", json!(args.size.or_else(tty::size))),
        ("timeoutSeconds", json!(args.timeout)),
        // At its keeper, which must be near.
        ("followed", if is_near { json!(true) } else { Value::Null }),
    ]))
}

/// How it went, in the words of `pane:run`.
struct RunReply {
    json: Value,
    /// Whether the pane has more than it.
    is_truncated: bool,
}

async fn answer(client: &ApiClient, pane: &PaneInfo, how: &Finish, keep: bool) -> Result<RunReply> {
    let tail = json!({ "paneId": pane.id, "tail": u64::MAX, "limit": MAX_LINES });
    let output = call_with_retry(client, "pane:read", &tail).await?;
    let shown: PaneReadReply = read(output.clone())?;
    let is_part = shown.truncated || shown.lines.iter().any(|line| line.cut);
    let exit = how.ended.and_then(|ended| ended.exit);
    let json = json!({
        "paneId": pane.id,
        "exitCode": exit.and_then(Exit::code),
        "exitSignal": exit.and_then(Exit::signal),
        "timedOut": how.ended.is_some_and(|ended| ended.timed_out),
        "durationMs": how.at.map(|at| at.since(pane.created_at)),
        "first": shown.lines.first().map_or(shown.total, |line| line.n),
        "output": output,
        "kept": keep || is_part,
    });
    Ok(RunReply { json, is_truncated: is_part })
}

/// Prints an answer. That nobody reads it changes nothing about how the program ended.
fn print(context: &CliContext, answer: &RunReply) -> Result<()> {
    match context.out.json(&answer.json).map_err(anyhow::Error::from) {
        Err(error) if is_closed(&error) => Ok(()),
        printed => printed,
    }
}

/// Ends what is left, and keeps the pane for what our answer has no room for.
async fn kill_rest(context: &CliContext, client: &ApiClient, pane: &str) {
    let _ = call_with_retry(client, "pane:kill", &json!({ "paneId": pane })).await;
    let more = "it has more than the answer";
    let how = format!("see `paned logs {pane}`, then `paned close {pane}`");
    note(context, &format!("paned: the pane {pane} is kept: {more}; {how}"));
}

/// Ends and forgets what is left. Where that fails, the pane is still there to be seen.
async fn close(context: &CliContext, client: &ApiClient, pane: &str) {
    let closed = call_with_retry(client, "pane:close", &json!({ "paneId": pane })).await;
    if let Err(error) = closed {
        note(context, &format!("paned: the pane {pane} stays: {error}"));
    }
}

/// Asks a server that may be away for a moment.
async fn call_with_retry(client: &ApiClient, action: &str, params: &Value) -> Result<Value> {
    let until = Instant::now() + RETRY_TIMEOUT;
    loop {
        match client.action(action, params).await {
            Err(error) if is_unavailable(&error) && Instant::now() < until => {
                sleep(RETRY_INTERVAL).await
            }
            other => return other,
        }
    }
}
