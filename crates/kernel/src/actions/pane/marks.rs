//! `pane:marks`

use std::sync::Arc;

use paned_backend::Output;
use paned_model::{EventFilter, EventId, Offset, PaneId, Refusal, Scope, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::AccessRequest;
use crate::actions::event_list::EventPage;
use crate::panes::text::moments::{OutputSpan, offset_at, output_spans};
use crate::panes::unreadable;
use crate::registry::{Action, ActionContext, ActionKind};

/// How many spans there are when the request names no number, and at most.
const USUAL: u16 = 300;
const MOST: u16 = 2000;
/// How many events are looked at for marks.
const MOST_EVENTS: usize = 1000;
/// The events that are marks.
const MARKS: &str = "agent:state,agent:delivered,pane:exited,pane:lost,pane:restarted";

pub(in crate::actions) struct PaneMarks;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane, living or ended.
    pane_id: PaneId,
    /// Into how many spans of time its output is divided at most, 1 to 2000; 300 when omitted.
    #[schemars(range(min = 1, max = 2000))]
    spans: Option<u16>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneMarksOutput {
    /// The first offset that is kept.
    first: Offset,
    /// The offset after the last byte.
    end: Offset,
    /// When the first byte that is kept was printed; none without output.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time: Option<Time>,
    /// When the last byte was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<Time>,
    /// The length of a span, in milliseconds: at least 100, which is how exact times are.
    span_ms: u64,
    /// The spans in which it printed, in order.
    output: Vec<MarkedOutput>,
    /// The sizes of its terminal, as far as they are known, in order.
    sizes: Vec<MarkedSize>,
    /// What happened to it, in order.
    marks: Vec<PaneMark>,
    /// If there may be older marks: `before` of a request of `event:list` for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<EventId>,
}

/// Output of one span.
#[derive(Serialize, JsonSchema)]
struct MarkedOutput {
    /// When the span begins.
    time: Time,
    /// Where its output begins.
    offset: Offset,
    /// How many bytes were printed in it.
    bytes: u64,
}

/// A size of the terminal.
#[derive(Serialize, JsonSchema)]
struct MarkedSize {
    /// Output from here on is for this size.
    offset: Offset,
    /// The size.
    size: Size,
}

/// Something that happened to a pane.
#[derive(Serialize, JsonSchema)]
struct PaneMark {
    /// What it was.
    kind: PaneMarkKind,
    /// When.
    time: Time,
    /// What was printed by then; the first kept offset for what happened before.
    offset: Offset,
    /// The event.
    id: EventId,
    /// The agent's new state, the kind of its question, the outcome of the prompt, or the status of
    /// the pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// What a mark is.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PaneMarkKind {
    /// A message to the agent has an outcome.
    Prompt,
    /// The agent asks something.
    Question,
    /// The agent is in another state.
    State,
    /// The program has ended, or the pane was lost.
    Exit,
    /// It is the next run of the program of an earlier pane.
    Restart,
}

impl Action for PaneMarks {
    const NAME: &'static str = "pane:marks";
    const DOC: &'static str = "Show when a pane printed how much, and what happened to it when: what a \
                              replay needs. `pane:screen` with `at` has the screen of a moment.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneMarksOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneMarksOutput, Refusal> {
        let spans = params.spans.unwrap_or(USUAL);
        if !(1..=MOST).contains(&spans) {
            return Err(Refusal::invalid(format!("`spans` is a number from 1 to {MOST}")));
        }
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let output = pane.readable()?;
        let include: EventFilter = MARKS.parse().unwrap_or_default();
        let page = EventPage::new(&context, include, Some(pane.id.clone()), MOST_EVENTS);
        let page = page.since(pane.created_at).read(context.kernel.journal().last()).await;
        let instance = pane.instance().clone();
        let events = page.events.into_iter();
        let events = events.filter(|event| event.payload["instance"] == instance.0);
        let marks: Vec<_> = events
            .filter_map(|event| mark(event.id, event.time, &event.name, &event.payload))
            .collect();
        let before = page.before;
        let read = move || read(&output, u64::from(spans), marks);
        let found = tokio::task::spawn_blocking(read).await.map_err(Refusal::internal)?;
        let found = found.map_err(unreadable)?;
        Ok(PaneMarksOutput { before, ..found })
    }
}

/// The mark of an event, its offset not known yet.
fn mark(id: EventId, time: Time, name: &str, payload: &Value) -> Option<PaneMark> {
    let text = |field: &str| payload[field].as_str().map(str::to_owned);
    let (kind, detail) = match name {
        "agent:state" if payload["to"] == "blocked" => (PaneMarkKind::Question, text("kind")),
        "agent:state" => (PaneMarkKind::State, text("to")),
        "agent:delivered" => (PaneMarkKind::Prompt, text("outcome")),
        "pane:exited" => (PaneMarkKind::Exit, text("status")),
        "pane:lost" => (PaneMarkKind::Exit, Some("lost".to_owned())),
        "pane:restarted" => (PaneMarkKind::Restart, text("reason")),
        _ => return None,
    };
    Some(PaneMark { kind, time, offset: Offset(0), id, detail })
}

/// Reads the tape, and finds the offsets of the marks.
fn read(
    output: &Arc<dyn Output>,
    spans: u64,
    mut marks: Vec<PaneMark>,
) -> std::io::Result<PaneMarksOutput> {
    let output = output.as_ref();
    let end = output.end();
    let first = output.first().min(end);
    let time = |offset: u64| Ok::<_, std::io::Error>(output.time(offset)?.ok().map(|it| it.time));
    let has_output = first < end;
    let (spans, span_ms) = output_spans(output, first, end, spans)?;
    for mark in &mut marks {
        mark.offset = Offset(offset_at(output, first, end, mark.time)?);
    }
    let sizes = output.sizes(0).into_iter();
    Ok(PaneMarksOutput {
        first: Offset(first),
        end: Offset(end),
        first_time: if has_output { time(first)? } else { None },
        end_time: if has_output { time(end - 1)? } else { None },
        span_ms,
        output: spans.into_iter().map(MarkedOutput::from).collect(),
        sizes: sizes
            .map(|mark| MarkedSize { offset: Offset(mark.offset), size: mark.size })
            .collect(),
        marks,
        before: None,
    })
}

impl From<OutputSpan> for MarkedOutput {
    fn from(OutputSpan { time, offset, bytes }: OutputSpan) -> Self {
        Self { time, offset: Offset(offset), bytes }
    }
}
