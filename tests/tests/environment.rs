//! What a pane that is started from a shell gets from it, and the server that starts itself.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paned_e2e::{Server, binary, decode_output, is_alive};
use serde_json::{Value, json};

/// An executable file in the server's home.
fn tool(server: &Server, name: &str, text: &str) -> PathBuf {
    let folder = server.home().join("tools");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A line that is typed into a shell, with `paned` on the PATH.
fn shell(server: &Server, shell: &str, line: &str) -> (String, String, i32) {
    let mut command = server.command(&[]);
    let path = format!("{}:/usr/bin:/bin", binary().parent().unwrap().display());
    let env: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    command = Command::new(shell);
    for (name, value) in env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", path).args(["-f", "-c", line]).current_dir(server.home());
    decode_output(&command.output().unwrap())
}

#[test]
fn a_pane_has_the_environment_folder_and_umask_of_the_shell() {
    let server = Server::start();
    tool(&server, "mytool", "#!/bin/sh\necho $FOO; umask; pwd; echo ${TMUX-none} ${SHLVL-none}\n");
    for program in ["bash", "zsh"].into_iter().filter(|it| Path::new("/usr/bin").join(it).exists())
    {
        let line = "cd tools && umask 027 && TMUX=x FOO=bar PATH=$PWD:$PATH paned run -- mytool";
        let (out, err, code) = shell(&server, program, line);
        let folder = server.home().join("tools");
        let folder = folder.canonicalize().unwrap();
        assert_eq!(code, 0, "{program}: {err}");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[..2], ["bar", "0027"], "{out}");
        assert_eq!(Path::new(lines[2]).canonicalize().unwrap(), folder);
        assert!(lines[3].starts_with("none"), "{out}");
    }
    let (_, err, code) = shell(&server, "bash", "paned run -- mytool");
    assert_eq!((err.as_str(), code), ("paned: no program `mytool` on your PATH\n", 127));
    let refused = server.try_act("pane:new", json!({ "argv": ["mytool"] })).unwrap_err();
    assert_eq!(refused.sentence, "no program `mytool` on the server's PATH");
}

#[test]
fn variables_are_set_passed_on_read_from_a_file_or_left_out() {
    let server = Server::start();
    fs::write(server.home().join("vars"), "# c\nexport A='1 2'\nB=file\n").unwrap();
    let line = "MINE=m X=x paned run --clean-env --env-file vars --env B=flag --env MINE -- env";
    let (out, err, code) = shell(&server, "bash", line);
    assert_eq!(code, 0, "{err}");
    let has = |line: &str| out.lines().any(|it| it == line);
    assert!(has("A=1 2") && has("B=flag") && has("MINE=m") && !has("X=x"), "{out}");
    assert!(has("TERM=xterm-256color"), "{out}");
    let path = out.lines().find(|line| line.starts_with("PATH=")).unwrap();
    assert!(path.ends_with(&binary().parent().unwrap().display().to_string()), "{path}");
    let refused = |line: &str, sentence: &str| {
        let (_, err, code) = shell(&server, "bash", line);
        assert!(code != 0 && err.contains(sentence), "{line}: {err}");
    };
    refused("paned run --env NOPE -- env", "NOPE is not set here");
    fs::write(server.home().join("bad"), "A=1\nsecret words\n").unwrap();
    refused("paned run --env-file bad -- env", "`bad`, line 2: write it as NAME=VALUE");
    let (out, err, _) = shell(&server, "bash", "L=$'\\xff' paned run -- sh -c 'echo ${L-unset}'");
    assert_eq!(out, "unset\n");
    assert!(err.contains("skipped variables that are not UTF-8: L"), "{err}");
}

#[test]
fn a_program_that_cannot_be_run_has_its_reason() {
    let server = Server::start();
    tool(&server, "no-line", "echo hello\n");
    tool(&server, "no-interpreter", "#!/no/such\n");
    fs::write(server.home().join("tools/plain"), "#!/bin/sh\n").unwrap();
    for (program, sentence) in [
        ("no-line", "it has no `#!` line"),
        ("no-interpreter", "bad interpreter: its first line names `/no/such`"),
        ("plain", "`./plain` is not executable; try `chmod +x ./plain`"),
    ] {
        let (_, err, code) = shell(&server, "bash", &format!("cd tools; paned run -- ./{program}"));
        assert!(code == 126 && err.contains(sentence), "{code} {err}");
    }
    let long = "x".repeat(200_000);
    let new = json!({ "argv": ["true"], "env": { "LONG": long } });
    let refused = server.try_act("pane:new", new).unwrap_err();
    assert!(refused.sentence.contains("the variable `LONG` has 200000 bytes"), "{refused}");
}

