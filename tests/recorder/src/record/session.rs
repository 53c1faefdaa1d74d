//! One program in one pane, driven as a person would, with everything noted.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use paned_model::Size;
use serde_json::{Map, Value, json};

use super::screen_marks::{self, ScreenMarks};
use super::tape_watcher::{TapeWatcher, TimedScreen};
use super::tty;
use paned_e2e::{Cli, RealAgent, Server, wait_within};
use paned_fake_model::FakeModel;
use paned_fake_model::{AnswerEnd, ModelEvent, ModelEventKind};

/// How long a screen must not change to be idle. Every program changes it at least once a second
/// while it works.
const IDLE_TIME: Duration = Duration::from_millis(1600);
/// How long anything may take.
const LONG: Duration = Duration::from_secs(90);

/// How long between two looks at the terminal's modes.
const BETWEEN: Duration = Duration::from_millis(10);

const PANE: &str = "recorded";

/// What was true from a time on.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) at: Instant,
    pub(super) state: &'static str,
    pub(super) source: &'static str,
    pub(super) more: Map<String, Value>,
}

/// Something that was typed or is known.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) at: Instant,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

pub(super) struct RecordSession {
    pub(super) real: RealAgent,
    pub(super) marks: ScreenMarks,
    pub(super) model: FakeModel,
    pub(super) start: Instant,
    pub(super) size: Size,
    pub(super) labels: Vec<Label>,
    pub(super) watcher: TapeWatcher,
    notes: Arc<Mutex<Vec<Note>>>,
    ended: Arc<AtomicBool>,
    terminal: Option<JoinHandle<()>>,
    /// The facts of the model that belong to the turn under way.
    turn: usize,
    /// Last, so that it ends after everything that looks at it.
    server: Server,
}

/// Whether something stands in the composer, so that its usual words do not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Composer {
    Empty,
    Drafted,
}

impl RecordSession {
    /// Starts the program and waits until it is ready.
    pub(super) fn begin(cli: Cli, size: Size) -> Self {
        let (server, model) = (Server::start_bare(), FakeModel::start());
        let real = RealAgent::new(cli, &model);
        let start = Instant::now();
        server.act("pane:new", real.params(PANE, size.cols, size.rows));
        let watch = TapeWatcher::start(server.tape(PANE), size);
        let pid = wait_within(LONG, "a process", || server.pane(PANE)["pid"].as_u64());
        let notes = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let terminal = Some(watch_terminal(pid as u32, notes.clone(), ended.clone()));
        let looks = screen_marks::of(cli);
        let labels = Vec::new();
        let mut drive = Self {
            real,
            marks: looks,
            model,
            start,
            size,
            labels,
            watcher: watch,
            notes,
            ended,
            terminal,
            turn: 0,
            server,
        };
        drive.label(start, "starting", "spawn");
        drive.wait_until_idle("ready", "screen", Composer::Empty);
        drive
    }

    /// Lets time pass, as a person does who reads or thinks.
    pub(super) fn pause(&self, seconds: f64) {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }

    pub(super) fn note(&self, kind: &'static str, text: &str) {
        self.notes.lock().unwrap().push(Note { at: Instant::now(), kind, text: text.to_owned() });
    }

    pub(super) fn label(&mut self, at: Instant, state: &'static str, source: &'static str) {
        self.labels.push(Label { at, state, source, more: Map::new() });
    }

    /// Writes to the terminal in one piece. A program that has ended meanwhile reads nothing.
    pub(super) fn types(&self, text: &str, why: &str) -> Instant {
        let at = Instant::now();
        self.note("i", text);
        self.note("m", why);
        let _ = self.server.try_act("pane:write", json!({ "paneId": PANE, "text": text }));
        at
    }

    /// Types one key after the other.
    pub(super) fn types_slowly(&self, text: &str, why: &str) {
        for key in text.chars() {
            self.types(&key.to_string(), why);
            self.pause(0.07);
        }
    }

    /// Presses keys, each its own write; answers when the last one was.
    pub(super) fn presses(&self, keys: &[&str], why: &str) -> Instant {
        let mut at = Instant::now();
        for (n, key) in keys.iter().enumerate() {
            if 0 < n {
                // A menu needs time to open; a second Ctrl+C counts only shortly after the first.
                self.pause(if keys[0].starts_with('/') { 0.8 } else { 0.2 });
            }
            at = self.types(key, why);
        }
        at
    }

