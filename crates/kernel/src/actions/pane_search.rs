//! `pane:search`

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_model::{Offset, PaneId, Refusal, Scope, Time};
use paned_substrate::Output;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::panes::pattern::pattern;
use crate::panes::reading::{Line, clean};
use crate::panes::text::Text;
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
        let regex = pattern("pattern", &params.pattern, params.ignore_case)?;
        let outputs = outputs(&context, params.panes.as_deref())?;
        let limit = params.limit.unwrap_or(HITS).clamp(1, MOST_HITS);
        let patience = Duration::from_millis(params.timeout_ms.unwrap_or(2000).min(LONGEST));
        let search = Search { regex, limit, until: Instant::now() + patience };
        // Away from the other tasks: this may take a while.
        let found = tokio::task::spawn_blocking(move || search.run(&outputs));
        found.await.map_err(Refusal::internal)?.map_err(Refusal::internal)
    }
}

type Outputs = Vec<(PaneId, Arc<dyn Output>)>;

fn outputs(context: &Context, asked: Option<&[PaneId]>) -> Result<Outputs, Refusal> {
    let Context { kernel, caller } = context;
    let Some(asked) = asked else {
        let reached = kernel.panes().list().into_iter();
        let reached = reached.filter(|pane| kernel.may_reach(&pane.id, caller).is_ok());
        return Ok(reached.filter_map(|pane| Some((pane.id.clone(), pane.output()?))).collect());
    };
    let one = |kernel: &Kernel, id: &PaneId| {
        kernel.may_reach(id, caller)?;
        Ok((id.clone(), kernel.panes().get(id)?.readable()?))
    };
    asked.iter().map(|id| one(kernel, id)).collect()
}

struct Search {
    regex: Regex,
    limit: usize,
    until: Instant,
}

impl Search {
    fn run(&self, outputs: &Outputs) -> io::Result<Found> {
        let (mut hits, mut truncated, mut timed_out) = (Vec::new(), false, false);
        for (id, output) in outputs {
            let (found, more) = self.one(id, output.as_ref(), &mut timed_out)?;
            hits.extend(found);
            truncated |= more;
        }
        hits.sort_by_key(|hit: &Hit| Reverse((hit.time, hit.n)));
        truncated |= self.limit < hits.len();
        hits.truncate(self.limit);
        Ok(Found { hits, panes: outputs.len(), truncated, timed_out })
    }

    /// The newest hits of one pane, and whether there were more.
    fn one(
        &self,
        id: &PaneId,
        output: &dyn Output,
        late: &mut bool,
    ) -> io::Result<(Vec<Hit>, bool)> {
        let text = Text::new(output);
        let (mut newest, mut more) = (VecDeque::new(), false);
        text.each(text.first()?, |raw| {
            let line = clean(raw);
            if self.regex.is_match(&line.text) {
                newest.push_back((raw.offset, Line::of(raw.n, line)));
            }
            if self.limit < newest.len() {
                newest.pop_front();
                more = true;
            }
            *late |= raw.n.is_multiple_of(1024) && self.until < Instant::now();
            if *late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let hit = |(offset, line): (u64, Line)| {
            let time = output.mark(offset)?.map_or(Time(0), |mark| mark.time);
            Ok(Hit {
                pane_id: id.clone(),
                n: line.n,
                offset: Offset(offset),
                time,
                text: line.text,
            })
        };
        Ok((newest.into_iter().map(hit).collect::<io::Result<_>>()?, more))
    }
}
