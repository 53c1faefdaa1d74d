//! `pane:read`

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use paned_model::{Offset, PaneId, Refusal, Scope};
use paned_substrate::Output;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::panes::pattern::pattern;
use crate::panes::reading::{self, Ask, Line, Lines, Start};
use crate::panes::text::Text;
use crate::registry::{Action, Context, Kind};

const LINES: usize = 500;
const MOST_LINES: usize = 10_000;
const BYTES: usize = 64 << 10;
const MOST_BYTES: usize = 1 << 20;

pub(super) struct PaneRead;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// What to show of it.
    #[serde(default)]
    view: View,
    /// Where to begin: the number of a line, counted from 0 at the pane's first line ever; for `raw`, of
    /// a byte.
    offset: Option<u64>,
    /// How many lines at most (500 when left out, up to 10000); for `raw`, bytes (65536, up to 1 MiB).
    limit: Option<usize>,
    /// Only the last so many lines; for `raw`, bytes.
    tail: Option<u64>,
    /// Only what was printed after this: `next` of an earlier answer.
    since: Option<Offset>,
    /// Only lines that match this regular expression.
    pattern: Option<String>,
    /// Whether the pattern's case does not matter.
    #[serde(default)]
    ignore_case: bool,
    /// So many lines before each match, too.
    #[serde(default)]
    #[schemars(range(max = 100))]
    before: usize,
    /// So many lines after each match, too.
    #[serde(default)]
    #[schemars(range(max = 100))]
    after: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    /// Lines as a person would read them: escape sequences left out, carriage returns resolved.
    #[default]
    Lines,
    /// Exactly the bytes.
    Raw,
    /// What the terminal shows now.
    Rendered,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Read {
    /// The lines, for `lines` and `rendered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<Line>>,
    /// The bytes as text, for `raw`, if they are UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    /// The bytes as base64, for `raw`, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Where the next call goes on, as its `since`.
    next: Offset,
    /// Lines printed so far; for `raw`, bytes.
    total: u64,
    /// How many of them are no longer kept.
    dropped: u64,
    /// Whether there was more than the limit lets through.
    truncated: bool,
}

impl Action for PaneRead {
    const NAME: &'static str = "pane:read";
    const DOC: &'static str =
        "Show what a pane has printed, as lines, as bytes, or as the terminal shows it.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Read;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Read, Refusal> {
        let output = context.kernel.panes().get(&params.pane_id)?.readable()?;
        params.check()?;
        match params.view {
            View::Lines => lines(output, &params).await,
            View::Raw => raw(output.as_ref(), &params).map_err(Refusal::internal),
            View::Rendered => rendered(&context, output.as_ref(), &params).await,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), Refusal> {
        let places = [self.offset.is_some(), self.tail.is_some(), self.since.is_some()];
        if 1 < places.into_iter().filter(|given| *given).count() {
            return Err(Refusal::invalid("give one of `offset`, `tail` and `since`, not several"));
        }
        if 100 < self.before.max(self.after) {
            return Err(Refusal::invalid("`before` and `after` go up to 100"));
        }
        if self.view != View::Lines && self.pattern.is_some() {
            return Err(Refusal::invalid("`pattern` goes with the view `lines`"));
        }
        Ok(())
    }

    fn limit(&self, usual: usize, most: usize) -> usize {
        self.limit.unwrap_or(usual).clamp(1, most)
    }
}

/// Lines as a person would read them.
async fn lines(output: Arc<dyn Output>, params: &Params) -> Result<Read, Refusal> {
    let regex = |text: &String| pattern("pattern", text, params.ignore_case);
    let limit = params.limit(LINES, MOST_LINES);
    let count = |tail: u64| usize::try_from(tail).unwrap_or(MOST_LINES).min(limit);
    let ask = Ask {
        start: match (params.since, params.tail, params.offset) {
            (Some(Offset(since)), _, _) => Start::Offset(since),
            (_, Some(tail), _) => Start::Tail(count(tail)),
            (_, _, offset) => Start::Line(offset.unwrap_or(0)),
        },
        limit,
        pattern: params.pattern.as_ref().map(regex).transpose()?,
        before: params.before,
        after: params.after,
    };
    if ask.pattern.is_none() {
        return reading::read(output.as_ref(), &ask).map(Read::from).map_err(Refusal::internal);
    }
    // Away from the other tasks: looking at every line may take a while.
    let read = tokio::task::spawn_blocking(move || reading::read(output.as_ref(), &ask));
    read.await.map_err(Refusal::internal)?.map(Read::from).map_err(Refusal::internal)
}

impl From<Lines> for Read {
    fn from(read: Lines) -> Self {
        let Lines { lines, next, total, dropped, truncated } = read;
        Self { lines: Some(lines), raw: None, base64: None, next, total, dropped, truncated }
    }
}

/// Exactly the bytes.
fn raw(output: &dyn Output, params: &Params) -> io::Result<Read> {
    let (first, end) = (output.first(), output.end());
    let limit = params.limit(BYTES, MOST_BYTES) as u64;
    let asked = match (params.since, params.tail, params.offset) {
        (Some(Offset(since)), _, _) => since,
        (_, Some(tail), _) => end.saturating_sub(tail),
        (_, _, offset) => offset.unwrap_or(first),
    };
    let mut from = asked.clamp(first, end);
    let mut bytes = vec![0; usize::try_from((end - from).min(limit)).unwrap_or(MOST_BYTES)];
    let read = loop {
        match output.read(from, &mut bytes)? {
            Ok(read) => break read,
            Err(gap) => from = gap.first,
        }
    };
    bytes.truncate(read);
    let next = from + read as u64;
    let (raw, base64) = match String::from_utf8(bytes) {
        Ok(text) => (Some(text), None),
        Err(error) => (None, Some(BASE64_STANDARD.encode(error.as_bytes()))),
    };
    let (next, total, dropped, truncated) = (Offset(next), end, output.first(), next < end);
    Ok(Read { lines: None, raw, base64, next, total, dropped, truncated })
}

/// The rows of the terminal, numbered from the top.
async fn rendered(
    context: &Context,
    output: &dyn Output,
    params: &Params,
) -> Result<Read, Refusal> {
    let next = Offset(output.end());
    let view = context.kernel.view(&params.pane_id, &context.caller).await?;
    let rows = (0..).zip(view.rows);
    let lines = rows.map(|(n, text)| Line { n, text, cut: false, matches: None });
    let total = Text::new(output).total().map_err(Refusal::internal)?;
    Ok(Read { lines: Some(lines.collect()), next, total, ..Read::default() })
}
