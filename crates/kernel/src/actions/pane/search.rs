//! `pane:search`

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_backend::Output;
use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::RegexText;
use crate::actions::support::wait_limit::wait_limit;
use crate::panes::search::pattern::{LinePattern, PatternParam};
use crate::panes::search::scan;
use crate::panes::search::scan::{OutputSearch, SearchProgress, SearchSizes};
use crate::panes::{Pane, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

const HITS: usize = 100;
const MOST_HITS: usize = 1000;
const LONGEST: u64 = 10_000;
/// How many matches of one line are answered.
const MOST_MATCHES: usize = 32;
/// How long a search may run on the caller's task. Waking another thread costs as much as many
/// searches do.
const INLINE_LIMIT: Duration = Duration::from_millis(1);

pub(in crate::actions) struct PaneSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// A regular expression, matched against each line of text without escape sequences.
    #[schemars(with = "RegexText")]
    pattern: String,
    /// Whether to ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// The panes to search; defaults to all, including those that have exited.
    panes: Option<Vec<PaneId>>,
    /// The maximum number of matches: defaults to 100, up to 1000.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// The time limit in milliseconds: defaults to 2000, up to 10000.
    #[schemars(range(max = 10_000))]
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneSearchOutput {
    /// The matches, newest first.
    hits: Vec<PaneSearchHit>,
    /// The number of panes searched: all of them, unless the search timed out.
    panes: usize,
    /// Whether the limit cut the result.
    truncated: bool,
    /// Whether it timed out before everything was searched.
    timed_out: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PaneSearchHit {
    /// The pane.
    pane_id: PaneId,
    /// The line's number.
    n: u64,
    /// Where the line begins in the pane's output.
    offset: Offset,
    /// When the end of the line was printed, to a tenth of a second.
    time: Time,
    /// The line's text.
    text: String,
    /// Where the pattern matches in it, as pairs of character positions: from the first character
    /// of a match up to the one after it. At most 32 matches.
    matches: Vec<(usize, usize)>,
    /// Whether the text is cut at 2000 characters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

impl Action for PaneSearch {
    const NAME: &'static str = "pane:search";
    const DOC: &'static str =
        "Search the output of panes for lines that match a pattern, newest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneSearchOutput;

    fn access(params: &Params) -> AccessRequest {
        params.panes.as_ref().map_or_else(AccessRequest::reachable, AccessRequest::panes)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneSearchOutput, Refusal> {
        let patterns = context.kernel.patterns();
        let param = PatternParam::one("pattern", &params.pattern, params.ignore_case);
        let pattern = patterns.get(param).await?;
        let outputs = outputs(&context, params.panes.as_deref())?;
        let limit = params.limit.unwrap_or(HITS);
        if !(1..=MOST_HITS).contains(&limit) {
            return Err(Refusal::invalid(format!("`limit` must be from 1 to {MOST_HITS}")));
        }
        let timeout = wait_limit(params.timeout_ms, 2000, LONGEST)?;
        let now = Instant::now();
        let mut search = MultiPaneSearch::new(pattern, outputs, limit, now + timeout);
        let is_light = search.pattern.is_light();
        if !is_light || !search.go_on(Some(now + INLINE_LIMIT)).map_err(unreadable)? {
            // On a blocking thread: this may take a while.
            let rest = tokio::task::spawn_blocking(move || search.go_on(None).map(|_| search));
            search = rest.await.map_err(Refusal::internal)?.map_err(unreadable)?;
        }
        Ok(search.into_output())
    }
}

type PaneOutputs = Vec<(Arc<Pane>, Arc<dyn Output>)>;

fn outputs(context: &ActionContext, named: Option<&[PaneId]>) -> Result<PaneOutputs, Refusal> {
    let ActionContext { kernel, caller, .. } = context;
    let Some(named) = named else {
        let reached = kernel.panes().list().into_iter();
        let reached = reached.filter(|pane| kernel.reaches(&pane.id, caller));
        let readable = reached.filter_map(|pane| pane.output().map(|output| (pane, output)));
        return Ok(readable.collect());
    };
    let one = |id: &PaneId| {
        let pane = kernel.panes().get(id)?;
        let output = pane.readable()?;
        Ok((pane, output))
    };
    // A pane that is named twice is searched once.
    let names = named.iter().enumerate().filter(|(at, id)| !named[..*at].contains(id));
    names.map(|(_, id)| one(id)).collect()
}

/// A search of many panes, one after the other.
struct MultiPaneSearch {
    pattern: Arc<LinePattern>,
    outputs: PaneOutputs,
    limit: usize,
    until: Instant,
    /// How many panes are finished, and how many of them were searched completely.
    done: usize,
    searched: usize,
    /// The progress in the next pane.
    progress: Option<SearchProgress>,
    buffer: Vec<u8>,
    hits: Vec<PaneSearchHit>,
    truncated: bool,
    timed_out: bool,
}

impl MultiPaneSearch {
    fn new(pattern: Arc<LinePattern>, outputs: PaneOutputs, limit: usize, until: Instant) -> Self {
        Self {
            pattern,
            outputs,
            limit,
            until,
            done: 0,
            searched: 0,
            progress: None,
            buffer: Vec::new(),
            hits: Vec::new(),
            truncated: false,
            timed_out: false,
        }
    }

    /// Continues until it is done, or until a pause is due. Returns whether it is done.
    fn go_on(&mut self, pause: Option<Instant>) -> io::Result<bool> {
        while let Some((pane, output)) = self.outputs.get(self.done) {
            let search = OutputSearch {
                output: output.as_ref(),
                pattern: &self.pattern,
                index: &pane.search_index,
                sizes: SearchSizes::DEFAULT,
                // One more than is shown, to know whether there are more.
                count: self.limit + 1,
            };
            let mut progress = match self.progress.take() {
                Some(progress) => progress,
                None => search.begin(pane.text_end(output.as_ref())?),
            };
            let mut pauses = false;
            search.go_on(&mut progress, &mut self.buffer, || {
                let now = Instant::now();
                self.timed_out |= self.until < now;
                pauses = pause.is_some_and(|pause| pause < now);
                !self.timed_out && !pauses
            })?;
            if pauses && !self.timed_out {
                self.progress = Some(progress);
                return Ok(false);
            }
            self.searched += usize::from(progress.is_over());
            self.truncated |= self.limit < progress.hits.len();
            let shown = progress.hits.into_iter().take(self.limit);
            self.hits.extend(shown.map(|hit| PaneSearchHit::of(&pane.id, hit, &self.pattern)));
            self.done += 1;
        }
        Ok(true)
    }

    /// The hits, the newest first.
    fn into_output(mut self) -> PaneSearchOutput {
        // Stable: hits of one pane are in order, and stay so where their times are equal.
        self.hits.sort_by_key(|hit| Reverse(hit.time));
        let truncated = self.truncated || self.limit < self.hits.len();
        self.hits.truncate(self.limit);
        PaneSearchOutput {
            hits: self.hits,
            panes: self.searched,
            truncated,
            timed_out: self.timed_out,
        }
    }
}

impl PaneSearchHit {
    fn of(pane: &PaneId, hit: scan::LineHit, pattern: &LinePattern) -> Self {
        let scan::LineHit { n, offset, time, text, cut } = hit;
        let matches = pattern.char_spans(&text, MOST_MATCHES);
        Self { pane_id: pane.clone(), n, offset: Offset(offset), time, text, matches, cut }
    }
}
