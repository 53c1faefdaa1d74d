//! `paned run`: runs a program in a fresh pane to its end, as if it ran here.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::{Code, PaneId, PaneInfo, Refusal, Size};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::afterwards::Afterwards;
use super::ending::Ended;
use super::follow::{Follower, Piece};
use super::printer::{Form, Printer};
use super::span::seconds;
use super::window::{self, Asked, Caught, Signals};
use super::{is_unavailable, new, params, read};
use crate::client::{self, Client};
use crate::context::Context;

const EXAMPLES: &str = "\
Examples:
  paned run -- cargo test
  paned run --timeout 60 -- ./slow || echo $?     124 when time ran out
  paned run --keep --id build -- make             the pane stays, for `paned logs build`
  paned run --json -- make                        how it ended and its last lines, as JSON

The program has a terminal of its own, as large as yours, and lives on the server: what it prints is shown \
as it comes, byte for byte to a terminal (or with --raw), as plain lines elsewhere. ^C is pressed in its \
pane; SIGTERM and SIGHUP end it with all that it started. It gets nothing from standard input: to type \
into a program, use `paned new` and `paned attach`. Afterwards the pane is closed, and what the program \
left running with it, unless you say --keep.

The exit code is the program's own; 128 and the signal's number when one ended it; 124 when time ran out.";

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
    /// End it after so long, as in 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    timeout: Option<u32>,
    /// Keep the pane, and what the program left running
    #[arg(long)]
    keep: bool,
    /// Show the bytes as they are, wherever they go
    #[arg(long)]
    raw: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    argv: Vec<String>,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<ExitCode> {
    client::block_on(to_the_end(context, args))?
}

async fn to_the_end(context: &Context, args: Args) -> Result<ExitCode> {
    let client = context.client()?;
    // Before the pane is there, so that no signal leaves it behind.
    let mut signals = Signals::catch()?;
    let (keep, follows_size, form) = (args.keep, args.size.is_none(), form(context, args.raw));
    let pane: PaneInfo = read(client.action("pane:new", &request(args)?).await?)?;
    let mut run = Run {
        context,
        client,
        pane: pane.id.to_string(),
        afterwards: Afterwards::default(),
        printer: Printer::new(context.out, form),
        follows_size,
    };
    let ended = run.follow(&mut signals).await;
    let answered = match &ended {
        Ok(pane) if context.out.is_json() => run.answer(pane).await,
        Ok(_) | Err(_) => Ok(()),
    };
    // Whatever went wrong, nothing is left behind that nobody asked for.
    if keep {
        context.out.aside(format!("paned: the pane {} is kept", run.pane))?;
    } else {
        run.close().await;
    }
    answered?;
    let pane = ended?;
    let lost = || Refusal::new(Code::Gone, "how the program ended is not known: its keeper died");
    Ok(Ended::of(&pane).ok_or_else(lost)?.into())
}

fn form(context: &Context, raw: bool) -> Form {
    match context.out.is_json() {
        true => Form::Silent,
        false if raw || context.out.is_terminal() => Form::Raw,
        false => Form::Lines,
    }
}

fn request(args: Args) -> Result<Value> {
    let text = |(name, value): (String, String)| (name, Value::String(value));
    Ok(params([
        ("id", json!(args.id)),
        ("argv", json!(args.argv)),
        ("cwd", json!(new::from_here(args.cwd)?)),
        ("env", args.env.into_iter().map(text).collect::<Map<_, _>>().into()),
        ("size", json!(args.size.or_else(window::size))),
        ("timeoutSeconds", json!(args.timeout)),
    ]))
}

/// A program that runs.
struct Run<'a> {
    context: &'a Context,
    client: Client,
    pane: String,
    printer: Printer,
    afterwards: Afterwards,
    /// Whether its terminal is as large as ours.
    follows_size: bool,
}

enum Event {
    Piece(Piece),
    Caught(Caught),
    /// What a signal asked for was done, or refused.
    Done(Result<Value>),
}

impl Run<'_> {
    /// Shows what it prints and passes signals on, until it has ended.
    async fn follow(&mut self, signals: &mut Signals) -> Result<Box<PaneInfo>> {
        let (client, pane) = (self.client.clone(), self.pane.clone());
        let mut follower = Follower::new(&client, self.context.out, &pane, 0);
        let mut asked = JoinSet::new();
        loop {
            let event = tokio::select! {
                piece = follower.next() => Event::Piece(piece?),
                caught = signals.next() => Event::Caught(caught),
                Some(done) = asked.join_next() => Event::Done(done.context("a signal was lost")?),
            };
            match event {
                Event::Piece(Piece::Printed(bytes)) => self.print(&bytes)?,
                Event::Piece(Piece::Missed(bytes)) => self.printer.missed(bytes)?,
                Event::Piece(Piece::Ended(pane)) => {
                    self.finish()?;
                    return Ok(pane);
                }
                Event::Caught(caught) => self.pass_on(caught, &mut asked),
                Event::Done(Err(error)) if is_unavailable(&error) => return Err(error),
                // Refused where the program has just ended, which we hear by itself.
                Event::Done(_) => {}
            }
        }
    }

    fn print(&mut self, bytes: &[u8]) -> Result<()> {
        self.afterwards.saw(bytes);
        self.printer.print(bytes)
    }

    /// A program that was ended has not put our terminal back.
    fn finish(&mut self) -> Result<()> {
        self.printer.finish()?;
        let out = self.context.out;
        let is_left = out.is_terminal() && !out.is_json() && !self.afterwards.is_plain();
        Ok(if is_left { out.bytes(&self.afterwards.bytes()) } else { Ok(()) }?)
    }

    /// Does for the program what a signal asks for; its output goes on meanwhile.
    fn pass_on(&self, caught: Caught, asked: &mut JoinSet<Result<Value>>) {
        let pane = &self.pane;
        let (action, params) = match caught {
            Caught::Asked(Asked::Interrupt) => {
                ("pane:keys", json!({ "paneId": pane, "keys": ["ctrl+c"] }))
            }
            Caught::Asked(Asked::Terminate | Asked::HangUp) => {
                ("pane:kill", json!({ "paneId": pane }))
            }
            Caught::Resumed => return,
            Caught::Resized => match window::size().filter(|_| self.follows_size) {
                Some(size) => ("pane:resize", json!({ "paneId": pane, "size": size })),
                None => return,
            },
        };
        let client = self.client.clone();
        asked.spawn(async move { client.action(action, &params).await });
    }

    /// Prints how it went, in the words of `pane:run`.
    async fn answer(&self, pane: &PaneInfo) -> Result<()> {
        let tail = json!({ "paneId": self.pane, "tail": 500 });
        let output = self.client.action("pane:read", &tail).await?;
        Ok(self.context.out.json(&json!({
            "paneId": self.pane,
            "exitCode": pane.exit_code,
            "exitSignal": pane.exit_signal,
            "timedOut": pane.timed_out,
            "durationMs": pane.ended_at.map(|at| at.since(pane.created_at)),
            "output": output,
        }))?)
    }

    /// Ends and forgets what is left. Where that fails, the pane is still there to be seen.
    async fn close(&self) {
        let closed = self.client.action("pane:close", &json!({ "paneId": self.pane })).await;
        if let Err(error) = closed {
            let _ = self.context.out.aside(format!("paned: {} stays: {error}", self.pane));
        }
    }
}
