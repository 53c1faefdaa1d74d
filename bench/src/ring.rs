//! The in-memory way, in JavaScript: a ring of lines in a process of its own, queried over HTTP
//! like paned.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::{Error, IoContext};
use crate::http::{Address, Client};
use crate::plan::Plan;

const PROGRAM: &str = include_str!("../rivals/lines.mjs");

/// A running ring. Dropping it ends it.
pub(crate) struct Ring {
    process: Child,
    address: Address,
}

impl Ring {
    /// Starts one that holds the lines of a file. Without `node` there is none, which is reported.
    pub(crate) fn start(plan: &Plan, lines: &Path) -> Result<Option<Self>, Error> {
        if !is_there() {
            crate::print_progress(format_args!("skipped, because there is no `node` on PATH"));
            return Ok(None);
        }
        let program = plan.scratch().join("lines.mjs");
        fs::write(&program, PROGRAM).doing("write a program")?;
        let mut command = Command::new("node");
        command.arg(program).arg(lines).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().doing("start node")?;
        let stdout = process.stdout.take().expect("it is piped");
        let mut rival =
            Self { process, address: Address { authority: String::new(), token: String::new() } };
        // It prints its address or exits: a program of ours, which waits for nothing.
        BufReader::new(stdout).read_line(&mut rival.address.authority).doing("hear node")?;
        rival.address.authority = rival.address.authority.trim().to_owned();
        Ok(Some(rival))
    }

    /// A new connection to it.
    pub(crate) fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.address)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_there() -> bool {
    let mut node = Command::new("node");
    node.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    node.status().is_ok_and(|status| status.success())
}
