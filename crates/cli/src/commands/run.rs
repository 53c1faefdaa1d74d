//! `paned run`: runs a program in a new pane until it exits, as if it ran here.

mod keeper_follower;
mod piped_input;
mod session;
mod writer;

use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use paned_keeper::input::tty_guard::TtyGuard;
use paned_model::{Code, Exit, PaneId, PaneInfo, Refusal};
use paned_term::queries::QueryFilter;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use self::keeper_follower::KeeperFollower;
use self::piped_input::InputTarget;
use self::session::{Finish, RunOutcome, RunSession, RunSource, RunState};
use self::writer::WriterThread;
use super::is_unavailable;
use super::support::duration::seconds;
use super::support::follow::OutputFollower;
use super::support::output::PaneReadReply;
use super::support::output_writer::{LineFormat, OutputFormat, OutputWriter};
use super::support::spawn_args::SpawnArgs;
use super::support::tty::SignalListener;
use crate::client::{self, ApiClient, RETRY_INTERVAL};
use crate::context::CliContext;
use crate::out::is_closed;

/// The exit codes of a shell for a program that does not exist, and for one that cannot be
/// executed.
const NO_PROGRAM: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Its exit code for a program that writes into a closed pipe: 128 plus SIGPIPE.
const SIGPIPE_CODE: u8 = 141;
/// How many lines the answer of `--json` has, the last ones: as many as the server returns at once.
const MAX_LINES: usize = 10_000;
/// How long calls to a server that is down are retried once the program has ended.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// Run a program, stream its output and exit with its exit code
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned run -- cargo test
  paned run --timeout 60s -- ./slow || echo $?    124 if it timed out
  paned run --keep --id build -- make             then `paned logs build`
  paned run --json -- make                        exit code and output as JSON
  echo hi | paned run -- cat                      type standard input
  paned run -- sh /dev/stdin < script             a shell that shows no prompts

The program gets its own terminal with the size of yours, and its output is streamed: unchanged in a terminal, and as plain lines otherwise. In a terminal, the program's terminal queries are filtered out, because the server answers them. --raw prints every byte. No output is lost: a program that prints faster than its output is read is paused, as with a pipe. Output can be lost only over TCP, from another machine; this is reported, and the exit code is not 0.

^C and ^\\ are typed into its pane in a terminal, and are sent as signals elsewhere; SIGHUP, SIGUSR1 and SIGUSR2 \
are forwarded. SIGTERM stops the program and all its child processes, and so does killing `paned run`. Afterwards the pane \
is closed, and processes that the program left running are stopped, unless you pass --keep.

--json returns the last 10000 lines, up to 1 MiB and 2000 characters of each; `first` is the number of the first one, and `truncated` and `cut` mark missing text. The pane is then retained and `kept` is true: `paned logs` prints its full output until you close it.

If standard input is a pipe or a file, it is typed into the program's terminal, byte for byte and up to its end, as \
`docker run -it` and `script` do. The terminal then starts without echo and without special characters, except for the \
end of input. The program may change that: a shell or a REPL shows its prompts, and a password prompt discards \
earlier input. Inside a loop that reads the same input, pass --no-stdin. To type by hand, use `paned new` and `paned attach`.

