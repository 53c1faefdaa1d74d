//! How to act on an agent: the text and keys that send it a message, interrupt it and quit it.

use paned_term::keys::Key;

use super::ProfilePattern;
use crate::agent::Composer;

/// How text reaches the composer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypingMode {
    /// As one paste, bracketed if the program enables that mode.
    #[default]
    Paste,
    /// As single characters.
    Typed,
}

/// How a message is sent to an agent.
#[derive(Clone, Debug)]
pub struct Submit {
    /// How its text reaches the composer.
    pub typing: TypingMode,
    /// How long the program needs between the text and Enter, at least.
    pub delay_ms: u64,
    /// The keys that submit it.
    pub enter: Vec<Key>,
    /// The keys that clear the composer, once per press; none if there is no safe way.
    pub clear: Vec<Key>,
    /// What the composer shows instead of a long paste.
    pub pasted: Vec<ProfilePattern>,
    /// Texts that the program would not accept as a prompt unchanged.
    pub escapes: Vec<PromptEscape>,
}

/// Texts that a program would not accept as a prompt unchanged, and how to change them.
#[derive(Clone, Debug)]
pub struct PromptEscape {
    /// Its name.
    pub name: String,
    /// Matches such texts.
    pub pattern: ProfilePattern,
    /// What to do with them.
    pub action: EscapeAction,
}

/// What makes a program accept a text as a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscapeAction {
    /// These characters before it.
    Prefix(String),
    /// These characters after it.
    Suffix(String),
    /// Nothing does; the reason, in a sentence.
    Refuse(String),
}

impl Submit {
    /// The text to type, so that the program accepts it as a prompt.
    ///
    /// # Errors
    /// The reason why that is impossible.
    pub fn escape_prompt(&self, text: &str) -> Result<String, String> {
        let mut escaped = text.to_owned();
        for rule in self.escapes.iter().filter(|rule| rule.pattern.is_in(text)) {
            match &rule.action {
                EscapeAction::Prefix(before) => escaped.insert_str(0, before),
                EscapeAction::Suffix(after) => escaped.push_str(after),
                EscapeAction::Refuse(why) => return Err(why.clone()),
            }
        }
        Ok(escaped)
    }

    /// Whether the composer shows what the program puts in place of a long paste.
    pub(crate) fn is_paste_placeholder(&self, composer: &Composer) -> bool {
        matches!(composer, Composer::Draft(draft) if self.pasted.iter().any(|it| it.is_in(draft)))
    }
}

/// How a turn is interrupted.
#[derive(Clone, Debug)]
pub struct InterruptKeys {
    /// The keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: usize,
    /// How long after the first press the next may come, at most.
    pub within_ms: u64,
    /// What the screen shows if one more press is needed.
    pub again: Option<ProfilePattern>,
    /// Whether the prompt comes back into the composer and must be cleared there.
    pub restores: bool,
}

/// How a program is quit.
#[derive(Clone, Debug)]
pub struct Quit {
    /// The text to type, before Enter.
    pub text: Option<String>,
    /// Or the keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: usize,
}

/// Where a program stores its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptSource {
    /// Its format, as `jsonl-codex`.
    pub kind: String,
    /// The path: `{home}` and `{cwd}` are replaced by folders, `*` and `**` work as in a shell. The
    /// newest matching file counts.
    pub path: String,
}

/// What messages look like on a screen.
#[derive(Clone, Debug, Default)]
pub struct MessageMarks {
    /// The first row of a message of the user.
    pub user: Option<ProfilePattern>,
    /// Whether such a row has a background of its own.
    pub tinted: bool,
    /// The first row of a message of the agent.
    pub agent: Option<ProfilePattern>,
    /// Rows that belong to no message, as rules and footers.
    pub noise: Vec<ProfilePattern>,
    /// What the bottom of the screen shows while messages wait for the end of a turn.
    pub queued: Option<ProfilePattern>,
    /// Whether it is busy as long as the user's message is the last one.
    pub unanswered: bool,
}
