//! What a command sends is what its action takes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, Parser};
use paned_backend::fake::FakeBackend;
use paned_kernel::journal::{Journal, OpenedJournal};
use paned_kernel::{AdvertisedAddress, Kernel, KernelLimits, KernelSetup};
use paned_model::EventId;
use serde_json::{Map, Value, json};

use super::support::params::WindowParams;
use crate::args::{Cli, CliCommand};
use crate::client::{self, params};
use crate::context::CliContext;
use crate::out::{ColourChoice, Out};

/// Lines that together use every command that calls an action, and each of its arguments once.
const LINES: &[&str] = &[
    "new --id a --cwd /x --title t --size 80x24 --env A=1 --env-file /dev/null --clean-env --meta n=3 --tag t --timeout 9 --persist --notify-on-exit \
     --can spawn --session s --visible auto --on-view-closed detach ls",
    "run --id a --cwd /x --title t --env A=1 --env-file /dev/null --clean-env --meta n=3 --tag t --size 80x24 --timeout 9 --keep \
     --raw --no-stdin ls",
    "ls --tag t --status running -a -q",
    "get a",
    "read a --view raw --offset 1 --limit 2 --pattern x -i -B 1 -A 1 --numbers --raw",
    "read a --tail 1",
    "read a --since 1",
    "search x -i --pane a --limit 1 --timeout 1 -q -A 1 -B 1 -C 1",
    "search x -c",
    "screen a --format text --history 1 -o /nowhere/a --raw",
    "wait a --pattern x --exit --quiet 1 --screen-change-since 1 --stop x -i --since 1 --timeout 1",
    "wait a b --any --exit",
    "wait a --port 3000",
    "wait --http http://localhost:3000/",
    "send a x --enter",
    "send a x --no-enter",
    "send --to a,b x",
    "send --tag t x",
    "keys a x --repeat 2",
    "keys --to a,b x",
    "keys --tag t x",
    "paste a x --submit",
    "paste --to a,b x",
    "paste --tag t x",
    "write a x --enter",
    "resize a 80x24 --force",
    "rename a b",
    "activate a",
    "meta a k=1 --delete b",
    "meta a k",
    "tag a +b -c",
    "tag a",
    "record a /nowhere/a --last 1",
    "adopt %3 --tmux s --id a --title t --profile p --meta n=3 --tag t",
    "tmux ls --tmux s",
    "kill a --grace-ms 1 --force --self",
    "kill --all",
    "kill --tag t",
    "close a --force --self --yes",
    "close --all",
    "close --tag t",
    "rm a --yes",
    "rm --all",
    "rm --tag t",
    "prune --older 1h --tag t --dry-run --yes",
    "agent new codex --model m --permissions ask --prompt p --trust --worktree b --restart --no-wait --timeout 9 --id a \
     --cwd /x --title t --size 80x24 --env A=1 --env-file /dev/null --clean-env --meta n=3 --tag t --persist --can none --session s -- ls",
    "agent ls --state ready --profile codex",
    "agent send a x --when-busy queue --key k --wait --notify --timeout 1",
    "agent send a x --no-wait",
    "agent wait a --state ready --done --blocked --timeout 1",
    "agent state a",
    "agent explain a",
    "agent answer a yes --dialog d",
    "agent interrupt a --timeout 1",
    "new --max-lines 9 ls",
    "new --id a --replace --self --restart on-failure:5 -- true",
    "restart a --grace-ms 0 --force --self",
    "agent last a",
    "agent restart a --model m --permissions ask --prompt p --timeout 1 --self",
    "agent rm a --self",
    "agent rm --idle",
    "agent profiles",
    "agent record a /nowhere/a --last 1",
    "agent hook {} --event Stop --agent codex --pane a",
    "session start s --cwd /x --size 80x24 --env A=1 --env-file /dev/null --clean-env --no-follow -- ls",
    "session stop s --keep-panes --self",
    "session list",
    "layout get --session s",
    "layout plan a --replace --session s",
    "layout plan a --wait",
    "layout plan a --no-wait",
    "layout place a --replace --no-wait --session s",
    "layout place a --wait",
    "layout hide a",
    "layout save n --session s",
    "layout apply n --session s",
    "token create --scope read --pane a --label l --expires 9",
    "token list -a",
    "token revoke g",
    "server status",
    "ext list",
    "ext info e",
    "ext install https://git.example/me/e.git --name e --rev v1 --replace",
    "ext remove e --keep-data",
    "ext reload e",
    "ext new e --ts --dir /nowhere",
    "ext new e --js",
    "ext new e --python",
    "ext logs e -n 1",
    "ext set e --scopes read",
    "ext set e --reset-scopes",
    "ext set e --enabled",
    "ext set e --disabled",
    "web --print",
    "web --no-open --read-only --device phone --expires 7d",
];

/// Commands that call none, or none with their arguments.
const OTHERS: &str = "serve, server start, server stop, server restart, server upgrade, up, down, attach, logs, tail, \
     events, action, emit, list, agentmux serve, agentmux status, agentmux cleanup, agentmux send, agentmux key, \
     agentmux capture, doctor, version, completions bash, completions zsh, completions fish, \
     completions install, completions uninstall, config path, config show, config init, \
     config edit, config check, service install, service uninstall, service status, agent replay, session attach, \
     hooks install, hooks remove, hooks undo, hooks status, mcp install, mcp remove, mcp undo, mcp status";

/// A flag that needs a tmux around us, those that never end, those of tables, and one that needs a
/// server for other machines.
const OTHER_FLAGS: &[&str] = &["here", "watch", "follow", "wide", "output", "qr"];

