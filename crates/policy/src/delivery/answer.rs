//! Answering a question on an agent's screen: key by key, and only while it is that question.

use std::fmt;

use paned_model::{Dialog, DialogOption, Time};

use paned_term::keys::Key;

use super::{AgentObservation, DeliveryStep, InputAction, WriteResult};
use crate::agent::{REDRAW_TIMEOUT, without_checkbox};

/// How long a question must be seen before the first key. Claude Code ignores keys for 150 ms after it has drawn one.
const FIRST: u64 = 300;
/// Between two keys, in milliseconds; programs that draw themselves anew after each take no two at once.
const BETWEEN: u64 = 90;
/// How long after a write that did not happen the next one is tried.
const AGAIN: u64 = 15;
/// How long a screen may keep moving between every look and the write after it.
const RESTLESS: u64 = 15_000;
/// How long nothing may be printed, and the question be missing, until it is gone: until then it may be half drawn.
const SETTLED: u64 = 700;
/// How long the question must be missing after the last key until it is answered.
const LEFT: u64 = 150;
/// How long the option may take to be shown as selected before Enter confirms it.
const SELECT: u64 = 5_000;
/// How long the question may stay on the screen after the last key.
const CONFIRM: u64 = 5_000;

/// Which option is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionChoice {
    /// By its number, counted from 1.
    Number(usize),
    /// By what it says, or a word of ours: `yes`, `no`, `always`.
    Label(String),
}

/// That a question has no such option, with those it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchOption(String);

impl fmt::Display for NoSuchOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The option that is meant.
///
/// # Errors
/// A sentence that names the options when none or more than one is.
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
        [_] => Err(NoSuchOption("which keys choose that option is not known".to_owned())),
        [] => Err(NoSuchOption(format!("the question has no such option; {}", options(dialog)))),
        [..] => Err(NoSuchOption(format!("several options fit; {}", options(dialog)))),
    }
}

/// The options that a label means: said just so, or as a word of ours, or as the only one that begins like it.
fn labelled<'a>(dialog: &'a Dialog, label: &str) -> Vec<&'a DialogOption> {
    let label = label.to_lowercase();
    let says = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        let is_meant = |option: &&DialogOption| {
            let said = option.label.to_lowercase();
            fits(&said) || fits(without_checkbox(&said))
        };
        dialog.options.iter().filter(is_meant).collect()
    };
    let exact = says(&|said| said == label);
    if !exact.is_empty() {
        return exact;
    }
    let lasting = |option: &&DialogOption| is_permanent(&option.label);
    let allowing = |allows: bool| {
        let fits = move |option: &&DialogOption| option.allows == Some(allows);
        dialog.options.iter().filter(fits)
    };
    match label.as_str() {
        // The narrowest yes: once, where there is a choice.
        "yes" => allowing(true).find(|option| !lasting(option)).into_iter().collect(),
        "always" => allowing(true).find(lasting).into_iter().collect(),
        "no" => {
            let narrow = allowing(false).find(|option| !lasting(option));
            narrow.or_else(|| allowing(false).next()).into_iter().collect()
        }
        _ => says(&|said| said.starts_with(&label)),
    }
}

/// Whether an option is for more than this once.
fn is_permanent(label: &str) -> bool {
    let label = label.to_lowercase().replace('\u{2019}', "'");
    let mut words = label.split(|c: char| !c.is_alphanumeric());
    let telling = ["always", "all", "session", "every", "everything", "never"];
    label.contains("don't ask") || words.any(|word| telling.contains(&word))
}

fn options(dialog: &Dialog) -> String {
    if dialog.options.is_empty() {
        return "its options cannot be read".to_owned();
    }
    let named = |(n, option): (usize, &DialogOption)| format!("{} `{}`", n + 1, option.label);
    let named: Vec<_> = dialog.options.iter().enumerate().map(named).collect();
    format!("it has {}", named.join(", "))
}

/// A question that is being answered.
#[derive(Clone, Debug)]
pub struct AnswerAttempt {
    dialog: String,
    /// Whether every word must be as it was; otherwise the same question may be read with more or fewer of its lines.
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
    /// Since when that is so.
    settled: Time,
}

