//! `fake-agent`: a scripted agent in a terminal that looks like a simple one and can misbehave.
//!
//! What it shows, from top to bottom, drawn anew whenever it changes:
//! - the transcript: `fake-agent 1.0`, then `> ` and a prompt, then `* ` and its answer; `! ` and
//!   an error;
//! - while it works, the status row `⠋ Working… (3s · esc to interrupt)`, whose first character
//!   turns;
//! - the composer `> `, with what is typed, several lines below each other; always there, also
//!   while it works;
//! - the footer `fake-agent · ? for help`, the last row.
//!
//! A dialog replaces status, composer and footer: its question (`Allow this command?`, or
//! `Do you trust this folder?`), what it is about, `› 1. Yes` and `  2. No` with `›` at the chosen
//! one, and as the last row `enter to confirm · esc to cancel`. Enter takes the chosen one, `1` or
//! `y` the first, `2`, `n` or Esc the second.
//!
//! Its title is `fake-agent: ready`, `… working` or `… asking`. It takes bracketed pastes. Esc
//! interrupts, Ctrl+C empties the composer or, twice on an empty one, ends it; `/exit` ends it too.
//! A prompt that is sent while it works is queued. A prompt may hold an instruction of the fake
//! model's (`FAKE tool cmd=touch+x`); any other prompt is worked on for a second.
//!
//! Every prompt that was submitted, every answer to a dialog and every change of state is a JSON
//! line in the file of `--log`. The flags are listed in `flags.rs`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "it talks to the person who runs it")]

mod agent;
mod flags;
mod keys;
mod log;
mod paint;
mod terminal;
mod transcript;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use agent::{Agent, StepOutcome};
use flags::Flags;
use keys::Keys;
use terminal::Terminal;

/// How long between two looks at the clock.
const TICK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let flags = match Flags::read(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(sentence) => {
            eprintln!("fake-agent: {sentence}");
            return ExitCode::from(2);
        }
    };
    match run(&flags) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fake-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> std::io::Result<u8> {
    let mut terminal = Terminal::open(flags)?;
    let mut keys = Keys::default();
    let mut agent = Agent::new(flags.clone(), Instant::now())?;
    loop {
        terminal.draw(&agent, Instant::now())?;
        let Some(bytes) = terminal.read(TICK)? else { return Ok(0) };
        let now = Instant::now();
        let pressed = keys.feed(&bytes, bytes.is_empty());
        let mut after = agent.tick(now)?;
        for key in pressed {
            after = after.max(agent.press(&key, now)?);
        }
        match after {
            StepOutcome::Continue => {}
            StepOutcome::Freeze => terminal.freeze(),
            StepOutcome::Crash => terminal.crash(),
            StepOutcome::Exit(code) => return Ok(code),
        }
    }
}
