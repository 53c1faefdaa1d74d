//! D21: what 20 panes take that have printed 50,000 lines each.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::Row;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::log;
use crate::plan::Plan;
use crate::proc;
use crate::server::{self, Server};

pub(super) const ROW: Row = Row { name: "D21", doc: "memory of panes that have printed", run };

const PANES: usize = 20;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut client = server.client()?;
    // The first pane starts the fork server.
    server::open(&mut client, &["/bin/cat".to_owned()])?;
    let before = private(&server)?;
    let path = log::write(plan)?.to_string_lossy().into_owned();
    // The programs stay, and so do their keepers.
    let argv = ["/bin/sh".to_owned(), "-c".to_owned(), format!("cat {path}; exec cat")];
    let panes: Result<Vec<_>, _> = (0..PANES).map(|_| server::open(&mut client, &argv)).collect();
    let panes = panes?;
    let text = fs::metadata(&path).doing("look at a log")?.len();
    for pane in &panes {
        log::await_lines(&server, pane)?;
    }
    let after = private(&server)?;
    let text = text * PANES as u64;
    let growth = Quantity::mib(after.saturating_sub(before));
    let tapes = Quantity::mib(tapes(&server, &panes)?);
    let both = Quantity::mib((after.saturating_sub(before)) + (tapes.value * 1048576.0) as u64);
    let text = Quantity::mib(text);
    let lines = log::LINES;
    Ok(vec![
        Figure::ratio(format!("private memory for {PANES} x {lines} lines"), text, growth)
            .at_most(1.6, 1.15),
        Figure::ratio("tape files, which the page cache holds too", text, tapes),
        Figure::ratio("both together", text, both),
    ])
}

/// Private bytes of the server, its fork server and its keepers.
fn private(server: &Server) -> Result<u64, Error> {
    let keepers = server.state.tapes().into_iter().map(|tape| tape.keeper());
    let pids = [server.pid()].into_iter().chain(proc::children(server.pid())).chain(keepers);
    pids.map(proc::private).sum()
}

/// Bytes that the tapes of these panes have on the disk.
fn tapes(server: &Server, panes: &[String]) -> Result<u64, Error> {
    let size = |pane: &String| {
        let path = server.state.path().join("panes").join(pane).join("tape");
        Ok(fs::metadata(path).doing("look at a tape")?.blocks() * 512)
    };
    panes.iter().map(size).sum()
}
