//! `play CLI`: sets a real agent program up to talk to a fake model, for trying things by hand.
//!
//! It prints one line of JSON, the body for `paned action agent:create --body …`, and goes on until its standard input
//! ends; then it prints every fact that the model knows. Prompts say what the model does: `FAKE say words=40 rate=20`,
//! `FAKE tool cmd=touch+made.txt`, `FAKE error status=429`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it talks to the person who runs it"
)]

use std::io::{self, Read};
use std::process::ExitCode;

use paned_e2e::{Cli, Model, Real};
use serde_json::json;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(cli) = Cli::named(&name) else {
        let names: Vec<_> = Cli::ALL.into_iter().map(Cli::name).collect();
        eprintln!("usage: play CLI, one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    let model = Model::start();
    let real = Real::new(cli, &model);
    let body = json!({
        "profile": cli.name(), "argv": real.argv(), "env": real.env(), "cwd": real.cwd(), "id": cli.name(),
    });
    println!("{body}");
    let ended = io::stdin().read_to_end(&mut Vec::new());
    for fact in model.facts() {
        println!("{fact:?}");
    }
    ExitCode::from(u8::from(ended.is_err()))
}
