//! `pane:search`

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_backend::Output;
use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wait_limit::wait_limit;
use crate::access::AccessRequest;
use crate::panes::pattern::{LinePattern, PatternParam};
use crate::panes::search::{self, OutputSearch, SearchProgress, SearchSizes};
use crate::panes::{Pane, unreadable};
use crate::registry::{Action, ActionContext, ActionKind};

const HITS: usize = 100;
const MOST_HITS: usize = 1000;
const LONGEST: u64 = 10_000;
/// How long a search may take where it is asked for. To wake another thread costs as much as many searches do.
const INLINE_LIMIT: Duration = Duration::from_millis(1);

pub(super) struct PaneSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// A regular expression, tried on each line as a person would read it.
    pattern: String,
    /// Whether its case does not matter.
    #[serde(default)]
    ignore_case: bool,
    /// Only in these panes; in all when left out, ended ones too.
    panes: Option<Vec<PaneId>>,
    /// How many hits at most, the newest first (100 when left out, up to 1000).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// How long to search at most, in milliseconds (2000 when left out, up to 10000).
    #[schemars(range(max = 10_000))]
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaneSearchOutput {
    /// The hits, newest first.
    hits: Vec<PaneSearchHit>,
    /// How many panes were searched: all of them, unless time ran out.
    panes: usize,
    /// Whether there were more hits than the limit lets through.
    truncated: bool,
    /// Whether time ran out before everything was searched.
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
    /// When the last of the line was printed, to a tenth of a second.
    time: Time,
    /// What the line says.
    text: String,
    /// Whether it is longer than the 2000 characters that are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

impl Action for PaneSearch {
    const NAME: &'static str = "pane:search";
    const DOC: &'static str =
        "Find lines that match a pattern in one, some or all panes, newest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = PaneSearchOutput;

    fn access(params: &Params) -> AccessRequest {
        params.panes.as_ref().map_or_else(AccessRequest::reachable, AccessRequest::panes)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneSearchOutput, Refusal> {
        let patterns = context.kernel.patterns();
        let asked = PatternParam::one("pattern", &params.pattern, params.ignore_case);
        let pattern = patterns.get(asked).await?;
        let outputs = outputs(&context, params.panes.as_deref())?;
        let limit = params.limit.unwrap_or(HITS);
        if !(1..=MOST_HITS).contains(&limit) {
            return Err(Refusal::invalid(format!("`limit` is from 1 to {MOST_HITS}")));
        }
        let patience = wait_limit(params.timeout_ms, 2000, LONGEST)?;
        let now = Instant::now();
        let mut hunt = MultiPaneSearch::new(pattern, outputs, limit, now + patience);
        let is_soon_done = hunt.pattern.is_light();
        if !is_soon_done || !hunt.go_on(Some(now + INLINE_LIMIT)).map_err(unreadable)? {
            // Away from the other tasks: this may take a while.
            let rest = tokio::task::spawn_blocking(move || hunt.go_on(None).map(|_| hunt));
            hunt = rest.await.map_err(Refusal::internal)?.map_err(unreadable)?;
        }
        Ok(hunt.into_output())
    }
}

type PaneOutputs = Vec<(Arc<Pane>, Arc<dyn Output>)>;

fn outputs(context: &ActionContext, asked: Option<&[PaneId]>) -> Result<PaneOutputs, Refusal> {
    let ActionContext { kernel, caller, .. } = context;
    let Some(asked) = asked else {
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
    let names = asked.iter().enumerate().filter(|(at, id)| !asked[..*at].contains(id));
    names.map(|(_, id)| one(id)).collect()
}

/// A search of many panes, one after the other.
struct MultiPaneSearch {
    pattern: Arc<LinePattern>,
    outputs: PaneOutputs,
    limit: usize,
    until: Instant,
    /// How many panes are done with, and how many of them were searched to their end.
    done: usize,
    searched: usize,
    /// How far the search of the next one has come.
    progress: Option<SearchProgress>,
    buffer: Vec<u8>,
    hits: Vec<PaneSearchHit>,
    truncated: bool,
    timed_out: bool,
}

impl MultiPaneSearch {
    fn new(pattern: Arc<LinePattern>, outputs: PaneOutputs, limit: usize, until: Instant) -> Self {
        let (progress, buffer, hits) = (None, Vec::new(), Vec::new());
        Self {
            pattern,
            outputs,
            limit,
            until,
            done: 0,
            searched: 0,
            progress,
            buffer,
            hits,
            truncated: false,
            timed_out: false,
        }
    }

    /// Goes on until it is over, or until a pause is due. Answers whether it is over.
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
            let mut trail = match self.progress.take() {
                Some(trail) => trail,
                None => search.begin(pane.text_end(output.as_ref())?),
            };
            let mut pauses = false;
            search.go_on(&mut trail, &mut self.buffer, || {
                let now = Instant::now();
                self.timed_out |= self.until < now;
                pauses = pause.is_some_and(|pause| pause < now);
                !self.timed_out && !pauses
            })?;
            if pauses && !self.timed_out {
                self.progress = Some(trail);
                return Ok(false);
            }
            self.searched += usize::from(trail.is_over());
            self.truncated |= self.limit < trail.hits.len();
            let shown = trail.hits.into_iter().take(self.limit);
            self.hits.extend(shown.map(|hit| PaneSearchHit::of(&pane.id, hit)));
            self.done += 1;
        }
        Ok(true)
    }

    /// What was found, the newest first.
    fn into_output(mut self) -> PaneSearchOutput {
        // Those of one pane are in order, and stay so where its clock does not tell them apart.
        self.hits.sort_by_key(|hit| Reverse(hit.time));
        let truncated = self.truncated || self.limit < self.hits.len();
        self.hits.truncate(self.limit);
        let (hits, timed_out) = (self.hits, self.timed_out);
        PaneSearchOutput { hits, panes: self.searched, truncated, timed_out }
    }
}

impl PaneSearchHit {
    fn of(pane: &PaneId, hit: search::LineHit) -> Self {
        let search::LineHit { n, offset, time, text, cut } = hit;
        Self { pane_id: pane.clone(), n, offset: Offset(offset), time, text, cut }
    }
}
