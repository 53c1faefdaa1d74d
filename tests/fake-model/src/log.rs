//! What the model knows: facts with their times, in order.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct ModelEvent {
    /// When.
    pub at: Instant,
    /// The request it belongs to, counted from 0.
    pub request: usize,
    /// What.
    pub kind: ModelEventKind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEventKind {
    /// A request came.
    Asked {
        /// What the person said, if this request brings something new.
        prompt: Option<Prompt>,
        /// Whether it is a call beside the turn: a title, a summary, a check.
        aside: bool,
        /// Whether the same was asked before and failed.
        again: bool,
    },
    /// A request came with what a tool of ours gave, or with the person's refusal of it.
    ToolResult(String),
    /// The first byte of the answer went out.
    FirstByte,
    /// A tool was asked for.
    ToolAsked {
        /// What the program calls it.
        name: String,
        /// What it shall run.
        command: String,
    },
    /// The whole answer went out.
    Ended(AnswerEnd),
    /// The program hung up before the whole answer was out.
    Aborted,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// With words: the turn is over.
    Text,
    /// With a tool call: the turn goes on with its result.
    Tool,
    /// With an error.
    Error,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The last text that the program did not make itself, as it came.
    pub text: String,
    /// All new texts of the request, with those that the program put around it.
    pub parts: Vec<String>,
}

#[derive(Default)]
pub(super) struct ModelLog {
    state: Mutex<ModelLogState>,
    more: Condvar,
}

#[derive(Default)]
struct ModelLogState {
    events: Vec<ModelEvent>,
    requests: usize,
    open: HashSet<usize>,
    /// The requests that failed, by their length and text: the next one like it is another try.
    failed: HashSet<(usize, String)>,
}

impl ModelLog {
    /// A request came; answers its number.
    pub(super) fn asked(&self, messages: usize, prompt: Option<Prompt>, aside: bool) -> usize {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let request = known.requests;
        known.requests += 1;
        let text = prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
        let again = known.failed.remove(&(messages, text));
        if !aside {
            known.open.insert(request);
        }
        known.events.push(ModelEvent {
            at: Instant::now(),
            request,
            kind: ModelEventKind::Asked { prompt, aside, again },
        });
        self.more.notify_all();
        request
    }

    pub(super) fn record(&self, request: usize, what: ModelEventKind) {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(what, ModelEventKind::Ended(_) | ModelEventKind::Aborted) {
            known.open.remove(&request);
        }
        known.events.push(ModelEvent { at: Instant::now(), request, kind: what });
        self.more.notify_all();
    }

    /// A request failed: the same again is another try, not another prompt.
    pub(super) fn failed(&self, messages: usize, text: &str) {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        known.failed.insert((messages, text.to_owned()));
    }

    pub(super) fn events(&self) -> Vec<ModelEvent> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).events.clone()
    }

    pub(super) fn open(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }

    pub(super) fn wait<T>(
        &self,
        within: Duration,
        mark: usize,
        mut look: impl FnMut(&[ModelEvent]) -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + within;
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = look(known.events.get(mark..).unwrap_or_default()) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let woken = self.more.wait_timeout(known, left);
            known = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
