//! D32: how long an action takes whose code is in an extension.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Row;
use super::echo::times;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::pin::Pinned;
use crate::plan::Plan;
use crate::server::Server;
use crate::stats::Samples;

pub(super) const ROW: Row =
    Row { name: "D32", doc: "an action of an extension against one built in, on one core", run };

const CALLS: u64 = 3000;
/// How long an extension may take to be there.
const START: Duration = Duration::from_secs(20);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let argv = plan.child(&["extension"]);
    let _pinned = Pinned::to_one_core()?;
    let extensions = plan.fresh_folder();
    write_extension(&extensions, &argv)?;
    let begun = Instant::now();
    let server = Server::start_with_extensions(plan, &extensions)?;
    let first = first_call(&server, begun)?;
    let echo_first = BareEcho::first_answer(&argv)?;
    let count = plan.amount(CALLS);
    let limit = || {
        let mut echo = BareEcho::start(&argv)?;
        times(count, || echo.ask())
    };
    let over_http = |action: &'static str| {
        let mut client = Client::over(&server.socket)?;
        times(count, || client.post(action, "{}").map(drop))
    };
    let ours = || Ok((over_http("pane:list")?, over_http("bench:echo")?));
    let (limit, ours) = plan.in_turn(limit, ours)?;
    let (built_in, extension): (Vec<_>, Vec<_>) = ours.into_iter().unzip();
    let median = |rounds| Samples::of(rounds).median();
    let (limit, built_in, extension) = (median(limit), median(built_in), median(extension));
    let added = extension.saturating_sub(built_in);
    let micros = Quantity::micros;
    let what = "an extension's action over HTTP against pane:list, p50";
    Ok(vec![
        Figure::times(what, micros(built_in), micros(extension)),
        Figure::times(
            "what an extension adds to a call, against a bare JSON-RPC echo over pipes, p50",
            micros(limit),
            micros(added),
        )
        .at_most(4.0, 2.0),
        Figure::plain(
            "start of the server to the first answer of an extension",
            Quantity::millis(first),
        )
        .beside(Quantity::millis(echo_first)),
    ])
}

/// An extension with the name `bench` that is this program.
fn write_extension(folder: &Path, argv: &[String]) -> Result<(), Error> {
    let folder = folder.join("bench");
    fs::create_dir_all(&folder).doing("make an extension")?;
    let text = format!("name = \"bench\"\ncommand = {}\n", json!(argv));
    fs::write(folder.join("paned.toml"), text).doing("write an extension")
}

/// How long it takes from the start of the server until the extension answers.
fn first_call(server: &Server, begun: Instant) -> Result<Duration, Error> {
    let mut client = Client::over(&server.socket)?;
    loop {
        match client.post("bench:echo", "{}") {
            Ok(_) => return Ok(begun.elapsed()),
            Err(error) if START < begun.elapsed() => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// The same program on two pipes, with nothing in between.
struct BareEcho {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl BareEcho {
    fn start(argv: &[String]) -> Result<Self, Error> {
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().doing("start an echo")?;
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self { child, input, output, line: String::new() })
    }

    /// How long it takes from its start to its first answer.
    fn first_answer(argv: &[String]) -> Result<Duration, Error> {
        let begun = Instant::now();
        Self::start(argv)?.ask()?;
        Ok(begun.elapsed())
    }

    /// One request and its answer, parsed as paned does.
    fn ask(&mut self) -> Result<(), Error> {
        let params =
            json!({ "action": "bench:echo", "params": {}, "caller": { "label": "owner" } });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "runAction", "params": params });
        let request = format!("{request}\n");
        self.input.write_all(request.as_bytes()).doing("ask an echo")?;
        self.line.clear();
        self.output.read_line(&mut self.line).doing("read an echo")?;
        serde_json::from_str::<Value>(&self.line).map(drop).map_err(|error| Error::Unexpected {
            what: "an answer in JSON",
            found: error.to_string(),
        })
    }
}

impl Drop for BareEcho {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
