//! What of the output after some input is its echo. No pty: the output is given.

use super::*;

/// The output after something was typed, as it arrives, and what of it is taken for an echo: the
/// text of each, from the beginning of its line.
struct Echo {
    tracker: EchoTracker,
    output: Vec<u8>,
    found: Vec<Range<u64>>,
}

impl Echo {
    fn new(cols: u16) -> Self {
        let mut tracker = EchoTracker::default();
        tracker.set_cols(cols);
        Self { tracker, output: Vec::new(), found: Vec::new() }
    }

    fn prints(mut self, text: &str) -> Self {
        for echo in self.tracker.printed(text.as_bytes(), self.output.len() as u64) {
            self.found.retain(|known| known.start != echo.start);
            self.found.push(echo);
        }
        self.output.extend(text.as_bytes());
        self
    }

    fn types(mut self, mode: EchoMode, text: &str) -> Self {
        self.tracker.typed(text.as_bytes(), mode, self.output.len() as u64);
        self
    }

    #[track_caller]
    fn finds(self, expect: &[&str]) {
        let text = |echo: &Range<u64>| {
            String::from_utf8_lossy(&self.output[echo.start as usize..echo.end as usize])
                .trim_end()
                .to_owned()
        };
        let found = self.found.iter().filter(|echo| !echo.is_empty()).map(text);
        assert_eq!(found.collect::<Vec<_>>(), expect);
    }
}

use EchoMode::{Kernel, Off, Program};

#[test]
fn the_kernels_echo_comes_once_and_the_same_text_again_is_output() {
    let cat = || Echo::new(80).types(Kernel, "hello\r");
    cat().prints("hello\r\nhello\r\n").finds(&["hello"]);
    cat().prints("hel").prints("lo\r\n").prints("hello\r\n").finds(&["hello"]);
    cat().prints("working\r\nhello\r\n").prints("hello\r\n").finds(&["hello"]);
    Echo::new(80).types(Kernel, "a\rb\r").prints("a\r\nb\r\na\r\nb\r\n").finds(&["a", "b"]);
    Echo::new(80).types(Kernel, "a\rb\r").prints("a\r\na\r\nb\r\nb\r\n").finds(&["a", "b"]);
}

#[test]
fn a_line_editor_echoes_behind_its_prompt() {
    let shell = || Echo::new(80).prints("$ ").types(Program, "echo hello\r");
    shell().prints("echo hello\r\nhello\r\n$ ").finds(&["$ echo hello"]);
    shell().prints("echo hel").finds(&["$ echo hel"]);
    shell().prints("e").prints("cho hello").prints("\r\nhello\r\n").finds(&["$ echo hello"]);
    // As shells do that show something at the right, or in colour.
    shell()
        .prints("echo hello          ~/src\r\nhello\r\n")
        .finds(&["$ echo hello          ~/src"]);
    shell()
        .prints("e\x08\x1b[32mecho\x1b[m hello\r\nhello\r\n")
        .finds(&["$ e\x08\x1b[32mecho\x1b[m hello"]);
    shell().prints("\r\x1b[K$ echo hello\r\nhello\r\n").finds(&["$ \r\x1b[K$ echo hello"]);
}

#[test]
fn a_wrapped_line_is_one_echo() {
    let text = "echo 0123456789abcdef";
    let rows = "echo 012 \r3456789abc d\rdef";
    Echo::new(10)
        .prints("$ ")
        .types(Program, &format!("{text}\r"))
        .prints(rows)
        .prints("\r\nx\r\n")
        .finds(&[&format!("$ {rows}")]);
}

#[test]
fn every_one_of_several_lines_is_echoed() {
    let typed = || Echo::new(80).prints("$ ").types(Program, "echo one\recho two\r");
    typed()
        .prints("echo one\r\none\r\n$ ")
        .prints("echo two\r\ntwo\r\n$ ")
        .finds(&["$ echo one", "$ echo two"]);
    let pasted = "\x1b[200~echo one\recho two\x1b[201~\r";
    Echo::new(80)
        .prints("$ ")
        .types(Program, pasted)
        .prints("echo one\r\necho two\r\none\r\ntwo\r\n")
        .finds(&["$ echo one", "echo two"]);
    Echo::new(80)
        .prints(">>> ")
        .types(Program, "for i in (1, 2):\r    print(i)\r\r")
        .prints("for i in (1, 2):\r\n...     print(i)\r\n... \r\n1\r\n2\r\n")
        .finds(&[">>> for i in (1, 2):", "...     print(i)"]);
}

#[test]
fn what_is_typed_ahead_is_echoed_twice() {
    Echo::new(80)
        .prints("$ sleep 1\r\n")
        .types(Kernel, "echo hello\r")
        .prints("echo hello\r\n")
        .prints("$ echo hello\r\n")
        .prints("hello\r\n$ ")
        .finds(&["echo hello", "$ echo hello"]);
    Echo::new(80)
        .types(Program, "echo hello\r")
        .prints("$ echo hello\r\nhello\r\n")
        .finds(&["$ echo hello"]);
}