/// Every file below a folder that holds a text.
fn files_with(folder: &Path, text: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            files_with(&path, text, found);
        } else if fs::read(&path)
            .unwrap_or_default()
            .windows(text.len())
            .any(|it| it == text.as_bytes())
        {
            found.push(path);
        }
    }
}

#[test]
fn the_value_of_a_variable_is_in_one_private_file_and_nowhere_else() {
    let server = Server::start();
    let (_, err, code) = shell(&server, "bash", "KEY=hunter2-env paned new --id a -- cat");
    assert_eq!(code, 0, "{err}");
    let agent = "KEY=hunter2-env paned agent new --no-wait --id b -- cat";
    assert_eq!(shell(&server, "bash", agent).2, 0);
    let mut found = Vec::new();
    files_with(&server.state(), "hunter2-env", &mut found);
    found.sort();
    let file = |id: &str| server.state().join("panes").join(id).join("launch.json");
    assert_eq!(found, [file("a"), file("b")]);
    assert_eq!(fs::metadata(file("a")).unwrap().permissions().mode() & 0o777, 0o600);
    let answers = [server.pane("a"), server.act("pane:list", json!({}))];
    assert!(answers.iter().all(|it| !it.to_string().contains("hunter2")), "{answers:?}");
    assert!(server.history().iter().all(|event| !format!("{event:?}").contains("hunter2")));
    assert!(!server.log().contains("hunter2"));
    for pid in server.keepers().into_iter().chain([server.pid()]) {
        for file in ["environ", "cmdline"] {
            let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&text).contains("hunter2"), "{pid} {file}");
        }
    }
    server.ok(&["close", "a"]);
    assert!(!file("a").exists());
}

#[test]
fn each_process_says_what_it_is() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "build", "argv": ["cat"] }));
    let read = |pid: u32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
    let line = |pid: u32| read(pid, "cmdline").trim_end_matches('\0').to_owned();
    assert_eq!(line(server.pid()), "paned: server");
    assert_eq!(read(server.pid(), "comm"), "paned: server\n");
    let keepers = server.keepers();
    assert_eq!(line(keepers[0]), "paned: keeper build");
    assert_eq!(read(keepers[0], "comm"), "paned: keeper b\n");
    let titles: Vec<_> = paned_e2e::children_of(server.pid()).into_iter().map(line).collect();
    assert!(titles.iter().any(|it| it == "paned: fork server"), "{titles:?}");
}

/// A state folder without a server, and the command line on it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).env("PANED_STATE_DIR", self.0.path().join("s")).env("PANED_PORT", "0");
        for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "PANED_CONFIG"] {
            command.env_remove(name);
        }
        command.env("HOME", self.0.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> (String, String, i32) {
        decode_output(&self.command(args).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.run(&["server", "stop"]);
    }
}

#[test]
fn fifty_commands_at_once_start_one_server() {
    let folder = Folder(tempfile::tempdir().unwrap());
    let spawn = |_| folder.command(&["run", "--", "true"]).stdin(Stdio::null()).spawn().unwrap();
    let all: Vec<_> = (0..50).map(spawn).collect();
    let ended: Vec<_> = all.into_iter().map(|it| it.wait_with_output().unwrap()).collect();
    let ended: Vec<_> = ended.iter().map(decode_output).collect();
    assert!(ended.iter().all(|(_, _, code)| *code == 0), "{ended:?}");
    let said: String = ended.iter().map(|(_, err, _)| err.as_str()).collect();
    assert_eq!(said.matches("started the paned server (pid ").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn the_server_starts_itself_only_where_it_may() {
    let folder = Folder(tempfile::tempdir().unwrap());
    let (_, err, code) = folder.run(&["ls"]);
    assert!(code == 13 && err.contains("`paned server start`"), "{err}");
    let off = folder.command(&["new", "--", "cat"]).env("PANED_NO_AUTOSTART", "1").output();
    let (_, err, code) = decode_output(&off.unwrap());
    assert!(code == 13 && err.contains("no paned server is running"), "{err}");
    let socket = folder.0.path().join("none.sock");
    let named = folder.run(&["--socket", socket.to_str().unwrap(), "new", "--", "cat"]);
    assert_eq!(named.2, 13, "{}", named.1);
    let config = folder.0.path().join("config.toml");
    fs::write(&config, "autostart = false\n").unwrap();
    let named = folder.run(&["--config", config.to_str().unwrap(), "new", "--", "cat"]);
    assert_eq!(named.2, 13, "{}", named.1);
    let (out, err, code) = folder.run(&["--json", "new", "--id", "a", "--", "cat"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["id"], "a");
    let pid: u32 = err.split("(pid ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert!(is_alive(pid));
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(session, pid.to_string(), "it leads its own session");
    folder.run(&["close", "a"]);
}
