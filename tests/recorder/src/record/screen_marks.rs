//! What is on each program's screen when it waits for a prompt, works, or asks. Only used where the
//! model's events already say which of them it is, to find the moment in which the screen follows.

use paned_e2e::Cli;

/// Marks of one program.
pub(super) struct ScreenMarks {
    /// Stands in the composer's row or footer whenever a prompt can be typed.
    pub(super) ready: &'static [&'static str],
    /// In how many of the last rows that are not blank.
    pub(super) within: usize,
    /// Whether its title says what it does.
    pub(super) titled: bool,
    /// Stands on the screen while it works.
    pub(super) busy: &'static [&'static str],
    /// Stands on the screen while it asks whether it may run a command.
    pub(super) permission: &'static [&'static str],
    /// What allows the command, each its own write.
    pub(super) allow: &'static [&'static str],
    /// What refuses it.
    pub(super) deny: &'static [&'static str],
    /// What interrupts it.
    pub(super) interrupt: &'static [&'static str],
    /// What empties the composer after an interrupt, where the old prompt comes back.
    pub(super) clear: &'static [&'static str],
}

const ESC: &str = "\u{1b}";
const CTRL_C: &str = "\u{3}";
const CTRL_U: &str = "\u{15}";
const DOWN: &str = "\u{1b}[B";

/// What most of them share.
const USUAL: ScreenMarks = ScreenMarks {
    ready: &[],
    within: 6,
    titled: false,
    busy: &[],
    permission: &[],
    allow: &["\r"],
    deny: &[ESC],
    interrupt: &[ESC],
    clear: &[],
};

pub(super) fn of(cli: Cli) -> ScreenMarks {
    match cli {
        Cli::Codex => ScreenMarks {
            ready: &["›"],
            titled: true,
            busy: &["esc to interrupt"],
            permission: &["Would you like to run"],
            allow: &["y"],
            ..USUAL
        },
        Cli::Opencode => ScreenMarks {
            ready: &["commands"],
            busy: &["esc interrupt", "esc again"],
            permission: &["Permission required"],
            interrupt: &[ESC, ESC],
            ..USUAL
        },
        Cli::Aider => ScreenMarks {
            ready: &["diff>"],
            within: 1,
            busy: &["Waiting for"],
            permission: &["(Y)es/(N)o"],
            allow: &["y", "\r"],
            deny: &["n", "\r"],
            interrupt: &[CTRL_C],
            ..USUAL
        },
        Cli::Gemini => gemini(),
        Cli::Qwen => {
            ScreenMarks { ready: &["Type your message", "> "], clear: &[CTRL_U], ..gemini() }
        }
        Cli::Pi => ScreenMarks {
            ready: &["128k"],
            busy: &["Working..."],
            permission: &["Run this command?"],
            ..USUAL
        },
        Cli::Goose => ScreenMarks {
            ready: &["Enter to send", "what should goose work on instead"],
            busy: &["Ctrl+C to interrupt"],
            permission: &["do you allow"],
            deny: &[DOWN, DOWN, "\r"],
            interrupt: &[CTRL_C],
            ..USUAL
        },
        Cli::Claude => claude(),
        Cli::Llm => llm(),
        Cli::Cline => cline(),
        Cli::Gptme => gptme(),
        Cli::Cn => cn(),
        Cli::Interpreter => interpreter(),
    }
}

fn gemini() -> ScreenMarks {
    ScreenMarks {
        ready: &["Type your message"],
        titled: true,
        busy: &["esc to cancel"],
        permission: &["Allow execution of"],
        ..USUAL
    }
}

fn claude() -> ScreenMarks {
    ScreenMarks {
        ready: &["❯"],
        titled: true,
        busy: &["esc to interrupt"],
        permission: &["Do you want to proceed?"],
        allow: &["1"],
        clear: &[CTRL_U],
        ..USUAL
    }
}

fn llm() -> ScreenMarks {
    ScreenMarks {
        ready: &[">"],
        within: 1,
        permission: &["Approve tool call? [y/N]"],
        allow: &["y", "\r"],
        deny: &["n", "\r"],
        interrupt: &[CTRL_C],
        ..USUAL
    }
}

fn cline() -> ScreenMarks {
    ScreenMarks {
        ready: &["Plan"],
        busy: &["esc to cancel"],
        permission: &["Cline needs permission"],
        allow: &["y"],
        deny: &["n"],
        ..USUAL
    }
}

fn gptme() -> ScreenMarks {
    ScreenMarks {
        ready: &["User:"],
        within: 1,
        busy: &["Thinking..."],
        permission: &["Execute shell? [Y/n"],
        allow: &["y", "\r"],
        deny: &["n", "\r"],
        interrupt: &[CTRL_C],
        ..USUAL
    }
}

fn cn() -> ScreenMarks {
    ScreenMarks {
        ready: &["Ask anything"],
        busy: &["esc to interrupt"],
        permission: &["Would you like to continue?"],
        ..USUAL
    }
}

fn interpreter() -> ScreenMarks {
    ScreenMarks {
        ready: &[">"],
        within: 1,
        permission: &["Would you like to run this code? (y/n)"],
        allow: &["y", "\r"],
        deny: &["n", "\r"],
        interrupt: &[CTRL_C],
        ..USUAL
    }
}

impl ScreenMarks {
    /// Whether a prompt can be typed, as far as this screen shows it.
    pub(super) fn is_ready(&self, rows: &[String]) -> bool {
        let lines: Vec<_> = rows.iter().filter(|row| !row.trim().is_empty()).cloned().collect();
        let last = &lines[lines.len().saturating_sub(self.within)..];
        0 < count(last, self.ready)
    }
}

/// In how many rows one of these stands.
pub(super) fn count(rows: &[String], marks: &[&str]) -> usize {
    rows.iter().filter(|row| marks.iter().any(|mark| row.contains(mark))).count()
}
