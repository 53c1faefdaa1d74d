//! Parses the screen of a program without a profile: its composer and its questions.
//!
//! The cursor shows where a program accepts input. There is a composer if the cursor is between two
//! rules, behind a bar, or after a prompt sign. `judge` decides from this and from time whether the
//! program waits.

use std::ops::Range;
use std::sync::LazyLock;

use paned_model::Dialog;
use regex::Regex;

use super::composer_memory::{ComposerSign, SignShape};
use super::dialog;
use super::profile::{ComposerShape, Profile, ProfilePattern};
use super::regions::prompt_end;
use super::screen_snapshot::ScreenSnapshot;

/// The largest number of rows of a composer.
const TALLEST: usize = 12;
/// How many rows with text may be below a line with a prompt sign: a footer, a status line.
const BELOW_LINE: usize = 6;
/// How many line characters in a row make a rule.
const RULE: usize = 8;

static HINT: LazyLock<Regex> = LazyLock::new(|| {
    let keys = r"\b(?:enter|return|esc|escape|arrow keys|space|tab)\b|[↑↓⇆⏎]";
    let acts = r"\b(?:select|confirm|choose|submit|cancel|navigate|continue|toggle|dismiss|reject)";
    Regex::new(&format!("(?i)(?:{keys}).*{acts}|{acts}.*(?:{keys})")).expect("a pattern of ours")
});

/// A label at which chat programs accept input, such as `User: `. Printed text may begin the same
/// way, so it counts only while the program enables bracketed paste: line editors do that while
/// they read.
static LABEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Z][A-Za-z0-9_.-]{0,19}: ").expect("a pattern of ours"));
/// A sign at the left of a framed composer.
static FRAMED_SIGN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s{0,2}[^\w\s\x{2580}-\x{259f}] ").expect("a pattern of ours"));

/// A prompt sign with at most the first characters of an answer behind it.
static BARE_SIGN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*[>❯›»]\s*\w{0,3}\s*$").expect("a pattern of ours"));
/// Signs that programs draw before a question, and never before a composer.
const QUESTION_SIGNS: [char; 3] = ['?', '⚠', '✋'];

/// Characters that programs draw as a cursor.
const DRAWN_CURSORS: [char; 6] = ['█', '▉', '▊', '▋', '▍', '▮'];

/// Whether a character is a cursor drawn by the program.
pub(super) fn is_drawn_cursor(c: char) -> bool {
    DRAWN_CURSORS.contains(&c)
}

/// Where the text of a composer row begins after its prompt.
pub(super) fn text_start(
    look: &ScreenSnapshot,
    prompt: &ProfilePattern,
    row: &str,
    from: usize,
    is_framed: bool,
) -> Option<usize> {
    let padded = format!("{} ", &row[from..]);
    let is_reading = look.view.modes.bracketed_paste;
    let label = || LABEL.find(&padded).filter(|_| is_reading && !is_framed);
    let sign = || FRAMED_SIGN.find(&padded).filter(|_| is_framed);
    prompt_end(prompt, row, from)
        .or_else(|| Some((from + label().or_else(sign)?.end()).min(row.len())))
}

/// The composer with its borders, and its rows that hold text.
pub(super) fn composer(
    look: &ScreenSnapshot,
    shape: &ComposerShape,
    end: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let boxed = |at: usize| framed(look, at).or_else(|| barred(look, at));
    let line = |at: usize| {
        let start = line_start(look, shape, at)?;
        let below = (at + 1..end).filter(|row| !look.row(*row).trim().is_empty()).count();
        (below <= BELOW_LINE).then_some((start..at + 1, start..at + 1))
    };
    let drawn = input_row(look, end).and_then(|at| boxed(at).or_else(|| line(at)));
    // Programs that draw their own cursor usually leave the hidden one in the same place.
    drawn.or_else(|| boxed(usize::from(look.view.cursor.row)))
}

