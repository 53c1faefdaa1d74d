//! Finds the options of a question at the bottom of a screen, in each style that programs use.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::profile::OptionStyle;
use super::super::screen_snapshot::ScreenSnapshot;

/// The largest number of rows of an option after its first.
const MAX_MORE: usize = 4;
/// How many rows with text may be below options in one row: a footer.
const KEYS_REACH: usize = 6;
/// The longest label of such an option.
const LONGEST_LABEL: usize = 40;

/// The options of a question.
#[derive(Debug, Default)]
pub(super) struct OptionBlock {
    pub(super) rows: Range<usize>,
    pub(super) choices: Vec<ParsedOption>,
    /// The question, if it is in the same row as its options.
    pub(super) question: Option<String>,
}

/// One option.
#[derive(Debug, Default)]
pub(super) struct ParsedOption {
    pub(super) label: String,
    pub(super) selected: bool,
    pub(super) number: Option<usize>,
    /// The key that chooses it, if the screen names one.
    pub(super) key: Option<String>,
    /// Whether Enter must follow that key, if the style does not determine it.
    pub(super) needs_enter: bool,
}

/// The lowest options on the screen, with at most `reach` rows of text below them; the rows from
/// `end` on are blank.
pub(super) fn find(
    look: &ScreenSnapshot,
    style: OptionStyle,
    end: usize,
    reach: usize,
) -> Option<OptionBlock> {
    let block = match style {
        OptionStyle::Numbered => numbered(look, end, reach)?,
        OptionStyle::Radio => radio(look, end, reach)?,
        OptionStyle::Arrow => arrow(look, end, reach)?,
        OptionStyle::Letters => letters(look, end)?,
        OptionStyle::Buttons => buttons(look, end)?,
        OptionStyle::Keys => return keys(look, end, reach),
        OptionStyle::YesNo => return yes_no(look),
        OptionStyle::Enter => return enter(look, end),
    };
    let one_selected = block.choices.iter().filter(|choice| choice.selected).count() == 1;
    (2 <= block.choices.len() && one_selected).then_some(block)
}

/// A prompt sign after options, perhaps followed by the first characters of an answer.
static ANSWER_TYPED: LazyLock<Regex> = LazyLock::new(|| regex(r"\s+[>:❯›»]\s*\w{0,3}\s*$"));
/// How many rows below its question an answer may be typed.
const ANSWER_BELOW: usize = 3;

static YES_NO: LazyLock<Regex> = LazyLock::new(|| {
    let yes = "y(?:es)?";
    let no = "n(?:o)?";
    regex(&format!(
        r"(?i)^(.*?)[\[(]({yes}|{no})\s*/\s*({yes}|{no})(?:/[^\])]{{0,20}})?[\])](?:\s*\([^()]{{0,60}}\))?\W{{0,4}}(\w*)$"
    ))
});

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([\s│┃|▌]*)([›❯>●◉○◯→▸▶*]?)(\s*)(\d{1,2})[.)]\s+(\S.*?)[\s│┃|▐█]*$"));
static RADIO: LazyLock<Regex> = LazyLock::new(|| regex(r"^[\s│┃|]*([●◉○◯◎⦿])\s+(\S.*?)[\s│┃|█]*$"));
static ARROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([\s│┃|]*)[→❯›▸▶>]\s+(?:[✔✓]\s+)?(\S.*?)[\s│┃|█]*$"));
static ENTER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^\W*press (?:enter|return) to (?:continue|start|begin|proceed)\W*$")
});
static LETTER: LazyLock<Regex> = LazyLock::new(|| regex(r"\((\w)\)([^/\[\](]*)"));
static LETTERS_END: LazyLock<Regex> = LazyLock::new(|| regex(r"\[([^\]]*)\]:?\s*\S{0,20}$"));
static KEYS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[\[(]([a-z0-9]|esc|enter|tab|space)[\])]([^\[\](]*)"));
static SHORTCUT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\(((?:ctrl|shift|alt)\+\w+|esc|tab|enter|\w)\)$"));
static HINT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:ctrl\+|alt\+|shift\+|esc\b|enter\b|tab\b|[⇆↑↓←→⏎])"));

