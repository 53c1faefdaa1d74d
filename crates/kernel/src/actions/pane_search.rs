//! `pane:search`

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use paned_substrate::Output;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::panes::Pane;
use crate::panes::pattern::{Pattern, pattern};
use crate::panes::search::{self, Search, Sizes};
use crate::registry::{Action, Context, Kind};

const HITS: usize = 100;
const MOST_HITS: usize = 1000;
const LONGEST: u64 = 10_000;

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
    limit: Option<usize>,
    /// How long to search at most, in milliseconds (2000 when left out, up to 10000).
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    /// The hits, newest first.
    hits: Vec<Hit>,
    /// How many panes were searched.
    panes: usize,
    /// Whether there were more hits than the limit lets through.
    truncated: bool,
    /// Whether time ran out before everything was searched.
    timed_out: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Hit {
    /// The pane.
    pane_id: PaneId,
    /// The line's number.
    n: u64,
    /// Where the line begins in the pane's output.
    offset: Offset,
    /// When the output around it was printed.
    time: Time,
    /// What the line says.
    text: String,
}

impl Action for PaneSearch {
    const NAME: &'static str = "pane:search";
    const DOC: &'static str =
        "Find lines that match a pattern in one, some or all panes, newest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Found;

    async fn run(context: Context, params: Params) -> Result<Found, Refusal> {
        let pattern = pattern("pattern", &params.pattern, params.ignore_case)?;
        let outputs = outputs(&context, params.panes.as_deref())?;
        let limit = params.limit.unwrap_or(HITS).clamp(1, MOST_HITS);
        let patience = Duration::from_millis(params.timeout_ms.unwrap_or(2000).min(LONGEST));
        let hunt = Hunt { pattern, limit, until: Instant::now() + patience };
        // Away from the other tasks: this may take a while.
        let found = tokio::task::spawn_blocking(move || hunt.run(&outputs));
        found.await.map_err(Refusal::internal)?.map_err(Refusal::internal)
    }
}

type Outputs = Vec<(Arc<Pane>, Arc<dyn Output>)>;

fn outputs(context: &Context, asked: Option<&[PaneId]>) -> Result<Outputs, Refusal> {
    let Context { kernel, caller } = context;
    let Some(asked) = asked else {
        let reached = kernel.panes().list().into_iter();
        let reached = reached.filter(|pane| kernel.may_reach(&pane.id, caller).is_ok());
        let readable = reached.filter_map(|pane| pane.output().map(|output| (pane, output)));
        return Ok(readable.collect());
    };
    let one = |id: &PaneId| {
        kernel.may_reach(id, caller)?;
        let pane = kernel.panes().get(id)?;
        let output = pane.readable()?;
        Ok((pane, output))
    };
    asked.iter().map(one).collect()
}

/// A search of many panes.
struct Hunt {
    pattern: Pattern,
    limit: usize,
    until: Instant,
}

impl Hunt {
    fn run(&self, outputs: &Outputs) -> io::Result<Found> {
        let (mut hits, mut truncated, mut timed_out) = (Vec::new(), false, false);
        for (pane, output) in outputs {
            let plain = &pane.plain;
            let (pattern, sizes) = (&self.pattern, Sizes::USUAL);
            let search = Search { output: output.as_ref(), pattern, plain, sizes };
            // One more than is shown, to know whether there are more.
            let mut found = search.newest(self.limit + 1, || {
                timed_out |= self.until < Instant::now();
                !timed_out
            })?;
            truncated |= self.limit < found.len();
            found.truncate(self.limit);
            hits.extend(found.into_iter().map(|hit| Hit::of(&pane.id, hit)));
        }
        hits.sort_by_key(|hit: &Hit| Reverse((hit.time, hit.n)));
        truncated |= self.limit < hits.len();
        hits.truncate(self.limit);
        Ok(Found { hits, panes: outputs.len(), truncated, timed_out })
    }
}

impl Hit {
    fn of(pane: &PaneId, hit: search::Hit) -> Self {
        let search::Hit { n, offset, time, text } = hit;
        Self { pane_id: pane.clone(), n, offset: Offset(offset), time, text }
    }
}