The exit code is the program's own; 128 plus the signal number if a signal killed it; 124 if it timed out; 127 if \
the program does not exist, 126 if it cannot be executed. If the reader of the output exits first, as in \
`paned run -- yes | head -1`, the program is stopped unless you pass --keep, and the exit code is 141, as for a \
program killed by SIGPIPE.")]
pub(crate) struct Args {
    /// The id of the pane [default: generated]
    #[arg(long)]
    id: Option<PaneId>,
    #[command(flatten)]
    #[serde(flatten)]
    spawn: SpawnArgs,
    /// Stop it after this time, as in 90s or 10m; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    #[serde(rename = "timeoutSeconds")]
    timeout: Option<u32>,
    /// Keep the pane and the processes that the program left running
    #[arg(long)]
    #[serde(skip)]
    keep: bool,
    /// Print every byte unchanged; your terminal may then also answer the program's queries
    #[arg(long)]
    #[serde(skip)]
    raw: bool,
    /// Do not read standard input, even if it is a pipe or a file
    #[arg(long)]
    #[serde(skip)]
    no_stdin: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) argv: Vec<String>,
    /// Whether standard input is typed into it.
    #[arg(skip)]
    #[serde(rename = "pipedInput")]
    piped_input: Option<bool>,
    /// Whether the pane is followed at its keeper, which must be on this machine.
    #[arg(skip)]
    followed: Option<bool>,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    // Before there are threads. The guard writes only if we die while a program uses our terminal.
    let guard = context.out.is_terminal().then(|| TtyGuard::spawn(io::stdout().as_fd()));
    client::block_on(run_to_end(context, args, guard.and_then(Result::ok)))?
}

async fn run_to_end(
    context: &CliContext,
    mut args: Args,
    guard: Option<TtyGuard>,
) -> Result<ExitCode> {
    let client = context.client_or_start()?;
    // Before the pane exists, so that no signal leaves it behind.
    let mut signals = SignalListener::catch()?;
    let keep = args.keep;
    let follows_size = args.spawn.size.is_none();
    let format = output_format(context, args.raw);
    let shows_bytes = format == OutputFormat::Raw && context.out.is_terminal();
    let questions = (shows_bytes && !args.raw).then(QueryFilter::default);
    args.spawn.resolve(context.out, &client)?;
    args.followed = (!client.is_remote()).then_some(true);
    let types = !args.no_stdin && piped_input::is_piped();
    args.piped_input = types.then_some(true);
    let pane: PaneInfo = match client.call("pane:new", &args).await {
        Ok(pane) => pane,
        Err(error) => return not_started(context, error),
    };
    let id = pane.id.to_string();
    let source = match KeeperFollower::connect(context, &pane, !keep).await {
        Some(keeper) => RunSource::Keeper(keeper),
        None => RunSource::Server(OutputFollower::new(&client, context.out, &id, 0)),
    };
    let typing = types.then(|| forward_input(context, &client, &pane, &source));
    let session = RunSession {
        client: client.clone(),
        pane: id.clone(),
        source,
        writer: WriterThread::new(OutputWriter::new(context.out, format)),
        shows_bytes,
        questions,
        follows_size,
        state: RunState::default(),
        guard,
    };
    let outcome = session.run(&mut signals).await;
    typing.inspect(JoinHandle::abort);
    let answer = match &outcome {
        Ok(RunOutcome::Ended(finish)) if context.out.is_json() => {
            Some(answer(&client, &pane, finish, keep).await)
        }
        Ok(_) | Err(_) => None,
    };
    let is_truncated = matches!(&answer, Some(Ok(answer)) if answer.is_truncated);
    // Even after an error, no program is left running without `--keep`.
    match (keep, is_truncated) {
        (true, _) => note(context, &format!("paned: kept pane {id}")),
        (false, true) => kill_rest(context, &client, &id).await,
        (false, false) => close(context, &client, &id).await,
    }
    if let Some(answer) = answer {
        print(context, &answer?)?;
    }
    code(context, outcome?)
}

/// Prints a message, and ignores a failure: our exit code is about the program.
fn note(context: &CliContext, text: &str) {
    let _ = context.out.note(text);
}

/// Types standard input into the program, beside showing its output.
fn forward_input(
    context: &CliContext,
    client: &ApiClient,
    pane: &PaneInfo,
    source: &RunSource<'_>,
) -> JoinHandle<()> {
    let socket = context.state().map(|state| state.keeper_socket(&pane.id));
    let target = match (source, socket) {
        (RunSource::Keeper(_), Ok(socket)) => InputTarget::Keeper(socket),
        _ => InputTarget::Server(client.clone(), pane.id.to_string()),
    };
    let out = context.out;
    tokio::spawn(async move {
        // A program that has ended before its input is no error.
        if let Err(error) = piped_input::forward(target).await
            && error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code != Code::Gone)
        {
            let _ = out.note(format!("paned: cannot type the rest of standard input: {error}"));
        }
    })
}

