//! `pane:read`

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_backend::Output;
use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use paned_term::Screen;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::access::AccessRequest;
use crate::panes::search::pattern::PatternParam;
use crate::panes::text::printed::{self, PrintedAt};
use crate::panes::text::reading;
use crate::panes::text::reading::{
    LineReader, LinesRead, LostRange, OutputLine, ReadRequest, ReadStart,
};
use crate::panes::{Pane, screen_with_scrollback, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

const LINES: usize = 500;
/// The maximum number of lines of one answer.
pub(in crate::actions) const MOST_LINES: usize = 10_000;
const BYTES: usize = 64 << 10;
const MOST_BYTES: usize = 1 << 20;
/// The maximum number of cells for the rows above a screen while they are rendered.
const MOST_CELLS: usize = 4 << 20;

pub(in crate::actions) struct PaneRead;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// What to show of it.
    #[serde(default)]
    view: PaneReadView,
    /// Where to begin: the number of a line, counted from 0 at the pane's first line ever; for
    /// `raw`, of a byte; for `rendered`, of a row, counted from 0 at the first that ever scrolled
    /// off, or, where `dropped` is null, at the first that is still found.
    offset: Option<u64>,
    /// How many lines, or matches, at most, up to 10000: 500 when left out, or what `tail` says;
    /// for `raw`, bytes, up to 1048576: 65536 when left out, or what `tail` says; for `rendered`
    /// without `offset`, the number of last rows. 0 returns the counts only.
    #[schemars(range(max = 1_048_576))]
    limit: Option<usize>,
    /// Only this many of the last lines, or matches; for `raw`, bytes. Where that is more than the
    /// limit, or than 1 MiB of text, the last of them are answered, and `truncated` says so.
    tail: Option<u64>,
    /// Only what was printed after this: `next` of an earlier answer. Not for `rendered`. Lines are
    /// answered whole: the line that goes on after this is answered from its beginning, as
    /// `continued`, unless nothing but its end was printed since.
    since: Option<Offset>,
    /// Only what was printed at this time or later, from a line's start on. Not for `rendered`.
    since_time: Option<Time>,
    /// Whether to say when the bytes were printed, for `raw`.
    #[serde(default)]
    times: bool,
    /// Only lines that match this regular expression, anywhere in their first 262144 characters.
    pattern: Option<String>,
    /// Whether the pattern's case does not matter.
    #[serde(default)]
    ignore_case: bool,
    /// This many lines before each match, too. With `since`, also lines that were printed before
    /// it.
    #[serde(default)]
    #[schemars(range(max = 100))]
    before: usize,
    /// This many lines after each match, too. With `since`, also those of a match before it.
    #[serde(default)]
    #[schemars(range(max = 100))]
    after: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PaneReadView {
    /// Lines as a person would read them: escape sequences left out, carriage returns resolved.
    #[default]
    Lines,
    /// Exactly the bytes.
    Raw,
    /// The rows that the terminal shows now, below those that scrolled off its top, as far as half
    /// a MiB of output has them: the last ones, when neither `offset` nor `tail` is given. Their
    /// numbers stay true while the terminal keeps its width and `dropped` is known.
    Rendered,
}

#[derive(Default, Serialize, JsonSchema)]
pub(in crate::actions) struct PaneReadOutput {
    /// The lines, for `lines` and `rendered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<OutputLine>>,
    /// The bytes as text, for `raw`, if they are UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    /// The bytes as base64, for `raw`, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// The `since` of the next call; after `rendered`, for another view, or for `pane:wait`.
    next: Offset,
    /// Lines printed so far; for `raw`, bytes; for `rendered`, rows there were, or, where `dropped`
    /// is null, rows there are.
    total: u64,
    /// How many of them are no longer kept; for `rendered`, null where that is unknown: half a MiB
    /// of output or more was printed, or the terminal got another width after rows were dropped.
    dropped: Option<u64>,
    /// Whether there was more than the limit allows.
    truncated: bool,
    /// What was printed after `since` and is no longer kept, by its offsets in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<LostRange>,
    /// When the bytes were printed, to a tenth of a second, for `raw` with `times`.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<PrintedAt>>,
}

impl Action for PaneRead {
    const NAME: &'static str = "pane:read";
    const DOC: &'static str =
        "Show what a pane has printed, as lines, as bytes, or as the terminal shows it.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneReadOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, mut params: Params) -> Result<PaneReadOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let output = pane.readable()?;
        params.check()?;
        if let Some(time) = params.since_time {
            let start = printed::line_since(output.as_ref(), time).map_err(unreadable)?;
            params.since = Some(Offset(start));
        }
        check_since(params.since, &pane.id, output.as_ref())?;
        match params.view {
            PaneReadView::Lines => lines(&context.kernel, &pane, output, &params).await,
            PaneReadView::Raw => raw(output.as_ref(), &params).map_err(unreadable),
            PaneReadView::Rendered => rendered(&context, pane, output, &params).await,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), Refusal> {
        let is_since = self.since.is_some() || self.since_time.is_some();
        let places = [
            self.offset.is_some(),
            self.tail.is_some(),
            self.since.is_some(),
            self.since_time.is_some(),
        ];
        if 1 < places.into_iter().filter(|given| *given).count() {
            return Err(Refusal::invalid(
                "give one of `offset`, `tail`, `since` and `sinceTime`, not several",
            ));
        }
        if self.times && self.view != PaneReadView::Raw {
            return Err(Refusal::invalid("`times` goes with the view `raw`"));
        }
        if 100 < self.before.max(self.after) {
            return Err(Refusal::invalid("`before` and `after` go up to 100"));
        }
        if 0 < self.before.max(self.after) && self.pattern.is_none() {
            return Err(Refusal::invalid("`before` and `after` go with a `pattern`"));
        }
        if self.view != PaneReadView::Lines && self.pattern.is_some() {
            return Err(Refusal::invalid("`pattern` goes with the view `lines`"));
        }
        if self.view == PaneReadView::Rendered && is_since {
            return Err(Refusal::invalid(
                "`since` goes with the views `lines` and `raw`, and so does `sinceTime`: rows of a screen \
                 change in place",
            ));
        }
        match self.view {
            PaneReadView::Lines | PaneReadView::Rendered => {
                check_limit(self.limit, MOST_LINES, "lines")
            }
            PaneReadView::Raw => check_limit(self.limit, MOST_BYTES, "bytes"),
        }
    }

    /// The effective limit.
    fn limit(&self, usual: usize, most: usize) -> usize {
        self.limit.unwrap_or(if self.tail.is_some() { most } else { usual })
    }

    /// The requested number of last lines or bytes.
    fn tail(&self) -> Option<usize> {
        self.tail.map(|tail| usize::try_from(tail).unwrap_or(usize::MAX))
    }
}

/// Refuses a limit beyond the maximum.
pub(in crate::actions) fn check_limit(
    limit: Option<usize>,
    most: usize,
    what: &str,
) -> Result<(), Refusal> {
    if limit.is_some_and(|limit| most < limit) {
        return Err(Refusal::invalid(format!("`limit` goes up to {most} {what}")));
    }
    Ok(())
}

/// Refuses an offset beyond the output: it belongs to another pane of this name.
pub(in crate::actions) fn check_since(
    since: Option<Offset>,
    id: &PaneId,
    output: &dyn Output,
) -> Result<(), Refusal> {
    let end = output.end();
    let Some(since) = since.filter(|since| end < since.0) else { return Ok(()) };
    let bytes = if end == 1 { "byte" } else { "bytes" };
    Err(Refusal::invalid(format!(
        "pane `{id}` has printed {end} {bytes}, and `since` is {since}; is that of an earlier pane of this name?"
    )))
}

/// Lines as a person would read them.
async fn lines(
    kernel: &Kernel,
    pane: &Pane,
    output: Arc<dyn Output>,
    params: &Params,
) -> Result<PaneReadOutput, Refusal> {
    let pattern = match &params.pattern {
        Some(text) => {
            let param = PatternParam::one("pattern", text, params.ignore_case);
            Some(kernel.patterns().get(param).await?)
        }
        None => None,
    };
    let request = ReadRequest {
        start: match (params.since, params.tail(), params.offset) {
            (Some(Offset(since)), _, _) => ReadStart::Since(since),
            (_, Some(tail), _) => ReadStart::Tail(tail),
            (_, _, offset) => ReadStart::Line(offset.unwrap_or(0)),
        },
        limit: params.limit(LINES, MOST_LINES),
        pattern,
        before: params.before,
        after: params.after,
    };
    let end = pane.text_end(output.as_ref()).map_err(unreadable)?;
    let reading = LineReader::new(output.as_ref(), end, &request).map_err(unreadable)?;
    if reading.is_short().map_err(unreadable)? {
        return reading.run().map(PaneReadOutput::from).map_err(unreadable);
    }
    // On a blocking thread: scanning every line may take a while.
    let read = tokio::task::spawn_blocking(move || reading::read(output.as_ref(), end, &request));
    read.await.map_err(Refusal::internal)?.map(PaneReadOutput::from).map_err(unreadable)
}

impl From<LinesRead> for PaneReadOutput {
    fn from(read: LinesRead) -> Self {
        let LinesRead { lines, next, total, dropped, truncated, gap } = read;
        Self {
            lines: Some(lines),
            raw: None,
            base64: None,
            next,
            total,
            dropped: Some(dropped),
            truncated,
            gap,
            times: None,
        }
    }
}

/// Exactly the bytes.
fn raw(output: &dyn Output, params: &Params) -> io::Result<PaneReadOutput> {
    let first = output.first();
    let end = output.end();
    let limit = params.limit(BYTES, MOST_BYTES) as u64;
    let start = match (params.since, params.tail, params.offset) {
        (Some(Offset(since)), _, _) => since,
        (_, Some(tail), _) => end.saturating_sub(tail.min(limit)),
        (_, _, offset) => offset.unwrap_or(first),
    };
    let mut from = start.clamp(first, end);
    let mut bytes = vec![0; usize::try_from((end - from).min(limit)).unwrap_or(MOST_BYTES)];
    let read = loop {
        match output.read(from, &mut bytes)? {
            Ok(read) => break read,
            Err(gap) => from = gap.first,
        }
    };
    let times =
        params.times.then(|| printed::times(output, from..from + read as u64)).transpose()?;
    let read = match &times {
        Some(times) => usize::try_from(times.end - from).unwrap_or(read).min(read),
        None => read,
    };
    bytes.truncate(read);
    let is_cut = from + (read as u64) < end;
    let (bytes, text) = as_text(bytes, is_cut);
    let next = from + bytes as u64;
    let (raw, base64) = match text {
        Ok(text) => (Some(text), None),
        Err(bytes) => (None, Some(BASE64_STANDARD.encode(bytes))),
    };
    let truncated = match params.tail {
        Some(tail) => limit < tail.min(end - first) || next < end,
        None => next < end,
    };
    let gap = params.since.and_then(|Offset(since)| LostRange::between(since, from));
    Ok(PaneReadOutput {
        lines: None,
        raw,
        base64,
        next: Offset(next),
        total: end.max(next),
        dropped: Some(output.first()),
        truncated,
        gap,
        times: times.map(|times| times.marks),
    })
}

/// How many of the bytes to return, and the bytes, as text if they are UTF-8. A character that the
/// limit cuts is left to the next answer, so that text stays text; unless this answer would be
/// empty.
fn as_text(bytes: Vec<u8>, is_cut: bool) -> (usize, Result<String, Vec<u8>>) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (text.len(), Ok(text)),
        Err(error) => error,
    };
    let whole = error.utf8_error().valid_up_to();
    let ends_cut = is_cut && error.utf8_error().error_len().is_none();
    let mut bytes = error.into_bytes();
    if !ends_cut || whole == 0 {
        return (bytes.len(), Err(bytes));
    }
    bytes.truncate(whole);
    (whole, String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes))
}

