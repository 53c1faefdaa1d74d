//! `pane:wait`

mod endpoint;
mod pane_waiter;
mod since;

use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use paned_model::{Code, Offset, PaneId, PaneInfo, Refusal, Scope};
use paned_policy::permit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use self::endpoint::Endpoint;
use self::pane_waiter::PaneWaiter;
use self::since::WaitSince;
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::agent::wait::AgentStateFilter;
use crate::actions::support::param_rules::{HttpAddress, RegexText, pane_conditions};
use crate::actions::support::wait_limit::{DAY_MS, check_millis, wait_limit};
use crate::panes::search::pattern::PatternParam;
use crate::panes::text::line_watch::WatchPatterns;
use crate::panes::text::reading::OutputLine;
use crate::registry::{Action, ActionContext, ActionKind};

/// How many panes one call waits for.
const MAX_PANES: usize = 64;

pub(in crate::actions) struct PaneWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = pane_conditions)]
pub(in crate::actions) struct Params {
    /// The pane. May be left out with `port` and `http`.
    pane_id: Option<PaneId>,
    /// Several panes, up to 64, in place of `paneId`.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pane_ids: Vec<PaneId>,
    /// For several panes: until the conditions are met in all of them, or in any.
    #[serde(default)]
    mode: WaitMode,
    /// Until a line that counts matches this regular expression, also one that is not ended yet. It
    /// is matched against whole lines, as they read at that moment: up to 262144 characters. A line
    /// that began before `since` counts once its text differs from the text there, or has differed
    /// meanwhile; a line that is only rewritten, or ends, is not new.
    #[schemars(with = "Option<RegexText>")]
    pattern: Option<String>,
    /// Patterns that end the wait early: signs that the awaited line will not come. Up to 32, of
    /// 4000 characters in all.
    #[serde(default)]
    #[schemars(with = "Vec<RegexText>", length(max = 32))]
    stop: Vec<String>,
    /// Whether the patterns ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Until the program ends.
    #[serde(default)]
    exit: bool,
    /// Until nothing was printed for this many milliseconds, up to a day, from the call on. A
    /// program that has exited is quiet.
    #[schemars(range(min = 1, max = 86_400_000))]
    quiet_ms: Option<u64>,
    /// Until the screen's revision differs from this one.
    screen_change_since: Option<u64>,
    /// Until its agent is in this state, or in one of these.
    agent_state: Option<AgentStateFilter>,
    /// Where output starts to count; defaults to the last input.
    #[serde(default)]
    since: WaitSince,
    /// Until a TCP port of this machine, on 127.0.0.1 or ::1, accepts connections. With a pane, a
    /// process that is older than the pane's program and none of its own does not count. Needs the
    /// scope `spawn` as well. Not for several panes.
    #[schemars(range(min = 1))]
    port: Option<u16>,
    /// Until a GET of this `http://` address is answered with a status from 200 to 399. Needs the
    /// scope `spawn` as well, and `admin` for another host than this machine. Not for several
    /// panes.
    #[schemars(with = "Option<HttpAddress>")]
    http: Option<String>,
    /// Time limit in milliseconds: defaults to 30000, up to a day.
    #[schemars(range(max = 86_400_000))]
    timeout_ms: Option<u64>,
}

/// When a wait for several panes is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WaitMode {
    /// When the conditions are met in all of them, or cannot be met in one.
    #[default]
    All,
    /// When the conditions are met in one of them.
    Any,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) enum PaneWaitCondition {
    /// A line matched.
    Pattern,
    /// A line matched a stop pattern.
    Stop,
    /// The program ended.
    Exit,
    /// It was quiet for long enough.
    Quiet,
    /// The screen changed.
    ScreenChange,
    /// Its agent is in a requested state.
    AgentState,
    /// The port accepts connections.
    Port,
    /// The address answered.
    Http,
}

