//! What the model knows: facts with their times, in order.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Fact {
    /// When.
    pub at: Instant,
    /// The request it belongs to, counted from 0.
    pub request: usize,
    /// What.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
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
    Ended(End),
    /// The program hung up before the whole answer was out.
    Aborted,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
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
pub(super) struct Truth {
    known: Mutex<Known>,
    more: Condvar,
}

#[derive(Default)]
struct Known {
    facts: Vec<Fact>,
    requests: usize,
    open: HashSet<usize>,
    /// The requests that failed, by their length and text: the next one like it is another try.
    failed: HashSet<(usize, String)>,
}

impl Truth {
    /// A request came; answers its number.
    pub(super) fn asked(&self, messages: usize, prompt: Option<Prompt>, aside: bool) -> usize {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let request = known.requests;
        known.requests += 1;
        let text = prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
        let again = known.failed.remove(&(messages, text));
        if !aside {
            known.open.insert(request);
        }
        known.facts.push(Fact {
            at: Instant::now(),
            request,
            what: What::Asked { prompt, aside, again },
        });
        self.more.notify_all();
        request
    }

    pub(super) fn tell(&self, request: usize, what: What) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(what, What::Ended(_) | What::Aborted) {
            known.open.remove(&request);
        }
        known.facts.push(Fact { at: Instant::now(), request, what });
        self.more.notify_all();
    }

    /// A request failed: the same again is another try, not another prompt.
    pub(super) fn failed(&self, messages: usize, text: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.failed.insert((messages, text.to_owned()));
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).facts.clone()
    }

    pub(super) fn open(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }

    pub(super) fn wait<T>(
        &self,
        within: Duration,
        mark: usize,
        mut look: impl FnMut(&[Fact]) -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + within;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = look(known.facts.get(mark..).unwrap_or_default()) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let woken = self.more.wait_timeout(known, left);
            known = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