    /// Sends a prompt that begins a turn.
    pub(super) fn prompts(&mut self, text: &str) {
        self.turn = self.model.mark();
        self.types(text, "type prompt");
        self.enters();
    }

    /// The same, in a bracketed paste.
    pub(super) fn pastes(&mut self, text: &str) {
        self.turn = self.model.mark();
        self.types(&format!("\u{1b}[200~{text}\u{1b}[201~"), "paste prompt");
        self.enters();
    }

    fn enters(&mut self) {
        self.pause(0.4);
        let at = self.types("\r", "enter");
        self.label(at, "busy", "enter");
        self.model
            .wait_within(LONG, "the prompt", self.turn, |facts| turns(facts).next().map(|_| ()));
    }

    /// Waits until the screen has come to rest and the model is not asked; labels when that began.
    pub(super) fn wait_until_idle(
        &mut self,
        state: &'static str,
        source: &'static str,
        composer: Composer,
    ) {
        let rested = self.is_idle_within(LONG, state, source, composer);
        assert!(rested, "never at rest:\n{}", self.watcher.rows().join("\n"));
    }

    /// The same, for so long; whether it came to rest.
    pub(super) fn is_idle_within(
        &mut self,
        within: Duration,
        state: &'static str,
        source: &'static str,
        composer: Composer,
    ) -> bool {
        let end = Instant::now() + within;
        while !self.is_idle(composer) {
            if end < Instant::now() {
                return false;
            }
            self.pause(0.02);
        }
        let reply = self.last_end();
        let after = reply.max(self.labels.last().map_or(self.start, |label| label.at));
        let at = self.since(after);
        self.label(at, state, source);
        if after == reply && reply != self.start {
            let after = round(reply.duration_since(self.start));
            self.labels.last_mut().unwrap().more.insert("after".to_owned(), json!(after));
        }
        true
    }

    /// Whether nothing has moved on the screen for a good while.
    pub(super) fn is_still(&self) -> bool {
        let seen = self.watcher.seen.lock().unwrap();
        seen.shots.last().is_some_and(|last| 2 * IDLE_TIME < last.at.elapsed())
    }

    fn is_idle(&self, composer: Composer) -> bool {
        let seen = self.watcher.seen.lock().unwrap();
        let Some(last) = seen.shots.last() else { return false };
        let quiet = IDLE_TIME < last.at.elapsed() && IDLE_TIME < self.last_fact().elapsed();
        let ready = composer == Composer::Drafted || self.marks.is_ready(&last.rows);
        quiet && ready && self.model.open() == 0
    }

    /// The time since which the marks on the screen are as they are now. Text that only looks like
    /// a mark does not matter, as it does not change meanwhile.
    fn since(&self, after: Instant) -> Instant {
        let seen = self.watcher.seen.lock().unwrap();
        let marks = |shot: &TimedScreen| {
            let ready = self.marks.is_ready(&shot.rows);
            let title = self.marks.titled.then(|| shot.title.clone());
            (screen_marks::count(&shot.rows, self.marks.busy), ready, title)
        };
        let now = marks(seen.shots.last().unwrap());
        let same = seen.shots.iter().rev().take_while(|shot| marks(shot) == now);
        same.last().map_or(after, |shot| shot.at).max(after)
    }

    /// Waits until the program asks whether it may run a command; labels it.
    pub(super) fn asks(&mut self) {
        let bare = self.real.cli() == Cli::Aider;
        let asked = self.model.wait_within(LONG, "the tool call", self.turn, |facts| {
            let tool = if bare { AnswerEnd::Text } else { AnswerEnd::Tool };
            facts.iter().find(|fact| fact.kind == ModelEventKind::Ended(tool)).map(|fact| fact.at)
        });
        let before = screen_marks::count(&self.shot_at(asked).rows, self.marks.permission);
        let at = wait_within(LONG, "a question", || {
            let seen = self.watcher.seen.lock().unwrap();
            let asks = |shot: &&TimedScreen| {
                before < screen_marks::count(&shot.rows, self.marks.permission)
            };
            seen.shots.iter().filter(|shot| asked <= shot.at).find(asks).map(|shot| shot.at)
        });
        self.label(at, "permission", "reply+screen");
        let after = round(asked.duration_since(self.start));
        self.labels.last_mut().unwrap().more.insert("after".to_owned(), json!(after));
        self.pause(2.0);
    }

