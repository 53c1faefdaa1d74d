//! How one acts on an agent: what is typed, pressed and read to hand it a message, to stop it and to end it.

use paned_term::keys::Key;

use super::ProfilePattern;

/// How text reaches the composer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypingMode {
    /// As one paste, marked where the program asks for that.
    #[default]
    Paste,
    /// As if it were typed.
    Typed,
}

/// How a message is handed to an agent.
#[derive(Clone, Debug)]
pub struct Submit {
    /// How its text reaches the composer.
    pub typing: TypingMode,
    /// How long the program needs between the text and Enter, at least.
    pub delay_ms: u64,
    /// The keys that submit it.
    pub enter: Vec<Key>,
    /// The keys that empty the composer, each press one round; none where there is no safe way.
    pub clear: Vec<Key>,
    /// What the composer shows in place of a long paste.
    pub pasted: Vec<ProfilePattern>,
    /// Texts that the program would not take as they are.
    pub escapes: Vec<PromptEscape>,
}

/// Texts that a program would not take as they are, and what helps.
#[derive(Clone, Debug)]
pub struct PromptEscape {
    /// What it is called.
    pub name: String,
    /// Such texts.
    pub pattern: ProfilePattern,
    /// What helps.
    pub action: EscapeAction,
}

/// What makes a program take a text as a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscapeAction {
    /// These characters before it.
    Prefix(String),
    /// These characters after it.
    Suffix(String),
    /// Nothing; the reason, in a sentence.
    Refuse(String),
}

impl Submit {
    /// The text as it must be typed, so that the program takes it as a prompt.
    ///
    /// # Errors
    /// The reason why there is no way to do that.
    pub fn escape_prompt(&self, text: &str) -> Result<String, String> {
        let mut dressed = text.to_owned();
        for care in self.escapes.iter().filter(|care| care.pattern.is_in(text)) {
            match &care.action {
                EscapeAction::Prefix(before) => dressed.insert_str(0, before),
                EscapeAction::Suffix(after) => dressed.push_str(after),
                EscapeAction::Refuse(why) => return Err(why.clone()),
            }
        }
        Ok(dressed)
    }
}

/// How a turn is broken off.
#[derive(Clone, Debug)]
pub struct InterruptKeys {
    /// The keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: usize,
    /// How long after the first press the next may come, at most.
    pub within_ms: u64,
    /// What the screen says when one more press is wanted.
    pub again: Option<ProfilePattern>,
    /// Whether the prompt comes back into the composer and must be cleared there.
    pub restores: bool,
}

/// How a program is ended.
#[derive(Clone, Debug)]
pub struct Quit {
    /// What is typed, before Enter.
    pub text: Option<String>,
    /// Or the keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: usize,
}

/// Where a program keeps what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptSource {
    /// How it is written, as `jsonl-codex`.
    pub kind: String,
    /// Where: `{home}` and `{cwd}` stand for folders, `*` and `**` as in a shell. The newest such file counts.
    pub path: String,
}

/// What messages look like on a screen.
#[derive(Clone, Debug, Default)]
pub struct MessageMarks {
    /// The first row of a message of the user.
    pub user: Option<ProfilePattern>,
    /// Whether such a row stands on a background of its own.
    pub tinted: bool,
    /// The first row of a message of the agent.
    pub agent: Option<ProfilePattern>,
    /// Rows that belong to no message, as rules and footers.
    pub noise: Vec<ProfilePattern>,
    /// What the bottom of the screen says while messages wait for the end of a turn.
    pub queued: Option<ProfilePattern>,
    /// Whether it is busy as long as the user's message is the last of all.
    pub unanswered: bool,
}
