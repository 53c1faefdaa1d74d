//! `paned attach`: uses a pane as the user's own terminal.
//!
//! It talks to the pane's keeper and reads the pane's tape itself, so it works while no server
//! runs. Everything that the user's terminal sends goes to the program. A terminal query of the
//! program is answered once: by the server or, while none runs, by the terminal of the client that
//! holds the pane's size; other clients filter the query out. A pane has one size, held by the
//! client that attached first until it detaches. A terminal of the same size shows the pane's bytes
//! unchanged; on any other its grid is drawn again.

mod cropped_view;
mod detach;
mod notices;
mod picker;
mod session;
mod tape_snapshot;
mod target;
mod terminal;
mod terminal_output;

use std::fs;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use paned_backend::native::KeeperConn;
use paned_keeper::input::tty_guard::TtyGuard;
use paned_keeper::tape::TapeReader;
use paned_model::{Code, Exit, PaneId, Refusal};
use serde_json::{Value, json};

use self::detach::{DetachKey, DetachKeyScanner};
use self::notices::TerminalNotices;
use self::session::{AttachOptions, AttachOutcome, AttachSession};
use self::terminal::UserTerminal;
use self::terminal_output::TerminalOutput;
use super::support::exit_status::ProgramExit;
use super::support::tty::SignalListener;
use crate::client;
use crate::context::CliContext;
use crate::settings::process_env;

/// The exit code when no pane was chosen: that of a shell for ctrl+c.
const CANCELLED: u8 = 130;

const EXAMPLES: &str = "\
Examples:
  paned attach                  the only running pane, or a menu
  paned attach web              type into it; ctrl+] detaches
  paned attach -                the last attached pane
  paned attach web --read-only  watch without typing
  paned attach web --take-size  even if another client holds its size
  paned attach web --detach-key ctrl+q

Your terminal shows the pane's screen, and your keys go to its program. The pane gets your terminal's size, unless another client holds the size: then only what fits is shown until that client detaches. It also works while no server is running; only then does your terminal answer the program's terminal queries. The program cannot access your clipboard or read your window's title.

The title of your terminal's window shows the pane and the key that detaches. Afterwards your terminal shows what \
it showed before; `paned logs` prints the pane's output. If no pane is running, a login shell is started in a new one.

When the program exits, its exit code is passed on: 128 plus the signal number if a signal killed it, 124 if it \
timed out. After detaching it is 0; 10 (gone) if the pane had already exited or its keeper died.";

/// Attach your terminal to a pane
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pane: its id, a unique prefix of it, or its title; `-` is the last attached one
    /// [default: the only running pane, or a menu]
    pane: Option<String>,
    /// Attach to the last attached pane
    #[arg(long, conflicts_with = "pane")]
    last: bool,
    /// Only watch: send no input and do not resize the pane
    #[arg(short, long)]
    read_only: bool,
    /// Do not resize the pane
    #[arg(long)]
    no_resize: bool,
    /// Take the pane's size from the client that holds it
    #[arg(long, conflicts_with_all = ["read_only", "no_resize"])]
    take_size: bool,
    /// The key that detaches: ctrl with a character, f1 to f12, or none
    #[arg(long, value_name = "KEY", default_value = "ctrl+]")]
    detach_key: DetachKey,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    check_terminal(context)?;
    let typed = if args.last { Some("-") } else { args.pane.as_deref() };
    let Some(pane) = target::choose(context, typed)? else { return Ok(ExitCode::from(CANCELLED)) };
    let (socket, tape) = find(context, &pane)?;
    // Before there are threads. Without a guard, only a signal that cannot be caught leaves the
    // terminal in raw mode.
    let guard = TtyGuard::spawn(io::stdin().as_fd()).ok();
    let label = label(&pane, args);
    if let Some(label) = &label {
        target::remember(context, &pane);
        if !context.out.is_json() {
            context.out.note(format!("paned: {label}"))?;
        }
    }
    let output = TerminalOutput::new(tape, label.as_deref());
    // Without a server there are no notifications, and one can attach all the same.
    let client = label.as_ref().and_then(|_| context.client().ok());
    let attaching = async {
        let notices = TerminalNotices::follow(client, &pane);
        attach(args, (&pane, &socket), output, (guard, notices)).await
    };
    let outcome = client::block_on(attaching)??;
    print_outcome(context, &pane, outcome)
}

/// What the user must know while attached, as one line. None without a key to detach: then tmux
/// shows the pane.
fn label(pane: &PaneId, args: &Args) -> Option<String> {
    let key = args.detach_key.name()?;
    let mode = if args.read_only { " (read-only)" } else { "" };
    Some(format!("attached to {pane}{mode}; {key} detaches"))
}

