//! A list that is shown again whenever something changes: redrawn on a terminal, a line of JSON for
//! each change for programs.

use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Incoming;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::tty;
use crate::client::{ApiClient, RETRY_INTERVAL, escape};
use crate::commands::is_unavailable;
use crate::out::Out;

/// It is redrawn at most this often, and at least every second, because ages change.
const MIN_REDRAW_INTERVAL: Duration = Duration::from_millis(100);
const MAX_REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// What is listed, and how an answer looks.
pub(crate) struct LiveList<'a, A> {
    pub(crate) action: &'static str,
    pub(crate) args: &'a A,
    /// Events after which the list is fetched again.
    pub(crate) events: &'static str,
    /// The lines for an answer, none of them wider than the terminal.
    pub(crate) lines: &'a dyn Fn(Value) -> Result<Vec<String>>,
}

impl<A: Serialize> LiveList<'_, A> {
    /// Shows it until the program is interrupted.
    ///
    /// # Errors
    /// When the server refuses, or the output cannot be written.
    pub(crate) async fn watch(&self, out: Out, client: &ApiClient) -> Result<()> {
        let mut screen = LiveScreen { out, shown: None, height: 0 };
        loop {
            match self.follow(client, &mut screen).await {
                Ok(()) => {}
                Err(error) if is_unavailable(&error) => screen.show_unavailable()?,
                Err(error) => return Err(error),
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    /// Follows the events of one connection to its end.
    async fn follow(&self, client: &ApiClient, screen: &mut LiveScreen) -> Result<()> {
        // Subscribe before the first list, so that no change in between is missed.
        let path = format!("/events?include={}", escape(self.events));
        let response = client.send(Request::get(path).body(Full::<Bytes>::default())?).await?;
        let mut body = response.into_body();
        loop {
            let drawn = Instant::now();
            screen.show(client.call(self.action, self.args).await?, self.lines)?;
            if !wait_for_change(&mut body, drawn).await {
                return Ok(());
            }
        }
    }
}

/// Waits until the list is to be fetched again; returns whether the stream is still open.
async fn wait_for_change(body: &mut Incoming, drawn: Instant) -> bool {
    if let Ok(frame) = timeout(MAX_REDRAW_INTERVAL, body.frame()).await {
        let is_open = matches!(frame, Some(Ok(_)));
        sleep_until(drawn + MIN_REDRAW_INTERVAL).await;
        return is_open;
    }
    true
}

/// The list as it is on the terminal.
struct LiveScreen {
    out: Out,
    shown: Option<Value>,
    /// How many lines of the terminal it takes.
    height: usize,
}

impl LiveScreen {
    fn show(&mut self, answer: Value, lines: &dyn Fn(Value) -> Result<Vec<String>>) -> Result<()> {
        if self.out.is_terminal() && !self.out.is_json() {
            return self.draw(&lines(answer)?);
        }
        if self.shown.as_ref() == Some(&answer) {
            return Ok(());
        }
        self.shown = Some(answer.clone());
        if self.out.is_json() {
            return Ok(self.out.json(&answer)?);
        }
        Ok(self.out.bytes(format!("{}\n", lines(answer)?.join("\n")).as_bytes())?)
    }

    /// Draws over the last frame. Lines below the last row are left out, because the cursor could
    /// not move back over lines that have scrolled away.
    fn draw(&mut self, lines: &[String]) -> Result<()> {
        let rows = tty::size().map_or(usize::MAX, |size| usize::from(size.rows));
        let lines = &lines[..lines.len().min(rows.saturating_sub(1).max(1))];
        let back = if self.height == 0 { String::new() } else { format!("\x1b[{}A", self.height) };
        let frame = format!("\x1b[?7l{back}\r\x1b[J{}\n\x1b[?7h", lines.join("\n"));
        self.height = lines.len();
        Ok(self.out.bytes(frame.as_bytes())?)
    }

    fn show_unavailable(&mut self) -> Result<()> {
        if self.out.is_terminal() && !self.out.is_json() {
            return self.draw(&["lost the connection to the server; waiting for it".to_owned()]);
        }
        if self.shown.take().is_some() {
            self.out.note("paned: lost the connection to the server; waiting for it")?;
        }
        Ok(())
    }
}