fn numbered(look: &ScreenSnapshot, end: usize, reach: usize) -> Option<OptionBlock> {
    let last = lowest(look, end, reach, |row| NUMBERED.is_match(row))?;
    let mut choices: Vec<ParsedOption> = Vec::new();
    let mut more = below(look, last, end);
    for row in (0..=last).rev() {
        let Some(found) = NUMBERED.captures(look.row(row)) else {
            let line = inner(look.row(row));
            if let Some(submit) = submit(line) {
                choices.insert(0, submit);
                more.clear();
                continue;
            }
            if !is_rule(line) {
                more.insert(0, line.to_owned());
            }
            if MAX_MORE < more.len() {
                return None;
            }
            continue;
        };
        let number: usize = found[4].parse().ok()?;
        let next = choices.iter().find_map(|below| below.number);
        if next.is_some_and(|next| next != number + 1) {
            return None;
        }
        more.insert(0, found[5].to_owned());
        let lines: Vec<String> = more.drain(..).filter(|line| !line.is_empty()).collect();
        let label = lines.join(" ");
        let key = SHORTCUT.captures(&label).map(|found| found[1].to_lowercase());
        let selected = matches!(&found[2], "›" | "❯" | ">" | "●" | "◉" | "→" | "▸" | "▶" | "*");
        choices.insert(
            0,
            ParsedOption { label, selected, number: Some(number), key, ..ParsedOption::default() },
        );
        if number == 1 {
            return Some(OptionBlock { rows: row..last + 1, choices, question: None });
        }
    }
    None
}

/// The entry without a number that sends the answers of a multi-select question.
fn submit(line: &str) -> Option<ParsedOption> {
    let label = line.trim_start_matches(['❯', '›', '>', ' ']);
    let selected = label.len() < line.len();
    let label = (label == "Submit").then(|| label.to_owned())?;
    Some(ParsedOption { label, selected, ..ParsedOption::default() })
}

/// The rows that continue the last option: they are indented like its label.
fn below(look: &ScreenSnapshot, last: usize, end: usize) -> Vec<String> {
    let found = NUMBERED.captures(look.row(last));
    let label = found.and_then(|found| found.get(5).map(|label| label.start())).unwrap_or(0);
    let column = look.row(last)[..label].chars().count();
    let goes_on = |row: &usize| {
        let text = look.row(*row);
        let from = text.chars().take_while(|c| c.is_whitespace() || "│┃|".contains(*c)).count();
        !inner(text).is_empty() && column <= from
    };
    let rows = (last + 1..end).take(MAX_MORE).take_while(goes_on);
    rows.map(|row| inner(look.row(row)).to_owned()).collect()
}

/// A row without the bars of a box around it.
fn inner(row: &str) -> &str {
    row.trim_matches(|c: char| c.is_whitespace() || "│┃|▌▐█".contains(c))
}

/// Whether a row is a line across the screen, between two groups of options.
fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c))
}

/// The lowest row that is an option, among the last `reach` rows with text.
fn lowest(
    look: &ScreenSnapshot,
    end: usize,
    reach: usize,
    is_option: impl Fn(&str) -> bool,
) -> Option<usize> {
    let ink = (0..end).rev().filter(|row| !inner(look.row(*row)).is_empty());
    ink.take(reach).find(|row| is_option(look.row(*row)))
}

/// A page that needs no choice: Enter continues.
fn enter(look: &ScreenSnapshot, end: usize) -> Option<OptionBlock> {
    let last = end.checked_sub(1)?;
    ENTER.is_match(look.row(last)).then(|| {
        let label = "Continue".to_owned();
        let choices = vec![ParsedOption { label, selected: true, ..ParsedOption::default() }];
        OptionBlock { rows: last..end, choices, question: None }
    })
}

fn radio(look: &ScreenSnapshot, end: usize, reach: usize) -> Option<OptionBlock> {
    let last = lowest(look, end, reach, |row| RADIO.is_match(row))?;
    let mut choices = Vec::new();
    let mut first = last;
    for row in (0..=last).rev() {
        let Some(found) = RADIO.captures(look.row(row)) else {
            break;
        };
        let selected = matches!(&found[1], "●" | "◉" | "⦿");
        choices.insert(
            0,
            ParsedOption { label: found[2].to_owned(), selected, ..ParsedOption::default() },
        );
        first = row;
    }
    Some(OptionBlock { rows: first..last + 1, choices, question: None })
}