/// How the composer looks: its border, and the prompt before the cursor.
pub(super) fn sign(look: &ScreenSnapshot, profile: &Profile, end: usize) -> Option<ComposerSign> {
    let shape = profile.composer.as_ref().filter(|shape| shape.by_cursor)?;
    let prompt = |row: usize, from: usize, is_framed: bool| {
        let row = look.row(row);
        let end = text_start(look, shape.prompt.as_ref()?, row, from, is_framed)?;
        Some(row[from..end].trim())
    };
    let drawn = input_row(look, end);
    let at = drawn.unwrap_or(usize::from(look.view.cursor.row));
    if let Some((whole, text)) = framed(look, at) {
        let border = look.row(whole.start).trim_start().chars().find(|c| is_line(*c))?;
        let row = look.row(text.start);
        let inside = shape.inside.as_ref().and_then(|inside| inside.find(row));
        let from = inside.filter(|found| found.start == 0).map_or(0, |found| found.end);
        let prompt = prompt(text.start, from, true).unwrap_or_default();
        return ComposerSign::new(SignShape::Frame, &format!("{border} {prompt}"));
    }
    if barred(look, at).is_some() {
        let bar = look.row(at).trim_start().chars().next()?;
        return ComposerSign::new(SignShape::Bar, &bar.to_string());
    }
    // A line editor has nothing below its line; a full-screen program keeps its composer while it
    // works.
    if drawn.is_none() || look.view.modes.alternate_screen || at + 1 < end {
        return None;
    }
    ComposerSign::new(SignShape::Line, prompt(line_start(look, shape, at)?, 0, false)?)
}

/// The question at the bottom. A list in the text is not a question: a question has an answer such
/// as yes or no, or names the keys that answer it.
pub(super) fn dialog(
    look: &ScreenSnapshot,
    profile: &Profile,
    composer: Option<Range<usize>>,
    end: usize,
) -> Option<Dialog> {
    // Text that is typed into a framed composer may look like options.
    let is_framed = composer.as_ref().is_some_and(|rows| 2 < rows.len());
    let at_prompt = || dialog::find_at_prompt(look, profile, end);
    if let Some(asked) = (!is_framed).then(at_prompt).flatten() {
        return Some(asked);
    }
    if let Some(asked) = composer.as_ref().and_then(|rows| boxed_dialog(look, profile, rows)) {
        return Some(asked);
    }
    let asked = dialog::find(look, profile, composer, end)?;
    let bottom = (0..end).rev().filter(|row| !look.row(*row).trim().is_empty()).take(4);
    let has_hint = bottom.into_iter().any(|row| HINT.is_match(look.row(row)));
    (has_hint || has_answer(&asked) && !is_framed).then_some(asked)
}

fn has_answer(asked: &Dialog) -> bool {
    asked.options.iter().any(|option| option.allows.is_some())
}

/// The question in a box around the cursor, which is looked for as if the box were not drawn.
fn boxed_dialog(look: &ScreenSnapshot, profile: &Profile, whole: &Range<usize>) -> Option<Dialog> {
    if !is_rule(look.row(whole.start)) {
        return None;
    }
    let text = whole.start + 1..whole.end.checked_sub(1)?;
    let rows: Vec<String> =
        text.clone().map(|row| without_bars(look.row(row))).collect::<Option<_>>()?;
    let is_ink = |row: &String| !row.trim().is_empty();
    let first = rows.iter().position(is_ink)?;
    let end = text.start + rows.iter().rposition(is_ink)? + 1;
    // Behind a prompt sign in its first row, it is what is typed into a composer.
    let prompt = profile.composer.as_ref()?.prompt.as_ref()?;
    let is_marked = rows[first].trim_start().starts_with(QUESTION_SIGNS);
    if !is_marked && text_start(look, prompt, &rows[first], 0, true).is_some() {
        return None;
    }
    let mut inside = look.clone();
    inside.view.rows[text.start..].iter_mut().for_each(String::clear);
    inside.view.rows.splice(text.clone(), rows);
    if let Some(asked) = dialog::find_at_prompt(&inside, profile, end) {
        return Some(asked);
    }
    // The sign before an answer that is typed below the question.
    let at = usize::from(look.view.cursor.row);
    if text.start + first < at && BARE_SIGN.is_match(inside.row(at)) {
        inside.view.rows[at] = inside.row(at).replace(['>', '❯', '›', '»'], " ");
    }
    dialog::find(&inside, profile, None, end).filter(has_answer)
}

