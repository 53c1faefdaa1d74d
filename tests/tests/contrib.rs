//! What is in `contrib/` says what it must: panes outlive the server that a unit restarts.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use paned_e2e::{binary, decode_output};

fn contrib(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("contrib").join(name)
}

/// The keys of a unit, as `Section.Key`; every line must be one, a section, a comment or blank.
fn unit(text: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut section = "";
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{line:?} is no key"));
        keys.insert(format!("{section}.{key}"), value.to_owned());
    }
    keys
}

#[test]
fn the_systemd_unit_ends_the_server_and_not_the_panes() {
    let text = std::fs::read_to_string(contrib("paned.service")).unwrap();
    let unit = unit(&text);
    for (key, value) in [
        ("Service.KillMode", "process"),
        ("Service.OOMPolicy", "continue"),
        ("Service.Type", "exec"),
        ("Service.Restart", "on-failure"),
        ("Service.ExecStart", "%h/.local/bin/paned serve"),
        ("Service.ExecReload", "%h/.local/bin/paned server upgrade"),
        ("Service.EnvironmentFile", "-%h/.config/paned/service.env"),
        ("Install.WantedBy", "default.target"),
    ] {
        assert_eq!(unit.get(key).map(String::as_str), Some(value), "{key}");
    }
    check_commands(unit.iter().filter(|(key, _)| key.starts_with("Service.Exec")).map(|it| it.1));
}

/// What units run is there: the command line takes it.
fn check_commands<'a>(lines: impl Iterator<Item = &'a String>) {
    for line in lines {
        let mut words = line.split_whitespace();
        assert!(words.next().unwrap().ends_with("/.local/bin/paned"), "{line}");
        let help = Command::new(binary()).args(words).arg("--help").output().unwrap();
        assert!(help.status.success(), "{line}");
    }
}

#[test]
fn systemd_takes_the_unit_where_there_is_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".local/bin");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(binary(), folder.join("paned")).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["--user", "verify"]).arg(contrib("paned.service")).env("HOME", home.path());
    verify.env("XDG_RUNTIME_DIR", home.path());
    // Most machines that build this have none.
    let Ok(verified) = verify.output() else { return };
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn the_launchd_agent_ends_the_server_and_not_the_panes() {
    let text = std::fs::read_to_string(contrib("dev.paned.server.plist")).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let plist = document.root_element();
    assert_eq!((plist.tag_name().name(), plist.attribute("version")), ("plist", Some("1.0")));
    let dict = plist.first_element_child().unwrap();
    let all: Vec<_> = dict.children().filter(|node| node.is_element()).collect();
    let mut keys = BTreeMap::new();
    for pair in all.chunks(2) {
        let [key, value] = pair else { panic!("a key without a value") };
        assert_eq!(key.tag_name().name(), "key");
        keys.insert(key.text().unwrap(), *value);
    }
    let word = |key: &str| keys[key].text().unwrap();
    let kind = |key: &str| keys[key].tag_name().name();
    assert_eq!(word("Label"), "dev.paned.server");
    assert_eq!((kind("AbandonProcessGroup"), kind("RunAtLoad")), ("true", "true"));
    assert_eq!(kind("KeepAlive"), "dict");
    let words = keys["ProgramArguments"].children().filter(|node| node.is_element());
    let words: Vec<_> = words.map(|node| node.text().unwrap()).collect();
    assert_eq!(words[..2], ["/bin/sh", "-c"]);
    assert!(words[2].contains("; exec \"$HOME/.local/bin/paned\" serve 2>>"), "{words:?}");
    check_launchd_command(words[2]);
}

