//! The words that the model says.

use super::instruction::PromptInstruction;

const WORDS: &str = "the quick brown fox jumps over a lazy dog and then walks home along the river while rain falls on \
                     every roof of the old town and nobody in it looks up from the work that has to be done before dark";

/// The words of an order, each with the space or line end before it.
pub(super) fn words(order: &PromptInstruction, prompt: &str) -> Vec<String> {
    match order {
        PromptInstruction::Say { words, block, .. } => {
            let mut said = spaced(&some(*words));
            said.extend(block.as_deref().map(|command| format!("\n\n```bash\n{command}\n```\n")));
            said
        }
        PromptInstruction::Prose { cli, .. } => prose(cli)
            .iter()
            .flat_map(|line| [spaced(line), vec!["\n\n".to_owned()]].concat())
            .collect(),
        PromptInstruction::Tool { command, .. } => {
            vec![format!("I run this.\n\n```bash\n{command}\n```\n")]
        }
        PromptInstruction::Quote => spaced(&quote(prompt)),
        PromptInstruction::Call { .. }
        | PromptInstruction::Question { .. }
        | PromptInstruction::Mcp
        | PromptInstruction::Plan
        | PromptInstruction::Error { .. }
        | PromptInstruction::Hang => spaced("There is nothing to ask with."),
    }
}

/// What is said once a tool has given something.
pub(super) fn done() -> Vec<String> {
    spaced("Done, the quick brown fox jumps over")
}

fn some(count: usize) -> String {
    WORDS.split(' ').cycle().take(count).collect::<Vec<_>>().join(" ")
}

fn quote(prompt: &str) -> String {
    format!("I received {} bytes with the hash {:016x}.", prompt.len(), hash(prompt))
}

/// FNV-1a: short, and the same everywhere.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn spaced(line: &str) -> Vec<String> {
    let words = line.split(' ').enumerate();
    words.map(|(n, word)| if n == 0 { word.to_owned() } else { format!(" {word}") }).collect()
}

/// Sentences like those on a program's own screens. A screen reader must not take them for the
/// screen itself.
fn prose(cli: &str) -> Vec<&'static str> {
    let mut lines = vec![
        "The program will show a question such as this one:",
        "Would you like to run the following command?",
        "Permission required",
        "Allow execution of [Shell]?",
        "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]:",
        "Goose would like to call the above tool, do you allow?",
        "1. Yes, proceed (y)",
        "2. No, and tell it what to do differently (esc)",
        "> Type your message",
        "While it works it says: Working (3s, esc to interrupt)",
    ];
    lines.extend_from_slice(own(cli));
    lines
}

fn own(cli: &str) -> &'static [&'static str] {
    match cli {
        "codex" => &[
            "› 1. Yes, proceed (y)",
            "Press enter to confirm or esc to cancel",
            "• Working (4s • esc to interrupt)",
        ],
        "opencode" => {
            &["△ Permission required", "Allow once  Allow always  Reject", "esc interrupt"]
        }
        "gemini" => &[
            "● 1. Allow once",
            "3. No, suggest changes (esc)",
            "⠏ Thinking... (esc to cancel, 4s)",
            "Waiting for user confirmation...",
        ],
        "qwen" => &[
            "Waiting for user confirmation...",
            "● 1. Yes, allow once",
            "⠏ Thinking... (4s · esc to cancel)",
        ],
        "aider" => &["Waiting for openai/fake", "Add file to the chat? (Y)es/(N)o [Yes]:", "diff>"],
        "pi" => {
            &["Run this command?", "→ Yes", "⠋ Working...", "enter select  escape/ctrl+c cancel"]
        }
        "goose" => &[
            "◆ Goose would like to call the above tool, do you allow?",
            "● Allow (Allow the tool call once)",
            "◓ Serenading semiconductors... (Ctrl+C to interrupt)",
        ],
        "gptme" => &[
            "User: and what now?",
            "Assistant: Thinking...",
            "Execute shell? [Y/n/c/e/a/?]",
            "❓ waiting for confirmation",
        ],
        "cn" => &[
            "⣾⣯⣯  ( 3s • esc to interrupt )",
            "Would you like to continue?",
            "> Continue (tab)",
            "│ ● Ask anything, @ for context, / for slash commands",
        ],
        "interpreter" => &["Would you like to run this code? (y/n)", "> y", ">"],
        _ => &["Do you want to proceed?", "❯ 1. Yes", "esc to interrupt"],
    }
}
