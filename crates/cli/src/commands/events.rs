//! `paned events`: follows what happens, across restarts of the server.

mod event_line;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::{Frame, Incoming};
use paned_model::{EventFilter, Refusal};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::is_unavailable;
use crate::client::sse::{ParsedSseEvent, SseParser};
use crate::client::{self, ApiClient, RETRY_INTERVAL, escape};
use crate::context::CliContext;
use crate::out::{Clock, Out, StyledLine, TableWidth, TextStyle};

/// How long a stream with an end may be idle before it counts as ended: a grant for some panes only
/// may never see the last event.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Stream events
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned events                             all new events
  paned events --include 'pane:*'          events of panes only
  paned events --include pane:exited,gap --since 0 --no-follow
  paned events --json | jq -r 'select(.name==\"pane:exited\").payload.paneId'

A terminal shows the time in your zone, the name, and a summary of the payload. A pipe gets \
`#id time name payload` with the time in UTC; scripts should use --json. When the server restarts, \
the stream continues after the last event that was received. A `gap` event means that the events in between are no longer retained.")]
pub(crate) struct Args {
    /// Events to show: names, prefixes such as pane:*, or *; comma-separated or repeated
    #[arg(long, value_name = "PATTERN", default_value = "*")]
    include: Vec<String>,
    /// Start after the event with this id; 0 starts at the oldest retained one [default: now]
    #[arg(long, value_name = "ID")]
    since: Option<u64>,
    /// Print past events and exit; without --since from the oldest retained one
    #[arg(long)]
    no_follow: bool,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let client = context.client()?;
    client::block_on(follow(context.out, &client, args))??;
    Ok(ExitCode::SUCCESS)
}

/// A stream of events, and its cursor.
struct EventFollower<'a> {
    out: Out,
    client: &'a ApiClient,
    path: String,
    /// Which of the received events to show.
    include: EventFilter,
    /// The last event that was seen.
    seen: u64,
    /// The last event to show, when there is one.
    until: Option<u64>,
    clock: Clock,
}

async fn follow(out: Out, client: &ApiClient, args: &Args) -> Result<()> {
    let patterns = args.include.join(",");
    let include =
        patterns.parse::<EventFilter>().map_err(|error| Refusal::invalid(error.to_string()))?;
    // Fetched first, so that even a restart before the first event loses none.
    let last = last_event(client).await?;
    // The last event marks the end, so it must be received even if it is not shown.
    let asked = if args.no_follow { "*" } else { &patterns };
    let mut follower = EventFollower {
        out,
        client,
        path: format!("/events?include={}", escape(asked)),
        include,
        seen: args.since.unwrap_or(if args.no_follow { 0 } else { last }),
        clock: Clock::local(),
        until: args.no_follow.then_some(last),
    };
    if !args.no_follow && out.is_terminal() && !out.is_json() && out.has_reader() {
        let hint = "following events; ctrl+c stops, `--since 0` includes past ones";
        out.note(StyledLine::new(TextStyle::Faint, hint))?;
    }
    while !follower.is_done() {
        let body = follower.open().await?;
        follower.read(body).await?;
    }
    Ok(())
}

async fn last_event(client: &ApiClient) -> Result<u64> {
    let status: Value = client.call("server:status", &()).await?;
    client::read(status.get("lastEvent").cloned().unwrap_or_default())
}

impl EventFollower<'_> {
    /// Opens the stream; retries while the server is down.
    async fn open(&self) -> Result<Incoming> {
        let mut is_retry = false;
        loop {
            match self.try_open().await {
                Ok(body) => {
                    if is_retry {
                        self.out
                            .note(format!("paned: reconnected; continuing after #{}", self.seen))?;
                    }
                    return Ok(body);
                }
                Err(error) if !is_unavailable(&error) => return Err(error),
                Err(_) if is_retry => {}
                Err(_) => {
                    is_retry = true;
                    self.out.note("paned: lost the connection to the server; waiting for it")?;
                }
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn try_open(&self) -> Result<Incoming> {
        let request = Request::get(&self.path).header("last-event-id", self.seen);
        let response = self.client.send(request.body(Full::<Bytes>::default())?).await?;
        Ok(response.into_body())
    }

    /// Shows events, until the stream ends or the last event to show was seen.
    async fn read(&mut self, mut body: Incoming) -> Result<()> {
        let mut stream = SseParser::default();
        // A stream that breaks off has ended: the next one continues after the last event.
        while let Some(Ok(frame)) = self.next(&mut body).await {
            for message in stream.feed(&frame.into_data().unwrap_or_default()) {
                self.take(&message)?;
                if self.is_done() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn next(&mut self, body: &mut Incoming) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        let Some(until) = self.until else { return body.frame().await };
        let next = timeout(END_TIMEOUT, body.frame()).await;
        next.unwrap_or_else(|_| {
            self.seen = until;
            None
        })
    }

    fn is_done(&self) -> bool {
        self.until.is_some_and(|until| until <= self.seen)
    }

    fn take(&mut self, message: &ParsedSseEvent) -> Result<()> {
        self.seen = message.id.unwrap_or(self.seen);
        let is_late = self.until.is_some_and(|until| until < self.seen);
        let is_wanted = message.event == "gap" || self.include.matches(&message.event);
        if is_wanted && !is_late { self.show(message) } else { Ok(()) }
    }

    fn show(&self, message: &ParsedSseEvent) -> Result<()> {
        let payload = serde_json::from_str(&message.data).unwrap_or(Value::Null);
        if self.out.is_json() {
            let event = json!({
                "id": message.id, "time": message.time, "name": message.event, "payload": payload,
            });
            return Ok(self.out.json(&event)?);
        }
        if self.out.is_terminal() {
            let line = event_line::line(&self.clock, message, &payload);
            let line = match self.out.table_width() {
                TableWidth::Fit(columns) => line.cut(columns),
                TableWidth::Full | TableWidth::Wide => line,
            };
            return Ok(self.out.line(line)?);
        }
        let id = message.id.map_or_else(|| "-".to_owned(), |id| format!("#{id}"));
        let line = StyledLine::new(TextStyle::Faint, &format!("{id} {} ", message.time))
            .then(TextStyle::Strong, &message.event)
            .then(TextStyle::Plain, &format!(" {payload}"));
        Ok(self.out.line(line)?)
    }
}