/// What launchd runs starts the server with the variables of the user's file, if there is one.
fn check_launchd_command(command: &str) {
    let home = tempfile::tempdir().unwrap();
    for folder in [".local/bin", "Library/Logs", ".config/paned"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    let program = home.path().join(".local/bin/paned");
    std::fs::write(&program, "#!/bin/sh\necho \"$* ${AGENTMUX_TOKEN-none}\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = || {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).env("HOME", home.path()).env_remove("AGENTMUX_TOKEN");
        decode_output(&shell.output().unwrap())
    };
    assert_eq!(run(), ("serve none\n".to_owned(), String::new(), 0));
    let file = home.path().join(".config/paned/service.env");
    std::fs::write(file, "# mine\nAGENTMUX_TOKEN=hunter2\n").unwrap();
    assert_eq!(run(), ("serve hunter2\n".to_owned(), String::new(), 0));
}

/// `paned service` on a machine with a service manager that only takes notes.
struct FakeMachine {
    home: tempfile::TempDir,
}

impl FakeMachine {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let tools = home.path().join("tools");
        std::fs::create_dir_all(&tools).unwrap();
        for name in ["systemctl", "launchctl"] {
            let text = format!("#!/bin/sh\necho {name} \"$@\" >>\"$HOME/calls\"\n");
            let file = tools.join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { home }
    }

    fn paned(&self, args: &[&str]) -> (String, String, i32) {
        let path = format!("{}:rel:/usr/bin:/usr/bin", self.home.path().join("tools").display());
        let mut command = Command::new(binary());
        command.args(args).env_clear().env("HOME", self.home.path()).env("PATH", path);
        decode_output(&command.output().unwrap())
    }

    /// What the service manager was asked since the last call.
    fn calls(&self) -> Vec<String> {
        let file = self.home.path().join("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        calls.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_service_is_installed_for_the_user_and_removed() {
    let machine = FakeMachine::new();
    let file = machine.home.path().join(".config/systemd/user/paned.service");
    let install = ["service", "install", "--manager", "systemd"];
    let (written, err, code) = machine.paned(&[&install[..], &["--dry-run"]].concat());
    assert!(code == 0 && !file.exists(), "{err}");
    let (_, err, code) = machine.paned(&install);
    assert_eq!(code, 0, "{err}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, written);
    let calls = machine.calls();
    let asked = ["systemctl --user daemon-reload", "systemctl --user enable --now paned"];
    assert_eq!(calls.iter().filter(|call| asked.contains(&call.as_str())).count(), 2, "{calls:?}");
    let keys = unit(&text);
    let tools = machine.home.path().join("tools");
    let path = format!("\"PATH={}:/usr/bin\"", tools.display());
    assert_eq!(keys["Service.Environment"], path);
    assert_eq!(keys["Service.ExecStart"], format!("\"{}\" serve", binary().display()));
    assert_eq!(keys["Service.KillMode"], "process");
    let (out, _, _) = machine.paned(&["service", "status", "--manager", "systemd"]);
    assert!(out.contains("paned.service") && out.contains("active"), "{out}");
    let (_, err, code) = machine.paned(&["service", "uninstall", "--manager", "systemd"]);
    assert!(code == 0 && !file.exists(), "{err}");
    assert!(machine.calls().contains(&"systemctl --user disable --now paned".to_owned()));
    let (_, err, code) = machine.paned(&["service", "uninstall", "--manager", "systemd"]);
    assert!(code == 3 && err.contains("not installed"), "{err}");
}

#[test]
fn systemd_takes_the_unit_that_is_written() {
    let machine = FakeMachine::new();
    machine.paned(&["service", "install", "--manager", "systemd"]);
    let file = machine.home.path().join(".config/systemd/user/paned.service");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["--user", "verify"]).arg(&file).env("HOME", machine.home.path());
    verify.env("XDG_RUNTIME_DIR", machine.home.path());
    let Ok(verified) = verify.output() else { return };
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_launchd_agent_is_written_as_well_formed_xml() {
    let machine = FakeMachine::new();
    let (_, err, code) = machine.paned(&["service", "install", "--manager", "launchd"]);
    assert_eq!(code, 0, "{err}");
    let file = machine.home.path().join("Library/LaunchAgents/dev.paned.server.plist");
    let text = std::fs::read_to_string(&file).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(&text, options).unwrap();
    assert!(text.contains(&format!("exec '{}' serve", binary().display())), "{text}");
    assert!(machine.calls().iter().any(|call| call.starts_with("launchctl bootstrap gui/")));
}

#[test]
fn without_a_service_manager_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.args(["service", "install", "--manager", "launchd"]).env_clear();
    command.env("HOME", home.path()).env("PATH", "/nowhere");
    let (_, err, code) = decode_output(&command.output().unwrap());
    assert!(code == 13 && err.contains("`launchctl` is not on your PATH"), "{code} {err}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_service_that_cannot_be_started_is_not_left_behind_and_changes_by_hand_are_kept() {
    let machine = FakeMachine::new();
    let install = ["service", "install", "--manager", "systemd"];
    let file = machine.home.path().join(".config/systemd/user/paned.service");
    let systemctl = machine.home.path().join("tools/systemctl");
    let working = std::fs::read_to_string(&systemctl).unwrap();
    std::fs::write(&systemctl, "#!/bin/sh\necho no bus >&2; exit 1\n").unwrap();
    let (_, err, code) = machine.paned(&install);
    assert!(code == 13 && err.contains("`systemctl --user daemon-reload` failed: no bus"), "{err}");
    assert!(!file.exists());
    std::fs::write(&systemctl, working).unwrap();
    machine.paned(&install);
    std::fs::write(&file, "# mine\n").unwrap();
    let (_, err, code) = machine.paned(&install);
    assert!(code == 0 && err.contains("paned.bak"), "{code} {err}");
    assert_eq!(std::fs::read_to_string(file.with_extension("bak")).unwrap(), "# mine\n");
}