/// The rows of the terminal, numbered from the first there ever was, as far as that is known.
async fn rendered(
    context: &ActionContext,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    params: &Params,
) -> Result<PaneReadOutput, Refusal> {
    let before = output.end();
    let view = context.kernel.look(&pane, Screen::view).await?;
    let hints = pane.screen_hints(output.as_ref());
    let max_rows = MOST_LINES.min(MOST_CELLS / usize::from(output.size().cols).max(1));
    let drawn = tokio::task::spawn_blocking(move || {
        screen_with_scrollback(output.as_ref(), &hints, max_rows)
    });
    let drawn = drawn.await.map_err(Refusal::internal)?.map_err(unreadable)?;
    // The live screen is more exact than the replayed one; but if there was output meanwhile,
    // screen and scrollback must come from the same replay.
    let screen = if before == drawn.end { view.rows } else { drawn.rows };
    let rows: Vec<String> = drawn.scrollback.into_iter().chain(screen).collect();
    let first = drawn.rows_before.unwrap_or(0);
    let read = params.rows(rows, first);
    Ok(PaneReadOutput { next: Offset(drawn.end), dropped: drawn.rows_before, ..read })
}

impl Params {
    /// The requested rows, of all that there are from this number on.
    fn rows(&self, rows: Vec<String>, first: u64) -> PaneReadOutput {
        let limit = self.limit(LINES, MOST_LINES);
        let count = rows.len();
        let requested = self.tail().unwrap_or(count).min(count);
        let from = match self.offset.map(|offset| offset.saturating_sub(first)) {
            Some(offset) => usize::try_from(offset).unwrap_or(count).min(count),
            None => count - requested.min(limit),
        };
        let truncated = limit < if self.offset.is_some() { count - from } else { requested };
        let shown = (first..).zip(rows).skip(from).take(limit);
        let lines =
            shown.map(|(n, text)| OutputLine { n, text, ..OutputLine::default() }).collect();
        PaneReadOutput {
            lines: Some(lines),
            total: first + count as u64,
            truncated,
            ..PaneReadOutput::default()
        }
    }
}
