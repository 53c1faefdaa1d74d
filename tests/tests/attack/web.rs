//! The web page, sign-in links and the listener that other machines reach, attacked from outside.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use paned_e2e::{OTHER_UID, Request, Server, as_user, can_switch_users, decode_output};
use serde_json::json;

/// The routes that need no token.
const OPEN: [&str; 3] = ["/", "/assets/index.js", "/health"];

fn remote_authority(server: &Server) -> String {
    let url = server.ready()["remote"]["url"].as_str().unwrap();
    url.strip_prefix("https://").unwrap().to_owned()
}

/// A code that signs a device in.
fn code(server: &Server) -> String {
    let link = server.ok(&["web", "--print"]);
    link.trim().rsplit_once("/#t=").unwrap().1.to_owned()
}

fn sign_in(server: &Server, code: &str) -> Request {
    let ask = Request::new("POST", "/sign-in").header("host", &server.authority());
    ask.json(&json!({ "code": code }))
}

#[test]
fn a_page_of_another_name_or_origin_gets_nothing_of_ours() {
    let server = Server::start();
    let authority = server.authority();
    for path in OPEN {
        for (host, origin, status) in [
            ("evil.example", None, 421),
            (authority.as_str(), Some("http://evil.example"), 403),
            (authority.as_str(), Some("null"), 403),
        ] {
            let ask = Request::new("GET", path).header("host", host);
            let ask =
                origin.map_or_else(|| ask.clone(), |origin| ask.clone().header("origin", origin));
            assert_eq!(ask.over_tcp(&authority).status, status, "{path} {host} {origin:?}");
        }
        let cross = Request::new("GET", path).header("host", &authority);
        let cross = cross.header("sec-fetch-site", "cross-site").over_tcp(&authority);
        assert_eq!(cross.status, 403, "{path}");
    }
}

#[test]
fn no_path_leaves_the_page() {
    let server = Server::start();
    let token = server.state().join("token");
    let up = "..%2f".repeat(20);
    for name in [
        format!("{up}etc%2fpasswd"),
        token.display().to_string().replace('/', "%2f"),
        "%2e%2e%2findex.html".to_owned(),
        "x%00.js".to_owned(),
    ] {
        let ask = Request::new("GET", &format!("/assets/{name}"));
        let answer = ask.header("host", &server.authority()).over_tcp(&server.authority());
        assert_eq!(answer.status, 404, "{name}");
        assert!(!answer.body.contains(&server.token()));
    }
    for path in ["/assets/../../../etc/passwd", "/assets/a/../../token", "//etc/passwd"] {
        let ask = Request::new("GET", path).header("host", &server.authority());
        assert_eq!(ask.over_tcp(&server.authority()).status, 401, "{path}");
    }
}

#[test]
fn a_head_that_is_too_large_is_refused_with_and_without_tls() {
    let server = Server::start_with(&["--listen", "127.0.0.1:0"]);
    for authority in [server.authority(), remote_authority(&server)] {
        let ask = Request::new("GET", "/").header("host", &authority);
        let answer = ask.header("x-long", &"x".repeat(100 << 10)).over_tcp(&authority);
        assert_eq!(answer.status, 431, "{authority}");
    }
    assert_eq!(server.ask("GET", "/health").status, 200);
}

#[test]
fn a_code_signs_in_once() {
    let server = Server::start();
    let ask = sign_in(&server, &code(&server));
    let first = ask.over_tcp(&server.authority());
    assert_eq!(first.status, 200, "{first:?}");
    let token = first.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(ask.over_tcp(&server.authority()).status, 401);
    let listed = Request::new("GET", "/actions").header("host", &server.authority());
    let listed = listed.header("authorization", &format!("Bearer {token}"));
    assert_eq!(listed.over_tcp(&server.authority()).status, 200);
    assert!(!server.log().contains(&token));
}

#[test]
fn a_code_is_worth_nothing_to_another_user_who_sees_it() {
    if !can_switch_users() {
        return;
    }
    let server = Server::start();
    let ask = sign_in(&server, &code(&server));
    let authority = server.authority();
    let stolen = as_user(OTHER_UID, || ask.over_tcp(&authority));
    assert_eq!((stolen.status, &stolen.json()["code"]), (403, &json!("forbidden")));
    assert_eq!(ask.over_tcp(&authority).status, 200, "the code was not used up");
}

#[test]
fn the_key_of_the_certificate_is_for_its_user_alone() {
    let mut server = Server::start_with(&["--listen", "127.0.0.1:0"]);
    let file = server.state().join("tls.pem");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    if can_switch_users() {
        assert!(as_user(OTHER_UID, || fs::read(&file)).is_err());
    }
    let fingerprint = |server: &Server| server.ready()["remote"]["fingerprint"].clone();
    let first = fingerprint(&server);
    server.kill();
    server.start_again();
    assert_eq!(fingerprint(&server), first);
    server.kill();
    // Another user may have read it.
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    server.start_again();
    assert_ne!(fingerprint(&server), first);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_key_that_everyone_can_read_is_not_served_with() {
    let server = Server::start_with(&["--listen", "127.0.0.1:0"]);
    let pem = server.home().join("own.pem");
    fs::copy(server.state().join("tls.pem"), &pem).unwrap();
    fs::set_permissions(&pem, Permissions::from_mode(0o644)).unwrap();
    let pem = pem.to_str().unwrap();
    let state = server.state().with_file_name("other");
    let args =
        ["serve", "--port", "0", "--listen", "127.0.0.1:0", "--tls-cert", pem, "--tls-key", pem];
    let output = server.command(&args).env("PANED_STATE_DIR", state).output().unwrap();
    let (_, error, _) = decode_output(&output);
    assert!(!output.status.success() && error.contains("run `chmod 600"), "{error}");
}

#[test]
fn without_tls_a_request_to_the_port_with_tls_learns_where_to_go_and_nothing_else() {
    let server = Server::start_with(&["--listen", "127.0.0.1:0"]);
    let authority = remote_authority(&server);
    let ask = |method, path| Request::new(method, path).header("host", &authority);
    let page = ask("GET", "/").over_tcp(&authority);
    assert_eq!(
        (page.status, page.header("location")),
        (308, Some(format!("https://{authority}/").as_str()))
    );
    let owner = format!("Bearer {}", server.token());
    for plain in [
        ask("GET", "/actions").header("authorization", &owner),
        ask("POST", "/action/pane:list").header("authorization", &owner).json(&json!({})),
        Request::new("GET", "/").header("host", "evil.example"),
    ] {
        let answer = plain.over_tcp(&authority);
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("invalid")), "{plain:?}");
    }
}
