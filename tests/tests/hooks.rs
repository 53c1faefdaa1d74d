//! `paned hooks` and `paned mcp install`: what becomes of the files of other programs.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paned_e2e::{Server, binary, decode_output, script};
use serde_json::{Value, json};
use tempfile::TempDir;

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// `paned` with this home and no terminal.
fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    command.current_dir(home).stdin(Stdio::null());
    command
}

fn paned(home: &Path, args: &[&str]) -> (String, String, i32) {
    decode_output(&command(home, args).output().unwrap())
}

#[track_caller]
fn ok(home: &Path, args: &[&str]) -> String {
    let (out, err, code) = paned(home, args);
    assert_eq!(code, 0, "paned {args:?}: {out}\n{err}");
    out
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Writes a file below the home and answers its path.
fn write(home: &Path, name: &str, text: &str) -> PathBuf {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// The backups beside a file.
fn backups(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains(".paned-backup-")).collect()
}

const SETTINGS: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

#[test]
fn hooks_are_installed_once_removed_and_the_old_file_is_kept() {
    let home = home();
    let home = home.path();
    let path = write(home, ".claude/settings.json", SETTINGS);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    ok(home, &["hooks", "install", "claude", "--yes"]);
    let installed = read(&path);
    assert!(installed.contains("// mine") && installed.contains("say done"), "{installed}");
    assert!(installed.contains("agent hook --agent claude || true"), "{installed}");
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    let [backup] = &backups(&path)[..] else { panic!("{:?}", backups(&path)) };
    assert_eq!(read(backup), SETTINGS);
    assert_eq!(backup.metadata().unwrap().mode() & 0o777, 0o640);
    let again = ok(home, &["hooks", "install", "claude", "--yes"]);
    assert!(again.contains("already"), "{again}");
    assert_eq!((read(&path), backups(&path).len()), (installed, 1));
    assert!(ok(home, &["hooks", "status", "claude"]).contains("installed"));
    ok(home, &["hooks", "remove", "claude", "--yes"]);
    assert_eq!(read(&path), SETTINGS);
    assert!(ok(home, &["hooks", "status", "claude"]).contains("absent"));
}

#[test]
fn nothing_is_written_without_a_yes() {
    let home = home();
    let home = home.path();
    let path = write(home, ".gemini/settings.json", "{}\n");
    let out = ok(home, &["hooks", "install", "gemini", "--dry-run"]);
    assert!(out.contains("+") && out.contains("BeforeAgent"), "{out}");
    let (_, err, code) = paned(home, &["hooks", "install", "gemini"]);
    assert!(code == 2 && err.contains("`--yes`") && err.contains("BeforeAgent"), "{code} {err}");
    assert_eq!((read(&path).as_str(), backups(&path).len()), ("{}\n", 0));
}

#[test]
fn a_file_with_a_mistake_is_refused_and_stays() {
    let home = home();
    let home = home.path();
    for (name, args) in [
        (".claude/settings.json", ["hooks", "install", "claude", "--yes"]),
        (".codex/config.toml", ["mcp", "install", "codex", "--yes"]),
        (".cursor/mcp.json", ["mcp", "install", "cursor", "--yes"]),
    ] {
        let path = write(home, name, "{ \"a\": ");
        let (_, err, code) = paned(home, &args);
        assert!(code == 8 && err.contains("is not valid"), "{code} {err}");
        assert!(err.contains(path.to_str().unwrap()), "{err}");
        assert_eq!((read(&path).as_str(), backups(&path).len()), ("{ \"a\": ", 0));
    }
}

#[test]
fn a_link_stays_a_link_and_its_file_is_changed() {
    let home = home();
    let home = home.path();
    let real = write(home, "dotfiles/settings.json", "{}\n");
    fs::create_dir(home.join(".claude")).unwrap();
    let link = home.join(".claude/settings.json");
    symlink("../dotfiles/settings.json", &link).unwrap();
    ok(home, &["hooks", "install", "claude", "--yes"]);
    assert!(link.symlink_metadata().unwrap().file_type().is_symlink());
    assert!(read(&real).contains("agent hook"), "{}", read(&real));
    fs::remove_file(&real).unwrap();
    let (_, err, code) = paned(home, &["hooks", "install", "claude", "--yes"]);
    assert!(code == 3 && err.contains("which does not exist"), "{code} {err}");
}

#[test]
fn undo_restores_the_file_or_removes_our_part_of_a_changed_one() {
    let home = home();
    let home = home.path();
    let text = "{ \"hooks\": { },   \"a\": 1 }\n";
    let path = write(home, ".codex/hooks.json", text);
    ok(home, &["hooks", "install", "codex", "--yes"]);
    ok(home, &["hooks", "undo", "codex", "--yes"]);
    assert_eq!(read(&path), text);
    ok(home, &["hooks", "install", "codex", "--yes"]);
    fs::write(&path, read(&path).replace("\"a\": 1", "\"a\": 2")).unwrap();
    ok(home, &["hooks", "undo", "codex", "--yes"]);
    assert!(read(&path).contains("\"a\": 2") && !read(&path).contains("agent hook"));
    // A file that an installation has created goes with it.
    ok(home, &["mcp", "install", "codex", "--tier", "full", "--yes"]);
    ok(home, &["mcp", "install", "claude", "--yes"]);
    ok(home, &["mcp", "undo", "claude", "--yes"]);
    assert!(!home.join(".claude.json").exists());
}

#[test]
fn undo_goes_back_one_change_at_a_time_and_says_what_it_did() {
    let home = home();
    let home = home.path();
    let own = "{\n  \"mcpServers\": {\n    \"paned\": { \"command\": \"/old/paned\" }\n  }\n}\n";
    let path = write(home, ".cursor/mcp.json", own);
    ok(home, &["mcp", "install", "cursor", "--tier", "full", "--yes"]);
    ok(home, &["mcp", "install", "cursor", "--tier", "read-only", "--yes"]);
    let said = ok(home, &["mcp", "undo", "cursor", "--yes"]);
    assert!(said.starts_with("restored ") && said.contains("as it was before"), "{said}");
    assert!(read(&path).contains("\"full\""), "{}", read(&path));
    ok(home, &["mcp", "undo", "cursor", "--yes"]);
    assert!(!read(&path).contains("read-only"), "what was undone is back: {}", read(&path));
}

#[test]
fn many_at_once_change_a_file_once() {
    let home = home();
    let home = home.path();
    let path = write(home, ".gemini/settings.json", "{\n  \"a\": 1\n}\n");
    let jobs = [
        ["hooks", "install", "gemini", "--yes"],
        ["mcp", "install", "gemini", "--yes"],
        ["hooks", "install", "gemini", "--yes"],
        ["mcp", "install", "gemini", "--yes"],
    ];
    let spawn = |args: &[&str; 4]| {
        command(home, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = jobs.iter().map(spawn).collect();
    for mut child in children {
        // It is done, or the file has changed meanwhile.
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 8)), "{code:?}");
    }
    let value: Value = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(value["a"], 1);
    ok(home, &["hooks", "install", "gemini", "--yes"]);
    ok(home, &["mcp", "install", "gemini", "--yes"]);
    let value: Value = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(value["hooks"]["AfterAgent"].as_array().unwrap().len(), 1);
    assert_eq!(value["mcpServers"]["paned"]["args"], json!(["mcp"]));
    let left = fs::read_dir(path.parent().unwrap()).unwrap();
    let left = left
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(left.count(), 0);
}

