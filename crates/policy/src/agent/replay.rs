//! Runs the engine over a recording, as it would have run beside the live pane.

use std::sync::Arc;

use paned_model::{AgentState, BlockKind, Size, StateSource, Time};
use paned_term::Screen;
use serde::Serialize;
use serde_json::Value;

use super::{ComposerSign, Engine, EngineInput, HookReport, Profile, ScreenSnapshot};

/// The shortest time between two snapshots.
const LOOK: u64 = 30;
/// How long after output a snapshot waits for the rest: programs clear and redraw in several
/// writes.
const REST: u64 = 8;
/// How long a synchronized update may be held back before a snapshot is taken anyway.
const HELD: u64 = 150;

/// The engine's judgement from a moment on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds from the beginning.
    pub t: f64,
    /// What the agent was doing.
    pub state: AgentState,
    /// The kind of question it waited on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<BlockKind>,
    /// How sure the engine was.
    pub confidence: f32,
    /// The main evidence for it.
    pub source: StateSource,
}

/// The engine's judgements over a recording in asciicast version 2 or 3, changes only. Reports are
/// JSON lines with `t` and the fields that the program's hooks sent.
///
/// # Errors
/// A sentence if the text is not such a recording.
pub fn replay(
    profile: &Arc<Profile>,
    cast: &str,
    reports: Option<&str>,
) -> Result<Vec<Sample>, String> {
    replay_with_learned(profile, cast, reports, Vec::new()).map(|(samples, _)| samples)
}

/// The same with signs learned from an earlier run of the program; returns also the signs learned
/// in this run.
///
/// # Errors
/// As for [`replay`].
pub fn replay_with_learned(
    profile: &Arc<Profile>,
    cast: &str,
    reports: Option<&str>,
    known: Vec<ComposerSign>,
) -> Result<(Vec<Sample>, Vec<ComposerSign>), String> {
    let (size, mut events) = read(cast)?;
    if let Some(reports) = reports {
        events.extend(read_reports(reports)?);
        events.sort_by_key(|event| event.at);
    }
    let mut player = ReplayPlayer::new(profile, size);
    player.engine.restore_learned(known, Time(0));
    for ReplayEvent { at, input } in events {
        player.run_until(at);
        player.take(input, at);
    }
    let learned = player.engine.learned().to_vec();
    Ok((player.samples, learned))
}

struct ReplayEvent {
    at: Time,
    input: ReplayInput,
}

enum ReplayInput {
    Output(String),
    Input(String),
    Resize(Size),
    Report(HookReport),
    Exit(Option<i32>),
}

struct ReplayPlayer {
    engine: Engine,
    screen: Screen,
    /// When the last snapshot was taken.
    looked: Option<Time>,
    /// When the next snapshot is due, if the screen changed.
    due: Option<Time>,
    /// Since when it has changed without a snapshot.
    changed: Option<Time>,
    /// Since when an update is held back.
    held: Option<Time>,
    samples: Vec<Sample>,
}

impl ReplayPlayer {
    fn new(profile: &Arc<Profile>, size: Size) -> Self {
        let start = Time(0);
        let engine = Engine::new(profile.clone(), start);
        let screen = Screen::new(size);
        let mut player = Self {
            engine,
            screen,
            looked: None,
            due: None,
            changed: None,
            held: None,
            samples: Vec::new(),
        };
        player.note(start);
        player
    }

    /// Runs what is due before a moment.
    fn run_until(&mut self, until: Time) {
        let next = |player: &Self| {
            let all = [player.due, player.engine.deadline()];
            all.into_iter().flatten().min().filter(|due| *due <= until)
        };
        while let Some(now) = next(self) {
            if self.due.is_some_and(|due| due <= now) {
                self.look(now);
            } else {
                self.engine.tick(now);
            }
            self.note(now);
        }
    }

    fn look(&mut self, now: Time) {
        self.screen.flush_update();
        self.held = None;
        self.changed = None;
        self.due = None;
        self.looked = Some(now);
        self.engine.observe(&EngineInput::Screen(ScreenSnapshot::of(&self.screen)), now);
    }