#[test]
fn a_key_at_a_time_is_one_echo() {
    Echo::new(80)
        .prints("$ ")
        .types(Program, "l")
        .prints("l")
        .types(Program, "s")
        .prints("s")
        .types(Program, "\r")
        .prints("\r\na.txt\r\n")
        .finds(&["$ ls"]);
}

#[test]
fn an_answer_is_no_echo() {
    Echo::new(80).types(Program, "hello\r").prints("you said: hello\r\n").finds(&[]);
    Echo::new(80).prints("? ").types(Program, "hello\r").prints("\r\nhello\r\n").finds(&[]);
    Echo::new(80).prints("? ").types(Program, "hello\r").prints("he\r\nno\r\n").finds(&[]);
    Echo::new(80).prints("Continue? [y/n] ").types(Program, "y").prints("yes, done\r\n").finds(&[]);
    Echo::new(80).prints("Password: ").types(Off, "hello\r").prints("\r\nhello\r\n").finds(&[]);
}

#[test]
fn a_program_that_never_echoes_is_not_searched_for_ever() {
    let mut echo = Echo::new(80).types(Program, "hello\r");
    for _ in 0..20 {
        echo = echo.prints(&"x\n".repeat(50_000));
    }
    assert!(echo.tracker.is_idle());
}

#[test]
fn a_pasted_text_that_is_drawn_twice_is_one_echo() {
    let drawn = "$ \x1b[7mecho one\r\necho two\x1b[27m\x1b[A\r\x1b[2Cecho one\r\necho two\r\n";
    let echo = Echo::new(80).types(Program, "\x1b[200~echo one\recho two\x1b[201~\r");
    echo.prints(drawn).prints("one\r\ntwo\r\n").finds(&[
        "$ \x1b[7mecho one",
        "echo two\x1b[27m\x1b[A\r\x1b[2Cecho one",
        "echo two",
    ]);
}

#[test]
fn a_long_line_that_is_drawn_row_by_row_is_echo() {
    Echo::new(10)
        .prints("# ")
        .types(Program, "echo 0123456789 now\r")
        .prints("echo 01234567\x1b[A\r\r\n\x1b[5C89 \x1b[A\x1b[A\r\r\n\x1b[7Cnow\x1b[A\r\r\n")
        .prints("\r\n0123456789 now\r\n")
        .finds(&["# echo 01234567\x1b[A", "\x1b[5C89 \x1b[A\x1b[A", "\x1b[7Cnow\x1b[A"]);
}

/// The work of a keeper is bounded, whatever is typed into a hostile program and printed by it.
#[test]
fn a_hostile_program_does_not_keep_the_keeper_busy() {
    let long = "a".repeat(MAX_CHARS);
    // Looks like a long line that is drawn row by row, and then only empty lines.
    let rows = format!("a\x1b[A{}", "\n".repeat(1 << 19));
    // A full line that is moved to and fro by one column.
    let moves = format!("{}\x1b[820A{}", "b".repeat(1 << 16), "\x1b[P\x1b[@".repeat(1 << 17));
    for hostile in [rows, moves] {
        let mut tracker = EchoTracker::default();
        tracker.set_cols(80);
        tracker.typed(long.as_bytes(), Program, 0);
        let began = std::time::Instant::now();
        let mut at = 0;
        for chunk in hostile.as_bytes().chunks(4096) {
            tracker.printed(chunk, at);
            at += chunk.len() as u64;
        }
        assert!(tracker.work < 2 * MAX_WORK, "{}", tracker.work);
        let took = began.elapsed();
        assert!(took < std::time::Duration::from_secs(20), "{took:?}");
    }
}

#[test]
fn what_was_typed_is_kept_up_to_a_limit() {
    let mut tracker = EchoTracker::default();
    tracker.set_cols(80);
    let line = format!("{}\r", "x".repeat(MAX_CHARS));
    for _ in 0..MAX_LINES {
        tracker.typed(line.as_bytes(), Program, 0);
    }
    let kept: usize = tracker.typed.iter().map(|line| line.text.len()).sum();
    assert!(kept <= MAX_KEPT_CHARS, "{kept} characters");
}

/// As in a full-screen program, which moves the cursor and prints no newline.
#[test]
fn keys_far_in_a_line_without_an_end_are_echo_and_little_of_it_is_kept() {
    let screen = "word ".repeat(3 * MAX_PROMPT);
    let mut echo = Echo::new(80).prints(&screen).types(Program, "a").prints("a");
    for _ in 0..MAX_PROMPT {
        echo = echo.types(Program, "b").prints("b");
    }
    assert_eq!(echo.found.last(), Some(&(0..echo.output.len() as u64)));
    assert!(echo.tracker.prompts.iter().all(|prompt| prompt.len() <= MAX_PROMPT));
    let echo = echo.types(Program, "c");
    let kept = |line: &TypedLine| line.prompt.as_ref().map(|prompt| prompt.end.len());
    assert_eq!(echo.tracker.typed.back().and_then(kept), Some(MAX_PROMPT));
    let end = echo.output.len() as u64;
    let echo = echo.prints("d");
    assert_ne!(echo.found.last().map(|echo| echo.end), Some(end + 1), "another character");
}
