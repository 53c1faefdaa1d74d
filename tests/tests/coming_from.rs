//! The commands in `docs/coming-from.md` work: each is run against a real server, in the order of
//! the page.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use paned_e2e::{Server, binary, decode_output, signal, wait_within};
use serde_json::json;
use tempfile::TempDir;

/// How long a program may take on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// The column with the commands of paned, and what is in it where the old command still works.
const NOW: &str = "you type now";
const UNCHANGED: &str = "the same";
/// Commands that need a terminal; only that there are such commands is checked.
const INTERACTIVE: [&str; 1] = ["paned session attach"];
/// What starts a server in the foreground, and what manages one.
const FOREGROUND: [&str; 2] = ["paned serve", "paned agentmux serve"];
const SERVER: &str = "paned server";
/// It reports what is wrong with the machine, too.
const DOCTOR: &str = "paned doctor";
/// Free ports instead of those of the other tools.
const PORTS: [(&str, &str); 3] =
    [("PANED_PORT", "0"), ("AGENTMUX_PORT", "0"), ("PTY_WEB_HOSTNAME", "127.0.0.1")];

/// A section of the page about one tool.
struct Section {
    tool: String,
    /// What it says is to be in `config.toml`.
    config: String,
    commands: Vec<String>,
}

fn sections() -> Vec<Section> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/coming-from.md")).unwrap();
    page.split("\n## ").skip(1).map(Section::read).collect()
}

impl Section {
    fn read(text: &str) -> Self {
        let tool = text.lines().next().unwrap().to_owned();
        let config = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        let mut commands = Vec::new();
        let mut is_about_commands = false;
        for line in text.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            if cells.iter().any(|cell| cell.starts_with("---")) || cells.len() < 2 {
                continue;
            }
            if cells.contains(&NOW) || cells[1].starts_with("in `config.toml`") {
                is_about_commands = cells[1] == NOW;
                continue;
            }
            if is_about_commands {
                let old = cells[1].starts_with(UNCHANGED).then_some(cells[0]);
                commands.extend(
                    old.into_iter()
                        .chain([cells[1]])
                        .flat_map(code)
                        .filter(|code| is_command(code)),
                );
            }
        }
        Self { tool, config: config.unwrap_or_default().to_owned(), commands }
    }

    /// The address in the commands of a tool's clients, and the listener that serves them.
    fn listener(&self) -> Option<(&'static str, &'static str)> {
        match self.tool.as_str() {
            "agentmux" => Some(("127.0.0.1:8765", "agentmux")),
            "opencode-pty" => Some(("127.0.0.1:4097", "opencode-pty")),
            _ => None,
        }
    }
}

/// What is marked as code in a cell.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a piece of code is a command line: after variables comes a program that is run here.
fn is_command(code: &str) -> bool {
    let words = code.split_whitespace();
    let mut words = words.skip_while(|word| word.contains('=') && !word.starts_with('-'));
    matches!(words.next(), Some("paned" | "curl")) || code.contains(" paned ")
}

/// A home of its own, in which servers are started by the commands themselves.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::with_prefix("paned-coming-").unwrap())
    }

    /// A command line in this home. It is run by a shell, as a user types it.
    fn command(&self, line: &str) -> Command {
        // Every port that it names is taken by another test, sooner or later.
        let line =
            line.replace("--port 4096", "--port 0").replace("PTY_WEB_PORT=4097", "PTY_WEB_PORT=0");
        let mut command = Command::new("bash");
        command.args(["-c", &line]).env("HOME", self.0.path()).env("PATH", path());
        command.env("PTY_WEB_PORT", "0").envs(PORTS);
        for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "PANED_STATE_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command that serves until it is ended, and says where it does.
    fn serve(&self, line: &str) {
        let mut command = self.command(&format!("exec env {line}"));
        let log = self.0.path().join("log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut server = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("127.0.0.1"), "{line}: {said:?}");
        signal(server.id(), rustix::process::Signal::TERM);
        assert!(server.wait().unwrap().success(), "{line}");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Where one was started that the page does not stop.
        let _ = self.command("paned server stop --all").output();
    }
}

/// The `PATH` with our binary first.
fn path() -> String {
    let own = binary().parent().unwrap().display().to_string();
    format!("{own}:{}", std::env::var("PATH").unwrap_or_default())
}

#[track_caller]
fn succeeds(mut command: Command, line: &str) {
    let (out, err, code) = decode_output(&command.output().unwrap());
    let is_well = code == 0 || line == DOCTOR && code == 1;
    assert!(is_well, "{line}: {code}\n{out}\n{err}");
    assert!(!out.contains("\"error\""), "{line}: {out}");
}

/// A command line against the server of its section.
fn run_at(server: &Server, section: &Section, line: &str) {
    let mut line = line.to_owned();
    if let Some((address, name)) = section.listener() {
        let url = server.ready()["compat"][name].as_str().unwrap_or_else(|| panic!("{name}"));
        line = line.replace(address, url.trim_start_matches("http://"));
        // A client of agentmux sends the next text when the agent is idle.
        line = line.replacen("curl -s ", "curl -sf ", 1);
    }
    let mut command = Command::new("bash");
    command.args(["-c", &line]).current_dir(server.home()).env("PATH", path());
    command.env("HOME", server.home()).env("PANED_STATE_DIR", server.state());
    for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "PANED_CONFIG"] {
        command.env_remove(name);
    }
    succeeds(command, &line);
}

/// Waits until agentmux's active session takes the next text.
fn until_idle(server: &Server) {
    wait_within(LONG, "no busy agent", || {
        let panes = server.act("pane:list", json!({ "tag": "agentmux" }));
        let is_idle = |pane: &serde_json::Value| pane["agent"]["state"] == "ready";
        panes.as_array().unwrap().iter().all(is_idle).then_some(())
    });
}

#[track_caller]
fn check(tool: &str, at_least: usize) {
    let section = sections().into_iter().find(|section| section.tool == tool).unwrap();
    assert!(at_least <= section.commands.len(), "{:?}", section.commands);
    let env = [("AGENTMUX_REPL_CMD", "bash --norc"), ("PTY_WEB_PORT", "0")];
    let env: Vec<_> = PORTS.into_iter().skip(1).chain(env).collect();
    let server = Server::start_set(&section.config, &env);
    let home = Home::new();
    for line in &section.commands {
        if line.starts_with(SERVER) {
            succeeds(home.command(line), line);
        } else if FOREGROUND.iter().any(|serve| line.contains(serve)) {
            home.serve(line);
        } else if INTERACTIVE.contains(&line.as_str()) {
            succeeds(home.command(&format!("{line} --help")), line);
        } else {
            until_idle(&server);
            run_at(&server, &section, line);
        }
    }
}

#[test]
fn what_users_of_poly_type_works() {
    check("Poly", 18);
}

#[test]
fn what_users_of_agentmux_type_works() {
    check("agentmux", 16);
}

#[test]
fn what_users_of_opencode_pty_type_works() {
    check("opencode-pty", 12);
}

#[test]
fn what_users_of_oh_my_opencode_type_works() {
    check("oh-my-opencode", 10);
}

#[test]
fn what_users_of_substrate_type_works() {
    check("substrate", 9);
}

#[test]
fn there_is_a_section_for_each_tool() {
    let tools: Vec<String> = sections().into_iter().map(|section| section.tool).collect();
    assert_eq!(tools, ["Poly", "agentmux", "opencode-pty", "oh-my-opencode", "substrate"]);
}
