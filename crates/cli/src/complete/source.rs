//! Where the values of an argument come from.

use clap::{Arg, ValueHint};
use paned_model::Scope;

use super::Candidate;
use crate::settings;

/// Where the values of an argument come from.
pub(super) enum ValueSource {
    Files,
    Folders,
    Words(Vec<Candidate>),
    Server(ServerNames),
}

/// Names that only a server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerNames {
    Panes(PaneFilter),
    Sessions,
    Profiles,
    Actions,
    Tags,
    Tokens,
    Extensions,
}

/// Which panes a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaneFilter {
    Any,
    Running,
    Ended,
    Agents,
}

const STATUSES: &[&str] = &["starting", "running", "exited", "killed", "lost"];
const AGENT_STATES: &[&str] =
    &["starting", "ready", "busy", "blocked", "limited", "error", "exited", "unknown"];
const KEYS: &[&str] = &[
    "enter",
    "esc",
    "tab",
    "space",
    "backspace",
    "delete",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "ctrl+c",
    "ctrl+d",
    "ctrl+l",
    "ctrl+z",
];

/// The source of an argument's values, by what the argument is called in its command.
pub(super) fn of(path: &[&str], arg: &Arg) -> ValueSource {
    let words = possible_values(arg);
    if !words.is_empty() {
        return ValueSource::Words(words);
    }
    let command = path.first().copied().unwrap_or_default();
    match (command, arg.get_id().as_str()) {
        (_, "cwd" | "state_dir") => ValueSource::Folders,
        (_, "pane" | "panes" | "beside") => ValueSource::Server(ServerNames::Panes(panes(command))),
        ("session", "name") | (_, "session") => ValueSource::Server(ServerNames::Sessions),
        (_, "profile") => ValueSource::Server(ServerNames::Profiles),
        ("action", "name") => ValueSource::Server(ServerNames::Actions),
        (_, "tag") => ValueSource::Server(ServerNames::Tags),
        ("token", "id") => ValueSource::Server(ServerNames::Tokens),
        ("ext", "extension" | "extensions") => ValueSource::Server(ServerNames::Extensions),
        ("ext", "dir") => ValueSource::Folders,
        ("ext", "source") => ValueSource::Folders,
        (_, "scope" | "scopes") => words_of(Scope::ALL.iter().map(|scope| scope.as_str())),
        ("config", "keys") => {
            let candidate = |row: &settings::SettingRow| Candidate::new(row.key, row.about);
            ValueSource::Words(settings::TABLE.iter().map(candidate).collect())
        }
        (_, "status") => words_of(STATUSES.iter().copied()),
        ("agent", "state") => words_of(AGENT_STATES.iter().copied()),
        ("keys", "keys") => words_of(KEYS.iter().copied()),
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => ValueSource::Files,
            ValueHint::DirPath => ValueSource::Folders,
            _ => ValueSource::Words(Vec::new()),
        },
    }
}

/// The panes that a command can do something with.
fn panes(command: &str) -> PaneFilter {
    match command {
        "agent" => PaneFilter::Agents,
        "attach" | "send" | "keys" | "paste" | "write" | "resize" | "kill" => PaneFilter::Running,
        "rm" => PaneFilter::Ended,
        _ => PaneFilter::Any,
    }
}

fn possible_values(arg: &Arg) -> Vec<Candidate> {
    let visible = arg.get_possible_values().into_iter().filter(|it| !it.is_hide_set());
    let about = |it: &clap::builder::PossibleValue| {
        it.get_help().map(ToString::to_string).unwrap_or_default()
    };
    visible.map(|it| Candidate::new(it.get_name(), about(&it))).collect()
}

fn words_of<'a>(words: impl Iterator<Item = &'a str>) -> ValueSource {
    ValueSource::Words(words.map(|word| Candidate::new(word, "")).collect())
}
