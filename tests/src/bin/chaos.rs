//! `chaos --minutes N --seed S`: kills, stops and breaks things around fifty panes, and checks that
//! every invariant holds.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    paned_e2e::chaos::main(&args)
}
