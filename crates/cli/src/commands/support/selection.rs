//! The panes that a command is for, and one action for each of them.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::{PaneInfo, Refusal};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::{self, ApiClient};
use crate::commands::refused;
use crate::context::{CliContext, activity};
use crate::out::progress::Progress;

/// How many panes are worked on at once.
const PARALLEL: usize = 16;

/// The panes to end or delete.
#[derive(clap::Args)]
pub(crate) struct PaneSelection {
    /// The panes: their ids or unique prefixes of them
    #[arg(required_unless_present_any = ["all", "tag"], conflicts_with_all = ["all", "tag"])]
    pub(crate) pane: Vec<String>,
    /// All panes
    #[arg(long)]
    pub(crate) all: bool,
    /// All panes with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
}

/// The panes to type into: one, or several by their names or by a tag.
#[derive(clap::Args)]
pub(crate) struct PaneTargets {
    /// Type into these panes, as in web,db
    #[arg(long, value_name = "PANE", value_delimiter = ',')]
    pub(crate) to: Vec<String>,
    /// Type into all running panes with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
}

/// The panes that were found by a flag.
pub(crate) struct SelectedPanes {
    pub(crate) ids: Vec<String>,
    /// Whether the user named each of them.
    pub(crate) is_named: bool,
}

impl PaneSelection {
    /// The panes that are meant; of those that `--all` and `--tag` find, only those for which
    /// `wants` holds. The pane that this command runs in comes last, and only with `itself`.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub(crate) fn find(
        &self,
        context: &CliContext,
        itself: bool,
        wants: impl Fn(&PaneInfo) -> bool,
    ) -> Result<SelectedPanes> {
        if !self.pane.is_empty() {
            return Ok(SelectedPanes { ids: self.pane.clone(), is_named: true });
        }
        let client = context.client()?;
        let mut ids: Vec<String> = list(context, self.tag.as_deref())?
            .into_iter()
            .filter(wants)
            .map(|pane| pane.id.to_string())
            .collect();
        if let Some(own) = client.own_pane().filter(|own| ids.iter().any(|id| id == own)) {
            ids.retain(|id| id != own);
            if itself {
                ids.push(own.to_owned());
            } else {
                let why = "this command runs in it; `--self` includes it";
                context.out.note(format!("paned: skipped {own}: {why}"))?;
            }
        }
        if ids.is_empty() && !context.out.is_json() {
            let which = self.tag.as_ref().map(|tag| format!(" with the tag `{tag}`"));
            let which = which.unwrap_or_default();
            context.out.note(format!("paned: no such panes{which}; `paned ls -a` shows all"))?;
        }
        Ok(SelectedPanes { ids, is_named: false })
    }
}

impl PaneTargets {
    /// Whether a flag names the panes.
    pub(crate) fn is_given(&self) -> bool {
        !self.to.is_empty() || self.tag.is_some()
    }

    /// The panes that are meant, and the words that are not the name of one: the first word is,
    /// unless a flag names the panes.
    ///
    /// # Errors
    /// When no words are left, or no pane has the tag.
    pub(crate) fn split(
        &self,
        context: &CliContext,
        words: &[String],
        what: &str,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let (mut panes, rest) = match words.split_first() {
            _ if self.is_given() => (self.to.clone(), words.to_vec()),
            Some((pane, rest)) => (vec![pane.clone()], rest.to_vec()),
            None => (Vec::new(), Vec::new()),
        };
        if rest.is_empty() {
            return Err(Refusal::invalid(format!("missing {what}; pass it after the pane")).into());
        }
        panes.extend(self.tagged(context)?);
        Ok((panes, rest))
    }

    /// The running panes with the tag.
    ///
    /// # Errors
    /// When there are none.
    pub(crate) fn tagged(&self, context: &CliContext) -> Result<Vec<String>> {
        let Some(tag) = &self.tag else { return Ok(Vec::new()) };
        let panes = list(context, Some(tag))?.into_iter().filter(|pane| pane.status.is_live());
        let ids: Vec<String> = panes.map(|pane| pane.id.to_string()).collect();
        if ids.is_empty() {
            let sentence = format!(
                "no running pane has the tag `{tag}`; `paned ls --tag {tag}` shows all that have it"
            );
            return Err(Refusal::not_found(sentence).into());
        }
        Ok(ids)
    }
}

