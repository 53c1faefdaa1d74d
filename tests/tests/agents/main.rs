//! Real agent programs against the fake model: what paned says of them is compared with what the
//! model knows.
//!
//! They are ignored unless asked for, as the programs have to be installed first:
//! `make test-agents` does that and runs them all, `make test` those of codex, opencode and aider.
//! Claude Code is not open source: its tests run by `make test-agents ARGS=claude` only, in a
//! network namespace with nothing but loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod claude_stories;
mod delivery;
mod hook_stories;
mod mcp;
mod opencode_stories;
mod session;
mod stories;

use paned_e2e::Cli;

/// The stories of one program, each a test.
macro_rules! stories {
    ($($name:ident: $cli:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn starts_answers_and_quits() {
                stories::starts_answers_and_quits($cli);
            }

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn asks_before_it_runs_a_command() {
                stories::asks_before_it_runs_a_command($cli);
            }

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn is_interrupted_and_survives_an_error() {
                stories::is_interrupted_and_survives_an_error($cli);
            }
        }
    )*};
}

stories! {
    codex: Cli::Codex;
    opencode: Cli::Opencode;
    aider: Cli::Aider;
    gemini: Cli::Gemini;
    qwen: Cli::Qwen;
    pi: Cli::Pi;
    goose: Cli::Goose;
    claude: Cli::Claude;
}

/// The stories of programs that use paned over MCP. The names of the modules are those that
/// `scripts/test-agents` selects.
macro_rules! mcp_stories {
    ($($name:ident: $cli:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn uses_paned_over_mcp() {
                mcp::uses_paned_over_mcp($cli);
            }
        }
    )*};
}

mcp_stories! {
    codex_mcp: Cli::Codex;
    opencode_mcp: Cli::Opencode;
    gemini_mcp: Cli::Gemini;
}

/// The hooks of one program: those that report that it works, asks and waits for a prompt.
macro_rules! hook_stories {
    ($($name:ident: $cli:expr, $events:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn its_hooks_report_its_turns() {
                hook_stories::its_hooks_report_its_turns($cli, $events);
            }

            #[test]
            #[ignore = "make test-agents installs what it needs"]
            fn removed_hooks_report_nothing() {
                hook_stories::removed_hooks_report_nothing($cli);
            }
        }
    )*};
}

hook_stories! {
    codex_hooks: Cli::Codex,
        [Some("UserPromptSubmit"), Some("PermissionRequest"), Some("Stop")];
    gemini_hooks: Cli::Gemini,
        [Some("BeforeAgent"), Some("Notification"), Some("AfterAgent")];
    pi_hooks: Cli::Pi, [Some("turn_start"), None, Some("agent_end")];
    aider_hooks: Cli::Aider, [None, None, Some("waiting")];
}