/// How far answering a question has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerProgress {
    /// Do this next.
    Next(DeliveryStep),
    /// All keys are pressed, and the question is gone.
    Answered,
    /// All keys are pressed, and the question is still there.
    StillAsked,
    /// The option was never shown as selected, so Enter was not pressed; so many keys were.
    NotSelected(usize),
    /// Another question is there, or none; so many keys were pressed.
    QuestionGone(usize),
}

impl AnswerAttempt {
    /// Answers this question with this option of it.
    ///
    /// # Errors
    /// A sentence when one of its keys is none.
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

    /// Goes on where the same question is read with more or fewer of its lines: a first look may have come before all of
    /// it was drawn.
    #[must_use]
    pub fn allow_redraw(self) -> Self {
        Self { exact: false, ..self }
    }

    /// Presses Enter after the option's own key, where it has one.
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

    /// What to do next, from what is seen now.
    pub fn step(&mut self, sight: &AgentObservation<'_>, now: Time) -> AnswerProgress {
        let Some(dialog) = sight.dialog.filter(|dialog| self.is_same_question(dialog)) else {
            return self.question_missing(sight, now);
        };
        self.missing = None;
        self.not_before.get_or_insert(Time(now.0 + FIRST));
        let done = self.pressed == self.keys.len();
        let until = self.last.filter(|_| done).map(|last| Time(last.0 + CONFIRM));
        let wait = until.or(self.not_before).filter(|until| now < *until);
        if let Some(until) = wait {
            return AnswerProgress::Next(super::step::wait_briefly(
                Some(until),
                "the question is answered",
            ));
        }
        let Some(key) = self.keys.get(self.pressed) else { return AnswerProgress::StillAsked };
        if self.confirms() && !self.is_selected(dialog) {
            let until = Time(self.last.unwrap_or(now).0 + SELECT);
            if until <= now {
                return AnswerProgress::NotSelected(self.pressed);
            }
            return AnswerProgress::Next(super::step::wait_briefly(
                Some(until),
                "the option is being selected",
            ));
        }
        AnswerProgress::Next(DeliveryStep::Write(InputAction::Press(vec![*key]), sight.guard()))
    }