/// The panes that the caller may see, oldest first.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) fn list(context: &CliContext, tag: Option<&str>) -> Result<Vec<PaneInfo>> {
    let params = tag.map_or_else(|| json!({}), |tag| json!({ "tag": tag }));
    context.call("pane:list", &params)
}

/// Asks the user, if there is one: a yes is needed only where `question` would lose output and the
/// panes were not named. Without a terminal there is no question.
///
/// # Errors
/// When the terminal cannot be used.
pub(crate) fn confirm(context: &CliContext, question: &str, yes: bool) -> Result<bool> {
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    if yes || context.out.is_json() || !is_attended {
        return Ok(true);
    }
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        context.out.note("paned: nothing was deleted")?;
    }
    Ok(is_yes)
}

/// Calls an action for each pane, several at once, and shows the answers in the order of the panes.
/// It continues after a refusal; the exit code is the first one that is not 0.
///
/// # Errors
/// When an answer cannot be printed.
pub(crate) fn act_on_each(
    context: &CliContext,
    panes: &[String],
    action: &'static str,
    params: impl Fn(&str) -> Result<Value>,
    mut show: impl FnMut(&str, &Value) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let client = context.client()?;
    let params: Vec<Value> = panes.iter().map(|pane| params(pane)).collect::<Result<_>>()?;
    let mut exit = ExitCode::SUCCESS;
    let mut show_one = |pane: &str, answer: Result<Value>| {
        let code = match answer {
            Ok(answer) => show(pane, &answer)?,
            Err(error) => refused(context, error)?,
        };
        if exit == ExitCode::SUCCESS {
            exit = code;
        }
        anyhow::Ok(())
    };
    client::block_on(async {
        // Our own pane is last, and ends us: it must wait for the others.
        let own = client.own_pane().map(str::to_owned);
        let others = panes.iter().filter(|pane| Some(pane.as_str()) != own.as_deref()).count();
        let is_own_last = others + 1 == panes.len() && panes.last() == own.as_ref();
        let first = if is_own_last { others } else { panes.len() };
        for range in [0..first, first..panes.len()] {
            let calls = Calls { client: &client, action, params: &params };
            let mut progress = Some(Progress::start(context.out, activity(action)));
            let mut show = |at: usize, answer| {
                // Its line would be in the way of what is printed.
                progress.take();
                show_one(&panes[at], answer)
            };
            calls.run(range, &mut show).await?;
        }
        anyhow::Ok(())
    })??;
    Ok(exit)
}

/// Calls of one action.
struct Calls<'a> {
    client: &'a ApiClient,
    action: &'static str,
    params: &'a [Value],
}

impl Calls<'_> {
    /// Makes these calls, several at once; `done` gets the answers in order.
    async fn run(
        &self,
        range: std::ops::Range<usize>,
        mut done: impl FnMut(usize, Result<Value>) -> Result<()>,
    ) -> Result<()> {
        let mut calls = JoinSet::new();
        let mut answers: Vec<Option<Result<Value>>> = self.params.iter().map(|_| None).collect();
        let mut waiting = range.clone();
        let mut shown = range.start;
        loop {
            while calls.len() < PARALLEL
                && let Some(at) = waiting.next()
            {
                let client = self.client.clone();
                let params = self.params[at].clone();
                let action = self.action;
                calls.spawn(async move { (at, client.action(action, &params).await) });
            }
            let Some(answer) = calls.join_next().await else { return Ok(()) };
            let (at, answer) = answer.context("a request was lost")?;
            answers[at] = Some(answer);
            while let Some(answer) = answers.get_mut(shown).and_then(Option::take) {
                done(shown, answer)?;
                shown += 1;
            }
        }
    }
}