#[test]
fn each_client_gets_its_own_format_in_its_own_place() {
    let home = home();
    let home = home.path();
    write(home, ".config/opencode/opencode.jsonc", "{\n  // mine\n  \"model\": \"a/b\",\n}\n");
    for client in ["claude", "codex", "opencode", "gemini", "cursor"] {
        ok(home, &["mcp", "install", client, "--tier", "read-only", "--yes"]);
    }
    let json = |name: &str| serde_json::from_str::<Value>(&read(&home.join(name))).unwrap();
    let args = json!(["mcp", "--tier", "read-only"]);
    for name in [".claude.json", ".gemini/settings.json", ".cursor/mcp.json"] {
        assert_eq!(json(name)["mcpServers"]["paned"]["args"], args, "{name}");
    }
    assert_eq!(json(".claude.json")["mcpServers"]["paned"]["type"], "stdio");
    let codex = read(&home.join(".codex/config.toml"));
    assert!(codex.contains("[mcp_servers.paned]") && codex.contains("PANED_TOKEN"), "{codex}");
    let opencode = read(&home.join(".config/opencode/opencode.jsonc"));
    assert!(opencode.contains("// mine") && opencode.contains("\"local\""), "{opencode}");
    assert!(!ok(home, &["mcp", "status"]).contains("absent"));
    let project = home.join("project");
    fs::create_dir(&project).unwrap();
    for client in ["claude", "codex", "opencode", "gemini", "cursor"] {
        let mut command = command(home, &["mcp", "install", client, "--project", "--yes"]);
        assert!(command.current_dir(&project).status().unwrap().success());
    }
    for name in [
        ".mcp.json",
        ".codex/config.toml",
        "opencode.json",
        ".gemini/settings.json",
        ".cursor/mcp.json",
    ] {
        assert!(project.join(name).exists(), "{name}");
    }
}

