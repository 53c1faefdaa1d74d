//! Splits the rows of an agent's screen into the user's prompts and the agent's answers. Rows in,
//! messages out.

use crate::agent::profile::{MessageMarks, ProfilePattern};

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationMessage {
    /// Its author.
    pub speaker: Speaker,
    /// Its text, without the margin.
    pub text: String,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user of the agent.
    User,
    /// The agent.
    Agent,
}

/// Splits the rows above the composer into messages. Rows before the first prompt count as the
/// agent's.
#[must_use]
pub fn split_messages(rows: &[String], messages: &MessageMarks) -> Vec<ConversationMessage> {
    let is_noise = |row: &str| messages.noise.iter().any(|noise| noise.is_in(row));
    let mut found: Vec<ConversationMessage> = Vec::new();
    let mut part = MessageRows { speaker: Speaker::Agent, rows: Vec::new() };
    for row in rows.iter().map(|row| row.trim_end()).filter(|row| !is_noise(row)) {
        let user = messages.user.as_ref().and_then(|user| blank_mark(user, row));
        let agent = messages.agent.as_ref().and_then(|agent| blank_mark(agent, row));
        let (speaker, text) = match (user, agent) {
            (Some(user), _) => (Speaker::User, user),
            (None, Some(agent)) => (Speaker::Agent, agent),
            // Continuation rows of a prompt are indented below its first row.
            (None, None) if part.speaker == Speaker::User && part.continues(row, messages) => {
                (Speaker::User, row.to_owned())
            }
            (None, None) => (Speaker::Agent, row.to_owned()),
        };
        let is_next =
            speaker != part.speaker || messages.user.as_ref().is_some_and(|user| user.is_in(row));
        if is_next {
            found.extend(part.end());
            part.speaker = speaker;
        }
        part.rows.push(text);
    }
    found.extend(part.end());
    found
}

/// The row with its leading mark replaced by blanks, so that all rows keep the same margin.
fn blank_mark(pattern: &ProfilePattern, row: &str) -> Option<String> {
    let found = pattern.find(row)?;
    // A pattern may also match the first character of the message, to tell a mark from other text.
    let end = row[..found.end].trim_end().len();
    let last = row[..end].chars().next_back()?;
    let end = if last.is_alphanumeric() { end - last.len_utf8() } else { end };
    Some(format!("{}{}", " ".repeat(row[..end].chars().count()), &row[end..]))
}

struct MessageRows {
    speaker: Speaker,
    rows: Vec<String>,
}

impl MessageRows {
    /// Whether a row continues the prompt before it. A blank row ends a prompt only where answers
    /// have no mark of their own.
    fn continues(&self, row: &str, messages: &MessageMarks) -> bool {
        let is_blank = row.trim().is_empty();
        let after_blank = self.rows.last().is_some_and(|last| last.trim().is_empty());
        let is_under = row.starts_with("  ") || is_blank;
        is_under && (messages.agent.is_some() || !after_blank)
    }

    fn end(&mut self) -> Option<ConversationMessage> {
        let text = without_margin(&std::mem::take(&mut self.rows));
        (!text.is_empty()).then_some(ConversationMessage { speaker: self.speaker, text })
    }
}

/// The rows without leading and trailing blank ones, and without their common indentation.
fn without_margin(rows: &[String]) -> String {
    let blanks = |row: &String| row.chars().take_while(|c| *c == ' ').count();
    let filled = rows.iter().filter(|row| !row.trim().is_empty());
    let margin = filled.map(blanks).min().unwrap_or(0);
    let rows: Vec<&str> =
        rows.iter().map(|row| row.get(margin..).unwrap_or("").trim_end()).collect();
    rows.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ProfileLibrary;

    /// One line for each message.
    fn lines(talk: &[ConversationMessage]) -> Vec<String> {
        let line = |spoken: &ConversationMessage| {
            let who = if spoken.speaker == Speaker::User { "u" } else { "a" };
            format!("{who}: {}", spoken.text.replace('\n', "|"))
        };
        talk.iter().map(line).collect()
    }

    #[track_caller]
    fn check_rows(profile: &str, rows: &[&str], expect: &[&str]) {
        let library = ProfileLibrary::embedded();
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        let talk = split_messages(&rows, &library.get(profile).unwrap().messages);
        assert_eq!(lines(&talk), expect);
    }

    #[test]
    fn a_screen_is_cut_at_its_marks() {
        let rows = [
            "",
            "› make it",
            "",
            "  and well",
            "",
            "• Ran touch made.txt",
            "  └ (no output)",
            "",
            "• Done, the quick",
            "  brown fox",
            "",
            "› again",
            "",
            "• Yes.",
        ];
        let expect = [
            "u: make it||and well",
            "a: Ran touch made.txt|└ (no output)||Done, the quick|brown fox",
            "u: again",
            "a: Yes.",
        ];
        check_rows("codex", &rows, &expect);
    }

    #[test]
    fn without_a_mark_for_answers_a_blank_row_ends_a_prompt() {
        let rows = [
            "Aider v0.86",
            "",
            "> make it",
            "",
            "Hello.",
            "",
            "  indented",
            "Tokens: 1k sent",
            "",
            "> more",
        ];
        let expect = ["a: Aider v0.86", "u: make it", "a: Hello.||  indented", "u: more"];
        check_rows("aider", &rows, &expect);
    }
}
