//! `paned ext` as a user types it: install, list, info, replace, turn off, remove, write a new one;
//! and sources that try to run something or to write elsewhere.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use paned_e2e::{Server, wait_for};
use serde_json::{Value, json};

use crate::support::ExtensionServer;

const GUARD: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print("ready", file=sys.stderr, flush=True)
        hello = {"name": "hello", "description": "Greet.", "kind": "question"}
        print(json.dumps({"jsonrpc": "2.0", "method": "registerAction", "params": hello}))
    if message.get("method") == "runAction":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"says": "VERSION"}}), flush=True)
    elif "id" in message and "method" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"#;

struct Bench {
    it: ExtensionServer,
    scratch: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let it = ExtensionServer::start(&[]);
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("guard")).unwrap();
        let bench = Self { it, scratch };
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.write_guard("1");
        bench
    }

    fn server(&self) -> &Server {
        &self.it.server
    }

    fn source(&self) -> PathBuf {
        self.scratch.path().join("guard")
    }

    fn canary(&self) -> PathBuf {
        self.scratch.path().join("canary")
    }

    #[track_caller]
    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.source()).args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        assert!(git.status().unwrap().success(), "git {args:?}");
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.source().join(path), text).unwrap();
    }

    fn write_guard(&self, version: &str) {
        let manifest = format!(
            "name = 'guard'\nversion = '{version}'\ncommand = ['python3', 'main.py']\n\
            scopes = ['read', 'spawn']\n"
        );
        self.write("paned.toml", &manifest);
        self.write("main.py", &GUARD.replace("VERSION", version));
    }

    fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    fn url(&self) -> String {
        format!("file://{}", self.source().display())
    }

    /// Runs `paned ext …`, which must succeed. Returns what it printed.
    #[track_caller]
    fn ext(&self, args: &[&str]) -> String {
        let ran = self.try_ext(args);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{args:?}: {said}");
        String::from_utf8(ran.stdout).unwrap()
    }

    fn try_ext(&self, args: &[&str]) -> Output {
        self.server().cli(&[&["ext"], args].concat())
    }

    /// Runs `paned ext …`, which must fail with this exit code and these words.
    #[track_caller]
    fn check_refused(&self, args: &[&str], exit: i32, words: &str) {
        let ran = self.try_ext(args);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(exit), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }

    fn entries(&self, folder: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// What is in the extensions folder.
    fn installed(&self) -> Vec<String> {
        self.entries(self.it.folder.path())
    }
}

#[test]
fn an_extension_from_git_is_installed_listed_replaced_and_removed() {
    let bench = Bench::new();
    bench.commit();
    let said = bench.ext(&["install", &bench.url()]);
    assert!(said.contains("installed guard 1\n"), "{said}");
    assert!(said.contains("it may: read, spawn\n") && said.contains("it is running\n"), "{said}");
    assert_eq!(bench.installed(), ["guard"]);
    assert_eq!(bench.entries(&bench.it.folder.path().join("guard")), ["main.py", "paned.toml"]);
    assert_eq!(bench.server().act("guard:hello", json!({}))["says"], "1");

    let list = bench.ext(&["list"]);
    let row: Vec<_> = list.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["guard", "running", "1", "1", "read,spawn"], "{list}");
    let info = bench.ext(&["info", "guard"]);
    for words in ["guard 1", "running (pid ", "read, spawn", "guard:hello", "program"] {
        assert!(info.contains(words), "{words}: {info}");
    }
    let log = || bench.ext(&["logs", "guard"]);
    assert!(
        wait_for("the log", || Some(log()).filter(|log| log.contains("ready"))).contains("ready")
    );

    bench.write_guard("2");
    bench.commit();
    bench.check_refused(&["install", &bench.url()], 8, "pass `--replace`");
    assert_eq!(bench.server().act("guard:hello", json!({}))["says"], "1");
    bench.ext(&["install", &bench.url(), "--replace"]);
    assert_eq!(bench.server().act("guard:hello", json!({}))["says"], "2");

    let pid = bench.it.pid("guard");
    assert_eq!(bench.ext(&["remove", "guard"]), "guard removed\n");
    assert!(bench.installed().is_empty() && !paned_e2e::is_alive(pid));
    bench.check_refused(&["info", "guard"], 3, "no extension `guard`");
    let said = bench.server().try_act("guard:hello", json!({})).unwrap_err();
    assert!(said.sentence.contains("no action"), "{said}");
    assert!(!bench.it.state_of("guard").exists());
}

