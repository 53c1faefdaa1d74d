//! Parses a question from the bottom of a screen: its text, its options, and the keys that choose
//! them.
//!
//! The layout decides first: prose that sounds like a question has no options at the bottom of a
//! screen without a composer.

mod options;
mod prompt_line;
#[cfg(test)]
mod tests;

use std::ops::Range;

use paned_model::{BlockKind, Dialog, DialogOption};
use paned_term::keys::Key;

use super::profile::{ChoiceMethod, DialogShape, OptionStyle, Profile};
use super::regions;
use super::screen_snapshot::ScreenSnapshot;
use options::{OptionBlock, ParsedOption};

/// The largest number of rows of a question.
const MAX_TEXT: usize = 20;
/// How many rows above its options distinguish one question from another.
const MAX_CONTEXT: usize = 40;

/// The question at the bottom of a screen. A composer elsewhere on the screen rules a question out.
/// A composer that consists of the question's own rows is not a composer. The rows from `end` on
/// are blank.
pub(super) fn find(
    look: &ScreenSnapshot,
    profile: &Profile,
    composer: Option<Range<usize>>,
    end: usize,
) -> Option<Dialog> {
    let shape = profile.dialog.as_ref()?;
    if !shape.needs.iter().all(|need| need.holds(look, &(0..end))) {
        return None;
    }
    let found =
        |style: &OptionStyle| Some((*style, options::find(look, *style, end, shape.reach)?));
    let fits = |(style, block): &(OptionStyle, OptionBlock)| {
        let is_clear = *style == OptionStyle::Letters || shape.hint.is_some();
        let is_its_own = |rows: &Range<usize>| {
            is_clear && rows.start < block.rows.end && block.rows.start < rows.end
        };
        let is_free = match profile.is_generic() {
            // A row with keys may be a quotation in an answer: with a composer below, it is not a
            // question.
            true => composer
                .as_ref()
                .is_none_or(|rows| *style != OptionStyle::Keys || rows.start < block.rows.end),
            false => composer.as_ref().is_none_or(is_its_own),
        };
        is_free
            && has_hint(look, shape, block, end)
            && !(shape.plain && is_user_message(look, profile, block))
    };
    let (style, block) = shape.styles.iter().filter_map(found).find(fits)?;
    read(look, profile, shape, style, &block, end)
}

/// The question right above the line at the bottom in which its answer is typed.
pub(super) fn find_at_prompt(
    look: &ScreenSnapshot,
    profile: &Profile,
    end: usize,
) -> Option<Dialog> {
    let shape = profile.dialog.as_ref()?;
    let block = prompt_line::find(look, end)?;
    read(look, profile, shape, OptionStyle::Keys, &block, end)
}

/// The question with these options.
fn read(
    look: &ScreenSnapshot,
    profile: &Profile,
    shape: &DialogShape,
    style: OptionStyle,
    block: &OptionBlock,
    end: usize,
) -> Option<Dialog> {
    let text = text(look, profile, shape, block);
    let whole = format!("{text}\n{}", labels(block));
    let known = shape.kinds.iter().find(|kind| kind.pattern.is_in(&whole));
    if known.is_none() && shape.known {
        return None;
    }
    let kind = known.map_or(shape.kind.unwrap_or(BlockKind::Question), |known| known.kind);
    let options = dialog_options(shape.choosing, style, block);
    let asked = match profile.is_generic() {
        true => format!("{text}\n{}\n{}", labels(block), surroundings(look, block, end)),
        false => {
            let labels = block.choices.iter().map(|choice| without_explanation(&choice.label));
            format!("{text}{}", labels.collect::<String>())
        }
    };
    Some(Dialog { id: id(kind, &asked), kind, text, options })
}

/// The other text near the options of a program without a profile: the subject of the question may
/// be anywhere there. Clocks and spinners change by themselves, so digits and drawn symbols do not
/// count, and neither does the row in which an answer is typed.
fn surroundings(look: &ScreenSnapshot, block: &OptionBlock, end: usize) -> String {
    let cursor = usize::from(look.view.cursor.row);
    let above = block.rows.start.saturating_sub(MAX_CONTEXT)..block.rows.start;
    let below = (block.rows.end..end).filter(|row| *row != cursor);
    let words = |row: usize| {
        let counts = |c: char| c.is_alphabetic() || c.is_whitespace() || c.is_ascii_punctuation();
        let text: String = look.row(row).chars().filter(|c| counts(*c)).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    above.chain(below).map(words).collect::<Vec<_>>().join("\n")
}

/// A label without its explanation in parentheses: some programs show it for the selected option
/// only.
fn without_explanation(label: &str) -> &str {
    let label = without_checkbox(label);
    label.split_once(" (").map_or(label, |(short, _)| short)
}

/// A label without its check box: ticking the box does not make a new question.
pub(crate) fn without_checkbox(label: &str) -> &str {
    let boxes = ["[ ] ", "[x] ", "[X] ", "[✔] ", "[✓] "];
    boxes.iter().find_map(|tick| label.strip_prefix(tick)).unwrap_or(label)
}

/// Whether these rows are not options but lines of the user's last message. A program that draws
/// its screen in pieces briefly shows that message without the composer below, and it may begin
/// with the sign of a selected option.
fn is_user_message(look: &ScreenSnapshot, profile: &Profile, block: &OptionBlock) -> bool {
    let mut rows = block.rows.clone();
    rows.any(|row| regions::is_users(look, profile, row, true))
}

fn has_hint(look: &ScreenSnapshot, shape: &DialogShape, block: &OptionBlock, end: usize) -> bool {
    let Some(hint) = &shape.hint else {
        return true;
    };
    (block.rows.start..end).any(|row| hint.is_in(look.row(row)))
}

fn labels(block: &OptionBlock) -> String {
    block.choices.iter().map(|choice| choice.label.as_str()).collect::<Vec<_>>().join("\n")
}

/// The rows above the options that belong to the question.
fn text(
    look: &ScreenSnapshot,
    profile: &Profile,
    shape: &DialogShape,
    block: &OptionBlock,
) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut blanks = 0;
    // If the profile describes how a question begins, its own rows are not searched for a message
    // of the user: they may look alike.
    let first = match shape.begins {
        Some(_) => 0,
        None => match regions::turn(look, profile, block.rows.start) {
            // A command right above the options is the subject of the question, though it looks
            // like a message of the user.
            first if profile.is_generic() && first == block.rows.start => {
                regions::turn(look, profile, first.saturating_sub(1))
            }
            first => first,
        },
    };
    for row in (first..block.rows.start).rev().take(MAX_TEXT) {
        let whole = look.row(row);
        if !lines.is_empty() && is_edge(whole) {
            break;
        }
        let line = plain(whole);
        blanks = if line.is_empty() { blanks + 1 } else { 0 };
        if 2 <= blanks && !lines.is_empty() && whole.trim().is_empty() {
            break;
        }
        if !line.is_empty() {
            lines.push(line.to_owned());
        }
        if shape.begins.as_ref().is_some_and(|begins| begins.is_in(whole)) {
            break;
        }
    }
    lines.reverse();
    if let Some(question) = &block.question {
        lines.push(question.clone());
    }
    lines.join("\n")
}

