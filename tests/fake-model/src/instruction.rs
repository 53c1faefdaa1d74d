//! What a prompt tells the model to do.
//!
//! The last line of the prompt that begins with `FAKE` is the instruction:
//! `FAKE say delay=1 words=20 rate=10`, `FAKE tool cmd=touch+made.txt`, `FAKE error status=429`,
//! `FAKE hang`, `FAKE ask multi=1`, `FAKE plan`, `FAKE mcp`, `FAKE prose cli=codex`. A `+` stands
//! for a space.
//! `FAKE call pty_read {"id": "pty_1"}` calls any tool; the rest of the line is its arguments.
//! Any other prompt is answered with its length and a hash of it.

use std::time::Duration;

use serde_json::Value;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptInstruction {
    /// Say words: after a delay, so many, at so many a second.
    Say {
        /// How long to think first.
        delay: Duration,
        /// How many words.
        words: usize,
        /// How many of them in a second.
        rate: f64,
        /// A shell command to put into a block of code behind them.
        block: Option<String>,
    },
    /// Say the sentences that this program's own dialogs and status lines are made of.
    Prose {
        /// The program.
        cli: String,
        /// How many words in a second.
        rate: f64,
    },
    /// Ask for a shell command.
    Tool {
        /// How long to think first.
        delay: Duration,
        /// The command.
        command: String,
    },
    /// Call a tool.
    Call {
        /// Its name, or the end of it: programs put the name of an MCP server before it.
        tool: String,
        /// Its arguments.
        args: Value,
    },
    /// Ask the person something, by the tool that the program has for it.
    Question {
        /// Whether several answers may be chosen.
        multi: bool,
    },
    /// Use paned over MCP: start a server process, wait for its port, read it and kill it.
    Mcp,
    /// Show a plan, by the tool that the program has for it.
    Plan,
    /// Fail.
    Error {
        /// The HTTP status.
        status: u16,
    },
    /// Say nothing until the program hangs up.
    Hang,
    /// Say how long the prompt is, and its hash.
    Quote,
}

impl PromptInstruction {
    /// The order in a prompt.
    #[must_use]
    pub fn read(prompt: &str) -> Self {
        let line = prompt.lines().rev().find_map(|line| line.trim().strip_prefix("FAKE "));
        let Some(line) = line else { return Self::Quote };
        let value = |name: &str| {
            let words = line.split_whitespace().filter_map(|word| word.split_once('='));
            words.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
        };
        let number = |name: &str, usual: f64| {
            value(name).and_then(|value| value.parse().ok()).unwrap_or(usual)
        };
        let command = value("cmd").map(|value| value.replace('+', " "));
        let delay = Duration::from_secs_f64(number("delay", 0.0).clamp(0.0, 600.0));
        let rate = number("rate", 20.0).clamp(0.1, 10_000.0);
        match line.split_whitespace().next().unwrap_or_default() {
            "say" => Self::Say {
                delay,
                words: number("words", 6.0).clamp(1.0, 100_000.0) as usize,
                rate,
                block: command,
            },
            "prose" => Self::Prose { cli: value("cli").unwrap_or_default().to_owned(), rate },
            "tool" => Self::Tool { delay, command: command.unwrap_or_else(|| "true".to_owned()) },
            "call" => read_call(line).unwrap_or(Self::Quote),
            "ask" => Self::Question { multi: value("multi").is_some() },
            "plan" => Self::Plan,
            "mcp" => Self::Mcp,
            "error" => Self::Error { status: number("status", 429.0) as u16 },
            "hang" => Self::Hang,
            _ => Self::Quote,
        }
    }
}

/// A line `call NAME JSON`.
fn read_call(line: &str) -> Option<PromptInstruction> {
    let rest = line.trim_start().strip_prefix("call")?.trim_start();
    let (tool, args) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let args = serde_json::from_str(args).ok()?;
    Some(PromptInstruction::Call { tool: tool.to_owned(), args })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(prompt: &str, expect: &PromptInstruction) {
        assert_eq!(&PromptInstruction::read(prompt), expect);
    }

    #[test]
    fn an_order_may_stand_on_any_line() {
        check("first\nFAKE error status=500\nlast", &PromptInstruction::Error { status: 500 });
    }

    #[test]
    fn the_last_order_counts() {
        check("FAKE hang\nFAKE error status=500", &PromptInstruction::Error { status: 500 });
    }

    #[test]
    fn a_plus_is_a_space() {
        let command = "touch made.txt".to_owned();
        check(
            "FAKE tool cmd=touch+made.txt",
            &PromptInstruction::Tool { delay: Duration::ZERO, command },
        );
    }

    #[test]
    fn a_call_has_its_arguments_on_the_same_line() {
        let args = json!({ "command": "a b", "args": ["-c", "x=1"] });
        let order = format!("FAKE call pty_spawn {args}");
        check(&order, &PromptInstruction::Call { tool: "pty_spawn".into(), args });
        check("FAKE call t", &PromptInstruction::Call { tool: "t".into(), args: json!({}) });
        check("FAKE call t {", &PromptInstruction::Quote);
    }

    #[test]
    fn whatever_else_is_quoted() {
        check("please FAKE nothing", &PromptInstruction::Quote);
        check("", &PromptInstruction::Quote);
    }
}