#[test]
fn a_folder_is_copied_and_scopes_and_switches_are_the_users() {
    let bench = Bench::new();
    let source = bench.source().display().to_string();
    bench.ext(&["install", &source]);
    assert!(!bench.it.folder.path().join("guard/.git").exists());
    let said = bench.ext(&["set", "guard", "--scopes", "read"]);
    assert!(said.contains("it may: read\n") && said.contains("asks for: read, spawn"), "{said}");
    let info = bench.it.info("guard");
    assert_eq!(info["scopes"], json!(["read"]));
    assert_eq!(info["scopesAsked"], json!(["read", "spawn"]));
    bench.ext(&["set", "guard", "--disabled"]);
    assert_eq!(bench.it.info("guard")["status"], "stopped");
    assert!(bench.ext(&["list"]).contains("off"));
    bench.server().act("ext:reload", json!({}));
    assert_eq!(bench.it.info("guard")["status"], "stopped");
    bench.ext(&["set", "guard", "--enabled", "--reset-scopes"]);
    assert_eq!(bench.it.info("guard")["scopes"], json!(["read", "spawn"]));
    assert_eq!(bench.server().act("guard:hello", json!({}))["says"], "1");
    let settings = bench.server().state().join("extensions/settings.json");
    assert_eq!(fs::metadata(settings).unwrap().permissions().mode() & 0o777, 0o600);

    fs::write(bench.it.state_of("guard").join("data/mine"), "").unwrap();
    bench.ext(&["remove", "guard", "--keep-data"]);
    assert!(bench.it.state_of("guard").join("data/mine").exists());
}

#[test]
fn a_link_of_a_developer_is_run_and_only_the_link_is_removed() {
    let bench = Bench::new();
    symlink(bench.source(), bench.it.folder.path().join("guard")).unwrap();
    bench.ext(&["reload"]);
    assert_eq!(bench.server().act("guard:hello", json!({}))["says"], "1");
    let said = bench.ext(&["remove", "guard"]);
    assert!(said.contains("only the link was deleted"), "{said}");
    assert!(bench.installed().is_empty() && bench.source().join("main.py").exists());
}

