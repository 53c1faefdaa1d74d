//! Combines what is known of an agent into one state, with its evidence.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use paned_model::{AgentState, BlockKind, Dialog, StateSource, TerminalState, Time};

use super::facts::AgentFacts;
use super::keystrokes::KeystrokeReader;
use super::{ComposerSign, Profile, ScreenSnapshot, explain, judge, osc_reader};

/// One observation of an agent.
#[derive(Clone, Debug)]
pub enum EngineInput {
    /// Its screen, whenever that may have changed.
    Screen(ScreenSnapshot),
    /// Raw output. Titles, progress and prompt marks are parsed from it, so they are seen between
    /// two snapshots, too.
    Output(Vec<u8>),
    /// Its own hook, or a client on its behalf, reported.
    Report(HookReport),
    /// A user or a client typed these bytes, as far as the keys passed through us.
    Typed(Vec<u8>),
    /// What the kernel reports of its processes.
    Process {
        /// Whether the pane's first program is alive.
        alive: bool,
        /// Whether they used much CPU time since the last observation.
        computes: bool,
        /// Whether one of them waits for input at the terminal and does nothing else.
        waits: bool,
    },
    /// What the kernel reports of its terminal.
    Terminal(TerminalState),
    /// Its program exited.
    Exited {
        /// With this code, where it is known.
        code: Option<i32>,
    },
}

/// What a hook reported, before the profile interprets it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReport {
    /// The hook's own name for what happened, as `PermissionRequest`.
    pub event: Option<String>,
    /// Its other fields: strings by key (`tool_name`, `notification_type`, `message`…).
    pub fields: Vec<(String, String)>,
    /// A state that it claims outright.
    pub state: Option<AgentState>,
    /// A kind of block that it claims outright.
    pub kind: Option<BlockKind>,
}

/// What an agent is doing, and the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What it is doing.
    pub state: AgentState,
    /// The question it waits on.
    pub dialog: Option<Dialog>,
    /// Until when it is limited.
    pub until: Option<Time>,
    /// Since when.
    pub since: Time,
    /// The main evidence for the state.
    pub source: StateSource,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// How much of its context is used, in per cent.
    pub context_percent: Option<u8>,
}

/// A change of an agent's state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateChange {
    /// What it did before.
    pub from: AgentState,
    /// What it does now.
    pub to: Judgement,
    /// How old the evidence is, in milliseconds.
    pub age_ms: u64,
}

/// One piece of evidence, in a sentence for people.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceItem {
    /// Where it came from.
    pub source: StateSource,
    /// The state that it supports.
    pub supports: AgentState,
    /// How much it counts now, 0 to 1.
    pub weight: f32,
    /// How old it is, in milliseconds.
    pub age_ms: u64,
    /// The sentence.
    pub sentence: String,
}

/// Tracks one agent.
#[derive(Clone, Debug)]
pub struct Engine {
    profile: Arc<Profile>,
    judgement: Judgement,
    facts: AgentFacts,
    signals: osc_reader::OscReader,
    keystrokes: KeystrokeReader,
    recheck_at: Option<Time>,
}

impl Engine {
    /// An agent whose program was just started.
    #[must_use]
    pub fn new(profile: Arc<Profile>, now: Time) -> Self {
        let judgement = Judgement {
            state: AgentState::Starting,
            dialog: None,
            until: None,
            since: now,
            source: StateSource::Process,
            confidence: 1.0,
            context_percent: None,
        };
        Self {
            profile,
            judgement,
            facts: AgentFacts::new(now),
            signals: osc_reader::OscReader::default(),
            keystrokes: KeystrokeReader::default(),
            recheck_at: None,
        }
    }

    /// An agent that ran before it was first observed: its state is unknown until there is
    /// evidence.
    #[must_use]
    pub fn already_running(profile: Arc<Profile>, now: Time) -> Self {
        let mut engine = Self::new(profile, now);
        engine.judgement.state = AgentState::Unknown;
        engine.judgement.confidence = 0.3;
        engine.facts.was_ready = true;
        engine
    }

    /// The same agent judged by another profile from now on. The last judgement is kept until that
    /// profile has evidence for another one.
    #[must_use]
    pub fn with_profile(&self, profile: Arc<Profile>, now: Time) -> Self {
        let mut new = Self::new(profile, now);
        new.judgement = self.judgement.clone();
        new.facts.was_ready = self.facts.was_ready;
        new.facts.turn = self.facts.turn;
        new.facts.prompt = self.facts.prompt.clone();
        new.facts.exited = self.facts.exited;
        new.facts.status = self.facts.status;
        new.facts.statuses = self.facts.statuses.clone();
        new.facts.learned = self.facts.learned.clone();
        new.facts.terminal = self.facts.terminal;
        new.facts.rest_modes = self.facts.rest_modes;
        new
    }

