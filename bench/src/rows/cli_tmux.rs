//! D31: how long a command of the CLI takes, beside the command of tmux that does the same.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Row;
use super::cli_start::time;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::plan::Plan;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row = Row { name: "D31", doc: "a command beside the same one of tmux", run };

const RUNS: u64 = 30;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut prepare = server.cli(plan);
    time(prepare.args(["new", "--id", "a", "--size", "80x24", "--", "/bin/cat"]))?;
    let tmux = TmuxServer::start(plan)?;
    let beside = |what: &str, ours: &[&str], theirs: &[&str]| {
        let mut ours_command = server.cli(plan);
        ours_command.args(ours);
        let mut theirs_command = tmux.command();
        theirs_command.args(theirs);
        compare(plan, what, &mut ours_command, &mut theirs_command)
    };
    Ok(vec![
        beside("send", &["send", "a", "hello"], &["send-keys", "-t", "main:0", "hello", "Enter"])?,
        beside("screen", &["screen", "a"], &["capture-pane", "-p", "-t", "main:0"])?,
        beside(
            "new",
            &["new", "--size", "80x24", "--", "/bin/cat"],
            &["new-window", "-d", "-t", "main", "/bin/cat"],
        )?,
    ])
}

/// Runs both commands in turn. The figure is how much longer ours takes.
fn compare(
    plan: &Plan,
    what: &str,
    ours: &mut Command,
    theirs: &mut Command,
) -> Result<Figure, Error> {
    let mut times: (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    for _ in 0..plan.amount(RUNS) {
        times.0.push(time(ours)?);
        times.1.push(time(theirs)?);
    }
    let median = |times| Quantity::millis(Samples::of([times]).median());
    let what = format!("paned {what} against tmux");
    Ok(Figure::times(what, median(times.1), median(times.0)).at_most(1.5, 1.0))
}

/// A tmux server of its own with one window. It ends with this value.
struct TmuxServer {
    socket: PathBuf,
}

impl TmuxServer {
    fn start(plan: &Plan) -> Result<Self, Error> {
        let tmux = Self { socket: plan.scratch().join("t.sock") };
        time(tmux.command().args(["new-session", "-d", "-s", "main", "/bin/cat"]))?;
        Ok(tmux)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").args(["-f", "/dev/null", "-S"]).arg(&self.socket);
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for TmuxServer {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status().doing("end tmux");
    }
}
