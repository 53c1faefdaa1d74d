//! What one agent program's screens and signals mean, as data.
//!
//! A profile is a TOML file: ours are in `profiles/`, and a user's file with the same name is
//! merged over ours, key by key. `docs/profiles.md` describes each key.

mod command;
mod fields;
mod library;
mod pattern;
mod reader;
mod recipes;
mod rules;
mod shapes;
#[cfg(test)]
mod tests;

pub use command::{Arguments, LaunchOptions, Permissions};
pub use library::ProfileLibrary;
pub use pattern::ProfilePattern;
pub use recipes::{
    InterruptKeys, MessageMarks, PromptEscape, Quit, Submit, TranscriptSource, TypingMode,
};
pub use rules::{HookRule, Hue, OscMeaning, ScreenRegion, ScreenRule, Timing, TitleMeaning};
pub use shapes::{
    ChoiceMethod, ComposerShape, DialogShape, OptionStyle, QuestionRule, ScreenCondition,
};

use serde::Deserialize;

use super::ScreenSnapshot;

/// What one agent program's screens and signals mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The program and its usual arguments.
    #[serde(deserialize_with = "fields::command")]
    pub command: Vec<String>,
    /// The names by which its program and its packages are started.
    #[serde(default, deserialize_with = "fields::list")]
    pub programs: Vec<String>,
    /// Which program it is, in a sentence.
    #[serde(default)]
    pub about: String,
    /// What is known of its accuracy, if that was not measured.
    pub accuracy: Option<String>,
    /// What its screen shows at the start, by which it is recognised inside a wrapper.
    pub screen: Option<ProfilePattern>,
    /// The versions of the program that it was tried with.
    #[serde(default, deserialize_with = "fields::list")]
    pub versions: Vec<String>,
    /// Whether a pane that runs its program is an agent even if the client does not request one.
    #[serde(default = "yes")]
    pub implicit: bool,
    /// Whether the token of its pane may start panes, if the client that starts it does not specify
    /// that.
    #[serde(default = "yes")]
    pub spawn: bool,
    /// The arguments for launch options.
    #[serde(default, deserialize_with = "fields::checked")]
    pub arguments: Arguments,
    /// How a message is sent to it.
    #[serde(default, deserialize_with = "fields::checked")]
    pub submit: Submit,
    /// How its turn is interrupted.
    #[serde(default, deserialize_with = "fields::checked")]
    pub interrupt: InterruptKeys,
    /// How it is quit.
    #[serde(default, deserialize_with = "fields::checked")]
    pub quit: Quit,
    /// Where it stores its conversation.
    pub transcript: Option<TranscriptSource>,
    /// What messages look like on its screen.
    #[serde(default)]
    pub messages: MessageMarks,
    /// Reads how much of its context is used, in per cent.
    pub context: Option<ProfilePattern>,
    /// Where that figure is shown.
    #[serde(default, rename = "context-in")]
    pub context_region: ScreenRegion,
    /// Its time-outs.
    #[serde(default)]
    pub timing: Timing,
    /// How its composer is found.
    #[serde(default, deserialize_with = "fields::checked")]
    pub composer: Option<ComposerShape>,
    /// What its questions look like.
    pub dialog: Option<DialogShape>,
    /// What other text on its screen means.
    #[serde(default, deserialize_with = "fields::tables")]
    pub rules: Vec<ScreenRule>,
    /// What its titles mean.
    #[serde(default)]
    pub title: TitleMeaning,
    /// What its other signals mean.
    #[serde(default)]
    pub osc: OscMeaning,
    /// What its hooks mean.
    #[serde(default, deserialize_with = "fields::tables")]
    pub hooks: Vec<HookRule>,
}

/// A mistake in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The file, or the name of one of ours.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub sentence: String,
}

impl Profile {
    /// Parses a profile without merging it over another. Its name is that of the file, without
    /// folder and `.toml`.
    ///
    /// # Errors
    /// Every mistake in it, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<ProfileError>> {
        reader::read(file, text, None)
    }

    /// The command line that starts it with these options. It includes the first prompt if
    /// [`Profile::takes_prompt`].
    ///
    /// # Errors
    /// A sentence if it cannot be started with these options.
    pub fn command_line(&self, wanted: &LaunchOptions) -> Result<Vec<String>, String> {
        self.arguments.command_line(&self.name, &self.command, wanted)
    }

    /// Whether it describes no particular program: the composer is found by the cursor, and ready
    /// needs two signs.
    #[must_use]
    pub fn is_generic(&self) -> bool {
        self.composer.as_ref().is_some_and(|shape| shape.by_cursor)
    }

    /// Whether its program may be one that reads lines: then the modes of the terminal and the
    /// state of its processes show whether it waits for a line. Programs that enable bracketed
    /// paste exactly while they read show that themselves.
    #[must_use]
    pub fn reads_lines(&self) -> bool {
        let is_editor =
            |shape: &ComposerShape| shape.exact && !shape.needs.contains(&ScreenCondition::Paste);
        self.is_generic() || self.composer.as_ref().is_some_and(is_editor)
    }

    /// The same program with the generic screen rules, for a screen that this profile does not
    /// recognise. Its hooks, titles and recipes stay.
    #[must_use]
    pub fn with_generic_screen(&self, generic: &Self) -> Self {
        let own = self.clone();
        Self {
            timing: generic.timing,
            composer: generic.composer.clone(),
            dialog: generic.dialog.clone(),
            rules: generic.rules.clone(),
            ..own
        }
    }

    /// The version of the program, if its screen names it: the group of [`Profile::screen`].
    #[must_use]
    pub fn version_on(&self, look: &ScreenSnapshot) -> Option<String> {
        let screen = self.screen.as_ref()?;
        look.view.rows.iter().find_map(|row| screen.capture(row)).map(str::to_owned)
    }

    /// The newest version that it was tried with, if this one is newer than all of them.
    #[must_use]
    pub fn is_newer(&self, version: &str) -> Option<&str> {
        let newest = self.versions.iter().max_by_key(|tried| numbers(tried))?;
        (numbers(newest) < numbers(version)).then_some(newest)
    }

    /// Whether its command line can carry the first prompt.
    #[must_use]
    pub fn takes_prompt(&self) -> bool {
        self.arguments.prompt.is_some()
    }

    /// The option of a start-up question that may be chosen without asking a person, if there is
    /// one.
    #[must_use]
    pub fn startup_answer(&self, dialog: &paned_model::Dialog) -> Option<usize> {
        let shape = self.dialog.as_ref()?;
        let whole = format!("{}\n{}", dialog.text, labels(dialog));
        let kind = shape.kinds.iter().find(|kind| kind.pattern.is_in(&whole))?;
        let answer = kind.answer.as_ref()?;
        dialog.options.iter().position(|option| answer.is_in(&option.label))
    }
}

fn labels(dialog: &paned_model::Dialog) -> String {
    dialog.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>().join("\n")
}

/// The numbers of a version, in order.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

const fn yes() -> bool {
    true
}

/// The name of the profile in a file.
fn name_of(file: &str) -> String {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    base.strip_suffix(".toml").unwrap_or(base).to_owned()
}
