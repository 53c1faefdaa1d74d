//! Completion in real shells: bash, zsh and fish.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::Command;

use paned_e2e::{Server, binary, decode_output};
use serde_json::json;

/// A server with a running pane and one that has ended.
fn server() -> Server {
    let server = Server::start();
    server.ok(&["new", "--id", "web-1", "--tag", "front", "--", "sleep", "1000"]);
    server.ok(&["new", "--id", "built-2", "--", "true"]);
    let waited = server.act("pane:wait", json!({ "paneId": "built-2", "exit": true }));
    assert_eq!(waited["met"], "exit");
    server
}

/// The PATH with the binary that is tested.
fn path() -> String {
    format!("{}:/usr/bin:/bin", binary().parent().unwrap().display())
}

/// Runs a script in a shell, connected to the server.
fn shell(server: &Server, words: &[&str], script: &str) -> String {
    let template = server.command(&[]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(script).current_dir(server.home());
    for (name, value) in template.get_envs() {
        value.map(|value| command.env(name, value));
    }
    let args: Vec<_> = template.get_args().map(ToOwned::to_owned).collect();
    assert!(args.is_empty() || args[0] == "--state-dir", "{args:?}");
    command.env("PATH", path()).env("PANED_STATE_DIR", server.state()).env("HOME", server.home());
    let (out, err, _) = decode_output(&command.output().unwrap());
    assert_eq!(err, "", "{script}");
    out
}

/// What bash offers for this line: each candidate, in order.
fn bash(server: &Server, line: &str) -> Vec<String> {
    let script = format!(
        "source <(paned completions bash)
         COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({line}'') COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
         _paned
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let out = shell(server, &["bash", "--norc", "-c"], &script);
    out.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn fish(server: &Server, line: &str) -> Vec<String> {
    let script = format!("paned completions fish | source; complete -C '{line}'");
    let out = shell(server, &["fish", "-c"], &script);
    out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn bash_offers_what_the_server_knows() {
    let server = server();
    for (line, expect) in [
        ("paned attach ", &["web-1"][..]),
        ("paned rm ", &["built-2"]),
        ("paned logs b", &["built-2"]),
        ("paned ls --tag ", &["front"]),
        ("paned ls --status ru", &["running"]),
        ("paned token create --scope sp", &["spawn"]),
        // bash has cut the word at the colon.
        ("paned action pane:set-m", &["set-meta"]),
        ("paned send web-1 ", &[]),
        ("paned compl", &["completions"]),
    ] {
        assert_eq!(bash(&server, line), expect, "{line}");
    }
    let programs = bash(&server, "paned run -- sl");
    assert!(programs.contains(&"sleep".to_owned()), "{programs:?}");
    assert!(bash(&server, "paned agent new co").contains(&"codex".to_owned()));
}

#[test]
fn fish_offers_names_with_and_files_only_where_they_are_meant() {
    let server = server();
    fs::write(server.home().join("some-file"), "").unwrap();
    assert_eq!(fish(&server, "paned attach "), ["web-1"]);
    assert_eq!(fish(&server, "paned send web-1 "), [""; 0]);
    assert_eq!(fish(&server, "paned ls --status=ru"), ["--status=running"]);
    assert!(fish(&server, "paned action pane:n").contains(&"pane:new".to_owned()));
    assert_eq!(fish(&server, "paned --config some"), ["some-file"]);
    assert_eq!(fish(&server, "paned screen web-1 --output=some"), ["--output=some-file"]);
    assert_eq!(fish(&server, "paned run -- cat some"), ["some-file"]);
    assert!(fish(&server, "paned run -- ls --vers").contains(&"--version".to_owned()));
}

#[test]
fn tags_that_a_program_has_chosen_run_nothing_when_they_are_completed() {
    let server = server();
    let hostile =
        ["x;touch made", "$(touch made)", "`touch made`", "y'\"&z", "two\nlines", "\x1b[2J"];
    server.act("pane:tag", json!({ "paneId": "web-1", "add": hostile }));
    let script = "source <(paned completions bash)
        for COMP_LINE in 'paned ls --tag ' \"paned ls --tag '\" 'paned ls --tag \"'; do
            COMP_POINT=${#COMP_LINE}; _paned
            for word in \"${COMPREPLY[@]}\"; do eval \"set -- ${COMP_LINE##* }$word\" 2>/dev/null; echo \"$#\"; done
        done";
    let words = shell(&server, &["bash", "--norc", "-c"], script);
    assert!(5 <= words.lines().filter(|count| *count == "1").count(), "{words}");
    assert!(!server.home().join("made").exists());
    let offered = bash(&server, "paned ls --tag ");
    assert_eq!(offered.len(), 5, "no control characters: {offered:?}");
    assert_eq!(fish(&server, "paned ls --tag ").len(), 5);
}

/// Types a line and a tab into zsh, and waits until the screen shows `expect`.
fn zsh(server: &Server, line: &str, expect: &str) {
    server.ok(&["send", "zsh", "--no-enter", line]);
    server.ok(&["keys", "zsh", "tab"]);
    let wait =
        json!({ "paneId": "zsh", "pattern": regex(expect), "since": 0, "timeoutMs": 20_000 });
    let waited = server.act("pane:wait", wait);
    assert_eq!(waited["met"], "pattern", "{line}: {waited}\n{}", server.text("zsh"));
    server.ok(&["keys", "zsh", "ctrl+u"]);
}

fn regex(text: &str) -> String {
    text.replace('.', "\\.").replace('$', "\\$")
}

#[test]
fn zsh_completes_names_in_its_own_terminal() {
    let server = server();
    fs::write(server.home().join("some-file"), "").unwrap();
    let env = json!({ "PATH": path(), "PANED_STATE_DIR": server.state(), "PS1": "READY> " });
    let home = server.home();
    server.act("pane:new", json!({ "id": "zsh", "argv": ["zsh", "-f"], "env": env, "cwd": home }));
    let setup =
        "autoload -Uz compinit; compinit -u -D; source <(paned completions zsh); echo LO''ADED";
    server.ok(&["send", "zsh", setup]);
    let wait = json!({ "paneId": "zsh", "pattern": "LOADED", "since": 0, "timeoutMs": 20_000 });
    assert_eq!(server.act("pane:wait", wait)["met"], "pattern");
    zsh(&server, "paned attach w", "paned attach web-1");
    zsh(&server, "paned get bu", "paned get built-2");
    zsh(&server, "paned ls --ta", "paned ls --tag");
    zsh(&server, "paned action pane:set-m", "paned action pane:set-meta");
    zsh(&server, "paned --config=som", "paned --config=some-file");
    zsh(&server, "paned run -- cat som", "paned run -- cat some-file");
}

#[test]
fn without_a_server_completion_is_silent_and_starts_none() {
    let home = tempfile::tempdir().unwrap();
    let complete = |args: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("complete").args(args).env_clear().env("HOME", home.path());
        decode_output(&command.output().unwrap())
    };
    let nothing = ("values\n".to_owned(), String::new(), 0);
    assert_eq!(complete(&["fish", "2", "paned", "attach", ""]), nothing);
    assert!(complete(&["fish", "1", "paned", "att"]).0.contains("attach\t"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn scripts_are_installed_for_the_user_and_removed() {
    let home = tempfile::tempdir().unwrap();
    let paned = |args: &[&str], shell: &str| {
        let mut command = Command::new(binary());
        command.args(args).env_clear().env("HOME", home.path()).env("SHELL", shell);
        decode_output(&command.output().unwrap())
    };
    for (shell, file) in [
        ("bash", ".local/share/bash-completion/completions/paned"),
        ("zsh", ".local/share/zsh/site-functions/_paned"),
        ("fish", ".config/fish/completions/paned.fish"),
    ] {
        let file = home.path().join(file);
        let (out, err, code) = paned(&["completions", "install"], &format!("/bin/{shell}"));
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.starts_with(&format!("wrote {}\n", file.display())), "{out}");
        assert!(1 < out.lines().count(), "what remains to be done: {out}");
        let script = fs::read_to_string(&file).unwrap();
        assert_eq!(script, paned(&["completions", shell], "").0);
        check_syntax(shell, &file);
        assert_eq!(paned(&["completions", "uninstall", shell], "").2, 0);
        assert!(!file.exists());
        assert_eq!(paned(&["completions", "uninstall", shell], "").2, 3);
    }
    let (_, err, code) = paned(&["completions", "install"], "/bin/tcsh");
    assert!(code == 2 && err.contains("bash, zsh or fish"), "{err}");
}

fn check_syntax(shell: &str, file: &Path) {
    let checked = Command::new(shell).arg("-n").arg(file).status().unwrap();
    assert!(checked.success(), "{shell}");
}
