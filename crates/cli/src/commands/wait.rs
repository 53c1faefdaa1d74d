//! `paned wait`: waits until panes print, end or fall quiet, or until a server answers.

use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Result;
use paned_model::{Code, PaneInfo};
use serde::{Deserialize, Serialize};

use super::ls;
use super::support::duration::millis;
use super::support::exit_status::exit_code;
use super::support::output::CliOutputLine;
use super::support::wait_retry;
use crate::client;
use crate::context::CliContext;
use crate::out::progress::Progress;
use crate::out::{Out, StyledLine, TextStyle, in_commands_about};

/// The time limit in milliseconds when none is given.
const DEFAULT_TIMEOUT: u64 = 30_000;

/// Wait for a line of output, an exit, silence, a port or a URL
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned wait build                                until the program exits
  paned wait web --pattern 'listening on' --stop EADDRINUSE
  paned send py 'print(6*7)'; paned wait py --pattern '^42$'
  paned wait db web --pattern ready               until both printed it
  paned wait web --port 3000                      until it accepts connections
  paned wait --http http://localhost:3000/health  until it succeeds
  paned wait repl --quiet 500ms                   until it is silent for 0.5s

Output is matched since the last input into the pane, from any client, or since its start if there \
was none; --since changes that. Echoed input is ignored, except for what a shell itself inserts for \
Tab or the history keys. With several conditions, the wait ends when the first is met. With several \
panes, each of them must meet one, and the wait fails when a pane exits first; with --any, one pane \
is enough. With a pane, a port or URL that another program has used \
since before the pane's program was started does not count; one that a later program opened counts \
once the pane has kept running beside it for three seconds.

It prints the line that matched, the last lines, or how the program exited. Exit codes: 0 met, \
8 (conflict) a --stop pattern matched first, 10 (gone) the program exited first, 12 (timeout) timed \
out. The reason is printed on standard error.")]
pub(crate) struct Args {
    /// The panes; optional with --port and --http
    #[arg(value_name = "PANE", required_unless_present_any = ["port", "http"])]
    #[serde(skip)]
    panes: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    target: WaitTarget,
    /// Wait for any of several panes instead of all
    #[arg(long)]
    #[serde(skip)]
    any: bool,
    /// Until a line matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,
    /// Until the program exits; the default without other conditions
    #[arg(long)]
    exit: bool,
    /// Until there has been no output for this long, as in 500ms or 3s; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "quietMs")]
    quiet: Option<u64>,
    /// Until this TCP port on 127.0.0.1 or ::1 accepts connections
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Until a GET request to this http:// URL returns a status from 200 to 399
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// Until the screen changes from this revision, as in `paned screen --json`
    #[arg(long, value_name = "REVISION")]
    screen_change_since: Option<u64>,
    /// Stop waiting when a line matches this; repeatable
    #[arg(long, value_name = "REGEX")]
    stop: Vec<String>,
    /// Ignore case in patterns
    #[arg(short, long)]
    ignore_case: bool,
    /// Match output since: input, start, now, or `next` of an earlier answer [default: input]
    #[arg(long, value_name = "CURSOR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<SinceArg>,
    /// Time limit; a number alone is seconds [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
}

/// The panes, as the action takes them.
#[derive(Default, clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitTarget {
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pane_id: Option<String>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pane_ids: Vec<String>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
}

/// From where on output counts.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum SinceArg {
    Name(String),
    Cursor(u64),
}

