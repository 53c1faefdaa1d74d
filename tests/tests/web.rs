//! The web page from the command line: links, devices, browsers, and how other machines reach it.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use paned_e2e::{Request, Server, decode_output, wait_for};
use serde_json::{Value, json};

/// Signs a device in by a link; answers with its token's grant.
fn open(server: &Server, link: &str) -> Value {
    let (url, code) = link.trim().split_once("/#t=").unwrap();
    assert_eq!(url, format!("http://{}", server.authority()));
    let ask = Request::new("POST", "/sign-in").header("host", &server.authority());
    let ask = ask.header("origin", url).json(&json!({ "code": code }));
    let answer = ask.over_tcp(&server.authority());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_link_signs_a_device_in_that_can_be_listed_and_revoked() {
    let server = Server::start();
    let all = open(&server, &server.ok(&["web", "--print"]));
    assert_eq!(all["scopes"], json!(["read", "input", "spawn", "kill", "approve", "admin"]));
    let args = ["web", "--print", "--read-only", "--device", "my phone", "--expires", "2d"];
    let phone = open(&server, &server.ok(&args));
    assert_eq!((&phone["scopes"], &phone["label"]), (&json!(["read"]), &json!("my phone")));
    let listed = server.answer(&["token", "ls"]);
    let listed = listed.as_array().unwrap().iter().find(|grant| grant["label"] == "my phone");
    let (created, expires) = (&listed.unwrap()["createdAt"], &listed.unwrap()["expiresAt"]);
    assert!(created.as_str() < expires.as_str(), "{created} {expires}");
    let ask = Request::new("GET", "/metrics").header("host", &server.authority());
    let token = phone["token"].as_str().unwrap();
    let ask = ask.header("authorization", &format!("Bearer {token}"));
    assert_eq!(ask.over_tcp(&server.authority()).status, 200);
    server.ok(&["token", "revoke", phone["id"].as_str().unwrap()]);
    assert_eq!(ask.over_tcp(&server.authority()).status, 401);
}

#[test]
fn the_page_is_there_or_says_how_to_build_it() {
    let server = Server::start();
    let page = Request::new("GET", "/").header("host", &server.authority());
    let page = page.over_tcp(&server.authority());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<title>paned"), "{}", page.body);
    let is_built = page.body.contains("<script");
    assert!(is_built || page.body.contains("make install"), "{}", page.body);
    assert_eq!(page.header("cache-control"), Some("no-store"));
}

/// A folder with a program that stands for the desktop's, and writes down what it is to open.
fn desktop(server: &Server) -> (String, std::path::PathBuf) {
    let folder = server.home().join("desktop");
    fs::create_dir_all(&folder).unwrap();
    let opened = folder.join("opened");
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$1\" > {0}.new && mv {0}.new {0}\n", opened.display());
    for name in ["xdg-open", "open"] {
        let program = folder.join(name);
        fs::write(&program, &script).unwrap();
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    (path, opened)
}

/// `paned web` in front of a screen.
fn web(server: &Server, path: &str, args: &[&str]) -> Command {
    let args: Vec<&str> = ["--json", "web"].iter().chain(args).copied().collect();
    let mut command = server.command(&args);
    command.env("PATH", path).env("DISPLAY", ":7");
    for name in ["SSH_CONNECTION", "SSH_TTY", "WSL_DISTRO_NAME", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn a_browser_is_opened_where_there_is_a_screen() {
    let server = Server::start();
    let (path, opened) = desktop(&server);
    let run = |command: &mut Command| -> Value {
        let (out, error, code) = decode_output(&command.output().unwrap());
        assert_eq!(code, 0, "{error}");
        serde_json::from_str(&out).unwrap()
    };
    for args in [&["--print"][..], &["--no-open"]] {
        assert_eq!(run(&mut web(&server, &path, args))["opened"], false);
    }
    let far = run(web(&server, &path, &[]).env("SSH_CONNECTION", "1 2 3 4"));
    assert_eq!(far["opened"], false);
    assert!(!opened.exists());
    let made = run(&mut web(&server, &path, &[]));
    assert_eq!(made["opened"], true);
    let link = wait_for("the browser", || fs::read_to_string(&opened).ok());
    assert_eq!(link.trim(), made["link"]);
    open(&server, &link);
}

#[test]
fn a_server_is_started_where_none_runs() {
    let server = Server::start();
    let state = server.state().with_file_name("other");
    let command = |args: &[&str]| {
        let mut command = server.command(args);
        command.env("PANED_STATE_DIR", &state).env("PANED_PORT", "0");
        command.env_remove("PANED_NO_AUTOSTART");
        decode_output(&command.output().unwrap())
    };
    let (link, error, code) = command(&["web", "--print"]);
    assert!(code == 0 && link.starts_with("http://127.0.0.1:"), "{error}");
    let (_, error, code) = command(&["server", "stop"]);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn a_code_for_another_device_needs_a_way_to_the_server() {
    let server = Server::start();
    let (_, error, code) = decode_output(&server.cli(&["web", "--qr"]));
    assert_eq!(code, 13, "{error}");
    assert!(error.contains("paned server restart --listen lan"), "{error}");

    let server = Server::start_with(&["--listen", "127.0.0.1:0"]);
    let remote = &server.ready()["remote"];
    let (url, fingerprint) =
        (remote["url"].as_str().unwrap(), remote["fingerprint"].as_str().unwrap());
    let shown = server.ok(&["web", "--qr"]);
    assert!(shown.contains(&format!("{url}/#t=")) && shown.contains('█'), "{shown}");
    let joined = shown.replace("\n  ", ":");
    assert!(joined.contains(fingerprint), "{shown}");
    let answer = server.answer(&["web", "--qr"]);
    assert_eq!((&answer["url"], &answer["fingerprint"]), (&json!(url), &json!(fingerprint)));
    let (doctor, _, _) = decode_output(&server.cli(&["--json", "doctor"]));
    assert!(doctor.contains(&format!("other machines reach the server at {url}")), "{doctor}");
}

#[test]
fn the_listener_for_others_keeps_its_port_and_survives_an_upgrade() {
    let mut server = Server::start_with(&["--listen", "127.0.0.1:0", "--name", "box.example:8443"]);
    let remote = server.ready()["remote"].clone();
    assert_eq!(remote["url"], "https://box.example:8443");
    let ports = fs::read_to_string(server.state().join("ports.json")).unwrap();
    let ports: Value = serde_json::from_str(&ports).unwrap();
    let authority = format!("127.0.0.1:{}", ports["listen"]);
    let answers = |host: &str| {
        let page = Request::new("GET", "/").header("host", host).over_tcp(&authority);
        page.header("location").map(str::to_owned)
    };
    assert_eq!(answers("box.example:8443").as_deref(), Some("https://box.example:8443/"));
    server.ok(&["server", "upgrade"]);
    assert_eq!(answers(&authority), Some(format!("https://{authority}/")));
    server.kill();
    server.start_again();
    assert_eq!(server.ready()["remote"], remote);
    assert_eq!(answers(&authority), Some(format!("https://{authority}/")));
}

#[test]
fn a_name_in_the_configuration_is_that_of_a_proxy() {
    let server = Server::start_set("[server]\nnames = ['paned.example']\n", &[]);
    let ask = |host: &str, origin: &str| {
        let ask = Request::new("GET", "/health").header("host", host).header("origin", origin);
        ask.over_tcp(&server.authority()).status
    };
    assert_eq!(ask("paned.example", "https://paned.example"), 200);
    assert_eq!(ask("paned.example", "https://other.example"), 403);
    assert_eq!(ask("other.example", "https://paned.example"), 421);
}