/// What a wait for one pane came to.
#[derive(Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PaneWaitResult {
    /// What ended the wait; nothing when it timed out, or its program ended before.
    met: Option<PaneWaitCondition>,
    /// Whether it timed out.
    timed_out: bool,
    /// The line that matched, when one did: the first, even if more came with it. `next` is after
    /// it.
    evidence: Vec<OutputLine>,
    /// The last lines of the output.
    tail: Vec<OutputLine>,
    /// The `since` of the next call: after the line that matched, or after all output that was
    /// read.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Offset>,
    /// The pane as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pane: Option<PaneInfo>,
    /// Why it was not met, as far as known; for a port that was met, what is uncertain about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
    /// A line that matches and does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier: Option<EarlierMatch>,
}

/// A line that matches and does not count.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EarlierMatch {
    /// Its number.
    n: u64,
    /// The `since` with which it counts.
    offset: Offset,
    /// Whether it is the echo of what was typed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    echo: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneWaitOutput {
    /// With several panes, that of the pane which ended the wait.
    #[serde(flatten)]
    result: PaneWaitResult,
    /// With several panes, the result of each, in the order of `paneIds`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    panes: Vec<PaneWaitResult>,
}

impl Action for PaneWait {
    const NAME: &'static str = "pane:wait";
    const DOC: &'static str = "Wait until panes print, end, fall quiet or change their screen, until an agent does something, or until a server answers.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    // An address may hold a token.
    const SECRETS: &'static [&'static str] = &["http"];
    type Params = Params;
    type Answer = PaneWaitOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::panes(params.pane_id.iter().chain(&params.pane_ids))
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneWaitOutput, Refusal> {
        params.check()?;
        let endpoint = params.endpoint(&context)?;
        // Each of these waits opens connections all the time.
        let _slot =
            endpoint.as_ref().map(|_| context.kernel.stream(&context.caller)).transpose()?;
        let timeout = wait_limit(params.timeout_ms, 30_000, DAY_MS)?;
        let until = Instant::now() + timeout;
        if params.pane_ids.is_empty() {
            let result = wait_for_one(&context.kernel, &params, endpoint, until).await?;
            return Ok(PaneWaitOutput { result, panes: Vec::new() });
        }
        // Boxed to keep the future small: most waits are for one pane.
        Box::pin(wait_for_several(&context.kernel, &params, until)).await
    }
}

/// Waits for one pane, or for an endpoint alone.
async fn wait_for_one(
    kernel: &Kernel,
    params: &Params,
    mut endpoint: Option<Endpoint>,
    until: Instant,
) -> Result<PaneWaitResult, Refusal> {
    let mut waiter = match &params.pane_id {
        Some(id) => Some(waiter(kernel, id, params, until).await?),
        None => None,
    };
    if let (Some(waiter), Some(endpoint)) = (&waiter, &mut endpoint) {
        endpoint.of_program(waiter.program());
    }
    let in_pane = async {
        match &mut waiter {
            Some(waiter) => waiter.run().await,
            None => {
                sleep_until(until).await;
                Ok(None)
            }
        }
    };
    let met = match &endpoint {
        None => in_pane.await?,
        Some(endpoint) => tokio::select! {
            met = in_pane => met?,
            met = endpoint.reached() => Some(met),
        },
    };
    let mut result = match waiter {
        Some(waiter) => waiter.answer(met, true).await?,
        None => PaneWaitResult { met, timed_out: met.is_none(), ..PaneWaitResult::default() },
    };
    match met {
        None => {
            if let Some(endpoint) = &endpoint {
                result.why.extend(endpoint.explain(!result.timed_out).await);
            }
        }
        Some(PaneWaitCondition::Port | PaneWaitCondition::Http) => {
            result.why.extend(endpoint.as_ref().and_then(Endpoint::doubt));
        }
        Some(_) => {}
    }
    Ok(result)
}

async fn waiter(
    kernel: &Kernel,
    id: &PaneId,
    params: &Params,
    until: Instant,
) -> Result<PaneWaiter, Refusal> {
    let pane = kernel.panes().get(id)?;
    let mut waiter = PaneWaiter::new(kernel.clone(), pane, params, until)?;
    waiter.watch_lines(params).await?;
    Ok(waiter)
}

