//! What the agent does with keys and time; it draws nothing.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use paned_fake_model::PromptInstruction;
use serde_json::json;

use crate::flags::Flags;
use crate::keys::Key;
use crate::log::Log;
use crate::transcript::Transcript;

/// How long a second Ctrl+C counts as such.
const TWICE: Duration = Duration::from_secs(1);

/// What it is doing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// Not there yet.
    Starting,
    /// Waiting for a prompt.
    Ready,
    /// Working since then, until then if that is known.
    Busy { since: Instant, until: Option<Instant>, then: TurnEnd },
    /// Asking.
    Asking(Dialog),
}

/// What comes at the end of the work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnEnd {
    /// An answer.
    Say(String),
    /// A question whether a command may be run.
    Ask(String),
    /// An error.
    Fail(u16),
}

/// A question with two answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialog {
    pub(crate) kind: &'static str,
    pub(crate) question: &'static str,
    pub(crate) about: String,
    pub(crate) yes: bool,
}

/// What a key or the time has led to; the last one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepOutcome {
    Continue,
    Freeze,
    Crash,
    Exit(u8),
}

pub(crate) struct Agent {
    pub(crate) flags: Flags,
    pub(crate) state: State,
    pub(crate) transcript: Vec<String>,
    pub(crate) composer: Vec<ComposerPiece>,
    pub(crate) queued: VecDeque<String>,
    log: Log,
    started: Instant,
    submitted: usize,
    pastes: usize,
    interrupted: Option<Instant>,
    /// Whether the terminal has answered that it knows OSC 7501.
    pub(crate) reports: bool,
    answers: Transcript,
}

/// A piece of what stands in the composer.
#[derive(Clone, Debug)]
pub(crate) struct ComposerPiece {
    pub(crate) text: String,
    /// What is shown for it, if that is something else.
    pub(crate) shown: Option<String>,
}

impl Agent {
    pub(crate) fn new(flags: Flags, now: Instant) -> io::Result<Self> {
        let log = Log::open(flags.log.as_deref())?;
        Ok(Self {
            state: State::Starting,
            transcript: vec!["fake-agent 1.0".to_owned(), String::new()],
            composer: Vec::new(),
            queued: VecDeque::new(),
            log,
            started: now,
            submitted: 0,
            pastes: 0,
            interrupted: None,
            reports: false,
            answers: Transcript::default(),
            flags,
        })
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, now: Instant) -> io::Result<StepOutcome> {
        self.answers.tick(now)?;
        match self.state.clone() {
            State::Ready
                if self.flags.late_dialog.is_some_and(|late| self.started + late <= now) =>
            {
                self.flags.late_dialog = None;
                self.ask_for_trust()?;
            }
            State::Starting if self.started + self.flags.slow_start <= now => {
                if self.flags.dialog_at_start {
                    self.ask_for_trust()?;
                } else {
                    self.ready(now)?;
                }
            }
            State::Busy { until: Some(until), then, .. } if until <= now => {
                self.finish(then, now)?
            }
            State::Starting | State::Ready | State::Busy { .. } | State::Asking(_) => {}
        }
        Ok(StepOutcome::Continue)
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: &Key, now: Instant) -> io::Result<StepOutcome> {
        if *key == Key::StatusKnown {
            self.reports = true;
            self.log.write("status", json!({}))?;
            return Ok(StepOutcome::Continue);
        }
        match &self.state {
            State::Starting => Ok(StepOutcome::Continue),
            State::Asking(dialog) => self.answer(dialog.clone(), key, now),
            State::Ready | State::Busy { .. } => self.compose(key, now),
        }
    }

    fn compose(&mut self, key: &Key, now: Instant) -> io::Result<StepOutcome> {
        match key {
            Key::Char(char) => self.add(char.to_string(), None),
            Key::Newline => self.add("\n".to_owned(), None),
            Key::Paste(_) if 0 < self.flags.dialog_race => {
                self.flags.dialog_race -= 1;
                self.ask("permission", "Allow this command?", "rm -rf precious".to_owned())?;
            }
            Key::Paste(text) => self.paste(text),
            Key::Backspace => {
                self.backspace();
            }
            Key::Clear => self.composer.clear(),
            Key::Escape => self.interrupt(now)?,
            Key::Interrupt => return self.interrupt_or_end(now),
            Key::Enter if 0 < self.flags.swallow_enter => {
                self.flags.swallow_enter -= 1;
                self.log.write("swallowed", json!({}))?;
            }
            Key::Enter => return self.submit(now),
            Key::Up | Key::Down | Key::StatusKnown => {}
        }
        Ok(StepOutcome::Continue)
    }

    fn add(&mut self, text: String, shown: Option<String>) {
        self.composer.push(ComposerPiece { text, shown });
    }

    fn paste(&mut self, text: &str) {
        let lines = text.lines().count();
        let is_long = self.flags.collapse_paste && 1 < lines;
        self.pastes += usize::from(is_long);
        let shown = || format!("[Pasted text #{} +{} lines]", self.pastes, lines - 1);
        let shown = is_long.then(shown);
        self.add(text.to_owned(), shown);
    }

    /// A collapsed paste goes as a whole.
    fn backspace(&mut self) {
        let Some(mut piece) = self.composer.pop() else { return };
        if piece.shown.is_none() && 1 < piece.text.chars().count() {
            piece.text.pop();
            self.composer.push(piece);
        }
    }

