//! `GET /events`: the kernel's events as a server-sent event stream.
//!
//! A stream pulls: while its client reads nothing, it reads nothing from the journal and holds at
//! most one chunk. Only the journal stores events.

use std::convert::Infallible;
use std::future::{pending, ready};

use axum::body::Body;
use axum::extract::{FromRequestParts, Query};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use paned_kernel::journal::JournalRead;
use paned_kernel::{EventFeed, StreamSlot};
use paned_model::{EventFilter, EventId, Refusal};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::http::call::Call;
use crate::http::metrics::GaugeGuard;
use crate::http::reply::HandlerResult;
use crate::http::sse;

/// The media type of a stream of events.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// The most events pulled at once.
const BATCH: usize = 512;

/// What the query selects.
#[derive(Debug, Default, PartialEq, Eq)]
struct EventsQuery {
    include: EventFilter,
    since: Option<EventId>,
}

/// Opens a stream of the events that the query selects.
pub(crate) async fn follow(mut call: Call) -> HandlerResult {
    let query = Query::<Vec<(String, String)>>::from_request_parts(&mut call.parts, &()).await;
    let Query(fields) = query.map_err(|error| Refusal::invalid(error.body_text()))?;
    let EventsQuery { include, since } = EventsQuery::read(fields)?;
    // A client that reconnects by itself repeats the address, and knows better by then.
    let since = last_seen(&call.parts.headers)?.or(since);
    if include.is_empty() {
        tracing::warn!(
            "a client follows /events without `include` and gets no events; use `?include=*` for all"
        );
    }
    let is_silent = include.is_empty();
    let feed = call.shared.kernel.events(since, include, &call.caller)?;
    let source = JournalSource((!is_silent).then_some(feed));
    stream_response(&call, Bytes::from_static(sse::GREETING.as_bytes()), source)
}

/// A source of the chunks of a stream.
pub trait SseSource: Send + 'static {
    /// The next chunk; `None` at the end. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A stream of this chunk and then those of the source. Idle it sends heartbeats; it ends with its
/// source, with the caller's grant or when the server stops.
///
/// # Errors
/// If the caller has too many streams.
pub fn stream_response(call: &Call, first: Bytes, source: impl SseSource) -> HandlerResult {
    let slot = call.shared.kernel.stream(&call.caller)?;
    let live = SseStream::new(call, source, slot);
    let chunks = stream::once(ready(first)).chain(stream::unfold(live, async |mut live| {
        let chunk = live.next().await?;
        Some((chunk, live))
    }));
    let body = Body::from_stream(chunks.map(Ok::<_, Infallible>));
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], body).into_response())
}

impl EventsQuery {
    fn read(fields: Vec<(String, String)>) -> Result<Self, Refusal> {
        let mut query = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "include" => {
                    let filter = value.parse::<EventFilter>();
                    query.include = filter.map_err(|error| Refusal::invalid(error.to_string()))?;
                }
                "since" => query.since = Some(event_id("since", &value)?),
                _ => {
                    let sentence = format!(
                        "unknown query parameter `{}`; the parameters are `include` and `since`",
                        name.escape_debug()
                    );
                    return Err(Refusal::invalid(sentence));
                }
            }
        }
        Ok(query)
    }
}

fn event_id(name: &str, text: &str) -> Result<EventId, Refusal> {
    let id = text.trim().parse().map(EventId);
    id.map_err(|_| Refusal::invalid(format!("`{name}` is the number of an event")))
}

/// The last event that the client saw, from its `Last-Event-ID` header.
fn last_seen(headers: &HeaderMap) -> Result<Option<EventId>, Refusal> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    event_id("Last-Event-ID", value.to_str().unwrap_or_default()).map(Some)
}

/// An open stream.
struct SseStream<S> {
    source: S,
    heartbeat: Interval,
    /// Completes when the caller's grant is revoked or expires, or when the server stops.
    end: BoxFuture<'static, ()>,
    _counted: GaugeGuard,
    _slot: StreamSlot,
}

enum SseNext {
    Chunk(Option<Bytes>),
    Heartbeat,
    Ended,
}

impl<S: SseSource> SseStream<S> {
    fn new(call: &Call, source: S, slot: StreamSlot) -> Self {
        let shared = call.shared.clone();
        let caller = call.caller.clone();
        let period = shared.limits.heartbeat;
        let mut heartbeat = interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let counted = shared.metrics.count_stream();
        let end = async move {
            tokio::select! {
                () = shared.kernel.wait_revoked(&caller) => {}
                () = shared.closed() => {}
            }
        };
        Self { source, heartbeat, end: Box::pin(end), _counted: counted, _slot: slot }
    }

    /// The next chunk to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let next = tokio::select! {
            // First, so that a flood of events cannot outlive a grant.
            biased;
            () = &mut self.end => SseNext::Ended,
            chunk = self.source.next() => SseNext::Chunk(chunk),
            _ = self.heartbeat.tick() => SseNext::Heartbeat,
        };
        match next {
            SseNext::Chunk(chunk) => {
                self.heartbeat.reset();
                chunk
            }
            SseNext::Heartbeat => Some(Bytes::from_static(sse::HEARTBEAT.as_bytes())),
            SseNext::Ended => None,
        }
    }
}

/// Events in chunks. Without a feed it waits forever.
struct JournalSource(Option<EventFeed>);

impl SseSource for JournalSource {
    async fn next(&mut self) -> Option<Bytes> {
        let Some(feed) = &mut self.0 else { return pending().await };
        match feed.next(BATCH).await {
            JournalRead::Entries(batch) => Some(sse::events(&batch)),
            JournalRead::Gap { first, last } => Some(gap(first, last)),
            JournalRead::Closed => None,
        }
    }
}

fn gap(first: EventId, last: EventId) -> Bytes {
    let mut out = String::new();
    sse::gap(&mut out, first, last);
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(value: Option<&'static str>, expect: Option<Option<u64>>) {
        let headers =
            value.map(|value| ("last-event-id".parse().unwrap(), HeaderValue::from_static(value)));
        let headers = HeaderMap::from_iter(headers);
        assert_eq!(last_seen(&headers).ok(), expect.map(|id| id.map(EventId)), "{value:?}");
    }

    #[test]
    fn the_last_event_is_a_number_or_not_given() {
        check(None, Some(None));
        check(Some("0"), Some(Some(0)));
        check(Some(" 17 "), Some(Some(17)));
        for no_number in ["", "x", "-1", "1.5", "99999999999999999999"] {
            check(Some(no_number), None);
        }
    }

    #[test]
    fn a_wrong_query_is_refused_with_the_names_there_are() {
        let read = |name: &str, value: &str| EventsQuery::read(vec![(name.into(), value.into())]);
        assert_eq!(read("since", "17").unwrap().since, Some(EventId(17)));
        let sentence = |name, value| read(name, value).unwrap_err().sentence;
        assert_eq!(
            sentence("after", "1"),
            "unknown query parameter `after`; the parameters are `include` and `since`"
        );
        assert_eq!(sentence("since", "x"), "`since` is the number of an event");
    }
}