/// An action that was called, and its parameters.
type ActionCall = (String, Map<String, Value>);

#[test]
fn what_a_command_sends_is_what_its_action_takes() {
    let kernel = client::block_on(kernel()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let calls = record_calls(&folder.path().join("socket"));
    for line in LINES {
        let calls = calls_of(line, folder.path(), &calls);
        assert!(!calls.is_empty(), "`paned {line}` calls no action");
        for (action, params) in &calls {
            check_names(&kernel, line, action, params);
        }
    }
    let here = WindowParams { tmux: Some("t".into()), beside: Some("b".into()), args: &json!({}) };
    for noun in ["pane:new", "agent:create"] {
        check_names(&kernel, "new --here", noun, &params(&here).unwrap());
    }
    for verb in ["get", "plan", "place", "save", "apply"] {
        let action = format!("layout:{verb}");
        check_names(&kernel, "layout --here", &action, &params(&here).unwrap());
    }
}

/// Every parameter is one of the action's.
#[track_caller]
fn check_names(kernel: &Kernel, line: &str, action: &str, params: &Map<String, Value>) {
    let (schema, _) = kernel.registry().get(action).unwrap().schemas();
    for name in params.keys() {
        let is_known =
            schema["properties"].get(name).is_some() || schema["additionalProperties"] == true;
        assert!(is_known, "`paned {line}` sends `{name}`, which `{action}` does not take");
    }
}

#[test]
fn every_command_and_every_flag_is_checked() {
    let mut given = BTreeSet::new();
    for line in LINES {
        let matches = Cli::command().try_get_matches_from(words(line, Path::new("/"))).unwrap();
        given_args(&Cli::whole_command(), &matches, "", &mut given);
    }
    let mut all = BTreeSet::new();
    all_args(&Cli::whole_command(), "", &mut all);
    let missing: Vec<_> = all.difference(&given).collect();
    assert!(missing.is_empty(), "neither in LINES nor among the others: {missing:#?}");
}

/// The commands and arguments of a command line, as `agent new --id`.
fn given_args(command: &Command, matches: &ArgMatches, path: &str, given: &mut BTreeSet<String>) {
    if let Some((name, inner)) = matches.subcommand() {
        let command = command.find_subcommand(name).unwrap();
        return given_args(command, inner, &format!("{path}{name} "), given);
    }
    given.insert(path.to_owned());
    for id in matches.ids() {
        if matches.value_source(id.as_str()) == Some(ValueSource::CommandLine) {
            given.insert(format!("{path}--{id}"));
        }
    }
}

/// All that can be given to a command and those below it.
fn all_args(command: &Command, path: &str, all: &mut BTreeSet<String>) {
    for inner in command.get_subcommands() {
        all_args(inner, &format!("{path}{} ", inner.get_name()), all);
    }
    if command.has_subcommands() || OTHERS.split(", ").any(|other| other == path.trim_end()) {
        return;
    }
    all.insert(path.to_owned());
    let ids = command.get_arguments().map(|arg| arg.get_id().as_str());
    all.extend(ids.filter(|id| !OTHER_FLAGS.contains(id)).map(|id| format!("{path}--{id}")));
}

fn words<'a>(line: &'a str, folder: &'a Path) -> Vec<&'a OsStr> {
    let words = line.split_whitespace().map(OsStr::new);
    ["paned", "--socket"]
        .map(OsStr::new)
        .into_iter()
        .chain([folder.as_os_str()])
        .chain(words)
        .collect()
}

/// The actions that a command calls at a server that answers each with nothing.
fn calls_of(line: &str, folder: &Path, calls: &Receiver<ActionCall>) -> Vec<ActionCall> {
    let socket = folder.join("socket");
    let Cli { global, command } = Cli::try_parse_from(words(line, &socket)).unwrap();
    if let CliCommand::Run(args) = &command {
        // It would catch this process's signals.
        return vec![("pane:new".to_owned(), params(args).unwrap())];
    }
    // An answer of nothing is mostly refused, after it was asked for.
    let _ = super::run(&CliContext::new(Out::new(true, ColourChoice::Never), global), command);
    calls.try_iter().collect()
}

/// A server at this socket, which answers every request with `{}`.
fn record_calls(socket: &Path) -> Receiver<ActionCall> {
    let (sender, calls) = channel();
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&stream.unwrap(), &sender);
        }
    });
    calls
}

fn answer(stream: &UnixStream, calls: &Sender<ActionCall>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(0 < reader.read_line(&mut head).unwrap(), "{head}");
    }
    let field =
        |name: &str| head.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next());
    let mut body = vec![0; field("content-length: ").map_or(0, |size| size.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let action = field("/action/").unwrap().to_owned();
    calls.send((action, serde_json::from_slice(&body).unwrap())).unwrap();
    let mut stream = stream;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        .unwrap();
}

async fn kernel() -> Kernel {
    let setup = KernelSetup {
        version: "0.0.0",
        address: AdvertisedAddress::default(),
        env: Vec::new(),
        program_folder: None,
        token_file: None,
        limits: KernelLimits::default(),
        approvals: paned_kernel::ApprovalSetup::default(),
        permissions: paned_kernel::PermissionSetup::default(),
        tmux_view: None,
        adopted_tmux: None,
        profiles: None,
        worktrees: None,
        now: paned_keeper::time::now,
    };
    let opened =
        OpenedJournal { records: Vec::new(), first: None, last: EventId(0), recovery: None };
    let backend = Arc::new(FakeBackend::default());
    Kernel::start(setup, Journal::memory(), opened, backend).await.unwrap().0
}
