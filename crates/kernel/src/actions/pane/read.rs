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
use crate::actions::support::param_rules::{RegexText, at_most_one, read_views};
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
#[schemars(transform = at_most_one(&["offset", "tail", "since", "sinceTime"]))]
#[schemars(transform = read_views)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The format of the output.
    #[serde(default)]
    view: PaneReadView,
    /// The first line, counted from 0 at the pane's first line ever; for `raw`, the first byte; for
    /// `rendered`, the first row, counted from 0 at the first that ever scrolled off, or, if
    /// `dropped` is null, at the first that is still available.
    offset: Option<u64>,
    /// The maximum number of lines or matches: defaults to `tail` or 500, up to 10000; for `raw`,
    /// of bytes: defaults to `tail` or 65536, up to 1048576; for `rendered` without `offset`, the
    /// number of last rows. 0 returns the counts only.
    #[schemars(range(max = 1_048_576))]
    limit: Option<usize>,
    /// Only the last N lines or matches; for `raw`, bytes. If that exceeds the limit or 1 MiB of
    /// text, the last of them are returned, and `truncated` is true.
    tail: Option<u64>,
    /// Only output after this offset: `next` of an earlier answer. Not for `rendered`. Lines are
    /// returned whole: a line that continues after this offset is returned from its beginning, with
    /// `continued`, unless only its line end is new.
    since: Option<Offset>,
    /// Only what was printed at this time or later, from a line's start on. Not for `rendered`.
    since_time: Option<Time>,
    /// Whether to say when the bytes were printed, for `raw`.
    #[serde(default)]
    times: bool,
    /// Only lines that match this regular expression, anywhere in their first 262144 characters.
    #[schemars(with = "Option<RegexText>")]
    pattern: Option<String>,
    /// Whether to ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Also return N lines before each match. With `since`, this includes lines before that offset.
    #[serde(default)]
    #[schemars(range(max = 100))]
    before: usize,
    /// Also return N lines after each match. With `since`, this includes those of a match before
    /// that offset.
    #[serde(default)]
    #[schemars(range(max = 100))]
    after: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PaneReadView {
    /// Plain lines: escape sequences removed, carriage returns resolved.
    #[default]
    Lines,
    /// The exact bytes.
    Raw,
    /// The rows of the terminal after those that scrolled off its top, as far as the last half MiB
    /// of output contains them. Without `offset` and `tail`, the last ones. Row numbers stay valid
    /// while the terminal's width is unchanged and `dropped` is known.
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
    /// The number of lines so far; for `raw`, of bytes; for `rendered`, of rows ever, or, if
    /// `dropped` is null, of available rows.
    total: u64,
    /// How many of them are no longer retained; for `rendered`, null if unknown: half a MiB of
    /// output or more was printed, or the terminal's width changed after rows were dropped.
    dropped: Option<u64>,
    /// Whether the limit cut the result.
    truncated: bool,
    /// Output after `since` that is no longer retained, as byte offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<LostRange>,
    /// When the bytes were printed, to a tenth of a second, for `raw` with `times`.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<PrintedAt>>,
}

impl Action for PaneRead {
    const NAME: &'static str = "pane:read";
    const DOC: &'static str =
        "Read a pane's output as lines, as bytes, or as rows of the terminal.";
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
                "pass only one of `offset`, `tail`, `since` and `sinceTime`",
            ));
        }
        if self.times && self.view != PaneReadView::Raw {
            return Err(Refusal::invalid("`times` goes with the view `raw`"));
        }
        if 100 < self.before.max(self.after) {
            return Err(Refusal::invalid("`before` and `after` must be at most 100"));
        }
        if 0 < self.before.max(self.after) && self.pattern.is_none() {
            return Err(Refusal::invalid("`before` and `after` require a `pattern`"));
        }
        if self.view != PaneReadView::Lines && self.pattern.is_some() {
            return Err(Refusal::invalid("`pattern` requires the view `lines`"));
        }
        if self.view == PaneReadView::Rendered && is_since {
            return Err(Refusal::invalid(
                "`since` requires the view `lines` or `raw`, and so does `sinceTime`: rows of a screen \
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
        return Err(Refusal::invalid(format!("`limit` must be at most {most} {what}")));
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
        "`since` is {since}, but the output of pane `{id}` has only {end} {bytes}; the offset \
        may belong to an earlier pane of this name"
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

/// The exact bytes.
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