fn arrow(look: &ScreenSnapshot, end: usize, reach: usize) -> Option<OptionBlock> {
    let marked = lowest(look, end, reach, |row| ARROW.is_match(row))?;
    let found = ARROW.captures(look.row(marked))?;
    let label = found.get(2)?;
    let column = look.row(marked)[..label.start()].chars().count();
    let unmarked = |row: usize| {
        let text = look.row(row);
        // A check mark may precede the current option.
        let from = text.chars().take_while(|c| c.is_whitespace() || "│┃|✔✓".contains(*c)).count();
        let label = inner(text).trim_start_matches(['✔', '✓']).trim_start();
        (from == column && !label.is_empty()).then(|| label.to_owned())
    };
    let choice =
        |label: String, selected| ParsedOption { label, selected, ..ParsedOption::default() };
    let mut choices = vec![choice(label.as_str().to_owned(), true)];
    let mut first = marked;
    let mut last = marked;
    while let Some(label) = first.checked_sub(1).and_then(unmarked) {
        choices.insert(0, choice(label, false));
        first -= 1;
    }
    while let Some(label) = unmarked(last + 1).filter(|_| last + 1 < end) {
        choices.push(choice(label, false));
        last += 1;
    }
    Some(OptionBlock { rows: first..last + 1, choices, question: None })
}

fn letters(look: &ScreenSnapshot, end: usize) -> Option<OptionBlock> {
    let last = end.checked_sub(1)?;
    if !LETTERS_END.is_match(look.row(last)) {
        return None;
    }
    // A full row continues in the next one.
    let cols = usize::from(look.view.size.cols);
    let is_full = |row: usize| cols <= look.row(row).chars().count() + 1;
    let mut first = last;
    while !look.row(first).contains('?') && 0 < first && is_full(first - 1) && last < first + 4 {
        first -= 1;
    }
    let line: String = (first..=last).map(|row| look.row(row)).collect();
    let ends = LETTERS_END.captures(&line)?;
    let usual = ends[1].to_lowercase();
    let options = &line[..ends.get(0)?.start()];
    let begins = LETTER.find(options)?.start();
    let question = options[..begins].trim().to_owned();
    let choice = |found: regex::Captures<'_>| {
        let label = format!("{}{}", &found[1], found[2].trim_end());
        let selected = !usual.is_empty() && label.to_lowercase().starts_with(&usual);
        let key = Some(found[1].to_lowercase());
        ParsedOption { label, selected, key, ..ParsedOption::default() }
    };
    let choices = LETTER.captures_iter(&options[begins..]).map(choice).collect();
    Some(OptionBlock { rows: first..last + 1, choices, question: Some(question) })
}

/// Options in one row, each with its key in brackets: `[y] Approve   [n] Deny`, `Run it? [Y]es
/// [N]o`.
fn keys(look: &ScreenSnapshot, end: usize, reach: usize) -> Option<OptionBlock> {
    let cursor = look.view.cursor;
    let is_at_cursor = |row: usize| cursor.visible && usize::from(cursor.row) == row;
    let read = |row: usize| match ANSWER_TYPED.find(look.row(row)).filter(|_| is_at_cursor(row)) {
        Some(typed) => keys_in(&look.row(row)[..typed.start()]),
        None => keys_in(look.row(row)),
    };
    let lowest = (0..end).rev().filter(|row| !inner(look.row(*row)).is_empty());
    let row = lowest.take(reach.min(KEYS_REACH) + 1).find(|row| read(*row).is_some())?;
    let (question, mut choices) = read(row)?;
    if is_at_cursor(row) {
        without_typed_key(&mut choices);
    }
    // If the cursor is behind the options, the program reads a line, which needs Enter.
    let reads_line = is_at_cursor(row) && inner(look.row(row)).chars().count() <= look.cursor;
    choices.iter_mut().for_each(|choice| choice.needs_enter = reads_line);
    Some(OptionBlock { rows: row..row + 1, choices, question })
}

/// Removes a key that was typed behind the last option from its label.
fn without_typed_key(choices: &mut [ParsedOption]) {
    let keys: Vec<String> = choices.iter().filter_map(|choice| choice.key.clone()).collect();
    let Some(last) = choices.last_mut() else { return };
    if let Some((label, typed)) = last.label.rsplit_once(' ')
        && keys.contains(&typed.to_lowercase())
    {
        last.label = label.trim_end().to_owned();
    }
}

