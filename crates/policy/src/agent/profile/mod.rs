//! What one agent program's screens and signals mean, as data.
//!
//! A profile is a TOML file: ours are in `profiles/`, and a user's file with the same name is laid over one of ours, key
//! by key. `docs/profiles.md` says what each key means.

mod command;
mod library;
mod pattern;
mod reader;
mod recipes;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod tree;

pub use command::{Arguments, LaunchOptions, Permissions};
pub use library::ProfileLibrary;
pub use pattern::ProfilePattern;
pub use recipes::{
    EscapeAction, InterruptKeys, MessageMarks, PromptEscape, Quit, Submit, TranscriptSource,
    TypingMode,
};
pub use rules::{
    ChoiceMethod, ComposerShape, DialogShape, HookRule, Hue, OptionStyle, OscMeaning, QuestionRule,
    ScreenCondition, ScreenRegion, ScreenRule, Timing, TitleMeaning,
};

use super::ScreenSnapshot;
use pattern::Trust;

/// What one agent program's screens and signals mean.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// Which program it is, in a sentence.
    pub about: String,
    /// What is known of its accuracy, where that is less than measured.
    pub accuracy: Option<String>,
    /// The program and its usual arguments.
    pub command: Vec<String>,
    /// The names by which its program and its packages are started.
    pub programs: Vec<String>,
    /// What its screen shows at the start, by which it is recognised inside a wrapper.
    pub screen: Option<ProfilePattern>,
    /// The versions of the program that it was tried with.
    pub versions: Vec<String>,
    /// Whether a pane that runs its program is an agent without being called one.
    pub implicit: bool,
    /// Whether the token of its pane may start panes, where whoever starts it does not say.
    pub spawn: bool,
    /// How wishes become arguments.
    pub arguments: Arguments,
    /// How a message is handed to it.
    pub submit: Submit,
    /// How its turn is broken off.
    pub interrupt: InterruptKeys,
    /// How it is ended.
    pub quit: Quit,
    /// Where it keeps what was said.
    pub transcript: Option<TranscriptSource>,
    /// What messages look like on its screen.
    pub messages: MessageMarks,
    /// Reads how much of its context is used, in per cent.
    pub context: Option<ProfilePattern>,
    /// Where that figure is shown.
    pub context_region: ScreenRegion,
    /// How long things take.
    pub timing: Timing,
    /// Where one types.
    pub composer: Option<ComposerShape>,
    /// What its questions look like.
    pub dialog: Option<DialogShape>,
    /// What else on its screen means something.
    pub rules: Vec<ScreenRule>,
    /// What its titles mean.
    pub title: TitleMeaning,
    /// What its other signals mean.
    pub osc: OscMeaning,
    /// What its hooks mean.
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
    /// Reads a profile that stands alone. Its name is that of the file, without folder and `.toml`.
    ///
    /// # Errors
    /// Every mistake in it, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<ProfileError>> {
        schema::profile(&name_of(file), tree::parse(file, text)?, Trust::User)
    }

    /// The command line that starts it so. A first prompt is in it where [`Profile::takes_prompt`] says so.
    ///
    /// # Errors
    /// A sentence when it cannot be started so.
    pub fn command_line(&self, wanted: &LaunchOptions) -> Result<Vec<String>, String> {
        self.arguments.command_line(&self.name, &self.command, wanted)
    }

    /// Whether it describes no program in particular: the composer is found by the cursor, and ready needs two signs.
    #[must_use]
    pub fn is_generic(&self) -> bool {
        self.composer.as_ref().is_some_and(|shape| shape.by_cursor)
    }

    /// Whether its program may be one that reads lines: then the modes of the terminal and what its
    /// processes wait for tell whether it takes one. Programs that ask for bracketed pastes exactly
    /// while they read say so themselves.
    #[must_use]
    pub fn reads_lines(&self) -> bool {
        let is_editor =
            |shape: &ComposerShape| shape.exact && !shape.needs.contains(&ScreenCondition::Paste);
        self.is_generic() || self.composer.as_ref().is_some_and(is_editor)
    }

    /// The same program read by what every program shows, where this profile makes nothing of its screen. Its hooks, titles
    /// and recipes stay.
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

    /// The version of the program, where its screen names it: the group of [`Profile::screen`].
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

    /// The option of a start-up question that may be chosen without asking a person, where there is one.
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

/// The name of the profile in a file.
fn name_of(file: &str) -> String {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    base.strip_suffix(".toml").unwrap_or(base).to_owned()
}