/// Whether a row is the upper edge of a box or a rule across the screen.
fn is_edge(row: &str) -> bool {
    let row = row.strip_prefix(' ').unwrap_or(row);
    let row = row.strip_prefix(' ').unwrap_or(row);
    row.starts_with(['╭', '┌', '╔'])
        || row.starts_with("────")
        || row.starts_with("▄▄▄▄")
        || row.starts_with("▀▀▀▀")
}

/// A row without the lines of boxes.
fn plain(row: &str) -> &str {
    row.trim_matches(|c: char| c.is_whitespace() || ('\u{2500}'..='\u{259f}').contains(&c))
}

fn dialog_options(
    choosing: ChoiceMethod,
    style: OptionStyle,
    block: &OptionBlock,
) -> Vec<DialogOption> {
    let selected = block.choices.iter().position(|choice| choice.selected);
    let option = |(at, choice): (usize, &ParsedOption)| DialogOption {
        label: choice.label.clone(),
        keys: keys(choosing, style, choice, at, selected),
        selected: choice.selected,
        allows: allows(&choice.label),
    };
    block.choices.iter().enumerate().map(option).collect()
}

fn keys(
    choosing: ChoiceMethod,
    style: OptionStyle,
    choice: &ParsedOption,
    at: usize,
    selected: Option<usize>,
) -> Vec<String> {
    let own = match (style, choosing) {
        (OptionStyle::Letters | OptionStyle::YesNo, _) => choice.key.as_ref().map(|key| typed(key)),
        (OptionStyle::Keys, _) => choice.key.clone().map(|key| match choice.needs_enter {
            true => typed(&key),
            false => vec![key],
        }),
        (_, ChoiceMethod::Digit) => choice.number.map(|number| vec![number.to_string()]),
        (_, ChoiceMethod::Shortcut) => choice.key.clone().map(|key| vec![key]),
        (_, ChoiceMethod::Move) => None,
    };
    own.unwrap_or_else(|| arrow_keys(style, at, selected))
}

/// The keys that type an answer, and Enter.
fn typed(answer: &str) -> Vec<String> {
    let is_name = answer.parse::<Key>().is_ok();
    let letters = answer.chars().map(String::from).collect();
    let mut keys = if is_name { vec![answer.to_owned()] } else { letters };
    keys.push("enter".to_owned());
    keys
}

/// The arrow keys from the selected option to another one, then Enter.
fn arrow_keys(style: OptionStyle, at: usize, selected: Option<usize>) -> Vec<String> {
    let from = selected.unwrap_or(0);
    let (back, forth) = match style {
        OptionStyle::Buttons => ("left", "right"),
        OptionStyle::Numbered
        | OptionStyle::Radio
        | OptionStyle::Arrow
        | OptionStyle::Letters
        | OptionStyle::Keys
        | OptionStyle::YesNo
        | OptionStyle::Enter => ("up", "down"),
    };
    let arrow = if at < from { back } else { forth };
    let mut keys = vec![arrow.to_owned(); at.abs_diff(from)];
    keys.push("enter".to_owned());
    keys
}

/// Words that an answer begins with, and whether the answer allows.
const ANSWERS: [(&str, bool); 25] = [
    ("yes", true),
    ("allow", true),
    ("always", true),
    ("approve", true),
    ("accept", true),
    ("proceed", true),
    ("trust", true),
    ("run", true),
    ("ok", true),
    ("confirm", true),
    ("continue", true),
    ("implement", true),
    ("grant", true),
    ("no", false),
    ("deny", false),
    ("reject", false),
    ("cancel", false),
    ("don't", false),
    ("don’t", false),
    ("do not", false),
    ("quit", false),
    ("exit", false),
    ("never", false),
    ("skip", false),
    ("decline", false),
];

fn allows(label: &str) -> Option<bool> {
    let label = without_checkbox(label).to_lowercase();
    let begins = |word: &str| {
        let rest = label.strip_prefix(word);
        rest.is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphanumeric()))
    };
    ANSWERS.iter().find(|(word, _)| begins(word)).map(|(_, yes)| *yes)
}

/// FNV-1a of the question, so that the same question has the same id.
fn id(kind: BlockKind, whole: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let words = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    for byte in kind.as_str().bytes().chain(words.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}
