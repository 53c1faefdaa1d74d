//! `play CLI`: sets a real agent program up to talk to a fake model, for trying things by hand.
//!
//! It prints one line of JSON, the body for `paned action agent:create --body …`, and runs until
//! its standard input ends; then it prints every event of the model. Prompts say what the model
//! does: `FAKE say words=40 rate=20`, `FAKE tool cmd=touch+made.txt`, `FAKE error status=429`.
//!
//! `play CLI here` starts the program in this terminal instead, for a first look at it.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it talks to the person who runs it"
)]

use std::io::{self, Read};
use std::process::{Command, ExitCode};

use paned_e2e::{Cli, RealAgent};
use paned_fake_model::FakeModel;
use paned_policy::agent::ProfileLibrary;
use serde_json::json;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(cli) = Cli::named(&name) else {
        let names: Vec<_> = Cli::ALL.into_iter().map(Cli::name).collect();
        eprintln!("usage: play CLI [here], one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    let model = FakeModel::start();
    let real = RealAgent::new(cli, &model);
    // A program that is being added has no profile yet.
    let known = ProfileLibrary::embedded().get(cli.name()).is_some();
    let profile = if known { cli.name() } else { "generic" };
    let body = json!({
        "profile": profile, "argv": real.argv(), "env": real.env(), "cwd": real.cwd(), "id": cli.name(),
    });
    let ended = if std::env::args().nth(2).is_some_and(|word| word == "here") {
        run(&real)
    } else {
        println!("{body}");
        io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
    };
    for fact in model.events() {
        println!("{fact:?}");
    }
    ExitCode::from(u8::from(ended.is_err()))
}

/// Runs the program in this terminal until it ends.
fn run(real: &RealAgent) -> io::Result<()> {
    let term = std::env::var("TERM").unwrap_or_else(|_| "xterm-256color".to_owned());
    let mut command = Command::new(&real.argv()[0]);
    command.args(&real.argv()[1..]).current_dir(real.cwd()).env_clear().env("TERM", term);
    command.envs(real.env()).status().map(|_| ())
}