#[test]
fn variables_name_other_folders() {
    let home = home();
    let home = home.path();
    let folder = home.join("else where");
    for (name, value, args, file) in [
        ("CLAUDE_CONFIG_DIR", "c", ["hooks", "install", "claude", "--yes"], "c/settings.json"),
        ("CLAUDE_CONFIG_DIR", "c", ["mcp", "install", "claude", "--yes"], "c/.claude.json"),
        ("CODEX_HOME", "x", ["hooks", "install", "codex", "--yes"], "x/hooks.json"),
        (
            "GEMINI_CLI_HOME",
            "g",
            ["hooks", "install", "gemini", "--yes"],
            "g/.gemini/settings.json",
        ),
        ("PI_CODING_AGENT_DIR", "p", ["hooks", "install", "pi", "--yes"], "p/extensions/paned.ts"),
        (
            "XDG_CONFIG_HOME",
            "o",
            ["mcp", "install", "opencode", "--yes"],
            "o/opencode/opencode.json",
        ),
    ] {
        let mut command = command(home, &args);
        assert!(command.env(name, folder.join(value)).status().unwrap().success());
        assert!(folder.join(file).exists(), "{file}");
    }
}

#[test]
fn a_hook_reports_only_from_the_program_of_a_pane() {
    let server = Server::start_bare();
    let home = home();
    let folder = home.path().join("a folder's");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("paned");
    symlink(binary(), &program).unwrap();
    let mut install = command(home.path(), &["hooks", "install", "codex", "--yes"]);
    // Found on PATH, so that its name is enough, and a path where it is not.
    assert!(install.env("PATH", format!("{}:/bin", folder.display())).status().unwrap().success());
    let hooks: Value = serde_json::from_str(&read(&home.path().join(".codex/hooks.json"))).unwrap();
    let hook = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    assert_eq!(hook, "paned agent hook --agent codex || true");
    ok(home.path(), &["hooks", "install", "codex", "--yes"]);
    let hooks: Value = serde_json::from_str(&read(&home.path().join(".codex/hooks.json"))).unwrap();
    let hook = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    assert!(
        hook.ends_with("paned agent hook --agent codex || true") && hook.starts_with(['/', '\''])
    );
    // A shell that does not exec its last command stands in for the agent.
    let report = |session: &str| {
        format!(
            "echo '{{\"hook_event_name\":\"Stop\",\"session_id\":\"{session}\"}}' | python3 -c 'import os,sys; sys.exit(os.system(sys.argv[1]))' \"$HOOK\"; echo done $?; sleep 600"
        )
    };
    let mut params = script("inside", &report("s1"));
    params["env"] = json!({ "HOOK": hook, "PATH": std::env::var("PATH").unwrap() });
    server.act("pane:new", params);
    let wait = json!({ "paneId": "inside", "pattern": "^done 0", "timeoutMs": 20_000 });
    assert_eq!(server.act("pane:wait", wait)["met"], "pattern");
    let pane = server.pane("inside");
    assert_eq!(pane["meta"]["agent.sessionId"], "s1", "{pane}");
    assert_eq!(pane["meta"]["agent.runtime"], "codex", "{pane}");
    // The same as a tool of the agent, in a session of its own: it is not the program of the pane.
    let tool = report("s2").replace("| python3", "| setsid --wait python3");
    let mut params = script("tool", &tool);
    params["env"] = json!({ "HOOK": hook, "PATH": std::env::var("PATH").unwrap() });
    server.act("pane:new", params);
    let wait = json!({ "paneId": "tool", "pattern": "^done 0", "timeoutMs": 20_000 });
    assert_eq!(server.act("pane:wait", wait)["met"], "pattern");
    assert_eq!(server.pane("tool")["meta"]["agent.sessionId"], Value::Null);
    // Outside of panes it is silent, also with a server at hand.
    let mut outside = Command::new("sh");
    outside.args(["-c", &hook]).stdin(Stdio::null()).env_clear().env("HOME", home.path());
    let (out, err, code) = decode_output(&outside.output().unwrap());
    assert_eq!((out.as_str(), err.as_str(), code), ("", "", 0));
}