    /// Takes one observation; returns the change if the judgement (state or dialog) is a new one.
    pub fn observe(&mut self, seen: &EngineInput, now: Time) -> Option<StateChange> {
        let was_busy = judge::is_busy(&self.facts, &self.profile, now);
        let entered = self.facts.enter.as_ref().map(|enter| enter.at);
        match seen {
            EngineInput::Screen(look) => self.facts.observe_screen(look, &self.profile, now),
            EngineInput::Output(bytes) => self.output(bytes, now),
            EngineInput::Report(report) => self.facts.observe_report(report, &self.profile, now),
            EngineInput::Typed(bytes) => {
                for stroke in self.keystrokes.read(bytes) {
                    self.facts.observe_keystroke(&stroke, &self.profile, now);
                }
            }
            EngineInput::Process { alive: false, .. } => {
                self.facts.exited = self.facts.exited.or(Some(None));
            }
            EngineInput::Process { computes, waits, .. } => {
                self.facts.computed = computes.then_some(now).or(self.facts.computed);
                self.facts.waited = waits.then_some(now);
            }
            EngineInput::Terminal(terminal) => self.facts.terminal = Some(*terminal),
            EngineInput::Exited { code } => self.facts.exited = Some(*code),
        }
        let is_busy = judge::is_busy(&self.facts, &self.profile, now);
        let is_new = entered != self.facts.enter.as_ref().map(|enter| enter.at);
        if (was_busy && !is_new) || is_busy || self.facts.dialog.value.is_some() {
            self.facts.busy = Some(now);
            self.facts.turn |= is_busy;
        }
        self.judge(now)
    }

    fn output(&mut self, bytes: &[u8], now: Time) {
        let facts = &mut self.facts;
        let profile = &self.profile;
        facts.printed_at = now;
        self.signals.feed(bytes, |signal| facts.observe_signal(signal, profile, now));
    }

    /// Adds what an earlier run of the program taught about its composer, and when that was.
    pub fn restore_learned(&mut self, signs: Vec<ComposerSign>, at: Time) {
        self.facts.learned.restore(signs, at);
    }

    /// The composers with which the program accepted input, learned without a profile.
    #[must_use]
    pub fn learned(&self) -> &[ComposerSign] {
        self.facts.learned.accepted()
    }

    /// The beginning of the last prompt that was submitted, as it was typed or else as its
    /// composer showed it. Answers to questions are not prompts.
    #[must_use]
    pub fn prompt(&self) -> Option<&str> {
        self.facts.prompt.as_deref()
    }

    /// Judges again after time has passed.
    pub fn tick(&mut self, now: Time) -> Option<StateChange> {
        self.judge(now)
    }

    fn judge(&mut self, now: Time) -> Option<StateChange> {
        let verdict = judge::judge(&self.facts, &self.profile, self.judgement.state, now);
        self.recheck_at = verdict.recheck_at.filter(|again| now < *again);
        self.facts.note_verdict(verdict.state);
        let findings = self.facts.findings.as_ref();
        let dialog = match verdict.state {
            AgentState::Blocked => findings.and_then(|findings| findings.dialog.clone()),
            _ => None,
        };
        let from = self.judgement.state;
        let is_other = from != verdict.state
            || self.judgement.dialog.as_ref().map(|it| &it.id) != dialog.as_ref().map(|it| &it.id);
        let context = findings.and_then(|findings| findings.context);
        self.judgement = Judgement {
            state: verdict.state,
            dialog,
            until: self.facts.until().filter(|_| verdict.state == AgentState::Limited),
            since: if is_other { now } else { self.judgement.since },
            source: verdict.source,
            confidence: verdict.confidence,
            context_percent: context.or(self.judgement.context_percent),
        };
        let age_ms = now.since(verdict.at);
        is_other.then(|| StateChange { from, to: self.judgement.clone(), age_ms })
    }

    /// When to call [`Engine::tick`] next if there is no observation before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.recheck_at
    }

    /// What it is doing.
    #[must_use]
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// The kind of question it waits on, also if only a hook or a title reported it.
    #[must_use]
    pub fn kind(&self) -> Option<BlockKind> {
        if self.judgement.state != AgentState::Blocked {
            return None;
        }
        let asked = self.judgement.dialog.as_ref().map(|dialog| dialog.kind);
        asked.or_else(|| self.facts.kind()).or(Some(BlockKind::Permission))
    }

    /// The profile it is judged by.
    #[must_use]
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// All evidence for or against the state, strongest first.
    #[must_use]
    pub fn explain(&self, now: Time) -> Vec<EvidenceItem> {
        explain::reasons(&self.facts, &self.profile, now)
    }
}
