//! Fuses what is known of an agent into one state, with its evidence.

use std::sync::Arc;

use paned_model::{AgentState, BlockKind, Dialog, Source, Time};

use super::{Look, Profile};

/// Something that was seen of an agent.
#[derive(Clone, Debug)]
pub enum Observation {
    /// Its screen, whenever that may have changed.
    Screen(Look),
    /// Raw output; titles, progress and prompt marks are read from it as they pass, also between two looks.
    Output(Vec<u8>),
    /// Its own hook or somebody in its name reported.
    Report(Report),
    /// Somebody typed these bytes, as far as they went through us.
    Typed(Vec<u8>),
    /// What is known of its process: whether the agent's program is still in front, or gave way to a shell.
    Process {
        /// Whether the pane's first program is alive.
        alive: bool,
        /// How many processes it has below it.
        children: usize,
    },
    /// Its program ended.
    Exited {
        /// With this code, where it is known.
        code: Option<i32>,
    },
}

/// What a hook said, before the profile makes sense of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The hook's own name for what happened, as `PermissionRequest`.
    pub event: Option<String>,
    /// What else it said: strings by key (`tool_name`, `notification_type`, `message`…).
    pub fields: Vec<(String, String)>,
    /// A state that it claims outright.
    pub state: Option<AgentState>,
    /// A kind of block that it claims outright.
    pub kind: Option<BlockKind>,
}

/// What an agent is doing, with what that rests on.
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
    /// What the word mostly rests on.
    pub source: Source,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// How much of its context is used, in per cent.
    pub context_percent: Option<u8>,
}

/// That an agent does something else now.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it did before.
    pub from: AgentState,
    /// What it does now.
    pub to: Judgement,
    /// How old the evidence is, in milliseconds.
    pub age_ms: u64,
}

/// One piece of evidence, in words that a person understands.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Where it came from.
    pub source: Source,
    /// What it speaks for.
    pub says: AgentState,
    /// How much it counts now, 0 to 1.
    pub weight: f32,
    /// How old it is, in milliseconds.
    pub age_ms: u64,
    /// The sentence.
    pub sentence: String,
}

/// Follows one agent.
#[derive(Clone, Debug)]
pub struct Engine {
    profile: Arc<Profile>,
    judgement: Judgement,
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
            source: Source::Process,
            confidence: 1.0,
            context_percent: None,
        };
        Self { profile, judgement }
    }

    /// Takes in what was seen; answers whether the judgement (state or dialog) is another one now.
    pub fn observe(&mut self, _seen: &Observation, _now: Time) -> Option<Change> {
        None
    }

    /// Time has passed.
    pub fn tick(&mut self, _now: Time) -> Option<Change> {
        None
    }

    /// When [`Engine::tick`] is to be called next, if nothing is seen before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        None
    }

    /// What it is doing.
    #[must_use]
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// The profile it is judged by.
    #[must_use]
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Everything that speaks for or against it, strongest first.
    #[must_use]
    pub fn explain(&self, _now: Time) -> Vec<Reason> {
        Vec::new()
    }
}
