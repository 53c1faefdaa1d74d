//! Answering a question on an agent's screen: key by key, and only while it is that question.

use std::fmt;

use paned_model::{Dialog, DialogOption, Time};

use paned_term::keys::Key;

use super::{Act, Sight, Step, Wrote};

/// Between two keys, in milliseconds; programs that draw themselves anew after each take no two at once.
const BETWEEN: u64 = 90;
/// How long after a write that did not happen the next one is tried.
const AGAIN: u64 = 15;
/// How long a screen may keep moving between every look and the write after it.
const RESTLESS: u64 = 15_000;
/// How long a question may be gone from the screen before its first key, while it is drawn anew.
const FLICKER: u64 = 700;
/// How long the question may stay on the screen after the last key.
const CONFIRM: u64 = 5_000;

/// Which option is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
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
pub fn choose<'a>(dialog: &'a Dialog, choice: &Choice) -> Result<&'a DialogOption, NoSuchOption> {
    let found = match choice {
        Choice::Number(number) => {
            number.checked_sub(1).and_then(|at| dialog.options.get(at)).into_iter().collect()
        }
        Choice::Label(label) => labelled(dialog, label.trim()),
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
        dialog.options.iter().filter(|option| fits(&option.label.to_lowercase())).collect()
    };
    let exact = says(&|said| said == label);
    if !exact.is_empty() {
        return exact;
    }
    let lasting = |option: &&DialogOption| is_lasting(&option.label);
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
fn is_lasting(label: &str) -> bool {
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
pub struct Answering {
    dialog: String,
    names: Vec<String>,
    keys: Vec<Key>,
    pressed: usize,
    /// Nothing is pressed before this.
    not_before: Option<Time>,
    moved_since: Option<Time>,
    last: Option<Time>,
    /// Since when it is not to be seen.
    gone_since: Option<Time>,
}

/// How far answering a question has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Do this next.
    Go(Step),
    /// All keys are pressed, and the question is gone.
    Answered,
    /// All keys are pressed, and the question is still there.
    Stays,
    /// Another question is there, or none; so many keys were pressed.
    Gone(usize),
}

impl Answering {
    /// Answers this question with this option of it.
    ///
    /// # Errors
    /// A sentence when one of its keys is none.
    pub fn new(dialog: &Dialog, option: &DialogOption) -> Result<Self, NoSuchOption> {
        let key =
            |name: &String| name.parse::<Key>().map_err(|error| NoSuchOption(error.to_string()));
        let keys = option.keys.iter().map(key).collect::<Result<_, _>>()?;
        let (dialog, names) = (dialog.id.clone(), option.keys.clone());
        Ok(Self {
            dialog,
            names,
            keys,
            pressed: 0,
            not_before: None,
            moved_since: None,
            last: None,
            gone_since: None,
        })
    }

    /// The keys pressed so far.
    #[must_use]
    pub fn pressed(&self) -> &[String] {
        &self.names[..self.pressed]
    }

    /// What to do next, from what is seen now.
    pub fn step(&mut self, sight: &Sight<'_>, now: Time) -> Progress {
        let is_there = sight.dialog.is_some_and(|dialog| dialog.id == self.dialog);
        let done = self.pressed == self.keys.len();
        match (is_there, done) {
            (false, true) => return Progress::Answered,
            (false, false) if self.may_come_back(now) => {
                let until = self.gone_since.map(|since| Time(since.0 + FLICKER));
                return Progress::Go(super::step::passing(until, "the question is drawn anew"));
            }
            (false, false) => return Progress::Gone(self.pressed),
            (true, _) => self.gone_since = None,
        }
        let until = self.last.filter(|_| done).map(|last| Time(last.0 + CONFIRM));
        let wait = until.or(self.not_before).filter(|until| now < *until);
        if let Some(until) = wait {
            return Progress::Go(super::step::passing(Some(until), "the question is answered"));
        }
        match self.keys.get(self.pressed) {
            Some(key) => Progress::Go(Step::Write(Act::Press(vec![*key]), sight.guard())),
            None => Progress::Stays,
        }
    }

    /// Whether it may only be drawn anew, and be there again in a moment.
    fn may_come_back(&mut self, now: Time) -> bool {
        now.since(*self.gone_since.get_or_insert(now)) < FLICKER
    }

    /// How the write went; a sentence if that ends it.
    pub fn wrote(&mut self, how: &Wrote, now: Time) -> Option<String> {
        match how {
            Wrote::Done { .. } => {
                self.pressed += 1;
                self.moved_since = None;
                (self.last, self.not_before) = (Some(now), Some(Time(now.0 + BETWEEN)));
                None
            }
            Wrote::Moved | Wrote::Unread => {
                let since = *self.moved_since.get_or_insert(now);
                self.not_before = Some(Time(now.0 + AGAIN));
                (RESTLESS <= now.since(since))
                    .then(|| "something moved between every look and the key".to_owned())
            }
            Wrote::Refused(why) | Wrote::Lost(why) => Some(why.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use paned_model::BlockKind;

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
    fn check(choice: Choice, expect: Result<&str, &str>) {
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

    fn label(text: &str) -> Choice {
        Choice::Label(text.to_owned())
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
        assert!(is_lasting("Yes, and don\u{2019}t ask again"));
    }

    #[test]
    fn an_option_is_chosen_by_number_label_or_meaning() {
        check(Choice::Number(2), Ok("2"));
        check(label("yes"), Ok("1"));
        check(label("Always"), Ok("2"));
        check(label("no"), Ok("3"));
        check(label("No, tell"), Ok("3"));
    }

    #[test]
    fn what_fits_nothing_or_too_much_is_told_with_the_options() {
        check(Choice::Number(0), Err("1 `Yes`"));
        check(Choice::Number(4), Err("no such option"));
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
