//! Finds a text on a screen that has wrapped, indented and boxed it.

use paned_term::ScreenView;

use crate::agent::{Composer, Observation};

/// How many characters of a text are searched for; a screen may show no more of it.
const ENOUGH: usize = 24;
/// How many rows the beginning of a message takes, at most.
const MESSAGE_ROWS: usize = 4;

/// How much of a text the composer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextVisibility {
    /// Not at all.
    Nothing,
    /// Some other text.
    Other,
    /// A part of it.
    Part,
    /// Its end, or the program's placeholder for it.
    Whole,
}

impl Observation {
    /// How much of this text the composer shows.
    pub(super) fn text_visibility(&self, text: &str) -> TextVisibility {
        match &self.composer {
            Composer::Draft(_) if self.placeholder => TextVisibility::Whole,
            Composer::Draft(draft) => in_draft(draft, text),
            // A composer that does not fit on the screen is not found; it ends at the cursor.
            Composer::Hidden if at_cursor(&self.view, text) => TextVisibility::Whole,
            Composer::Hidden | Composer::Empty => TextVisibility::Nothing,
        }
    }

    /// Whether the text is on the screen outside the composer.
    pub(super) fn is_in_conversation(&self, text: &str) -> bool {
        let drafted = matches!(self.composer, Composer::Draft(_));
        !drafted && !at_cursor(&self.view, text) && on_screen(&self.view, text)
    }
}

/// How much of this text a draft shows.
fn in_draft(draft: &str, text: &str) -> TextVisibility {
    let draft = normalized(draft);
    let text = normalized(text);
    if is_paste_placeholder(&draft) || draft.contains(tail(&text)) {
        return TextVisibility::Whole;
    }
    match draft.contains(head(&text)) {
        true => TextVisibility::Part,
        // A long line may be shown without its end.
        false if !draft.is_empty() && text.contains(draft.trim_end_matches('…')) => {
            TextVisibility::Part
        }
        false => TextVisibility::Other,
    }
}

/// Whether the cursor is right behind the end of this text.
fn at_cursor(view: &ScreenView, text: &str) -> bool {
    let row = usize::from(view.cursor.row);
    let col = usize::from(view.cursor.col);
    let Some(current) = view.rows.get(row) else { return false };
    let here = normalized(&current.chars().take(col).collect::<String>());
    // A line editor leaves an entered line in place, and continues in the next row.
    let text = normalized(text);
    if here.is_empty() || text.is_empty() {
        return false;
    }
    let before: Vec<String> = view.rows[..row].iter().map(|row| normalized(row)).collect();
    if (before.concat() + &here).ends_with(tail(&text)) {
        return true;
    }
    // What precedes the text in this row is a sign that each of its rows may begin with.
    let starts = here.char_indices().map(|(at, _)| at);
    let Some(at) = starts.skip(1).find(|at| text.ends_with(&here[*at..])) else { return false };
    let (sign, end) = here.split_at(at);
    (without_sign(&before, sign) + end).ends_with(tail(&text))
}

/// Whether the beginning of this text is anywhere on the screen.
fn on_screen(view: &ScreenView, text: &str) -> bool {
    let text = normalized(text);
    let rows: Vec<String> = view.rows.iter().map(|row| normalized(row)).collect();
    if text.is_empty() || rows.concat().contains(head(&text)) {
        return !text.is_empty();
    }
    (0..rows.len()).any(|row| begins_behind_sign(&rows[row..], &text))
}

/// Whether this text begins in the first of these rows, behind a sign with which the rows after it
/// may begin, too.
fn begins_behind_sign(rows: &[String], text: &str) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let starts = first.char_indices().map(|(at, _)| at);
    let mut starts = starts.skip(1).filter(|at| text.starts_with(&first[*at..]));
    starts.any(|at| {
        let (sign, begin) = first.split_at(at);
        (begin.to_owned() + &without_sign(rest, sign)).starts_with(head(text))
    })
}

/// These rows, without the sign where one begins with it.
fn without_sign(rows: &[String], sign: &str) -> String {
    rows.iter().map(|row| row.strip_prefix(sign).unwrap_or(row)).collect()
}

