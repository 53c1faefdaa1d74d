//! Combines what is known of an agent into one state, with its evidence.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use paned_model::{AgentInfo, AgentState, BlockKind, StateSource, TerminalState, Time};

use super::facts::AgentFacts;
use super::keystrokes::KeystrokeReader;
use super::{ComposerSign, Observation, Profile, ScreenSnapshot, explain, judge, osc_reader};

/// Something new about an agent.
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
    judgement: AgentInfo,
    facts: AgentFacts,
    screen: Option<ScreenSnapshot>,
    signals: osc_reader::OscReader,
    keystrokes: KeystrokeReader,
    recheck_at: Option<Time>,
}

impl Engine {
    /// An agent whose program was just started.
    #[must_use]
    pub fn new(profile: Arc<Profile>, now: Time) -> Self {
        let judgement = AgentInfo {
            profile: profile.name.clone(),
            state: AgentState::Starting,
            kind: None,
            dialog: None,
            until: None,
            since: now,
            source: StateSource::Process,
            confidence: 1.0,
            context_percent: None,
            queued: 0,
        };
        Self {
            profile,
            judgement,
            facts: AgentFacts::new(now),
            screen: None,
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
        let profile = std::mem::take(&mut new.judgement.profile);
        new.judgement = AgentInfo { profile, ..self.judgement.clone() };
        new.screen = self.screen.clone();
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

    /// Takes something new about the agent. If that changes the state or the dialog, returns how
    /// old the evidence is, in milliseconds.
    pub fn observe(&mut self, seen: &EngineInput, now: Time) -> Option<u64> {
        let was_busy = judge::is_busy(&self.facts, &self.profile, now);
        let entered = self.facts.enter.as_ref().map(|enter| enter.at);
        match seen {
            EngineInput::Screen(look) => {
                self.facts.observe_screen(look, &self.profile, now);
                self.screen = Some(look.clone());
            }
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

    /// Judges again after time has passed; returns the same as [`Engine::observe`].
    pub fn tick(&mut self, now: Time) -> Option<u64> {
        self.judge(now)
    }

    fn judge(&mut self, now: Time) -> Option<u64> {
        let verdict = judge::judge(&self.facts, &self.profile, self.judgement.state, now);
        self.recheck_at = verdict.recheck_at.filter(|again| now < *again);
        self.facts.note_verdict(verdict.state);
        let findings = self.facts.findings.as_ref();
        let dialog = match verdict.state {
            AgentState::Blocked => findings.and_then(|findings| findings.dialog.clone()),
            _ => None,
        };
        let asked = dialog.as_ref().map(|dialog| dialog.kind);
        let kind = || asked.or_else(|| self.facts.kind()).or(Some(BlockKind::Permission));
        let is_other = self.judgement.state != verdict.state
            || self.judgement.dialog.as_ref().map(|it| &it.id) != dialog.as_ref().map(|it| &it.id);
        let context = findings.and_then(|findings| findings.context);
        self.judgement = AgentInfo {
            profile: std::mem::take(&mut self.judgement.profile),
            state: verdict.state,
            kind: if verdict.state == AgentState::Blocked { kind() } else { None },
            dialog,
            until: self.facts.until().filter(|_| verdict.state == AgentState::Limited),
            since: if is_other { now } else { self.judgement.since },
            source: verdict.source,
            confidence: verdict.confidence,
            context_percent: context.or(self.judgement.context_percent),
            queued: 0,
        };
        is_other.then(|| now.since(verdict.at))
    }

    /// When to call [`Engine::tick`] next if there is no observation before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.recheck_at
    }

    /// What it is doing, and the evidence for it. The kind of question is also known if only a hook
    /// or a title reported it.
    #[must_use]
    pub fn judgement(&self) -> &AgentInfo {
        &self.judgement
    }

    /// The last snapshot of its screen.
    #[must_use]
    pub fn screen(&self) -> Option<&ScreenSnapshot> {
        self.screen.as_ref()
    }

    /// The last state of its terminal that the kernel reported.
    #[must_use]
    pub fn terminal(&self) -> Option<TerminalState> {
        self.facts.terminal
    }

    /// What the last look at it found.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        let screen = self.screen.as_ref()?;
        let composer = match &self.facts.findings {
            Some(findings) => findings.composer.clone(),
            None => screen.composer(&self.profile),
        };
        let AgentInfo { state, source, dialog, .. } = &self.judgement;
        Some(Observation {
            state: *state,
            inferred: *source == StateSource::Input,
            dialog: dialog.clone(),
            placeholder: self.profile.submit.is_paste_placeholder(&composer),
            composer,
            view: screen.view.clone(),
            end: screen.end,
            typed: screen.typed,
            typed_at: None,
            has_unread_line: self.facts.terminal.is_some_and(|terminal| terminal.has_unread_line),
        })
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
