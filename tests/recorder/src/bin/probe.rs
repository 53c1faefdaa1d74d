//! `probe CLI TEXT STEP…`: sends a text to a real agent program by a recipe and says what the fake
//! model received.
//!
//! The steps are those of `paned_recorder::record::probe`. It exits 0 when the text arrived once,
//! exactly as it is.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it talks to the person who runs it"
)]

use std::process::ExitCode;

use paned_e2e::Cli;
use paned_recorder::record::probe;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(cli), Some(text)) = (args.first().and_then(|name| Cli::named(name)), args.get(1))
    else {
        eprintln!("usage: probe CLI TEXT STEP…");
        return ExitCode::from(2);
    };
    let text = text.replace("\\n", "\n");
    let steps: Vec<String> = args[2..].iter().map(|step| step.replace("\\n", "\n")).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match probe(cli, &text, &steps) {
        Ok(verdict) => {
            let exact = verdict.prompts == [text.as_str()];
            let word = if exact { "exact" } else { "not exact" };
            println!(
                "{} {text:?} by {}: {word}: {:?}",
                cli.name(),
                steps.join(" "),
                verdict.prompts
            );
            if !exact {
                let parts = verdict.parts.iter().filter(|part| part.len() < 200);
                println!("parts: {:?}\n{}", parts.collect::<Vec<_>>(), verdict.screen.trim_end());
            }
            ExitCode::from(u8::from(!exact))
        }
        Err(sentence) => {
            eprintln!("probe: {sentence}");
            ExitCode::from(2)
        }
    }
}