    /// The question is not to be seen. It may only be half drawn: it is gone once the screen stands still without it, or
    /// after so long that it would be another one.
    fn question_missing(&mut self, sight: &AgentObservation<'_>, now: Time) -> AnswerProgress {
        let seen = (sight.end, sight.dialog.map(|dialog| dialog.id.clone()));
        let missing = self.missing.get_or_insert(MissingQuestion {
            since: now,
            seen: seen.clone(),
            settled: now,
        });
        if missing.seen != seen {
            (missing.seen, missing.settled) = (seen, now);
        }
        let done = self.pressed == self.keys.len();
        let gone = match done {
            true => Time(missing.since.0 + LEFT),
            false => Time((missing.settled.0 + SETTLED).min(missing.since.0 + REDRAW_TIMEOUT)),
        };
        match (now < gone, done) {
            (true, _) => AnswerProgress::Next(super::step::wait_briefly(
                Some(gone),
                "the question may be drawn again",
            )),
            (false, true) => AnswerProgress::Answered,
            (false, false) => AnswerProgress::QuestionGone(self.pressed),
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

    /// Whether the option is shown as selected; also where a program does not show which one is.
    fn is_selected(&self, dialog: &Dialog) -> bool {
        let shows = dialog.options.iter().any(|option| option.selected);
        !shows || dialog.options.get(self.option).is_some_and(|option| option.selected)
    }

    /// How the write went; a sentence if that ends it.
    pub fn write_finished(&mut self, how: &WriteResult, now: Time) -> Option<String> {
        match how {
            WriteResult::Done { .. } => {
                self.pressed += 1;
                self.moved_since = None;
                (self.last, self.not_before) = (Some(now), Some(Time(now.0 + BETWEEN)));
                None
            }
            WriteResult::Stale | WriteResult::Unread => {
                let since = *self.moved_since.get_or_insert(now);
                self.not_before = Some(Time(now.0 + AGAIN));
                (RESTLESS <= now.since(since))
                    .then(|| "something moved between every look and the key".to_owned())
            }
            WriteResult::Refused(why) | WriteResult::Unknown(why) => Some(why.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use paned_model::BlockKind;

    use super::super::tests::FakeObservation;
    use super::*;

    fn dialog(options: &[(&str, Option<bool>)]) -> Dialog {
        let option = |(n, (label, allows)): (usize, &(&str, Option<bool>))| DialogOption {
            label: (*label).to_owned(),
            keys: vec![(n + 1).to_string()],
            selected: n == 0,
            allows: *allows,
        };
        Dialog {
            id: "d".into(),
            kind: BlockKind::Permission,
            text: "Run it?".into(),
            options: options.iter().enumerate().map(option).collect(),
        }
    }

    #[track_caller]
    fn check(choice: OptionChoice, expect: Result<&str, &str>) {
        let asked = dialog(&[
            ("Yes", Some(true)),
            ("Yes, and don't ask again for `touch`", Some(true)),
            ("No, tell it what to do (esc)", Some(false)),
        ]);
        let got = choose(&asked, &choice).map(|option| option.keys[0].clone());
        let got = got.map_err(|refused| refused.to_string());
        match expect {
            Ok(key) => assert_eq!(got.as_deref(), Ok(key)),
            Err(words) => assert!(got.as_ref().unwrap_err().contains(words), "{got:?}"),
        }
    }

    fn label(text: &str) -> OptionChoice {
        OptionChoice::Label(text.to_owned())
    }

    /// A question with three buttons, of which one is selected.
    fn buttons(id: &str, selected: usize) -> Dialog {
        let mut asked = dialog(&[("Once", Some(true)), ("Always", Some(true)), ("Reject", None)]);
        asked.id = id.to_owned();
        for (at, option) in asked.options.iter_mut().enumerate() {
            option.selected = at == selected;
            option.keys = vec!["right".to_owned(); at];
            option.keys.push("enter".to_owned());
        }
        asked
    }

    /// Answers the question with its last option while these screens are seen, each for some milliseconds.
    fn play(screens: &[(u64, Option<Dialog>)]) -> (Vec<String>, AnswerProgress) {
        let asked = buttons("1", 0);
        let mut answering = AnswerAttempt::new(&asked, &asked.options[2]).unwrap();
        let (mut scene, mut now) = (FakeObservation::ready(), Time(1_000_000));
        for (ms, dialog) in screens {
            scene.dialog.clone_from(dialog);
            scene.end += 1;
            let until = Time(now.0 + ms);
            while now < until {
                match answering.step(&scene.observation(), now) {
                    AnswerProgress::Next(DeliveryStep::Write(..)) => {
                        assert!(scene.dialog.as_ref().is_some_and(|it| it.id == "1"), "{now:?}");
                        answering.write_finished(&WriteResult::Done { refereed: true }, now);
                    }
                    AnswerProgress::Next(DeliveryStep::Wait(..)) => {}
                    end => return (answering.pressed().to_vec(), end),
                }
                now = Time(now.0 + 10);
            }
        }
        (
            answering.pressed().to_vec(),
            AnswerProgress::Next(crate::delivery::step::wait_briefly(None, "")),
        )
    }

    #[test]
    fn no_key_is_pressed_on_a_question_that_was_just_drawn() {
        let asked = Some(buttons("1", 0));
        assert_eq!(play(&[(FIRST, asked.clone())]).0.len(), 0);
        assert_eq!(play(&[(FIRST + 10, asked)]).0.len(), 1);
    }

    #[test]
    fn a_box_before_a_label_need_not_be_said() {
        let asked = dialog(&[("[ ] Header", None), ("[✔] Footer", None)]);
        assert_eq!(choose(&asked, &label("header")).unwrap().keys, ["1"]);
        assert_eq!(choose(&asked, &label("[✔] Foot")).unwrap().keys, ["2"]);
    }

    #[test]
    fn a_redraw_between_two_keys_is_no_answer() {
        let at = |selected| Some(buttons("1", selected));
        let other = Some(buttons("2", 0));
        // Blank, then half drawn as if another question, with something printed all the time.
        let redraw = [(350, at(0)), (600, None), (600, other), (400, None), (300, at(1))];
        let end = [(300, at(2)), (400, None)];
        let (pressed, progress) = play(&[&redraw[..], &end[..]].concat());
        assert_eq!(
            (pressed.join(" ").as_str(), progress),
            ("right right enter", AnswerProgress::Answered)
        );
    }

    #[test]
    fn a_question_is_gone_when_the_screen_stands_still_without_it() {
        let asked = Some(buttons("1", 0));
        assert_eq!(play(&[(350, asked.clone()), (1_000, None)]).1, AnswerProgress::QuestionGone(1));
        let other = Some(buttons("2", 0));
        assert_eq!(
            play(&[(350, asked.clone()), (1_000, other)]).1,
            AnswerProgress::QuestionGone(1)
        );
        // It prints on and on.
        let busy: Vec<_> = (0..100).map(|_| (100, None)).collect();
        let (pressed, progress) = play(&[&[(350, asked)][..], &busy].concat());
        assert_eq!((pressed.len(), progress), (1, AnswerProgress::QuestionGone(1)));
    }

    #[test]
    fn a_question_that_is_read_in_full_only_later_is_the_same_for_who_named_none() {
        let (torn, whole) = (buttons("a-1", 0), buttons("b-1", 0));
        let scene = FakeObservation { dialog: Some(whole), ..FakeObservation::ready() };
        let exact = AnswerAttempt::new(&torn, &torn.options[0]).unwrap();
        let step = |mut answering: AnswerAttempt| {
            answering.step(&scene.observation(), Time(1));
            answering.step(&scene.observation(), Time(1_001))
        };
        assert_eq!(step(exact.clone()), AnswerProgress::QuestionGone(0));
        assert!(matches!(
            step(exact.allow_redraw()),
            AnswerProgress::Next(DeliveryStep::Write(..))
        ));
        let next = FakeObservation { dialog: Some(buttons("b-2", 0)), ..FakeObservation::ready() };
        let mut other = AnswerAttempt::new(&torn, &torn.options[0]).unwrap().allow_redraw();
        other.step(&next.observation(), Time(1));
        assert_eq!(other.step(&next.observation(), Time(1_001)), AnswerProgress::QuestionGone(0));
    }

    #[test]
    fn enter_confirms_only_the_option_that_is_shown_as_selected() {
        let (pressed, progress) = play(&[(8_000, Some(buttons("1", 1)))]);
        assert_eq!((pressed.len(), progress), (2, AnswerProgress::NotSelected(2)));
    }

    #[test]
    fn once_is_told_from_always_by_whole_words() {
        let goose = dialog(&[
            ("Allow (Allow the tool call once)", Some(true)),
            ("Always Allow", Some(true)),
            ("Deny", Some(false)),
        ]);
        let chosen = |word: &str| choose(&goose, &label(word)).unwrap().label.as_str();
        assert_eq!(chosen("yes"), "Allow (Allow the tool call once)");
        assert_eq!((chosen("always"), chosen("no")), ("Always Allow", "Deny"));
        assert!(is_permanent("Yes, and don\u{2019}t ask again"));
    }

    #[test]
    fn an_option_is_chosen_by_number_label_or_meaning() {
        check(OptionChoice::Number(2), Ok("2"));
        check(label("yes"), Ok("1"));
        check(label("Always"), Ok("2"));
        check(label("no"), Ok("3"));
        check(label("No, tell"), Ok("3"));
    }

    #[test]
    fn what_fits_nothing_or_too_much_is_told_with_the_options() {
        check(OptionChoice::Number(0), Err("1 `Yes`"));
        check(OptionChoice::Number(4), Err("no such option"));
        check(label("maybe"), Err("no such option"));
        check(label("ye"), Err("several"));
    }

    #[test]
    fn without_a_narrow_yes_none_is_made_up() {
        let asked = dialog(&[("Always allow", Some(true)), ("Reject", Some(false))]);
        assert!(choose(&asked, &label("yes")).is_err());
        assert_eq!(choose(&asked, &label("no")).unwrap().label, "Reject");
    }
}