fn check_terminal(context: &CliContext) -> Result<()> {
    if context.global.url.is_some() {
        let sentence = "`paned attach` connects to the pane's keeper, so it works only on the \
                       same machine";
        return Err(Refusal::invalid(sentence).into());
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let sentence = "`paned attach` requires a terminal; use `paned tail -f` and `paned send` \
                       in scripts";
        return Err(Refusal::invalid(sentence).into());
    }
    Ok(())
}

/// The keeper's socket, and the tape that it writes.
fn find(context: &CliContext, pane: &PaneId) -> Result<(PathBuf, TapeReader)> {
    if process_env("PANED_PANE").as_deref() == Some(pane.as_str()) {
        return Err(Refusal::new(Code::Conflict, "a pane cannot attach to itself").into());
    }
    let state = context.state()?;
    let folder = state.pane(pane);
    refuse_adopted(&folder)?;
    let tape = TapeReader::open(&folder.join("tape"));
    let tape = tape.map_err(|error| Refusal::new(Code::Unavailable, error.to_string()))?;
    match tape.ending() {
        Some(ending) => Err(gone(pane, &ProgramExit::from(ending).describe()).into()),
        None => Ok((state.keeper_socket(pane), tape)),
    }
}

/// An adopted tmux pane has a terminal already, and takes input only through tmux.
fn refuse_adopted(folder: &Path) -> Result<()> {
    let record = fs::read(folder.join("pane.json")).unwrap_or_default();
    let record: Value = serde_json::from_slice(&record).unwrap_or_default();
    let Some(socket) = record.pointer("/origin/socket").and_then(Value::as_str) else {
        return Ok(());
    };
    let sentence = format!("it is an adopted tmux pane; open it with `tmux -S {socket} attach`");
    Err(Refusal::new(Code::Conflict, sentence).into())
}

fn gone(pane: &PaneId, how: &str) -> Refusal {
    let sentence =
        format!("pane `{pane}` has exited ({how}); `paned logs {pane}` prints its output");
    Refusal::new(Code::Gone, sentence)
}

async fn attach(
    args: &Args,
    (pane, socket): (&PaneId, &Path),
    output: TerminalOutput,
    (guard, notices): (Option<TtyGuard>, TerminalNotices),
) -> Result<AttachOutcome> {
    let lost = |_| gone(pane, "its keeper died, so the exit code is unknown");
    let (connection, welcome) = KeeperConn::connect_with_welcome(socket).await.map_err(lost)?;
    let options = AttachOptions {
        types: !args.read_only,
        resizes: !args.read_only && !args.no_resize,
        takes_size: args.take_size,
        detach: DetachKeyScanner::new(args.detach_key.clone()),
        notices,
    };
    // Before the terminal is changed, so that no signal leaves it changed.
    let signals = SignalListener::catch()?.with_stop_signal()?;
    let terminal = UserTerminal::open(guard)?;
    AttachSession::new(connection, output, terminal, options).run(signals, welcome.served).await
}

/// Prints the outcome, now that the terminal is restored.
fn print_outcome(context: &CliContext, pane: &PaneId, outcome: AttachOutcome) -> Result<ExitCode> {
    let (sentence, answer, code) = match outcome {
        AttachOutcome::Detached => {
            let answer = json!({ "paneId": pane, "detached": true });
            (format!("detached from {pane}"), answer, 0)
        }
        AttachOutcome::Ended(ended) => {
            let how = ended.describe();
            let sentence =
                format!("{pane} has exited ({how}); `paned logs {pane}` prints its output");
            (sentence, report(pane, ended), ended.code())
        }
        AttachOutcome::Lost => {
            return Err(gone(pane, "its keeper died, so the exit code is unknown").into());
        }
        AttachOutcome::Signalled(signal) => {
            let answer = json!({ "paneId": pane, "detached": true });
            (format!("detached from {pane} by a signal"), answer, signal.code())
        }
    };
    // After a hang-up nothing can be printed any more, which is not a failure.
    let printed = match context.out.is_json() {
        true => context.out.json(&answer),
        false => context.out.note(format!("paned: {sentence}")),
    };
    let _ = printed;
    Ok(ExitCode::from(code))
}

fn report(pane: &PaneId, ended: ProgramExit) -> Value {
    json!({
        "paneId": pane,
        "detached": false,
        "exitCode": ended.exit.and_then(Exit::code),
        "exitSignal": ended.exit.and_then(Exit::signal),
        "timedOut": ended.timed_out,
    })
}
