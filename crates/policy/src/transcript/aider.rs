//! aider's chat history: Markdown, where the user's prompts are headings of level four and aider's
//! own messages are quoted.

use super::{TranscriptAnswer, TranscriptSummary};

/// The first line of a session.
const BEGINS: &str = "# aider chat started at ";

pub(super) fn read(text: &str) -> TranscriptSummary {
    let mut answer: Vec<&str> = Vec::new();
    let mut last = None;
    let mut is_code = false;
    let mut is_unanswered = false;
    for line in text.lines() {
        // A heading within a code block is code.
        is_code ^= line.trim_start().starts_with("```");
        let is_user = line.starts_with("#### ") || line.starts_with(BEGINS);
        let is_program = line.starts_with("> ") || line == ">";
        if (is_user || is_program) && !is_code {
            if let Some(text) = joined(&answer) {
                last = Some(text);
                is_unanswered = false;
            }
            is_unanswered |= is_user;
            answer.clear();
        } else {
            answer.push(line);
        }
    }
    if let Some(text) = joined(&answer) {
        last = Some(text);
        is_unanswered = false;
    }
    let answer = last.map(|text| TranscriptAnswer { text, at: None });
    TranscriptSummary { answer, is_unanswered, ..TranscriptSummary::default() }
}

/// The lines as one text; `None` if it is blank.
fn joined(lines: &[&str]) -> Option<String> {
    let text = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{TranscriptFormat, read};

    #[track_caller]
    fn check(text: &str, answer: Option<&str>) {
        let story = read(TranscriptFormat::Aider, text);
        assert_eq!(story.answer.as_ref().map(|answer| answer.text.as_str()), answer);
    }

    const ONE: &str = "\n# aider chat started at 2026-11-16 04:15:19\n\n> Aider v0.86.2  \n> Git repo: .git with 2 \
        files  \n\n#### make it  \n\nI run this.\n\n```bash\n> made.txt\n```\n\n> Tokens: 2.5k sent, 13 received.  \n> \
        Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: y  \n\n#### /exit  \n";

    #[test]
    fn the_last_answer_stands_before_what_the_program_and_the_person_said() {
        check(ONE, Some("I run this.\n\n```bash\n> made.txt\n```"));
    }

    #[test]
    fn a_prompt_after_the_last_answer_has_none_yet() {
        assert!(read(TranscriptFormat::Aider, &format!("{ONE}\n#### again  \n")).is_unanswered);
        assert!(
            !read(TranscriptFormat::Aider, &format!("{ONE}\n#### again  \n\nSecond.\n"))
                .is_unanswered
        );
    }

    #[test]
    fn one_that_was_only_started_says_nothing() {
        check("\n# aider chat started at 2026-11-16 04:15:19\n\n> Aider v0.86.2  \n", None);
        check("", None);
    }

    #[test]
    fn the_last_of_several_counts() {
        check(&format!("{ONE}\n#### again  \n\nSecond.\n\n> Tokens: 1\n"), Some("Second."));
    }
}