/// The question and the options of a row that has nothing else.
pub(super) fn keys_in(row: &str) -> Option<(Option<String>, Vec<ParsedOption>)> {
    let line = inner(row);
    let begins = KEYS.find(line)?.start();
    let question = line[..begins].trim();
    if !(question.is_empty() || question.ends_with(['?', ':'])) {
        return None;
    }
    let mut choices: Vec<ParsedOption> = Vec::new();
    let mut to = begins;
    for found in KEYS.captures_iter(&line[begins..]) {
        let whole = found.get(0)?;
        // There is other text between two options.
        if begins + whole.start() != to {
            return None;
        }
        to = begins + whole.end();
        let rest = &found[2];
        let is_glued = rest.starts_with(|c: char| c.is_alphanumeric());
        let text = rest.trim_matches(|c: char| c.is_whitespace() || "/|,;·•:>".contains(c));
        let label = match is_glued {
            true => format!("{}{text}", &found[1]),
            false => text.to_owned(),
        };
        let key = found[1].to_lowercase();
        let is_double = choices.iter().any(|choice| choice.key.as_ref() == Some(&key));
        if label.is_empty() || LONGEST_LABEL < label.chars().count() || is_double {
            return None;
        }
        choices.push(ParsedOption { label, key: Some(key), ..ParsedOption::default() });
    }
    let question = Some(question.to_owned()).filter(|question| !question.is_empty());
    (2 <= choices.len() && to == line.len()).then_some((question, choices))
}

/// Yes or no in one pair of brackets, at a line input: `Run it? [Y/n]`, or `(y/n)` above the
/// cursor's row. The answer may be typed already, but not entered.
fn yes_no(look: &ScreenSnapshot) -> Option<OptionBlock> {
    let cursor = usize::from(look.view.cursor.row);
    let typed = |text: &str| text.chars().count() <= 3 && text.chars().all(char::is_alphabetic);
    let at_cursor = YES_NO.captures(look.row(cursor)).filter(|found| typed(&found[4]));
    let above = || {
        let is_ink = |row: &usize| !look.row(*row).trim().is_empty();
        let mut rows = (cursor.saturating_sub(ANSWER_BELOW)..cursor).rev();
        let row = rows.find(is_ink).filter(|_| typed(look.row(cursor).trim()))?;
        Some((row, YES_NO.captures(look.row(row)).filter(|found| found[4].is_empty())?))
    };
    let (row, found) = at_cursor.map(|found| (cursor, found)).or_else(above)?;
    if !look.view.cursor.visible {
        return None;
    }
    // The default answer is the one in capitals.
    let is_default = |word: &str| word.starts_with(char::is_uppercase);
    let one = &found[2];
    let other = &found[3];
    let choice = |label: &str, word: &str, against: &str| ParsedOption {
        label: label.to_owned(),
        selected: is_default(word) && !is_default(against),
        key: Some(match word.chars().count() {
            1 => label.to_lowercase()[..1].to_owned(),
            _ => label.to_lowercase(),
        }),
        ..ParsedOption::default()
    };
    let is_yes = |word: &str| word.starts_with(['y', 'Y']);
    if is_yes(one) == is_yes(other) {
        return None;
    }
    let (yes, no) = if is_yes(one) { (one, other) } else { (other, one) };
    let choices = vec![choice("Yes", yes, no), choice("No", no, yes)];
    let question = Some(found[1].trim().to_owned()).filter(|question| !question.is_empty());
    Some(OptionBlock { rows: row..row + 1, choices, question })
}

fn buttons(look: &ScreenSnapshot, end: usize) -> Option<OptionBlock> {
    let ink = (0..end).rev().filter(|row| !inner(look.row(*row)).is_empty());
    ink.take(4).find_map(|row| buttons_in(look, row))
}

fn buttons_in(look: &ScreenSnapshot, row: usize) -> Option<OptionBlock> {
    let text: Vec<char> = look.row(row).chars().collect();
    let bar = text.iter().take_while(|c| c.is_whitespace() || "│┃|".contains(**c)).count();
    let mut choices = Vec::new();
    // The blank before the first button may belong to it, so the row's own colour is taken before
    // that blank.
    let own = bar.checked_sub(2).map_or(0, |at| look.style_from(row, at).background);
    for (from, label) in words(&text[bar..]) {
        if HINT.is_match(&label) {
            break;
        }
        let selected = look.style_from(row, bar + from).background != own;
        choices.push(ParsedOption { label, selected, ..ParsedOption::default() });
    }
    let one = choices.iter().filter(|choice| choice.selected).count() == 1;
    (2 <= choices.len() && one).then_some(OptionBlock {
        rows: row..row + 1,
        choices,
        question: None,
    })
}

/// The parts of a row that are separated by two or more blanks, each with its start.
fn words(text: &[char]) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] == ' ' {
            at += 1;
            continue;
        }
        let is_end = |at: &usize| text[*at] == ' ' && text.get(at + 1).is_none_or(|c| *c == ' ');
        let end = (at..text.len()).find(is_end).unwrap_or(text.len());
        words.push((at, text[at..end].iter().collect()));
        at = end;
    }
    words
}