    fn take(&mut self, input: ReplayInput, now: Time) {
        match input {
            ReplayInput::Output(text) => {
                self.screen.feed(text.as_bytes());
                self.engine.observe(&EngineInput::Output(text.into_bytes()), now);
                self.changed(now);
            }
            ReplayInput::Input(text) => {
                self.engine.observe(&EngineInput::Typed(text.into_bytes()), now);
            }
            ReplayInput::Resize(size) => {
                self.screen.resize(size);
                self.changed(now);
            }
            ReplayInput::Report(report) => {
                self.engine.observe(&EngineInput::Report(report), now);
            }
            ReplayInput::Exit(code) => {
                self.engine.observe(&EngineInput::Exited { code }, now);
            }
        }
        self.note(now);
    }

    /// The screen may have changed. A snapshot is taken soon, but not in the middle of an update.
    fn changed(&mut self, now: Time) {
        let due = if self.screen.is_update_held() {
            Time(self.held.get_or_insert(now).0 + HELD)
        } else {
            self.held = None;
            let soon = Time(now.0 + REST);
            let last = Time(self.changed.get_or_insert(now).0 + LOOK);
            self.looked.map_or(soon, |looked| Time(looked.0 + LOOK).max(soon).min(last))
        };
        self.due = Some(due);
    }

    fn note(&mut self, now: Time) {
        let judgement = self.engine.judgement();
        let kind = judgement.kind;
        let last = self.samples.last();
        if last.is_some_and(|last| last.state == judgement.state && last.kind == kind) {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a recording is shorter than 285,000 years")]
        let t = now.0 as f64 / 1000.0;
        self.samples.push(Sample {
            t,
            state: judgement.state,
            kind,
            confidence: judgement.confidence,
            source: judgement.source,
        });
    }
}

fn read(cast: &str) -> Result<(Size, Vec<ReplayEvent>), String> {
    let mut lines = cast.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().and_then(|(_, line)| serde_json::from_str::<Value>(line).ok());
    let header = header.filter(Value::is_object);
    let header =
        header.ok_or("the file is not an asciicast: its first line is not a JSON object")?;
    let version = header["version"].as_u64();
    if !matches!(version, Some(2 | 3)) {
        return Err("the file is not an asciicast of version 2 or 3".to_owned());
    }
    let side = |old: &str, new: &str| {
        let side = header[old].as_u64().or_else(|| header["term"][new].as_u64());
        side.and_then(|side| u16::try_from(side).ok())
    };
    let (Some(cols), Some(rows)) = (side("width", "cols"), side("height", "rows")) else {
        return Err("the file's first line does not contain the size of the screen".to_owned());
    };
    let mut events = Vec::new();
    let mut clock = 0.0;
    for (at, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
        let bad = || format!("line {} is not an asciicast event", at + 1);
        let event: Value = serde_json::from_str(line).map_err(|_| bad())?;
        let (Some(t), Some(code), Some(data)) =
            (event[0].as_f64(), event[1].as_str(), event[2].as_str())
        else {
            return Err(bad());
        };
        clock = if version == Some(3) { clock + t } else { t };
        events.extend(parse_input(code, data).map(|input| ReplayEvent { at: time(clock), input }));
    }
    Ok((Size { cols, rows }, events))
}

fn time(seconds: f64) -> Time {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    Time((seconds * 1000.0).round() as u64)
}

fn parse_input(code: &str, data: &str) -> Option<ReplayInput> {
    match code {
        "o" => Some(ReplayInput::Output(data.to_owned())),
        "i" => Some(ReplayInput::Input(data.to_owned())),
        "r" => {
            let (cols, rows) = data.split_once('x')?;
            Some(ReplayInput::Resize(Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? }))
        }
        "x" => Some(ReplayInput::Exit(data.parse().ok())),
        _ => None,
    }
}

fn read_reports(reports: &str) -> Result<Vec<ReplayEvent>, String> {
    let lines = reports.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| read_report(line).ok_or(at)).collect::<Result<_, _>>().map_err(|at| {
        format!("line {} of the reports is not a JSON object with a time `t`", at + 1)
    })
}

fn read_report(line: &str) -> Option<ReplayEvent> {
    let value: Value = serde_json::from_str(line).ok()?;
    let object = value.as_object()?;
    let at = time(object.get("t")?.as_f64()?);
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let names = ["hook_event_name", "event", "type"];
    let event = names.iter().find_map(|name| object.get(*name).and_then(text));
    let fields = object.iter().filter(|(key, _)| *key != "t");
    let fields = fields.filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect();
    let report = HookReport { event, fields, ..HookReport::default() };
    Some(ReplayEvent { at, input: ReplayInput::Report(report) })
}
