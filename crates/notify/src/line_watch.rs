//! Waits for lines of output that match the pattern of a rule.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use paned_kernel::{Caller, Kernel};
use paned_model::PaneInfo;
use paned_policy::notify::{NotifyRule, NotifyRules, NotifySubject, NotifyTrigger};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The longest wait that the kernel accepts: a day.
const WAIT_MS: u64 = 86_400_000;
/// How many characters of a line are quoted.
const MAX_LINE: usize = 300;
/// The pause after a wait that was refused, for example while the keeper does not answer.
const REFUSED_PAUSE: Duration = Duration::from_secs(5);
/// The least time between two matches of one rule in one pane, so that a flood of matching lines
/// costs little.
const MATCH_PAUSE: Duration = Duration::from_millis(500);

/// A line that matched.
#[derive(Debug)]
pub(crate) struct LineMatch {
    pub(crate) rule: String,
    pub(crate) pane: Box<PaneInfo>,
    pub(crate) line: String,
    /// Where the search began that found it.
    pub(crate) offset: u64,
    /// Where the next search begins.
    pub(crate) next: u64,
}

/// One waiting task for each pane and rule with a pattern.
pub(crate) struct LineWatches {
    kernel: Kernel,
    caller: Caller,
    rules: Vec<NotifyRule>,
    /// How far output was searched by an earlier run of the server.
    searched: BTreeMap<String, BTreeMap<String, u64>>,
    found: mpsc::Sender<LineMatch>,
    tasks: JoinSet<WatchKey>,
    watched: BTreeSet<WatchKey>,
}

/// The name of a rule and the instance of a pane.
type WatchKey = (String, String);

/// What `pane:wait` answers, as far as it matters here.
#[derive(Deserialize)]
struct WaitAnswer {
    met: Option<String>,
    #[serde(default)]
    evidence: Vec<WaitLine>,
    next: Option<u64>,
    pane: Box<PaneInfo>,
}

#[derive(Deserialize)]
struct WaitLine {
    text: String,
}

impl LineWatches {
    pub(crate) fn new(
        kernel: Kernel,
        rules: &NotifyRules,
        searched: BTreeMap<String, BTreeMap<String, u64>>,
        found: mpsc::Sender<LineMatch>,
    ) -> Self {
        let has_pattern = |rule: &&NotifyRule| rule.on.contains(&NotifyTrigger::Pattern);
        let rules = rules.0.iter().filter(has_pattern).cloned().collect();
        let caller = kernel.owner(None);
        let tasks = JoinSet::new();
        Self { kernel, caller, rules, searched, found, tasks, watched: BTreeSet::new() }
    }

    /// Whether any rule has a pattern.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Watches a pane for the rules that cover it. The output of a new pane is searched from its
    /// start, that of another one from where an earlier run has stopped, or from now on.
    pub(crate) fn add(&mut self, pane: &PaneInfo, is_new: bool) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(key) = ended {
                self.watched.remove(&key);
            }
        }
        if !pane.status.is_live() {
            return;
        }
        let subject = NotifySubject {
            pane: pane.id.to_string(),
            title: pane.title.clone(),
            tags: pane.tags.clone(),
        };
        let instance = pane.instance.0.to_string();
        for rule in self.rules.iter().filter(|rule| rule.covers_pane(&subject)) {
            let key = (rule.name.clone(), instance.clone());
            let Some(pattern) = rule.pattern.clone() else { continue };
            if !self.watched.insert(key.clone()) {
                continue;
            }
            let stored = self.searched.get(&rule.name).and_then(|panes| panes.get(&instance));
            let since = match stored {
                Some(offset) => json!(offset),
                None if is_new => json!("start"),
                None => json!("now"),
            };
            let watch = LineWatch {
                kernel: self.kernel.clone(),
                caller: self.caller.clone(),
                key,
                pane: pane.id.to_string(),
                pattern,
                found: self.found.clone(),
            };
            self.tasks.spawn(watch.run(since));
        }
    }

    /// Drops the places of panes that are no longer watched.
    pub(crate) fn forget_gone(&mut self, places: &mut BTreeMap<String, BTreeMap<String, u64>>) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(key) = ended {
                self.watched.remove(&key);
            }
        }
        for (rule, panes) in places.iter_mut() {
            panes.retain(|pane, _| self.watched.contains(&(rule.clone(), pane.clone())));
        }
        places.retain(|_, panes| !panes.is_empty());
    }
}

struct LineWatch {
    kernel: Kernel,
    caller: Caller,
    key: WatchKey,
    pane: String,
    pattern: String,
    found: mpsc::Sender<LineMatch>,
}

impl LineWatch {
    /// Waits until the program has ended or the pane is gone.
    async fn run(self, mut since: Value) -> WatchKey {
        loop {
            let answer = match self.wait(&since).await {
                Ok(answer) => answer,
                Err(WaitFailure::Gone) => return self.key,
                Err(WaitFailure::Later) => {
                    sleep(REFUSED_PAUSE).await;
                    continue;
                }
            };
            // The name may have been given to another pane.
            if answer.pane.instance.0 != self.key.1 {
                return self.key;
            }
            let next = answer.next.unwrap_or_default();
            let is_match = answer.met.as_deref() == Some("pattern");
            if !is_match && !answer.pane.status.is_live() {
                return self.key;
            }
            if let (true, Some(line)) = (is_match, answer.evidence.first()) {
                let found = LineMatch {
                    rule: self.key.0.clone(),
                    pane: answer.pane,
                    line: line.text.trim().chars().take(MAX_LINE).collect(),
                    offset: next,
                    next,
                };
                if self.found.send(found).await.is_err() {
                    return self.key;
                }
                sleep(MATCH_PAUSE).await;
            }
            since = json!(next);
        }
    }

    async fn wait(&self, since: &Value) -> Result<WaitAnswer, WaitFailure> {
        let params = json!({
            "paneId": self.pane,
            "pattern": self.pattern,
            "since": since,
            "timeoutMs": WAIT_MS,
        });
        let answer =
            self.kernel.dispatch("pane:wait", params.to_string().as_bytes(), &self.caller).await;
        let answer = answer.map_err(|refusal| match refusal.code {
            paned_model::Code::NotFound | paned_model::Code::Gone => WaitFailure::Gone,
            _ => WaitFailure::Later,
        })?;
        serde_json::from_str(answer.get()).map_err(|_| WaitFailure::Gone)
    }
}

enum WaitFailure {
    /// The pane is gone.
    Gone,
    /// The pane cannot be read now.
    Later,
}