/// Whether a message which begins in the first of these rows, behind a sign that ends at this byte
/// or shortly before it, is this text.
pub(crate) fn begins_message(rows: &[String], sign: usize, text: &str) -> bool {
    let Some(first) = rows.first() else { return false };
    let text = normalized(text);
    let sign = normalized(&first[..sign]).len();
    let first = normalized(first);
    let shown: String = rows.iter().take(MESSAGE_ROWS).map(|row| normalized(row)).collect();
    // The row shows the text up to where it wraps, and nothing else.
    let is_text = |at: usize| {
        let row = &first[at..];
        !row.is_empty() && text.starts_with(row) && shown[at..].starts_with(head(&text))
    };
    first.char_indices().map(|(at, _)| at).take_while(|at| *at <= sign).any(is_text)
}

/// What programs show instead of a long paste.
fn is_paste_placeholder(draft: &str) -> bool {
    draft.contains("[Pasted") || draft.contains("[Paste#")
}

/// A text without what a screen adds or loses: blanks, line breaks, boxes.
fn normalized(text: &str) -> String {
    let is_box = |c: char| ('\u{2500}'..='\u{259f}').contains(&c);
    text.chars().filter(|&c| !c.is_whitespace() && !is_box(c)).collect()
}

fn head(text: &str) -> &str {
    text.char_indices().nth(ENOUGH).map_or(text, |(at, _)| &text[..at])
}

fn tail(text: &str) -> &str {
    let count = text.chars().count();
    let skip = count.saturating_sub(ENOUGH);
    text.char_indices().nth(skip).map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use paned_term::Screen;

    use super::*;

    fn screen(printed: &str) -> ScreenView {
        let mut screen = Screen::new(Size { cols: 20, rows: 6 });
        screen.feed(printed.as_bytes());
        screen.view()
    }

    #[test]
    fn a_wrapped_text_is_found_again() {
        let text = "please look at the file\nand tell me what it is";
        assert_eq!(
            in_draft("please look at the\n  file and tell me\n  what it is", text),
            TextVisibility::Whole
        );
        assert_eq!(in_draft("please look at the\n  file and", text), TextVisibility::Part);
        assert_eq!(in_draft("please look…", text), TextVisibility::Part);
        assert_eq!(in_draft("something else", text), TextVisibility::Other);
        assert_eq!(in_draft("[Pasted text #1 +2 lines]", text), TextVisibility::Whole);
    }

    #[test]
    fn a_short_text_is_looked_for_whole() {
        assert_eq!(in_draft("yes", "yes"), TextVisibility::Whole);
        assert_eq!(in_draft("ye", "yes"), TextVisibility::Part);
        assert_eq!(in_draft("yesterday", "yes"), TextVisibility::Whole);
    }

    #[test]
    fn a_message_is_known_by_its_text_behind_the_sign() {
        let is_text = |rows: &str, sign: usize, text: &str| {
            let rows: Vec<String> = rows.split('|').map(str::to_owned).collect();
            begins_message(&rows, sign, text)
        };
        assert!(is_text("> say it", 2, "say it"));
        assert!(is_text("> say it", 3, "say it"), "the pattern took a character of the text");
        assert!(is_text("me:~$ say it|done", 6, "say it"));
        assert!(is_text("> please look at|  the file|ok", 2, "please look at the file"));
        assert!(!is_text("> say it again", 2, "say it"));
        assert!(!is_text("> say|other", 2, "say it"));
        assert!(!is_text("> ", 2, "say it"));
    }

    #[test]
    fn the_cursor_stands_behind_what_was_typed() {
        let text = "a text that takes more than one row of it";
        assert!(at_cursor(&screen(&format!("> {text}")), text));
        assert!(!at_cursor(&screen(&format!("> {text}\r\n> ")), text));
        assert!(!at_cursor(&screen(&format!("> {text}\r\n")), text));
        assert!(on_screen(&screen(&format!("> {text}\r\n> ")), text));
        assert!(!on_screen(&screen("> "), text));
    }

    #[test]
    fn a_sign_before_each_row_is_no_part_of_the_text() {
        let text = "a first line\nand a second line";
        let shown = "diff> a first line\r\ndiff> and a second\r\ndiff> line";
        assert!(at_cursor(&screen(shown), text));
        let entered = format!("{shown}\r\n\r\nRun it? ");
        assert!(!at_cursor(&screen(&entered), text));
        assert!(on_screen(&screen(&entered), text));
        for other in [
            "diff> a first line\r\nmulti> and a second\r\nmulti> line\r\n",
            "diff> a first line\r\ndiff> and then\r\n",
            "diff> a first line\r\n\r\nRun it? ",
            "diff> first line\r\ndiff> and a second\r\n",
        ] {
            assert!(!on_screen(&screen(other), text), "{other:?}");
            assert!(!at_cursor(&screen(other), text), "{other:?}");
        }
    }
}