/// The exit code of a shell when the program does not exist or cannot be executed.
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
        RunOutcome::Signalled(signal) => {
            note(context, "paned: the rest of the output was not printed");
            return Ok(signal.code().into());
        }
        RunOutcome::OutputClosed => return Ok(SIGPIPE_CODE.into()),
    };
    let lost = || {
        Refusal::new(
            Code::Gone,
            "the exit status is unknown: the keeper of the pane \
        died",
        )
    };
    let ended = finish.ended.ok_or_else(lost)?;
    if 0 < finish.missed && ended.code() == 0 {
        let sentence = "the program succeeded, but not all of its output was printed";
        return Err(Refusal::new(Code::Gone, sentence).into());
    }
    Ok(ended.into())
}

fn output_format(context: &CliContext, raw: bool) -> OutputFormat {
    match context.out.is_json() {
        true => OutputFormat::Silent,
        false if raw || context.out.is_terminal() => OutputFormat::Raw,
        false => OutputFormat::Lines(LineFormat::default()),
    }
}

/// The result, in the format of `pane:run`.
struct RunReply {
    json: Value,
    /// Whether the pane has more output than the answer.
    is_truncated: bool,
}

async fn answer(
    client: &ApiClient,
    pane: &PaneInfo,
    finish: &Finish,
    keep: bool,
) -> Result<RunReply> {
    let tail = json!({ "paneId": pane.id, "tail": u64::MAX, "limit": MAX_LINES });
    let output = call_with_retry(client, "pane:read", &tail).await?;
    let shown: PaneReadReply = client::read(output.clone())?;
    let is_truncated = shown.truncated || shown.lines.iter().any(|line| line.cut);
    let exit = finish.ended.and_then(|ended| ended.exit);
    let json = json!({
        "paneId": pane.id,
        "exitCode": exit.and_then(Exit::code),
        "exitSignal": exit.and_then(Exit::signal),
        "timedOut": finish.ended.is_some_and(|ended| ended.timed_out),
        "durationMs": finish.at.map(|at| at.since(pane.created_at)),
        "first": shown.lines.first().map_or(shown.total, |line| line.n),
        "output": output,
        "kept": keep || is_truncated,
    });
    Ok(RunReply { json, is_truncated })
}

/// Prints the answer. A closed output does not change how the program ended.
fn print(context: &CliContext, answer: &RunReply) -> Result<()> {
    match context.out.json(&answer.json).map_err(anyhow::Error::from) {
        Err(error) if is_closed(&error) => Ok(()),
        printed => printed,
    }
}

/// Ends what is left running, and keeps the pane for the output that the answer does not have.
async fn kill_rest(context: &CliContext, client: &ApiClient, pane: &str) {
    let _ = call_with_retry(client, "pane:kill", &json!({ "paneId": pane })).await;
    let more = "it has more output";
    let how = format!("see `paned logs {pane}`, then `paned close {pane}`");
    note(context, &format!("paned: kept pane {pane}: {more}; {how}"));
}

/// Ends what is left running, and removes the pane. If that fails, the pane stays visible.
async fn close(context: &CliContext, client: &ApiClient, pane: &str) {
    let closed = call_with_retry(client, "pane:close", &json!({ "paneId": pane })).await;
    if let Err(error) = closed {
        note(context, &format!("paned: pane {pane} was not closed: {error}"));
    }
}

/// Calls a server that may be down for a moment, and retries.
async fn call_with_retry(client: &ApiClient, action: &str, params: &Value) -> Result<Value> {
    let deadline = Instant::now() + RETRY_TIMEOUT;
    loop {
        match client.action(action, params).await {
            Err(error) if is_unavailable(&error) && Instant::now() < deadline => {
                sleep(RETRY_INTERVAL).await
            }
            other => return other,
        }
    }
}
