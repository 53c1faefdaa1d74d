//! Tests wait for an event with a deadline. A sleep of a fixed length wastes time on a fast machine
//! and is too short on a slow one.

use super::Finding;
use crate::source::{find_word, line_at};
use crate::tree::{File, Tree};

/// The comment that marks a sleep as part of what is tested, on its line or the one before.
const EXCUSE: &str = "// not a wait:";

/// No file in a folder of tests sleeps for a time written down.
pub(super) fn a_sleep_is_not_a_wait(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|file| file.is_in_tests()).flat_map(sleeps).collect()
}

fn sleeps(file: &File) -> Vec<Finding> {
    let code = &file.source.code;
    let message = format!("a fixed sleep is not a wait: wait for an event, or say `{EXCUSE} …`");
    find_word(code, "sleep")
        .filter(|at| arguments(&code[at + "sleep".len()..]).is_some_and(has_number))
        .map(|at| line_at(code, at))
        .filter(|line| !is_excused(file, *line))
        .map(|line| Finding::at(file, line, &message))
        .collect()
}

/// The text inside the parentheses that open here.
fn arguments(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('(')?;
    let mut depth = 1;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[..at]);
        }
    }
    None
}

fn has_number(code: &str) -> bool {
    let mut words = code.split(|c: char| c != '_' && !c.is_alphanumeric());
    words.any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_excused(file: &File, line: usize) -> bool {
    let before = line.saturating_sub(2);
    file.text.lines().take(line).skip(before).any(|line| line.contains(EXCUSE))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_fixed_sleep_in_tests_is_found() {
        let text = "fn a() {\n    std::thread::sleep(Duration::from_millis(50));\n\
            tokio::time::sleep(\n        5 * SECOND).await;\n}\n";
        let expect = ["tests/src/a.rs:2: a fixed sleep", "tests/src/a.rs:3: a fixed sleep"];
        check(a_sleep_is_not_a_wait, &[("tests/src/a.rs", text)], &expect);
        check(a_sleep_is_not_a_wait, &[("crates/cli/src/a.rs", text)], &[]);
    }

    #[test]
    fn a_pause_that_is_no_wait_says_so() {
        let text = "sleep(pause); sleep_until(5); run(\"sleep(5)\");\n\
            sleep(5); // not a wait: the program is slow here.\n\n\
            // not a wait: and here.\nsleep(5);\n";
        check(a_sleep_is_not_a_wait, &[("crates/cli/tests/a.rs", text)], &[]);
    }
}
