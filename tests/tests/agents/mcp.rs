//! Real agents that use paned over MCP: each starts a server process, waits for its port line,
//! reads it and kills it. The fake model asks for the calls, and each follows from the result of
//! the one before.

use std::process::{Command, Stdio};

use paned_e2e::{Cli, RealAgent, Server, binary, decode_output};
use paned_fake_model::{FakeModel, ModelEventKind, PORT_LINE};
use serde_json::{Value, json};

/// Runs an agent without a terminal on one prompt.
#[track_caller]
pub(crate) fn uses_paned_over_mcp(cli: Cli) {
    let server = Server::start();
    let model = FakeModel::start();
    let real = RealAgent::new(cli, &model);
    let args = configure(&real, &server);
    let mut command = Command::new(cli.name());
    command.args(args).current_dir(real.cwd()).stdin(Stdio::null());
    command.env_clear().envs(real.env());
    let output = command.output().unwrap();
    let (out, err, code) = decode_output(&output);
    let said = || format!("{code}\n{out}\n{err}\n{:?}", model.events());

    let asked: Vec<String> = model
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            ModelEventKind::ToolAsked { command, .. } => Some(command),
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["pty_spawn", "pty_wait", "pty_read", "pty_kill"], "{}", said());
    let results: Vec<String> = model
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            ModelEventKind::ToolResult(text) => Some(text),
            _ => None,
        })
        .collect();
    assert!(results.iter().filter(|text| text.contains(PORT_LINE)).count() >= 2, "{}", said());
    let panes = server.act("pane:list", json!({}));
    let panes: &Vec<Value> = panes.as_array().unwrap();
    assert_eq!(panes.len(), 1, "{panes:?}");
    assert_eq!(panes[0]["status"], "killed", "{panes:?}");
    assert_eq!(code, 0, "{}", said());
}

/// Adds paned to the program's configuration, as its users do; answers its arguments.
fn configure(real: &RealAgent, server: &Server) -> Vec<String> {
    let program = binary().display().to_string();
    let args = ["--socket".to_owned(), server.socket().display().to_string(), "mcp".to_owned()];
    let prompt = "Start the server.\nFAKE mcp";
    match real.cli() {
        Cli::Codex => {
            let config = real.home().join(".codex/config.toml");
            let text = std::fs::read_to_string(&config).unwrap();
            let table = format!("\n[mcp_servers.paned]\ncommand = {program:?}\nargs = {args:?}\n");
            std::fs::write(&config, text + &table).unwrap();
            words(&["exec", "--dangerously-bypass-approvals-and-sandbox", prompt])
        }
        Cli::Gemini => {
            let entry = json!({ "command": program, "args": args, "trust": true });
            add(real, ".gemini/settings.json", "mcpServers", &entry);
            words(&["-m", "gemini-2.5-flash", "--yolo", "-p", prompt])
        }
        Cli::Opencode => {
            let command: Vec<String> = [program].into_iter().chain(args).collect();
            let entry = json!({ "type": "local", "command": command, "enabled": true });
            add(real, ".config/opencode/opencode.json", "mcp", &entry);
            words(&["run", prompt])
        }
        other => panic!("{} has no MCP here", other.name()),
    }
}

fn add(real: &RealAgent, file: &str, table: &str, entry: &Value) {
    let path = real.home().join(file);
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    config[table]["paned"] = entry.clone();
    std::fs::write(&path, config.to_string()).unwrap();
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
