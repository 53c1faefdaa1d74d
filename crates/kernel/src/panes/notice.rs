//! The notice that tells whoever started a pane how it ended.

use paned_model::{Exit, PaneId};

use super::record::{End, Record};

const LONGEST_TITLE: usize = 64;
const LONGEST_LINE: usize = 250;

/// The notice, as a text that an agent can read.
pub(crate) fn notice(record: &Record, end: End, lines: u64, last: &str) -> String {
    let exit = end.exit.map_or_else(
        || "unknown".to_owned(),
        |exit| match exit {
            Exit::Code(code) => code.to_string(),
            Exit::Signal(_) => exit.to_string(),
        },
    );
    let advice = advice(&record.id, end);
    let (title, last) = (cut(record.title.text(), LONGEST_TITLE), cut(last, LONGEST_LINE));
    let timed_out = if end.timed_out { "yes" } else { "no" };
    format!(
        "<pane_exited>\nID: {}\nTitle: {title}\nExit Code: {exit}\nTimed Out: {timed_out}\n\
         Output Lines: {lines}\nLast Line: {last}\n</pane_exited>\n\n{advice}",
        record.id
    )
}

fn advice(id: &PaneId, end: End) -> String {
    if end.timed_out {
        return format!(
            "It ran out of time and was ended; read pane `{id}` to see how far it came."
        );
    }
    match end.exit {
        Some(Exit::Code(0)) => format!("It went well; read pane `{id}` for the whole output."),
        _ => format!("It did not end well; search pane `{id}` for what went wrong."),
    }
}

fn cut(text: &str, longest: usize) -> String {
    let mut short: String = text.chars().take(longest).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("\u{e4}\u{f6}\u{fc}", 2), "\u{e4}\u{f6}...");
    }
}
