//! Reads an answer from the screen, for agents that write no transcript: only what is shown is
//! available.

use crate::agent::profile::MessageMarks;

/// The agent's last message in the rows of a turn, without marks and margin. Rows without a mark
/// count as the agent's only if the turn's beginning is among them; otherwise they may be anything.
#[must_use]
pub fn answer_from_screen(
    (rows, is_begun): (&[String], bool),
    messages: &MessageMarks,
) -> Option<String> {
    let is_noise = |row: &str| messages.noise.iter().any(|noise| noise.is_in(row));
    let rows: Vec<&str> =
        rows.iter().map(|row| row.trim_end()).filter(|row| !is_noise(row)).collect();
    let agent = messages.agent.as_ref();
    let begins = |row: &&str| agent.is_some_and(|agent| agent.is_in(row));
    let start = rows.iter().rposition(begins);
    if start.is_none() && !is_begun {
        return None;
    }
    let answer = &rows[start.unwrap_or(0)..];
    let mut answer: Vec<String> = answer.iter().map(|row| (*row).to_owned()).collect();
    if let (Some(agent), Some(first), Some(_)) = (agent, answer.first_mut(), start)
        && let Some(mark) = agent.find(first)
    {
        // Blanks replace the mark, so that all rows keep the same margin.
        let width = first[..mark.end].chars().count();
        *first = format!("{}{}", " ".repeat(width), &first[mark.end..]);
    }
    let text = without_margin(&answer);
    (!text.is_empty()).then_some(text)
}

/// The rows without leading and trailing blank ones, and without their common indentation.
fn without_margin(rows: &[String]) -> String {
    let filled = || rows.iter().filter(|row| !row.trim().is_empty());
    let blanks = |row: &String| row.chars().take_while(|c| *c == ' ').count();
    let margin = filled().map(blanks).min().unwrap_or(0);
    let rows: Vec<&str> = rows.iter().map(|row| row.get(margin..).unwrap_or("")).collect();
    rows.join("\n").trim_matches('\n').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ProfileLibrary;

    #[track_caller]
    fn check(profile: &str, rows: &[&str], expect: Option<&str>) {
        let library = ProfileLibrary::embedded();
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        let messages = &library.get(profile).unwrap().messages;
        assert_eq!(answer_from_screen((&rows, true), messages).as_deref(), expect);
    }

    #[test]
    fn what_is_there_before_the_first_turn_is_no_answer() {
        let messages = &ProfileLibrary::embedded().get("codex").unwrap().messages.clone();
        assert_eq!(answer_from_screen((&["Welcome".to_owned()], false), messages), None);
    }

    #[test]
    fn the_last_message_is_cut_at_its_mark() {
        let rows = [
            "",
            "• Ran touch made.txt",
            "  └ (no output)",
            "",
            "• Done, the quick",
            "  brown fox",
            "",
        ];
        check("codex", &rows, Some("Done, the quick\nbrown fox"));
    }

    #[test]
    fn without_a_mark_it_is_all_that_was_said() {
        check(
            "aider",
            &["", "Hello.", "", "  indented", "Tokens: 1k sent"],
            Some("Hello.\n\n  indented"),
        );
        check("aider", &["", ""], None);
    }
}
