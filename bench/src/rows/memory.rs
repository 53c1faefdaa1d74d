//! D20: what the server takes by itself, and what each idle pane adds to it.

use super::Row;
use crate::error::Error;
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::plan::Plan;
use crate::proc;
use crate::server::{self, Server};

pub(super) const ROW: Row = Row { name: "D20", doc: "memory of idle panes", run };

const PANES: u64 = 200;

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut client = server.client()?;
    client.post("pane:list", "{}")?;
    let empty = proc::resident(server.pid())?;
    let own = proc::anonymous(server.pid())?;
    // The first pane starts the fork server, which does not count as memory of idle panes.
    server::open(&mut client, &["/bin/cat".to_owned()])?;
    let before = proc::private(server.pid())?;
    let count = plan.amount(PANES);
    open_idle(&mut client, count)?;
    let growth = proc::private(server.pid())?.saturating_sub(before) as f64 / count as f64;
    let keeper = keepers(&server)?;
    let fork_server = proc::children(server.pid()).into_iter().map(proc::private);
    let fork_server: u64 = fork_server.sum::<Result<_, _>>()?;
    let kib = |what: &str, bytes| Figure::plain(what, Quantity::kib(bytes));
    Ok(vec![
        Figure::plain("memory of an empty server", Quantity::mib(empty)).at_most(25.0, 10.0),
        Figure::plain("of that from no file", Quantity::mib(own)),
        kib("private memory of one idle pane", growth + keeper).at_most(300.0, 128.0),
        kib("of that in the server", growth),
        kib("of that in the keeper", keeper),
        kib("private memory of the fork server", fork_server as f64),
    ])
}

/// Private bytes of a keeper, on the average.
fn keepers(server: &Server) -> Result<f64, Error> {
    let tapes = server.state.tapes();
    let bytes = tapes.iter().map(|tape| proc::private(tape.keeper()));
    Ok(bytes.sum::<Result<u64, _>>()? as f64 / tapes.len() as f64)
}

/// Opens this number of idle panes.
pub(super) fn open_idle(client: &mut Client, count: u64) -> Result<(), Error> {
    let cat = ["/bin/cat".to_owned()];
    (0..count).try_for_each(|_| server::open(client, &cat).map(drop))
}
