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
/// The action of the extension, in whichever language.
const ECHO: &str = "bench:echo";
const BUILT_IN: &str = "pane:list";
const NODE_PACKAGE: &str = r#"
exports.name = "bench";
exports.default = (paned) => {
  paned.registerAction({ name: "echo", kind: "question", execute: (params) => params });
};
"#;
/// How long an extension may take to be there.
const START: Duration = Duration::from_secs(20);

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let argv = plan.child(&["extension"]);
    let _pinned = Pinned::to_one_core()?;
    let extensions = plan.fresh_folder();
    write_extension(&extensions, &argv)?;
    let begun = Instant::now();
    let server = Server::start_with_extensions(plan, &extensions)?;
    let first = first_call(&server, ECHO, begun)?;
    let echo_first = BareEcho::first_answer(&argv)?;
    let mut figures = calls(plan, &server, &argv)?;
    figures.push(
        Figure::plain(
            "start of the server to the first answer of an extension",
            Quantity::millis(first),
        )
        .beside(Quantity::millis(echo_first)),
    );
    drop(server);
    figures.extend(node_start(plan)?);
    Ok(figures)
}

/// What calls cost: of an extension's action, of one that is built in, and of that one without any
/// extension.
fn calls(plan: &Plan, server: &Server, argv: &[String]) -> Result<Vec<Figure>, Error> {
    let alone = Server::start(plan)?;
    let count = plan.amount(CALLS);
    let limit = || {
        let mut echo = BareEcho::start(argv)?;
        times(count, || echo.ask())
    };
    let over_http = |server: &Server, action: &'static str| {
        let mut client = Client::over(&server.socket)?;
        times(count, || client.post(action, "{}").map(drop))
    };
    let ours = || {
        let built_in = over_http(server, BUILT_IN)?;
        let extension = over_http(server, ECHO)?;
        Ok((built_in, (extension, over_http(&alone, BUILT_IN)?)))
    };
    let (limit, ours) = plan.in_turn(limit, ours)?;
    let (built_in, others): (Vec<_>, Vec<_>) = ours.into_iter().unzip();
    let (extension, alone): (Vec<_>, Vec<_>) = others.into_iter().unzip();
    let median = |rounds| Samples::of(rounds).median();
    let (limit, built_in) = (median(limit), median(built_in));
    let (extension, alone) = (median(extension), median(alone));
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
        Figure::times(
            "pane:list beside an extension that is not asked, against without extensions, p50",
            micros(alone),
            micros(built_in),
        )
        .at_most(1.25, 1.05),
    ])
}

/// How long it takes until a Node package answers, beside a bare echo in Node. Nothing where Node
/// is missing.
fn node_start(plan: &Plan) -> Result<Option<Figure>, Error> {
    let has_node = Command::new("node").arg("--version").stdout(Stdio::null()).status();
    if !has_node.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let extensions = plan.fresh_folder();
    let folder = extensions.join("bench");
    fs::create_dir_all(&folder).doing("make a package")?;
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    write("package.json", r#"{ "name": "bench", "main": "index.js" }"#).doing("write a package")?;
    write("index.js", NODE_PACKAGE).doing("write a package")?;
    let echo = plan.fresh_folder();
    fs::create_dir_all(&echo).doing("make a folder")?;
    let echo = echo.join("echo.mjs");
    fs::write(&echo, include_str!("../../../extensions/host/bench/echo.mjs")).doing("write it")?;
    let begun = Instant::now();
    let server = Server::start_with_extensions(plan, &extensions)?;
    let first = first_call(&server, ECHO, begun)?;
    let argv = ["node".to_owned(), echo.to_string_lossy().into_owned()];
    let bare = BareEcho::first_answer(&argv)?;
    let what = "start of the server to the first answer of a Node package, beside a bare echo";
    Ok(Some(Figure::plain(what, Quantity::millis(first)).beside(Quantity::millis(bare))))
}

/// An extension with the name `bench` that is this program.
fn write_extension(folder: &Path, argv: &[String]) -> Result<(), Error> {
    let folder = folder.join("bench");
    fs::create_dir_all(&folder).doing("make an extension")?;
    let text = format!("name = \"bench\"\ncommand = {}\n", json!(argv));
    fs::write(folder.join("paned.toml"), text).doing("write an extension")
}

/// How long it takes from the start of the server until the extension answers.
fn first_call(server: &Server, action: &str, begun: Instant) -> Result<Duration, Error> {
    let mut client = Client::over(&server.socket)?;
    loop {
        match client.post(action, "{}") {
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