/// A row of a box with blanks for its two bars; `None` if it has not both.
fn without_bars(row: &str) -> Option<String> {
    let is_bar = |c: char| "│┃║|".contains(c);
    let text = row.trim().strip_prefix(is_bar)?.strip_suffix(is_bar)?;
    let indent = row.chars().take_while(|c| c.is_whitespace()).count() + 1;
    Some(format!("{}{}", " ".repeat(indent), text.trim_end()))
}

/// The row where input would appear: the cursor's row, or the row of a cursor which the program
/// draws itself, as an inverse cell or as a block.
fn input_row(look: &ScreenSnapshot, end: usize) -> Option<usize> {
    if look.view.cursor.visible {
        return Some(usize::from(look.view.cursor.row));
    }
    (0..end).rev().find(|row| has_drawn_cursor(look, *row))
}

/// Whether a row has a cursor drawn by the program: one inverse cell, one cell with a background,
/// or a block.
pub(super) fn has_drawn_cursor(look: &ScreenSnapshot, row: usize) -> bool {
    let cells = look.row(row).chars().count() + 1;
    let inverse = (0..cells).filter(|at| look.style_from(row, *at).inverse).count();
    let tinted = (0..cells).filter(|at| look.style_from(row, *at).background != 0).count();
    inverse == 1 || tinted == 1 || has_cursor_block(look.row(row), usize::from(look.view.size.cols))
}

/// Whether a row has one block right behind text or a prompt. A scroll bar has many blanks before
/// it, or is at the edge.
fn has_cursor_block(row: &str, cols: usize) -> bool {
    let chars: Vec<char> = row.chars().collect();
    let mut blocks = (0..chars.len()).filter(|at| is_drawn_cursor(chars[*at]));
    let (Some(at), None) = (blocks.next(), blocks.next()) else { return false };
    let blanks = chars[..at].iter().rev().take_while(|c| c.is_whitespace()).count();
    blanks < 2 && at + 1 < cols
}

/// A composer between two rules. A rule may contain a word, such as a title or a spinner.
fn framed(look: &ScreenSnapshot, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let rows = look.view.rows.len();
    let top = (at.saturating_sub(TALLEST)..at).rev().find(|row| is_rule(look.row(*row)))?;
    let bottom = (at + 1..rows.min(at + 1 + TALLEST)).find(|row| is_rule(look.row(*row)))?;
    (!is_rule(look.row(at))).then_some((top..bottom + 1, top + 1..bottom))
}

fn is_line(c: char) -> bool {
    matches!(c, '─' | '━' | '═' | '▄' | '▀' | '▔' | '▁' | '╌' | '┄')
}

/// Whether a row is a border above or below.
pub(super) fn is_rule(row: &str) -> bool {
    let mut run = 0;
    row.chars().any(|c| {
        run = if is_line(c) { run + 1 } else { 0 };
        RULE <= run
    })
}

/// A composer behind a bar at the left.
fn barred(look: &ScreenSnapshot, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let bar = |row: usize| {
        let text = look.row(row);
        let indent = text.chars().take_while(|c| *c == ' ').count();
        let sign = text.chars().nth(indent).filter(|c| "┃│▌▎║".contains(*c));
        sign.map(|sign| (indent, sign))
    };
    let own = bar(at)?;
    let is_same = |row: &usize| bar(*row) == Some(own);
    let above = (0..at).rev().take(TALLEST).take_while(is_same).count();
    let below = (at + 1..look.view.rows.len()).take(TALLEST).take_while(is_same).count();
    let whole = at - above..at + below + 1;
    let is_blank = |row: &usize| {
        let text = look.row(*row).chars().skip(own.0 + 1).collect::<String>();
        text.trim().is_empty()
    };
    let first = (whole.start..at).find(|row| !is_blank(row)).unwrap_or(at);
    // A single row below the text, after a blank one, is a label: the model, the mode.
    let under: Vec<usize> = (at + 1..whole.end).filter(|row| !is_blank(row)).collect();
    let last = match under[..] {
        [label] if at + 1 < label => at + 1,
        _ => whole.end,
    };
    Some((whole, first..last))
}