impl FromStr for SinceArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "input" | "start" | "now" => Ok(Self::Name(text.to_owned())),
            _ => text.parse().map(Self::Cursor).map_err(|_| "pass input, start, now, or a number"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneWaitReply {
    met: Option<WaitConditionReply>,
    timed_out: bool,
    evidence: Vec<CliOutputLine>,
    tail: Vec<CliOutputLine>,
    pane: Option<PaneInfo>,
    #[serde(default)]
    why: Vec<String>,
    earlier: Option<EarlierMatchReply>,
    #[serde(default)]
    panes: Vec<PaneWaitReply>,
}

#[derive(Deserialize)]
struct EarlierMatchReply {
    n: u64,
    offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WaitConditionReply {
    Pattern,
    Stop,
    Exit,
    Quiet,
    ScreenChange,
    Port,
    Http,
}

pub(crate) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    args.complete();
    let progress = Progress::start(context.out, &args.describe());
    let limit = Duration::from_millis(args.timeout.unwrap_or(DEFAULT_TIMEOUT));
    let params = client::params(&args)?.into();
    let client = context.client()?;
    let answer =
        client::block_on(wait_retry::wait(&client, (context.out, &progress), params, limit))??;
    drop(progress);
    let waited: PaneWaitReply = client::read(answer.clone())?;
    match context.out.is_json() {
        true => context.out.json(&answer)?,
        false => show(context.out, &args, &waited)?,
    }
    let Some(failure) = WaitFailure::of(&waited) else {
        // What is uncertain about a port.
        waited.explain(context.out, "")?;
        return Ok(ExitCode::SUCCESS);
    };
    failure.explain(context.out, &args, &waited)?;
    Ok(exit_code(Some(failure.code())))
}

impl Args {
    /// Fills in what follows from the other arguments.
    fn complete(&mut self) {
        let in_output = self.pattern.is_some() || self.quiet.is_some();
        let elsewhere =
            self.screen_change_since.is_some() || self.port.is_some() || self.http.is_some();
        self.exit |= !in_output && !elsewhere;
        self.target = match self.panes.as_slice() {
            [] => WaitTarget::default(),
            [one] => WaitTarget { pane_id: Some(one.clone()), ..WaitTarget::default() },
            several => WaitTarget {
                pane_ids: several.to_vec(),
                mode: self.any.then_some("any"),
                ..WaitTarget::default()
            },
        };
    }

    /// What is waited for, as a clause.
    fn describe(&self) -> String {
        let mut conditions = Vec::new();
        conditions.extend(self.pattern.as_ref().map(|pattern| format!("`{pattern}`")));
        conditions.extend(self.port.map(|port| format!("port {port}")));
        conditions.extend(self.http.clone());
        conditions.extend(self.quiet.map(|quiet| format!("{} of silence", duration(quiet))));
        conditions.extend(self.screen_change_since.map(|_| "a change of the screen".to_owned()));
        if self.exit {
            conditions.push("the exit".to_owned());
        }
        let joined = if self.any { " or " } else { " and " };
        let panes = match self.panes.as_slice() {
            [] => String::new(),
            panes => format!(" of {}", panes.join(joined)),
        };
        format!("waiting for {}{panes}", conditions.join(" or "))
    }
}

/// A time as people write it.
fn duration(millis: u64) -> String {
    match millis {
        0 => "0s".to_owned(),
        millis if millis.is_multiple_of(3_600_000) => format!("{}h", millis / 3_600_000),
        millis if millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        millis if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        millis => format!("{millis}ms"),
    }
}

fn show(out: Out, args: &Args, waited: &PaneWaitReply) -> Result<()> {
    if waited.panes.is_empty() {
        return show_one(out, args, waited, "");
    }
    let ids = waited.panes.iter().filter_map(PaneWaitReply::id);
    let width = ids.map(str::len).max().unwrap_or(0);
    waited.panes.iter().try_for_each(|pane| {
        let id = pane.id().unwrap_or_default();
        show_one(out, args, pane, &format!("{id:width$}  "))
    })
}

fn show_one(out: Out, args: &Args, waited: &PaneWaitReply, before: &str) -> Result<()> {
    let lines = match waited.met {
        Some(WaitConditionReply::Pattern | WaitConditionReply::Stop) => &waited.evidence,
        Some(WaitConditionReply::Quiet | WaitConditionReply::ScreenChange) => &waited.tail,
        Some(WaitConditionReply::Exit) => {
            let Some(pane) = &waited.pane else { return Ok(()) };
            let line = StyledLine::from(before).with(ls::status(pane));
            return Ok(out.line(line)?);
        }
        Some(WaitConditionReply::Port) => {
            let port = args.port.unwrap_or_default();
            return Ok(out.line(format!("port {port} accepts connections"))?);
        }
        Some(WaitConditionReply::Http) => {
            let url = args.http.as_deref().unwrap_or_default();
            return Ok(out.line(format!("{url} answers"))?);
        }
        None => return Ok(()),
    };
    Ok(lines.iter().try_for_each(|line| out.program_line(&format!("{before}{}", line.text)))?)
}

/// What came in place of what was waited for.
#[derive(Clone, Copy)]
enum WaitFailure {
    Stop,
    TimedOut,
    Gone,
}

impl WaitFailure {
    fn of(waited: &PaneWaitReply) -> Option<Self> {
        match waited.met {
            Some(WaitConditionReply::Stop) => Some(Self::Stop),
            Some(_) => None,
            None if waited.timed_out => Some(Self::TimedOut),
            None => Some(Self::Gone),
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Stop => Code::Conflict,
            Self::TimedOut => Code::Timeout,
            Self::Gone => Code::Gone,
        }
    }

    fn explain(self, out: Out, args: &Args, waited: &PaneWaitReply) -> Result<()> {
        let id = waited.id().unwrap_or("the pane");
        let what = match self {
            Self::Stop if waited.panes.is_empty() => "a line matched --stop first".to_owned(),
            Self::Stop => format!("a line of {id} matched --stop first"),
            Self::TimedOut => {
                format!("timed out after {}", duration(args.timeout.unwrap_or(DEFAULT_TIMEOUT)))
            }
            Self::Gone if waited.panes.is_empty() => {
                format!("the program exited first{}", waited.exit())
            }
            Self::Gone => format!("the program of {id} exited first{}", waited.exit()),
        };
        out.note(StyledLine::new(TextStyle::Bad, "paned: ").then(TextStyle::Plain, &what))?;
        if waited.panes.is_empty() {
            return waited.explain(out, "");
        }
        waited
            .panes
            .iter()
            .try_for_each(|pane| pane.explain(out, &format!("{}: ", pane.id().unwrap_or_default())))
    }
}

impl PaneWaitReply {
    fn id(&self) -> Option<&str> {
        self.pane.as_ref().map(|pane| pane.id.as_str())
    }

    /// How the program has exited, in brackets.
    fn exit(&self) -> String {
        let status = self.pane.as_ref().map(|pane| ls::status(pane).render(false));
        status.map(|status| format!(" ({status})")).unwrap_or_default()
    }

    /// Why it was not met, or what is uncertain about it.
    fn explain(&self, out: Out, before: &str) -> Result<()> {
        for why in &self.why {
            let why = in_commands_about(why, self.id());
            out.note(format!("paned: {before}{why}"))?;
        }
        if let Some(EarlierMatchReply { n, offset }) = &self.earlier {
            out.note(format!("paned: {before}pass --since {offset} to count line {n} as well"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_reads_as_it_is_written() {
        let times = [0, 50, 1500, 30_000, 90_000, 300_000, 7_200_000];
        let expect = ["0s", "50ms", "1500ms", "30s", "90s", "5m", "2h"];
        assert_eq!(times.map(duration), expect);
    }

    #[test]
    fn a_cursor_is_a_word_or_a_number() {
        for good in ["input", "start", "now", "0", "4711"] {
            assert!(good.parse::<SinceArg>().is_ok(), "{good}");
        }
        for bad in ["", "-1", "Input", "1h"] {
            assert!(bad.parse::<SinceArg>().is_err(), "{bad}");
        }
    }
}
