//! Answers a question on an agent's screen, key by key, and only while it is the same question.

#[cfg(test)]
mod tests;

use std::fmt;

use paned_model::{Dialog, DialogOption, Time};

use paned_term::keys::Key;

use super::{InputAction, Step, WriteResult};
use crate::agent::{Observation, REDRAW_TIMEOUT, without_checkbox};

/// How long a question must be on the screen before the first key. Claude Code ignores keys for 150
/// ms after it has drawn a question.
const FIRST: u64 = 300;
/// The time between two keys, in milliseconds: programs that redraw after each key do not accept
/// two at once.
const BETWEEN: u64 = 90;
/// How long after a skipped write the next one is tried.
const AGAIN: u64 = 15;
/// How long every write may be skipped because the screen changed after the observation.
const RESTLESS: u64 = 15_000;
/// How long the question must be missing without any output until it counts as gone: until then the
/// screen may be half drawn.
const SETTLED: u64 = 700;
/// How long the question must be missing after the last key until it counts as answered.
const LEFT: u64 = 150;
/// How long the program may take to show the option as selected before Enter confirms it.
const SELECT: u64 = 5_000;
/// How long the question may stay on the screen after the last key.
const CONFIRM: u64 = 5_000;

/// Which option is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionChoice {
    /// By its number, counted from 1.
    Number(usize),
    /// By its label, or a generic word: `yes`, `no`, `always`.
    Label(String),
}

/// The question has no such option; names those it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchOption(String);

impl fmt::Display for NoSuchOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The option that a choice means.
///
/// # Errors
/// A sentence that names the options if none or more than one matches.
pub fn choose<'a>(
    dialog: &'a Dialog,
    choice: &OptionChoice,
) -> Result<&'a DialogOption, NoSuchOption> {
    let found = match choice {
        OptionChoice::Number(number) => {
            number.checked_sub(1).and_then(|at| dialog.options.get(at)).into_iter().collect()
        }
        OptionChoice::Label(label) => labelled(dialog, label.trim()),
    };
    match found[..] {
        [option] if !option.keys.is_empty() => Ok(option),
        [_] => Err(NoSuchOption("the keys that choose that option are unknown".to_owned())),
        [] => Err(NoSuchOption(format!("no such option; {}", options(dialog)))),
        [..] => Err(NoSuchOption(format!("several options match; {}", options(dialog)))),
    }
}

/// The options that a label means: an exact match, or a generic word, or else the options that
/// begin with it.
fn labelled<'a>(dialog: &'a Dialog, label: &str) -> Vec<&'a DialogOption> {
    let label = label.to_lowercase();
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        let is_meant = |option: &&DialogOption| {
            let text = option.label.to_lowercase();
            fits(&text) || fits(without_checkbox(&text))
        };
        dialog.options.iter().filter(is_meant).collect()
    };
    let exact = matching(&|text| text == label);
    if !exact.is_empty() {
        return exact;
    }
    let lasting = |option: &&DialogOption| is_permanent(&option.label);
    let allowing = |allows: bool| {
        let fits = move |option: &&DialogOption| option.allows == Some(allows);
        dialog.options.iter().filter(fits)
    };
    match label.as_str() {
        // The narrowest yes: once, if there is a choice.
        "yes" => allowing(true).find(|option| !lasting(option)).into_iter().collect(),
        "always" => allowing(true).find(lasting).into_iter().collect(),
        "no" => {
            let narrow = allowing(false).find(|option| !lasting(option));
            narrow.or_else(|| allowing(false).next()).into_iter().collect()
        }
        _ => matching(&|text| text.starts_with(&label)),
    }
}

/// Whether an option is valid for more than this one time.
fn is_permanent(label: &str) -> bool {
    let label = label.to_lowercase().replace('\u{2019}', "'");
    let mut words = label.split(|c: char| !c.is_alphanumeric());
    let telling = ["always", "all", "session", "every", "everything", "never"];
    label.contains("don't ask") || words.any(|word| telling.contains(&word))
}

fn options(dialog: &Dialog) -> String {
    if dialog.options.is_empty() {
        return "the options on the screen cannot be read".to_owned();
    }
    let named = |(n, option): (usize, &DialogOption)| format!("{} `{}`", n + 1, option.label);
    let named: Vec<_> = dialog.options.iter().enumerate().map(named).collect();
    format!("the options are {}", named.join(", "))
}

/// An attempt to answer a question.
#[derive(Clone, Debug)]
pub struct AnswerAttempt {
    dialog: String,
    /// Whether the question must be exactly the same; otherwise it may have more or fewer of its
    /// lines.
    exact: bool,
    /// Which option.
    option: usize,
    names: Vec<String>,
    keys: Vec<Key>,
    pressed: usize,
    /// Nothing is pressed before this.
    not_before: Option<Time>,
    moved_since: Option<Time>,
    last: Option<Time>,
    missing: Option<MissingQuestion>,
}

/// A question that is not on the screen.
#[derive(Clone, Debug)]
struct MissingQuestion {
    since: Time,
    /// Where the output ended, and which other question was there.
    seen: (u64, Option<String>),
    /// Since when that has not changed.
    settled: Time,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// All keys were pressed, and the question is gone.
    Answered,
    /// All keys were pressed, and the question is still there.
    StillAsked,
    /// The option was never shown as selected, so Enter was not pressed; this many keys were.
    NotSelected(usize),
    /// There is another question, or none; this many keys were pressed.
    QuestionGone(usize),
}