/// The first row of the cursor's line, if that line begins with a prompt sign: the cursor's row, or
/// a row above it if the rows between are full or continue a draft.
fn line_start(look: &ScreenSnapshot, shape: &ComposerShape, at: usize) -> Option<usize> {
    let prompt = shape.prompt.as_ref()?;
    let prompt_end = |row: usize| text_start(look, prompt, look.row(row), 0, false);
    let is_prompt = |row: usize| prompt_end(row).is_some_and(|end| 0 < end);
    if is_prompt(at) {
        let end = prompt_end(at).unwrap_or(0);
        let typed = look.row(at)[..end].trim_end().chars().count();
        return (!look.view.cursor.visible || typed <= look.cursor).then_some(at);
    }
    // Output below an entered line is not part of that line.
    let cols = usize::from(look.view.size.cols);
    let is_full = |row: usize| cols <= look.row(row).chars().count() + 1;
    let is_more = |row: usize| look.view.modes.alternate_screen && look.row(row).starts_with("  ");
    let mut row = at;
    while 0 < row && at - row < TALLEST && (is_full(row - 1) || is_more(row)) {
        row -= 1;
        if is_prompt(row) {
            return Some(row);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use paned_term::Screen;

    use super::super::{Composer, ProfileLibrary};
    use super::*;

    /// What the composer holds on a screen that shows this text; the cursor is at the end of the
    /// text or where `\x1b[…H` puts it.
    fn read(text: &str) -> Composer {
        let mut screen = Screen::new(Size { cols: 40, rows: 12 });
        screen.feed(text.replace('\n', "\r\n").as_bytes());
        let library = ProfileLibrary::embedded();
        ScreenSnapshot::of(&screen).composer(library.get("generic").unwrap())
    }

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let expect = match expect {
            None => Composer::Hidden,
            Some("") => Composer::Empty,
            Some(draft) => Composer::Draft(draft.into()),
        };
        assert_eq!(read(text), expect, "{text:?}");
    }

    const RULE: &str = "────────────────────";

    #[test]
    fn a_prompt_sign_before_the_cursor_is_a_composer() {
        check("hello\n> ", Some(""));
        check("> what I type", Some("what I type"));
        check("(gdb) ", Some(""));
        check("In [12]: x = 1", Some("x = 1"));
        check("user@host:~/src$ ", Some(""));
        check("vm1% ls", Some("ls"));
        check("me@host ~ % ", Some(""));
        check("% ", Some(""));
        check("model 0% ", None);
        check("12 % ", None);
        check("12.5% (3% left) ", None);
        check("working on it\n", None);
        check("Password: ", None);
    }

    #[test]
    fn a_label_is_a_prompt_while_the_program_asks_for_pastes() {
        check("hello\nUser: ", None);
        check("\x1b[?2004hhello\nUser: ", Some(""));
        check("\x1b[?2004hYou: what I type", Some("what I type"));
        check("\x1b[?2004hIt said: ", None);
    }

    #[test]
    fn a_cursor_that_is_drawn_as_a_block_is_one() {
        let framed = |text: &str| {
            format!("\x1b[?25ltext\n╭{RULE}╮\n│ {text:<18} │\n╰{RULE}╯\nfooter\n\n\x1b[9;1H")
        };
        check(&framed("● ▋\x1b[2mAsk me\x1b[m"), Some(""));
        check(&framed("● ▋"), Some(""));
        check(&framed("● hello▋"), Some("hello"));
        check(&framed("● "), None);
        check(&framed("● text           █"), None);
    }

    #[test]
    fn what_is_printed_below_a_line_that_was_entered_is_no_draft() {
        check("> hello\n| thinking...", None);
        check("> hello\nDelete it? [y/N] ", None);
        let long = "x".repeat(45);
        check(&format!("> {long}"), Some(&format!("{}\n{}", &long[..38], &long[38..])));
    }

    #[test]
    fn a_cursor_that_is_drawn_by_a_background_is_one() {
        let framed = |text: &str| {
            format!("\x1b[?25ltext\n  ╭{RULE}╮\n  │ ❯ {text} │\n  ╰{RULE}╯\nfooter\n\n\x1b[9;1H")
        };
        let block = "\x1b[30;47m \x1b[m";
        check(&framed(&format!("\x1b[90mAsk me\x1b[m{block}")), Some(""));
        check(&framed(&format!("hello{block}")), Some("hello"));
        check(&framed(block), Some(""));
    }

    #[test]
    fn a_label_below_the_text_behind_a_bar_is_no_draft() {
        let barred = |text: &str| {
            let pad = " ".repeat(10);
            format!("{pad}┃\n{pad}┃  {text}\n{pad}┃\n{pad}┃  Code · gpt-4o\n{pad}╹▀▀▀▀▀▀▀▀▀")
        };
        check(&format!("{}\x1b[2;14H", barred("\x1b[90mAsk anything\x1b[m")), Some(""));
        check(&format!("{}\x1b[2;19H", barred("hello")), Some("hello"));
    }

    #[test]
    fn a_frame_around_the_cursor_is_a_composer() {
        check(&format!("text\n{RULE}\n❯ \n{RULE}\nfooter\x1b[3;3H"), Some(""));
        check(&format!("text\n{RULE}\n❯ one\n  two\n{RULE}\nfooter\x1b[3;3H"), Some("one\n  two"));
        check(&format!("text\n{RULE}\nmore\n"), None);
    }

    #[test]
    fn a_list_is_a_question_only_with_an_answer_or_a_hint() {
        let ask = |text: &str| {
            let mut screen = Screen::new(Size { cols: 40, rows: 12 });
            screen.feed(text.replace('\n', "\r\n").as_bytes());
            let library = ProfileLibrary::embedded();
            ScreenSnapshot::of(&screen).dialog(library.get("generic").unwrap()).is_some()
        };
        assert!(ask("Run it?\n❯ 1. Yes\n  2. No\n"));
        assert!(ask("Which?\n❯ Green\n  Blue\n\nenter to select\n"));
        assert!(!ask("Steps:\n> 1. Green\n  2. Blue\n"));
    }

    /// Whether a box with these rows, in which the cursor is behind the text of row `at`, asks.
    fn asks(rows: &[&str], at: usize) -> bool {
        let boxed: Vec<String> = rows.iter().map(|row| format!("│ {row:<36} │\n")).collect();
        let edge = "─".repeat(38);
        let col = 3 + rows[at].chars().count();
        let text = format!("Hello.\n╭{edge}╮\n{}╰{edge}╯\n? for help", boxed.concat());
        let mut screen = Screen::new(Size { cols: 40, rows: 12 });
        screen.feed(text.replace('\n', "\r\n").as_bytes());
        screen.feed(format!("\x1b[{};{col}H", at + 3).as_bytes());
        let library = ProfileLibrary::embedded();
        ScreenSnapshot::of(&screen).dialog(library.get("generic").unwrap()).is_some()
    }

    #[test]
    fn a_question_in_a_box_around_the_cursor_is_one() {
        assert!(asks(&["Do you want to continue? [y/N] "], 0));
        assert!(asks(&["⚠ Delete it? (yes/no) "], 0));
        assert!(asks(&["rm -rf /tmp/x", "Run it? [y/N]", "> "], 2));
        assert!(asks(&["Run it?", "1. Yes", "2. No", "> "], 3));
        assert!(asks(&["Run it?", "❯ 1. Yes", "  2. No"], 1));
        assert!(asks(&["Which one?", "1) red", "2) blue", "Your choice: "], 3));
        // Composers: a placeholder, drafts, and lists in them.
        assert!(!asks(&["What do you want to do?"], 0));
        assert!(!asks(&["> What do you want to do?"], 0));
        assert!(!asks(&["> Does it ask [y/N] "], 0));
        assert!(!asks(&["> Ask this:", "  1. Yes", "  2. No"], 2));
        assert!(!asks(&["1. Yes", "2. No"], 1));
        assert!(!asks(&["Explain these two:", "1. red", "2. blue"], 2));
    }
}
