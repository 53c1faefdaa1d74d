//! How to act on an agent: the text and keys that send it a message, interrupt it and quit it.

use paned_term::keys::Key;
use serde::Deserialize;

use super::ProfilePattern;
use super::fields::{self, ProfileTable, refuse};
use crate::agent::Composer;

/// How text reaches the composer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypingMode {
    /// As one paste, bracketed if the program enables that mode.
    #[default]
    Paste,
    /// As single characters.
    Typed,
}

/// How a message is sent to an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Submit {
    /// How its text reaches the composer.
    #[serde(rename = "by")]
    pub typing: TypingMode,
    /// How long the program needs between the text and Enter, at least.
    #[serde(rename = "delay", deserialize_with = "fields::millis")]
    pub delay_ms: u64,
    /// The keys that submit it.
    #[serde(deserialize_with = "fields::keys")]
    pub enter: Vec<Key>,
    /// The keys that clear the composer, once per press; none if there is no safe way.
    #[serde(deserialize_with = "fields::keys")]
    pub clear: Vec<Key>,
    /// What the composer shows instead of a long paste.
    #[serde(deserialize_with = "fields::list")]
    pub pasted: Vec<ProfilePattern>,
    /// Texts that the program would not accept as a prompt unchanged.
    #[serde(rename = "care", deserialize_with = "fields::tables")]
    pub escapes: Vec<PromptEscape>,
}

/// Texts that a program would not accept as a prompt unchanged, and what makes it accept them:
/// exactly one of the three.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptEscape {
    /// Matches such texts.
    #[serde(rename = "match")]
    pub pattern: ProfilePattern,
    /// These characters before it.
    pub before: Option<String>,
    /// These characters after it.
    pub after: Option<String>,
    /// Nothing does; the reason, in a sentence.
    pub refuse: Option<String>,
}

impl ProfileTable for PromptEscape {
    fn complete(&mut self) -> Result<(), String> {
        let ways = [&self.before, &self.after, &self.refuse].into_iter().flatten().count();
        refuse([(ways != 1, "exactly one of `before`, `after` and `refuse` is required")])
    }
}

impl Default for Submit {
    fn default() -> Self {
        Self {
            typing: TypingMode::Paste,
            delay_ms: 150,
            enter: vec![key("enter")],
            clear: Vec::new(),
            pasted: Vec::new(),
            escapes: Vec::new(),
        }
    }
}

impl ProfileTable for Submit {
    fn complete(&mut self) -> Result<(), String> {
        if self.enter.is_empty() {
            self.enter = Self::default().enter;
        }
        let sentence = "`delay` must be at least 100, because programs ignore an Enter that \
                       comes sooner";
        refuse([(self.delay_ms < 100, sentence)])
    }
}

impl Submit {
    /// The text to type, so that the program accepts it as a prompt.
    ///
    /// # Errors
    /// The reason why that is impossible.
    pub fn escape_prompt(&self, text: &str) -> Result<String, String> {
        let mut escaped = text.to_owned();
        for rule in self.escapes.iter().filter(|rule| rule.pattern.is_in(text)) {
            if let Some(why) = &rule.refuse {
                return Err(why.clone());
            }
            escaped.insert_str(0, rule.before.as_deref().unwrap_or_default());
            escaped.push_str(rule.after.as_deref().unwrap_or_default());
        }
        Ok(escaped)
    }

    /// Whether the composer shows what the program puts in place of a long paste.
    pub(crate) fn is_paste_placeholder(&self, composer: &Composer) -> bool {
        matches!(composer, Composer::Draft(draft) if self.pasted.iter().any(|it| it.is_in(draft)))
    }
}

/// How a turn is interrupted.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InterruptKeys {
    /// The keys of one press.
    #[serde(deserialize_with = "fields::keys")]
    pub keys: Vec<Key>,
    /// How many presses it takes.
    #[serde(deserialize_with = "fields::count::<1, 5, _>")]
    pub presses: usize,
    /// How long after the first press the next may come, at most.
    #[serde(rename = "within", deserialize_with = "fields::millis")]
    pub within_ms: u64,
    /// What the screen shows if one more press is needed.
    pub again: Option<ProfilePattern>,
    /// Whether the prompt comes back into the composer and must be cleared there.
    pub restores: bool,
}

impl Default for InterruptKeys {
    fn default() -> Self {
        Self { keys: vec![key("esc")], presses: 1, within_ms: 1000, again: None, restores: false }
    }
}

impl ProfileTable for InterruptKeys {
    fn complete(&mut self) -> Result<(), String> {
        if self.keys.is_empty() {
            self.keys = Self::default().keys;
        }
        Ok(())
    }
}

/// How a program is quit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quit {
    /// The text to type, before Enter.
    pub text: Option<String>,
    /// Or the keys of one press.
    #[serde(default, deserialize_with = "fields::keys")]
    pub keys: Vec<Key>,
    /// How many presses it takes.
    #[serde(default = "fields::usual::<1>", deserialize_with = "fields::count::<1, 5, _>")]
    pub presses: usize,
}

impl Default for Quit {
    fn default() -> Self {
        Self { text: None, keys: vec![key("ctrl+c")], presses: 2 }
    }
}

impl ProfileTable for Quit {
    fn complete(&mut self) -> Result<(), String> {
        let is_one = self.text.is_some() == self.keys.is_empty();
        refuse([(!is_one, "exactly one of `text` and `keys` is required")])
    }
}

fn key(name: &str) -> Key {
    name.parse().expect("a key that has a name")
}

/// Where a program stores its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptSource {
    /// Its format, as `jsonl-codex`.
    pub kind: String,
    /// The path: `{home}` and `{cwd}` are replaced by folders, `*` and `**` work as in a shell. The
    /// newest matching file counts.
    pub path: String,
}

/// What messages look like on a screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageMarks {
    /// The first row of a message of the user.
    pub user: Option<ProfilePattern>,
    /// Whether such a row has a background of its own.
    pub tinted: bool,
    /// The first row of a message of the agent.
    pub agent: Option<ProfilePattern>,
    /// Rows that belong to no message, as rules and footers.
    #[serde(deserialize_with = "fields::list")]
    pub noise: Vec<ProfilePattern>,
    /// What the bottom of the screen shows while messages wait for the end of a turn.
    pub queued: Option<ProfilePattern>,
    /// Whether it is busy as long as the user's message is the last one.
    pub unanswered: bool,
}
