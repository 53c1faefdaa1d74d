//! Tries ways of sending a text to a real program; the fake model says what arrived.

use std::time::{Duration, Instant};

use paned_model::Size;

use super::session::RecordSession;
use paned_e2e::Cli;

/// What came of one try.
#[derive(Debug)]
pub struct ProbeResult {
    /// The prompts that the model got, as they came.
    pub prompts: Vec<String>,
    /// The texts of the last of them, with those that the program put around it.
    pub parts: Vec<String>,
    /// The screen some seconds later.
    pub screen: String,
}

/// Starts the program, does the steps of a recipe one after the other, and checks what the model
/// received.
///
/// A step is `paste` or `type` for the text, `paste=…` or `type=…` for another one, or a key:
/// `enter`, `esc`, `home`, `end`, `delete`, `backspace`, `space`, `left`. Between two steps there
/// are 300 milliseconds.
///
/// # Errors
/// With a sentence, when a step is unknown.
pub fn probe(cli: Cli, text: &str, recipe: &[&str]) -> Result<ProbeResult, String> {
    let steps: Result<Vec<String>, String> = recipe.iter().map(|step| bytes(step, text)).collect();
    let steps = steps?;
    let drive = RecordSession::begin(cli, Size { cols: 100, rows: 30 });
    for step in steps {
        drive.types(&step, "step");
        drive.pause(0.3);
    }
    // A slow program works long before it asks its model; one that is at rest will not ask.
    let end = Instant::now() + Duration::from_secs(30);
    while drive.model.prompts().is_empty() && !drive.is_still() && Instant::now() < end {
        drive.pause(0.05);
    }
    drive.pause(0.7);
    let prompts = drive.model.prompts();
    let parts = prompts.last().map(|prompt| prompt.parts.clone()).unwrap_or_default();
    let prompts = prompts.into_iter().map(|prompt| prompt.text).collect();
    Ok(ProbeResult { prompts, parts, screen: drive.watcher.rows().join("\n") })
}

fn bytes(step: &str, text: &str) -> Result<String, String> {
    let pasted = |text: &str| format!("\u{1b}[200~{text}\u{1b}[201~");
    Ok(match step.split_once('=').unwrap_or((step, text)) {
        ("paste", text) => pasted(text),
        ("type", text) => text.to_owned(),
        ("enter", _) => "\r".to_owned(),
        ("esc", _) => "\u{1b}".to_owned(),
        ("home", _) => "\u{1b}[H".to_owned(),
        ("end", _) => "\u{1b}[F".to_owned(),
        ("left", _) => "\u{1b}[D".to_owned(),
        ("delete", _) => "\u{1b}[3~".to_owned(),
        ("backspace", _) => "\u{7f}".to_owned(),
        ("ctrl+a", _) => "\u{1}".to_owned(),
        ("space", _) => " ".to_owned(),
        ("wait", _) => String::new(),
        _ => return Err(format!("no step `{step}`")),
    })
}