/// Waits for several panes at once.
async fn wait_for_several(
    kernel: &Kernel,
    params: &Params,
    until: Instant,
) -> Result<PaneWaitOutput, Refusal> {
    let mut waiters = Vec::new();
    for id in &params.pane_ids {
        waiters.push(waiter(kernel, id, params, until).await?);
    }
    let mut mets = vec![None; waiters.len()];
    let mut last = 0;
    {
        let waits = waiters.iter_mut().enumerate();
        let mut waits: FuturesUnordered<_> =
            waits.map(async |(index, waiter)| (index, waiter.run().await)).collect();
        while let Some((index, met)) = waits.next().await {
            let met = met?;
            mets[index] = met;
            last = index;
            if params.mode.is_over(met) {
                break;
            }
        }
    }
    // The reasons are of use only where the whole wait failed.
    let is_met = mets[last].is_some_and(|met| met != PaneWaitCondition::Stop);
    let answers = waiters.into_iter().zip(mets).map(|(waiter, met)| waiter.answer(met, !is_met));
    let panes = try_join_all(answers).await?;
    let result = panes[last].clone();
    Ok(PaneWaitOutput { result, panes })
}

impl WaitMode {
    /// Whether this result of one pane ends the wait.
    fn is_over(self, met: Option<PaneWaitCondition>) -> bool {
        match (self, met) {
            (_, Some(PaneWaitCondition::Stop)) => true,
            (Self::Any, met) => met.is_some(),
            (Self::All, met) => met.is_none(),
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), Refusal> {
        let printed = self.pattern.is_some() || !self.stop.is_empty() || self.quiet_ms.is_some();
        let seen = self.screen_change_since.is_some() || self.agent_state.is_some();
        let reached = self.port.is_some() || self.http.is_some();
        let in_pane = printed || seen || self.exit;
        if !in_pane && !reached {
            return Err(Refusal::invalid(
                "pass what to wait for: `pattern`, `stop`, `exit`, `quietMs`, \
                 `screenChangeSince`, `agentState`, `port` or `http`",
            ));
        }
        let has_one = self.pane_id.is_some();
        let has_many = !self.pane_ids.is_empty();
        if has_one && has_many {
            return Err(Refusal::invalid("pass `paneId` or `paneIds`, not both"));
        }
        if in_pane && !has_one && !has_many {
            return Err(Refusal::invalid(
                "pass a pane as `paneId` or `paneIds`; only `port` and `http` need none",
            ));
        }
        if reached && has_many {
            return Err(Refusal::invalid(
                "`port` and `http` cannot be combined with several panes",
            ));
        }
        if MAX_PANES < self.pane_ids.len() {
            return Err(Refusal::invalid(format!("`paneIds` can have at most {MAX_PANES} panes")));
        }
        if self.quiet_ms == Some(0) {
            return Err(Refusal::invalid("`quietMs` must be at least 1"));
        }
        check_millis("quietMs", self.quiet_ms, DAY_MS)
    }

    /// The port or address to wait for. A grant that may start programs can reach every port by
    /// them; a grant that may not must not use the server to find out what runs on this machine.
    fn endpoint(&self, context: &ActionContext) -> Result<Option<Endpoint>, Refusal> {
        if self.port.is_none() && self.http.is_none() {
            return Ok(None);
        }
        let needs = |scope: Scope, what: &str| {
            permit::scope(&context.caller.grant, scope).map_err(|_| {
                let sentence = format!("{what} requires the scope `{scope}`");
                Refusal::new(Code::Forbidden, sentence)
            })
        };
        needs(Scope::Spawn, "to wait for a port or an address")?;
        let endpoint = Endpoint::new(self.port, self.http.as_deref())?;
        if !endpoint.is_local() {
            needs(Scope::Admin, "to wait for another host than this machine")?;
        }
        Ok(Some(endpoint))
    }

    /// The patterns to watch for.
    async fn line_patterns(&self, kernel: &Kernel) -> Result<WatchPatterns, Refusal> {
        let mut wanted = WatchPatterns::default();
        if let Some(text) = &self.pattern {
            let param = PatternParam::one("pattern", text, self.ignore_case);
            wanted.pattern = Some(kernel.patterns().get(param).await?);
        }
        if !self.stop.is_empty() {
            let param = PatternParam::any("stop", &self.stop, self.ignore_case);
            wanted.stop = Some(kernel.patterns().get(param).await?);
        }
        Ok(wanted)
    }
}
