//! Questions whose answer is typed as a line: a menu, keys or words right above the prompt.

use std::sync::LazyLock;

use regex::Regex;

use super::super::screen_snapshot::ScreenSnapshot;
use super::allows;
use super::options::{OptionBlock, ParsedOption, keys_in, regex};

/// The question right above the line at the bottom in which its answer is typed.
pub(super) fn find(look: &ScreenSnapshot, end: usize) -> Option<OptionBlock> {
    let at = line_at_bottom(look, end)?;
    menu(look, at).or_else(|| keys_above(look, at)).or_else(|| words_above(look, at))
}

/// The longest prompt at which an answer is read as a line.
const LONGEST_PROMPT: usize = 40;

/// An option of a menu: `1. all`, `2) none`, `[3] some`.
static MENU: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*[\[(]?(\d{1,2})[\])]?[.):]?\s+(\S.*?)\s*$"));
/// A prompt that is only a sign, perhaps followed by the first characters of an answer.
static BARE_PROMPT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*[>❯›»➜:?$#%]{1,3}\s*\w{0,3}$"));
/// A prompt that asks for a choice: `Choose [1-3]:`, `Your choice:`, `Enter a number (1-2)> `.
static CHOICE_PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    let noun = "(?:choice|selection|option|number|answer)";
    regex(&format!(
        r"(?i)^\W{{0,4}}(?:.{{0,20}}\b(?:choose|select|pick)\b|.{{0,20}}\b{noun}\b|.*[\[(]\d{{1,2}}\s*(?:-|–|/|to)\s*\d{{1,2}}[\])])[^>:?]{{0,30}}[>:?❯›»]\s*\w{{0,3}}$"
    ))
});

/// A menu right above the line in which its answer is typed. A list above a bare prompt may be the
/// end of an answer: it is a menu if one of its entries is a known answer such as yes or no, or if
/// a question is above it.
fn menu(look: &ScreenSnapshot, at: usize) -> Option<OptionBlock> {
    let is_asked = CHOICE_PROMPT.is_match(look.row(at));
    if !is_asked && !BARE_PROMPT.is_match(look.row(at)) {
        return None;
    }
    let is_blank = |row: usize| look.row(row).trim().is_empty();
    let last = at.checked_sub(1)?;
    let last = if is_asked && is_blank(last) { last.checked_sub(1)? } else { last };
    let mut choices: Vec<ParsedOption> = Vec::new();
    let mut first = last + 1;
    while let Some(found) = first.checked_sub(1).and_then(|row| MENU.captures(look.row(row))) {
        let number: usize = found[1].parse().ok()?;
        let next = choices.first().and_then(|below| below.number);
        if next.is_some_and(|next| next != number + 1) {
            return None;
        }
        first -= 1;
        let label = found[2].to_owned();
        let key = Some(number.to_string());
        let needs_enter = true;
        choices.insert(
            0,
            ParsedOption { label, number: Some(number), key, needs_enter, selected: false },
        );
        if number <= 1 {
            break;
        }
    }
    let is_whole = choices.first().is_some_and(|first| first.number.is_some_and(|n| n <= 1));
    let has_answer = choices.iter().any(|choice| allows(&choice.label).is_some());
    let has_question = first.checked_sub(1).is_some_and(|row| look.row(row).trim().ends_with('?'));
    let is_menu = is_asked || has_answer || has_question;
    let block = OptionBlock { rows: first..last + 1, choices, question: None };
    (2 <= block.choices.len() && is_whole && is_menu).then_some(block)
}

/// Keys right above the line in which one of them is typed: `[y] Approve  [n] Deny` over `> `.
fn keys_above(look: &ScreenSnapshot, at: usize) -> Option<OptionBlock> {
    if !BARE_PROMPT.is_match(look.row(at)) && !CHOICE_PROMPT.is_match(look.row(at)) {
        return None;
    }
    let row = at.checked_sub(1)?;
    let (question, mut choices) = keys_in(look.row(row))?;
    choices.iter_mut().for_each(|choice| choice.needs_enter = true);
    let has_answer = choices.iter().any(|choice| allows(&choice.label).is_some());
    has_answer.then_some(OptionBlock { rows: row..row + 1, choices, question })
}

/// Answers in words right above the line in which one of them is typed, under a question.
fn words_above(look: &ScreenSnapshot, at: usize) -> Option<OptionBlock> {
    if !BARE_PROMPT.is_match(look.row(at)) {
        return None;
    }
    let answer = |row: usize| {
        let label = look.row(row).trim();
        let is_short = label.split_whitespace().count() == 1;
        (is_short && allows(label).is_some()).then(|| label.to_owned())
    };
    let mut choices: Vec<ParsedOption> = Vec::new();
    let mut first = at;
    while let Some(label) = first.checked_sub(1).and_then(answer) {
        first -= 1;
        let key = Some(label.to_lowercase());
        let option = ParsedOption { label, key, needs_enter: true, ..ParsedOption::default() };
        choices.insert(0, option);
    }
    let is_asked = first.checked_sub(1).is_some_and(|row| look.row(row).trim().ends_with('?'));
    let block = OptionBlock { rows: first..at, choices, question: None };
    (2 <= block.choices.len() && is_asked).then_some(block)
}

/// The row of a visible cursor with a short text before it and nothing below.
fn line_at_bottom(look: &ScreenSnapshot, end: usize) -> Option<usize> {
    let cursor = look.view.cursor;
    let at = usize::from(cursor.row);
    let text = look.row(at).trim();
    let is_short = !text.is_empty() && text.chars().count() <= LONGEST_PROMPT;
    let is_behind = look.row(at).trim_end().chars().count() <= look.cursor;
    (cursor.visible && end == at + 1 && is_short && is_behind).then_some(at)
}