    fn submit(&mut self, now: Instant) -> io::Result<StepOutcome> {
        let text: String = self.composer.drain(..).map(|piece| piece.text).collect();
        if text.trim().is_empty() {
            return Ok(StepOutcome::Continue);
        }
        if text == "/exit" {
            self.log.write("exit", json!({}))?;
            return Ok(StepOutcome::Exit(0));
        }
        self.submitted += 1;
        let is_busy = matches!(self.state, State::Busy { .. });
        self.log.write("prompt", json!({ "text": text, "queued": is_busy }))?;
        if is_busy {
            self.queued.push_back(text);
        } else {
            self.work(&text, now)?;
        }
        let reached = |limit: Option<usize>| limit.is_some_and(|limit| limit <= self.submitted);
        Ok(match (reached(self.flags.crash_after), reached(self.flags.freeze_after)) {
            (true, _) => StepOutcome::Crash,
            (_, true) => StepOutcome::Freeze,
            _ => StepOutcome::Continue,
        })
    }

    fn work(&mut self, prompt: &str, now: Instant) -> io::Result<()> {
        self.transcript.extend(prompt.lines().enumerate().map(|(n, line)| {
            let sign = if n == 0 { "> " } else { "  " };
            format!("{sign}{line}")
        }));
        self.transcript.push(String::new());
        let words = |count: usize| vec!["word"; count].join(" ");
        let say = |text: &str| TurnEnd::Say(text.to_owned());
        let (time, then) = match PromptInstruction::read(prompt) {
            PromptInstruction::Say { delay, words: count, rate, .. } => {
                let speaking = Duration::from_secs_f64(count as f64 / rate);
                (Some(delay + speaking), TurnEnd::Say(words(count)))
            }
            PromptInstruction::Tool { delay, command } => (Some(delay), TurnEnd::Ask(command)),
            PromptInstruction::Error { status } => (Some(self.flags.work), TurnEnd::Fail(status)),
            PromptInstruction::Hang => (None, say("")),
            PromptInstruction::Prose { .. }
            | PromptInstruction::Call { .. }
            | PromptInstruction::Question { .. }
            | PromptInstruction::Mcp
            | PromptInstruction::Plan
            | PromptInstruction::Quote => {
                let sentence = format!("I read {} bytes.", prompt.len());
                (Some(self.flags.work), TurnEnd::Say(sentence))
            }
        };
        self.log.write("busy", json!({}))?;
        self.state = State::Busy { since: now, until: time.map(|time| now + time), then };
        Ok(())
    }

    fn finish(&mut self, then: TurnEnd, now: Instant) -> io::Result<()> {
        match then {
            TurnEnd::Ask(command) => return self.ask("permission", "Allow this command?", command),
            TurnEnd::Say(text) => {
                if let Some(late) = self.flags.transcript {
                    self.answers.answered(&text, late, now);
                }
                self.transcript.extend([format!("* {text}"), String::new()]);
            }
            TurnEnd::Fail(status) => {
                self.transcript
                    .extend([format!("! The model failed with status {status}"), String::new()]);
                self.log.write("error", json!({ "status": status }))?;
            }
        }
        if self.flags.prose_dialog {
            let lines = [
                "* It then asks:",
                "Allow this command?",
                "› 1. Yes",
                "  2. No",
                "enter to confirm · esc to cancel",
                "",
            ];
            self.transcript.extend(lines.map(str::to_owned));
        }
        self.ready(now)
    }

    fn ready(&mut self, now: Instant) -> io::Result<()> {
        if let Some(next) = self.queued.pop_front() {
            return self.work(&next, now);
        }
        self.state = State::Ready;
        self.log.write("ready", json!({}))
    }

    fn ask_for_trust(&mut self) -> io::Result<()> {
        let about = "It may read, edit and run files here.".to_owned();
        self.ask("trust", "Do you trust this folder?", about)
    }

    fn ask(&mut self, kind: &'static str, question: &'static str, about: String) -> io::Result<()> {
        self.log.write("asking", json!({ "dialog": kind, "about": about }))?;
        self.state = State::Asking(Dialog { kind, question, about, yes: true });
        Ok(())
    }

    fn answer(&mut self, mut dialog: Dialog, key: &Key, now: Instant) -> io::Result<StepOutcome> {
        let yes = match key {
            Key::Up | Key::Down => {
                dialog.yes = !dialog.yes;
                self.state = State::Asking(dialog);
                return Ok(StepOutcome::Continue);
            }
            Key::Enter => dialog.yes,
            Key::Char('1' | 'y') => true,
            Key::Char('2' | 'n') | Key::Escape | Key::Interrupt => false,
            _ => return Ok(StepOutcome::Continue),
        };
        self.log
            .write("answer", json!({ "dialog": dialog.kind, "about": dialog.about, "yes": yes }))?;
        if dialog.kind == "trust" && !yes {
            return Ok(StepOutcome::Exit(1));
        }
        if dialog.kind == "permission" {
            let done = if yes { "Ran" } else { "Did not run" };
            self.transcript.extend([format!("* {done} {}", dialog.about), String::new()]);
        }
        self.ready(now)?;
        Ok(StepOutcome::Continue)
    }

    fn interrupt(&mut self, now: Instant) -> io::Result<()> {
        if matches!(self.state, State::Busy { .. }) {
            self.log.write("interrupted", json!({}))?;
            self.transcript.extend(["! Interrupted".to_owned(), String::new()]);
            return self.ready(now);
        }
        Ok(())
    }

    fn interrupt_or_end(&mut self, now: Instant) -> io::Result<StepOutcome> {
        if matches!(self.state, State::Busy { .. }) {
            self.interrupt(now)?;
        } else if !self.composer.is_empty() {
            self.composer.clear();
        } else if self.interrupted.is_some_and(|last| now < last + TWICE) {
            self.log.write("exit", json!({}))?;
            return Ok(StepOutcome::Exit(0));
        } else {
            self.interrupted = Some(now);
        }
        Ok(StepOutcome::Continue)
    }
}
