//! Reads an answer from the screen, for agents that write no transcript: only what is shown is
//! available.

use std::ops::Range;

use crate::agent::profile::MessageMarks;
use crate::agent::{Profile, ScreenSnapshot};
use crate::delivery::text_match;

/// The rows of the turn that this prompt began, as far as it is known; from row 0 on if its
/// beginning is not on the screen. A quotation in an answer looks like a message of the user, so
/// the prompt itself is searched for. If it is not shown as it was typed, the last row with the
/// sign of such a message counts.
#[must_use]
pub fn turn_on_screen(
    look: &ScreenSnapshot,
    profile: &Profile,
    prompt: Option<&str>,
) -> Range<usize> {
    let last = look.last_turn(profile);
    let rows = &look.view.rows;
    let Some((user, prompt)) = profile.messages.user.as_ref().zip(prompt) else {
        return last;
    };
    let is_prompt = |row: &usize| {
        let sign = user.find(&rows[*row]);
        sign.is_some_and(|sign| text_match::begins_message(&rows[*row..last.end], sign.end, prompt))
    };
    let begun = (0..last.end).rev().find(is_prompt);
    begun.map_or(last.start, |row| row + 1)..last.end
}

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
    use paned_model::Size;
    use paned_term::Screen;

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
    fn a_quotation_in_an_answer_does_not_begin_a_turn() {
        let library = ProfileLibrary::embedded();
        let profile = library.get("aider").unwrap();
        let mut screen = Screen::new(Size { cols: 40, rows: 16 });
        let said = "> cite it|First words.|> a citation|Last words.||> ".replace('|', "\r\n");
        screen.feed(format!("\x1b[?2004h> earlier\r\nBefore.\r\n\r\n{said}").as_bytes());
        let look = ScreenSnapshot::of(&screen);
        let answer = |prompt: Option<&str>| {
            let turn = turn_on_screen(&look, profile, prompt);
            answer_from_screen((&look.view.rows[turn.clone()], 0 < turn.start), &profile.messages)
        };
        let whole = Some("First words.\n> a citation\nLast words.".to_owned());
        assert_eq!(answer(Some("cite it")), whole);
        // By the sign alone, if the prompt is not known or not shown.
        assert_eq!(answer(None).as_deref(), Some("Last words."));
        assert_eq!(answer(Some("a long paste")).as_deref(), Some("Last words."));
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