impl AnswerAttempt {
    /// Answers this question with this option of it.
    ///
    /// # Errors
    /// A sentence if one of its keys cannot be parsed.
    pub fn new(dialog: &Dialog, option: &DialogOption) -> Result<Self, NoSuchOption> {
        let key =
            |name: &String| name.parse::<Key>().map_err(|error| NoSuchOption(error.to_string()));
        let keys = option.keys.iter().map(key).collect::<Result<_, _>>()?;
        let at = dialog.options.iter().position(|it| it == option).unwrap_or_default();
        Ok(Self {
            dialog: dialog.id.clone(),
            exact: true,
            option: at,
            names: option.keys.clone(),
            keys,
            pressed: 0,
            not_before: None,
            moved_since: None,
            last: None,
            missing: None,
        })
    }

    /// Accepts the same question with more or fewer of its lines: the first snapshot may have been
    /// taken before all of it was drawn.
    #[must_use]
    pub fn allow_redraw(self) -> Self {
        Self { exact: false, ..self }
    }

    /// Presses Enter after the option's own key, unless Enter is already the last key.
    #[must_use]
    pub fn end_with_enter(mut self) -> Self {
        if self.names.last().is_none_or(|last| last != "enter")
            && let Ok(enter) = "enter".parse()
        {
            self.keys.push(enter);
            self.names.push("enter".to_owned());
        }
        self
    }

    fn is_same_question(&self, dialog: &Dialog) -> bool {
        let number = |id: &str| id.rsplit_once('-').map(|(_, number)| number.to_owned());
        let same = || number(&dialog.id).is_some_and(|it| Some(it) == number(&self.dialog));
        dialog.id == self.dialog || (!self.exact && same())
    }

    /// The keys pressed so far.
    #[must_use]
    pub fn pressed(&self) -> &[String] {
        &self.names[..self.pressed]
    }

    /// The next step, given the current observation.
    pub fn step(&mut self, observation: &Observation, now: Time) -> Step<AnswerOutcome> {
        let dialog = observation.dialog.as_ref().filter(|dialog| self.is_same_question(dialog));
        let Some(dialog) = dialog else { return self.question_missing(observation, now) };
        self.missing = None;
        self.not_before.get_or_insert(Time(now.0 + FIRST));
        let done = self.pressed == self.keys.len();
        let until = self.last.filter(|_| done).map(|last| Time(last.0 + CONFIRM));
        let wait = until.or(self.not_before).filter(|until| now < *until);
        if let Some(until) = wait {
            return Step::Wait(Some(until), ());
        }
        let Some(key) = self.keys.get(self.pressed) else {
            return Step::Finished(AnswerOutcome::StillAsked);
        };
        if self.confirms() && !self.is_selected(dialog) {
            let until = Time(self.last.unwrap_or(now).0 + SELECT);
            return match now < until {
                true => Step::Wait(Some(until), ()),
                false => Step::Finished(AnswerOutcome::NotSelected(self.pressed)),
            };
        }
        Step::Write(InputAction::Press(vec![*key]), observation.guard())
    }

    /// The question is not on the screen. The screen may be half drawn: the question is gone once
    /// there is no output without it, or after so long that it would be a new one.
    fn question_missing(&mut self, observation: &Observation, now: Time) -> Step<AnswerOutcome> {
        let seen = (observation.end, observation.dialog.as_ref().map(|dialog| dialog.id.clone()));
        let missing = self.missing.get_or_insert(MissingQuestion {
            since: now,
            seen: seen.clone(),
            settled: now,
        });
        if missing.seen != seen {
            missing.seen = seen;
            missing.settled = now;
        }
        let done = self.pressed == self.keys.len();
        let gone = match done {
            true => Time(missing.since.0 + LEFT),
            false => Time((missing.settled.0 + SETTLED).min(missing.since.0 + REDRAW_TIMEOUT)),
        };
        match (now < gone, done) {
            (true, _) => Step::Wait(Some(gone), ()),
            (false, true) => Step::Finished(AnswerOutcome::Answered),
            (false, false) => Step::Finished(AnswerOutcome::QuestionGone(self.pressed)),
        }
    }

    /// Whether the next key confirms an option that arrows have moved to.
    fn confirms(&self) -> bool {
        let arrows = ["up", "down", "left", "right"];
        let (last, moves) = match self.names.split_last() {
            Some((last, moves)) if self.pressed == moves.len() => (last, moves),
            _ => return false,
        };
        last == "enter" && moves.iter().all(|key| arrows.contains(&key.as_str()))
    }

    /// Whether the option is shown as selected; also true if the program shows no selection at all.
    fn is_selected(&self, dialog: &Dialog) -> bool {
        let shows = dialog.options.iter().any(|option| option.selected);
        !shows || dialog.options.get(self.option).is_some_and(|option| option.selected)
    }

    /// Takes the result of a write; returns a sentence if it ends the attempt.
    pub fn write_finished(&mut self, how: &WriteResult, now: Time) -> Option<String> {
        match how {
            WriteResult::Done { .. } => {
                self.pressed += 1;
                self.moved_since = None;
                self.last = Some(now);
                self.not_before = Some(Time(now.0 + BETWEEN));
                None
            }
            WriteResult::Stale | WriteResult::Unread => {
                let since = *self.moved_since.get_or_insert(now);
                self.not_before = Some(Time(now.0 + AGAIN));
                (RESTLESS <= now.since(since))
                    .then(|| "the screen kept changing, so no key was pressed".to_owned())
            }
            WriteResult::Refused(why) | WriteResult::Unknown(why) => Some(why.clone()),
        }
    }
}