    /// The screen at a time.
    pub(super) fn shot_at(&self, at: Instant) -> TimedScreen {
        let seen = self.watcher.seen.lock().unwrap();
        let shot = seen.shots.iter().rev().find(|shot| shot.at <= at);
        shot.or(seen.shots.first()).cloned().unwrap()
    }

    /// Gives the terminal another size.
    pub(super) fn resizes(&self, cols: u16, rows: u16) {
        self.note("r", &format!("{cols}x{rows}"));
        let size = json!({ "paneId": PANE, "size": { "cols": cols, "rows": rows } });
        self.server.act("pane:resize", size);
        self.watcher.resize(Size { cols, rows });
    }

    /// Ends the program and labels its end.
    pub(super) fn quits(&mut self) {
        self.note("m", "quit");
        let at = self.presses(self.real.cli().quit_keys(), "quit key");
        self.label(at, "quitting", "key");
        let ended = self.ends_within(Duration::from_secs(15)).unwrap_or_else(|| {
            self.note("m", "it does not end; killing it");
            self.server.act("pane:kill", json!({ "paneId": PANE }));
            self.ends_within(LONG).unwrap()
        });
        self.ended.store(true, Ordering::Relaxed);
        self.terminal.take().map(JoinHandle::join);
        self.watcher.finish();
        self.label(ended.0, "exited", "waitpid");
        let code = ended.1["exitCode"].clone();
        self.labels.last_mut().unwrap().more.insert("code".to_owned(), code);
    }

    /// When it ended, and how, if it does within this time.
    fn ends_within(&self, within: Duration) -> Option<(Instant, Value)> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            let pane = self.server.pane(PANE);
            if pane["status"] != "running" && pane["status"] != "starting" {
                return Some((Instant::now(), pane));
            }
            self.pause(0.005);
        }
        None
    }

    /// Everything that was typed or is known, in order.
    pub(super) fn notes(&self) -> Vec<Note> {
        let mut notes = self.notes.lock().unwrap().clone();
        notes.extend(self.model.events().iter().filter_map(to_note));
        notes.sort_by_key(|note| note.at);
        notes
    }

    /// When the last answer of a turn ended. A call outside the turn, as for a title, may come
    /// after it.
    pub(super) fn last_end(&self) -> Instant {
        let facts = self.model.events();
        let asides: HashSet<_> = facts.iter().filter(is_aside).map(|fact| fact.request).collect();
        let ends = |fact: &&ModelEvent| {
            matches!(fact.kind, ModelEventKind::Ended(_) | ModelEventKind::Aborted)
                && !asides.contains(&fact.request)
        };
        facts.iter().rev().find(ends).map_or(self.start, |fact| fact.at)
    }

    fn last_fact(&self) -> Instant {
        self.model.events().last().map_or(self.start, |fact| fact.at)
    }
}

fn is_aside(fact: &&ModelEvent) -> bool {
    matches!(fact.kind, ModelEventKind::Asked { aside: true, .. })
}

/// The requests that are turns.
fn turns(facts: &[ModelEvent]) -> impl Iterator<Item = &ModelEvent> {
    facts.iter().filter(|fact| matches!(fact.kind, ModelEventKind::Asked { aside: false, .. }))
}

fn to_note(fact: &ModelEvent) -> Option<Note> {
    let text = match &fact.kind {
        ModelEventKind::Asked { aside: false, .. } => "model request",
        ModelEventKind::Asked { aside: true, .. } => "model request (aside)",
        ModelEventKind::Ended(AnswerEnd::Text) => "model reply end (text)",
        ModelEventKind::Ended(AnswerEnd::Tool) => "model reply end (tool)",
        ModelEventKind::Ended(AnswerEnd::Error) => "model reply end (error)",
        ModelEventKind::Aborted => "model reply aborted",
        ModelEventKind::ToolResult(_)
        | ModelEventKind::ToolAsked { .. }
        | ModelEventKind::FirstByte => return None,
    };
    Some(Note { at: fact.at, kind: "m", text: text.to_owned() })
}

fn watch_terminal(
    pid: u32,
    notes: Arc<Mutex<Vec<Note>>>,
    ended: Arc<AtomicBool>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut last = String::new();
        while !ended.load(Ordering::Relaxed) {
            if let Some(text) = tty::look(pid).filter(|text| *text != last) {
                last.clone_from(&text);
                notes.lock().unwrap().push(Note { at: Instant::now(), kind: "m", text });
            }
            std::thread::sleep(BETWEEN);
        }
    })
}

/// Seconds, to the millisecond.
pub(super) fn round(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}