#[test]
fn hostile_sources_install_nothing_elsewhere_and_run_nothing() {
    let bench = Bench::new();
    let canary = bench.canary().display().to_string();
    let touch = format!("touch {canary}");
    for source in [
        format!("--upload-pack={touch}"),
        format!("ext::sh -c touch% {canary}"),
        format!("ssh://-oProxyCommand={}/x", touch.replace(' ', "%20")),
        "http://127.0.0.1:1/x".to_owned(),
        format!("{}#--upload-pack={touch}", bench.url()),
    ] {
        bench.check_refused(&["install", "--", &source], 2, "");
    }
    for name in ["../../evil", "..", "/tmp/evil", "pane", "Guard"] {
        bench.write("paned.toml", &format!("name = '{name}'\ncommand = ['sh', '-c', '{touch}']"));
        bench.check_refused(&["install", &bench.source().display().to_string()], 2, "name");
    }
    assert!(bench.installed().is_empty() && !bench.canary().exists());

    bench.write_guard("1");
    symlink("/etc", bench.source().join("etc")).unwrap();
    bench.write(".gitattributes", "* filter=evil\n");
    bench.write("package.json", &format!(r#"{{ "scripts": {{ "postinstall": "{touch}" }} }}"#));
    bench.commit();
    bench.git(&["config", "filter.evil.smudge", &touch]);
    bench.git(&["config", "uploadpack.packObjectsHook", &touch]);
    let hook = bench.source().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let said = bench.ext(&["install", &bench.url()]);
    assert!(said.contains("left out symbolic links: etc"), "{said}");
    let files = bench.entries(&bench.it.folder.path().join("guard"));
    assert_eq!(files, [".gitattributes", "main.py", "package.json", "paned.toml"]);
    assert!(!bench.canary().exists());
}

#[test]
fn what_is_missing_is_named_with_the_command_that_installs_it() {
    let bench = Bench::new();
    fs::remove_file(bench.source().join("paned.toml")).unwrap();
    let package = r#"{ "name": "@me/pack", "main": "index.js", "dependencies": { "zod": "3" } }"#;
    bench.write("package.json", package);
    bench.write("index.js", "exports.name = 'pack'; exports.default = () => {};");
    let said = bench.ext(&["install", &bench.source().display().to_string()]);
    let folder = bench.it.folder.path().join("pack").display().to_string();
    let command = format!("cd {folder} && npm install --ignore-scripts --omit=dev\n");
    assert!(said.contains("not installed: zod; run\n") && said.contains(&command), "{said}");
    let info = bench.it.info("pack");
    assert_eq!(info["missing"], json!(["zod"]));
    assert_eq!(info["scopes"], json!(["read", "input", "spawn", "kill"]));
}

#[test]
fn a_broken_manifest_is_listed_with_its_mistake() {
    let bench = Bench::new();
    let folder = bench.it.folder.path().join("guard");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("paned.toml"), "name = 'guard'\ncomand = ['x']\n").unwrap();
    let ran = bench.try_ext(&["reload", "guard"]);
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(!ran.status.success() && said.contains("guard invalid"), "{said}");
    assert!(said.contains("unknown key `comand`; did you mean `command`?"), "{said}");
    bench.check_refused(&["set", "guard", "--disabled"], 8, "unknown key");
    bench.ext(&["remove", "guard"]);
    assert!(bench.installed().is_empty());
}

#[test]
fn a_new_extension_runs_as_it_is_written_and_its_test_passes() {
    let bench = Bench::new();
    let said = bench.ext(&["new", "counter", "--python"]);
    assert!(said.contains("it is running\n") && said.contains("python3 -m unittest"), "{said}");
    let hello = bench.server().cli(&["action", "counter:hello", "--who", "you", "--json"]);
    let hello: Value = serde_json::from_slice(&hello.stdout).unwrap();
    assert_eq!(hello, json!({ "greeting": "hello, you", "ended": 0 }));
    let pane = bench.server().act("pane:new", json!({ "argv": ["true"] }));
    wait_for("the event", || {
        let hello = bench.server().act("counter:hello", json!({}));
        (hello["ended"] == 1).then_some(())
    });
    let id = pane["id"].as_str().unwrap_or_default();
    assert!(bench.ext(&["logs", "counter"]).contains(&format!("{id} ended")));
    let mut test = Command::new("python3");
    test.args(["-m", "unittest"]).current_dir(bench.it.folder.path().join("counter"));
    assert!(test.output().unwrap().status.success());
    bench.check_refused(&["new", "counter", "--ts"], 8, "exists already");

    let elsewhere = bench.scratch.path().display().to_string();
    let said = bench.ext(&["new", "other", "--js", "--dir", &elsewhere]);
    assert!(said.contains(&format!("paned ext install {elsewhere}/other")), "{said}");
    assert_eq!(bench.installed(), ["counter"]);
}

#[test]
fn only_an_admin_may_change_extensions_or_read_their_logs() {
    let bench = Bench::new();
    let token = bench.server().act("grant:create", json!({ "scopes": ["read", "input", "spawn"] }));
    let token = token["token"].as_str().unwrap().to_owned();
    let url = bench.server().ready()["url"].as_str().unwrap().to_owned();
    let source = bench.source().display().to_string();
    let ran = |args: &[&str]| {
        let args = [&["--url", &url, "--token", &token, "ext"], args].concat();
        bench.server().cli(&args).status.code()
    };
    assert_eq!(ran(&["list"]), Some(0));
    for args in [
        &["install", &source][..],
        &["remove", "guard"],
        &["reload"],
        &["logs", "guard"],
        &["set", "guard", "--enabled"],
        &["new", "counter", "--python"],
    ] {
        assert_eq!(ran(args), Some(5), "{args:?}");
    }
    assert!(bench.installed().is_empty());
}
