//! Follows the server's events, across restarts of the server.

use std::collections::VecDeque;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::sleep;

use crate::client::sse::{ParsedSseEvent, SseParser};
use crate::client::{self, ApiClient, RETRY_INTERVAL, escape};
use crate::commands::is_unavailable;
use crate::out::Out;

/// The events after a place, one after the other.
pub(crate) struct EventStream<'a> {
    client: &'a ApiClient,
    out: Out,
    path: String,
    /// The last event that was received.
    seen: u64,
    connection: Option<(Incoming, SseParser)>,
    received: VecDeque<ParsedSseEvent>,
}

impl<'a> EventStream<'a> {
    /// The events from now on whose names fit these patterns.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub(crate) async fn from_now(client: &'a ApiClient, out: Out, include: &str) -> Result<Self> {
        let status: Value = client.call("server:status", &()).await?;
        let seen: u64 = client::read(status.get("lastEvent").cloned().unwrap_or_default())?;
        let path = format!("/events?include={}", escape(include));
        Ok(Self { client, out, path, seen, connection: None, received: VecDeque::new() })
    }

    /// The next event. Waits for it, also while the server is down.
    ///
    /// # Errors
    /// When the server refuses the stream.
    pub(crate) async fn next(&mut self) -> Result<ParsedSseEvent> {
        loop {
            if let Some(event) = self.received.pop_front() {
                self.seen = event.id.unwrap_or(self.seen);
                return Ok(event);
            }
            let (mut body, mut parser) = match self.connection.take() {
                Some(open) => open,
                None => (self.open().await?, SseParser::default()),
            };
            // A stream that breaks off has ended: the next one continues after the last event.
            let Some(Ok(frame)) = body.frame().await else { continue };
            self.received.extend(parser.feed(&frame.into_data().unwrap_or_default()));
            self.connection = Some((body, parser));
        }
    }

    /// Opens the stream; retries while the server is down.
    async fn open(&self) -> Result<Incoming> {
        let mut is_retry = false;
        loop {
            let request = Request::get(&self.path).header("last-event-id", self.seen);
            match self.client.send(request.body(Full::<Bytes>::default())?).await {
                Ok(response) => return Ok(response.into_body()),
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
}
