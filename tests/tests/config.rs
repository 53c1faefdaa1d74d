//! `paned config`, and what the server says about its settings.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use paned_e2e::{Server, binary, decode_output};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home folder with this `config.toml`, or with none.
fn home(config: Option<&str>) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    if let Some(text) = config {
        fs::create_dir_all(home.path().join(".config/paned")).unwrap();
        fs::write(file(home.path()), text).unwrap();
    }
    home
}

fn file(home: &Path) -> PathBuf {
    home.join(".config/paned/config.toml")
}

/// Runs `paned` with these variables and no others: its output, errors and exit code.
fn paned(home: &Path, env: &[(&str, &str)], args: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(binary());
    command.args(args).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    command.envs(env.iter().copied()).current_dir(home);
    decode_output(&command.output().unwrap())
}

#[test]
fn a_sample_is_written_once_and_changes_nothing() {
    let home = home(None);
    let path = file(home.path());
    let (out, _, code) = paned(home.path(), &[], &["config", "path"]);
    assert_eq!((out.trim_end(), code), (path.to_str().unwrap(), 0));
    let before = paned(home.path(), &[], &["config", "show"]).0;
    assert_eq!(paned(home.path(), &[], &["config", "init"]).2, 0);
    assert_eq!(paned(home.path(), &[], &["config", "check"]).2, 0);
    assert_eq!(paned(home.path(), &[], &["config", "show"]).0, before);
    fs::write(&path, "port = 1\n").unwrap();
    let (_, err, code) = paned(home.path(), &[], &["config", "init"]);
    assert!(code == 8 && err.contains("--force"), "{code} {err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "port = 1\n");
    assert_eq!(paned(home.path(), &[], &["config", "init", "--force"]).2, 0);
    assert!(fs::read_to_string(&path).unwrap().contains("\n#port = 7263\n"));
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let home = home(Some("prot = 1\nport = 'x'\n[limits]\npanes = 0\n"));
    let env = [("AGENTMUX_WINDOW", "1"), ("POLY_HOSTNAME", "::1"), ("PANED_MAX_AGENTS", "0")];
    let (out, err, code) = paned(home.path(), &env, &["config", "check"]);
    assert_eq!(code, 2, "{err}");
    for part in [
        "config.toml:1: unknown key `prot`; did you mean `port`?",
        "config.toml:2: invalid `port`: `x` is not a number from 0 to 65535",
        "config.toml:4: invalid `limits.panes`: `0` is not",
        "`PANED_MAX_AGENTS`: invalid `limits.agents`",
        "AGENTMUX_WINDOW is set, but has no effect",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("POLY_HOSTNAME"), "{out}");
    // Also where a flag or a variable overrides the key.
    for env in [[].as_slice(), &[("PANED_PORT", "0")]] {
        let (_, err, code) = paned(home.path(), env, &["serve", "--port", "0"]);
        assert!(code == 2 && err.contains("config.toml:1: "), "{code} {err}");
    }
}

#[test]
fn settings_are_shown_with_their_source_and_without_secrets() {
    let home = home(Some("state_dir = 'here'\n[compat]\nagentmux_token = 'geheim'\n"));
    let env = [("PANED_PORT", "8000"), ("POLY_PORT", "9000")];
    let (out, err, code) = paned(home.path(), &env, &["config", "show", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(!out.contains("geheim"), "{out}");
    let shown: Value = serde_json::from_str(&out).unwrap();
    let find = |key: &str| {
        shown.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap().clone()
    };
    let port = json!({ "key": "port", "value": "8000", "source": "variable", "at": "PANED_PORT" });
    assert_eq!(find("port"), port);
    let folder = file(home.path()).parent().unwrap().join("here");
    assert_eq!(find("state_dir")["value"], folder.to_str().unwrap());
    assert!(find("state_dir")["at"].as_str().unwrap().ends_with("config.toml:1"));
    assert_eq!(find("compat.agentmux_token")["value"], Value::Null);
    assert_eq!(find("limits.panes")["source"], "default");
    let (out, _, _) = paned(home.path(), &env, &["config", "show", "compat.agentmux_token"]);
    assert!(out.contains("(hidden)"), "{out}");
    let (_, err, code) = paned(home.path(), &env, &["config", "show", "prot"]);
    assert!(code == 3 && err.contains("did you mean `port`?"), "{code} {err}");
}

#[test]
fn the_editor_is_opened_and_its_file_is_checked() {
    let home = home(None);
    let editor = home.path().join("my editor");
    fs::write(&editor, "#!/bin/sh\necho \"$1\" >>\"$2\"\n").unwrap();
    let command = format!("/bin/sh '{}' 'prot = 1'", editor.display());
    let (out, _, code) = paned(home.path(), &[("EDITOR", &command)], &["config", "edit"]);
    assert!(code == 2 && out.contains("unknown"), "{code} {out}");
    let (_, err, code) = paned(home.path(), &[("VISUAL", "false")], &["config", "edit"]);
    assert!(code == 2 && err.contains("the editor `false` failed"), "{code} {err}");
}

#[test]
fn the_state_folder_of_the_file_may_begin_with_a_tilde() {
    let home = home(Some("state_dir = '~/state'\nport = 0\n"));
    let (_, err, code) = paned(home.path(), &[], &["server", "start"]);
    assert_eq!(code, 0, "{err}");
    assert!(home.path().join("state/server.json").is_file());
    assert!(!home.path().join("~").exists());
    let (_, err, code) = paned(home.path(), &[], &["server", "stop"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn the_log_names_variables_that_have_no_effect() {
    let server = Server::start_set("", &[("AGENTMUX_WINDOW", "x"), ("PTY_AUTOSTART", "1")]);
    let log = server.log();
    for name in ["AGENTMUX_WINDOW", "PTY_AUTOSTART"] {
        assert!(log.contains(&format!("{name} is set, but has no effect: ")), "{log}");
    }
}

#[test]
fn a_password_that_would_protect_nothing_keeps_an_open_listener_shut() {
    let home = home(None);
    let env = [("PTY_WEB_PASSWORD", "x")];
    let args = ["serve", "--port", "0", "--compat", "opencode-pty=127.0.0.1:0,open"];
    let (_, err, code) = paned(home.path(), &env, &args);
    assert!(code == 2 && err.contains("PTY_WEB_PASSWORD is set, but"), "{code} {err}");
}

#[test]
fn generated_files_are_what_the_program_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (what, path) in [
        ("configuration", "docs/configuration.md"),
        ("typescript", "extensions/sdk/src/actions.d.ts"),
        ("web-types", "web/src/api/generated.ts"),
    ] {
        let file = fs::read_to_string(root.join(path)).unwrap();
        let (written, _, _) = paned(root, &[], &["generate", what]);
        assert!(file == written, "{path} is stale; run `cargo xtask docs`");
    }
}

#[test]
fn in_a_pane_the_port_of_its_server_is_no_setting() {
    let server = Server::start();
    let out = server.ok(&[
        "run",
        "--clean-env",
        "--",
        binary().to_str().unwrap(),
        "config",
        "show",
        "port",
    ]);
    assert!(out.contains("7263") && !out.contains("POLY_PORT"), "{out}");
    let out =
        server.ok(&["run", "--clean-env", "--", binary().to_str().unwrap(), "config", "check"]);
    assert!(!out.contains("no effect"), "{out}");
}
