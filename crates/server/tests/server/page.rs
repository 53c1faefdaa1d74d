//! The web page: its files, how they are cached and encoded, and what a browser may do with them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::client::{DEADLINE, RawRequest, RawResponse};
use crate::test_server::TestServer;

const SCRIPT: &str = "/assets/app-1a2b3c4d.js";

/// A request of a browser that has no token.
fn visit(server: &TestServer, path: &str) -> RawRequest {
    server.ask("GET", path).without("authorization")
}

async fn open(server: &TestServer, path: &str) -> RawResponse {
    server.send(&visit(server, path)).await
}

#[tokio::test]
async fn the_page_needs_no_token_and_is_never_cached() {
    let server = TestServer::new().await;
    let page = open(&server, "/").await;
    assert_eq!((page.status(), page.body.as_str()), (200, "<!doctype html><title>test</title>"));
    assert_eq!(page.head.get("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.head.get("cache-control"), Some("no-store"));
    assert_eq!(page.head.get("etag"), None);
}

#[tokio::test]
async fn a_browser_runs_nothing_but_our_files_and_shows_the_page_in_no_frame() {
    let server = TestServer::new().await;
    for path in ["/", SCRIPT, "/manifest.webmanifest"] {
        let page = open(&server, path).await;
        let address = server.address;
        let policy = page.head.get("content-security-policy").unwrap();
        let expect = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src \
             'self' data:; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
             frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'self' \
             ws://{address} wss://{address}"
        );
        assert_eq!(policy, expect, "{path}");
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(page.head.get(name), Some(value), "{path}");
        }
    }
}

#[tokio::test]
async fn files_are_cached_as_long_as_their_names_allow() {
    let server = TestServer::new().await;
    let forever = "public, max-age=31536000, immutable";
    for (path, media, cache) in [
        (SCRIPT, "text/javascript; charset=utf-8", forever),
        ("/assets/icon.svg", "image/svg+xml", "no-cache"),
        ("/manifest.webmanifest", "application/manifest+json", "no-cache"),
    ] {
        let file = open(&server, path).await;
        let head = |name| file.head.get(name);
        assert_eq!((head("content-type"), head("cache-control")), (Some(media), Some(cache)));
        let tag = head("etag").unwrap();
        let known = visit(&server, path).header("if-none-match", &format!("\"x\", W/{tag}"));
        let again = server.send(&known).await;
        assert_eq!((again.status(), again.body.as_str()), (304, ""), "{path}");
        assert_eq!(again.head.get("etag"), Some(tag));
        let other = visit(&server, path).header("if-none-match", "\"x\"");
        assert_eq!(server.send(&other).await.status(), 200, "{path}");
    }
}

/// The response to these bytes.
async fn bytes(server: &TestServer, ask: &RawRequest) -> Vec<u8> {
    let mut stream = server.tcp().await;
    let ask = ask.clone().header("connection", "close").text();
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(DEADLINE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    answer
}

#[tokio::test]
async fn a_client_gets_the_smallest_form_that_it_takes() {
    let server = TestServer::new().await;
    for (accepts, encoding, body) in [
        ("gzip, deflate, br", "content-encoding: br\r\n", "brotli"),
        ("gzip", "content-encoding: gzip\r\n", ""),
        ("identity", "", "export {};\n"),
    ] {
        let ask = visit(&server, SCRIPT).header("accept-encoding", accepts);
        let answer = bytes(&server, &ask).await;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        assert!(head.contains(encoding) && head.contains("vary: accept-encoding"), "{head}");
        assert_eq!(head.contains("content-encoding"), !encoding.is_empty(), "{head}");
        assert!(answer[end..].ends_with(body.as_bytes()), "{accepts}");
        let is_gzip = answer[end..].starts_with(b"\x1f\x8b");
        assert_eq!(is_gzip, accepts == "gzip");
    }
}

#[tokio::test]
async fn a_head_has_the_length_and_no_body() {
    let server = TestServer::new().await;
    for path in ["/", SCRIPT, "/manifest.webmanifest"] {
        let length = open(&server, path).await.body.len().to_string();
        let ask = server.ask("HEAD", path).without("authorization");
        let head = server.send(&ask).await;
        assert_eq!((head.status(), head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.head.get("content-length"), Some(length.as_str()), "{path}");
    }
}

#[tokio::test]
async fn nothing_but_the_files_of_the_page_can_be_loaded() {
    let server = TestServer::new().await;
    for name in [
        "no.js",
        "App-1a2b3c4d.js",
        "app-1a2b3c4d.js.br",
        "%2e%2e%2findex.html",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2Fetc%2Fpasswd",
        "..",
        "app-1a2b3c4d.js%00",
        "%ff",
        "x%0d%0aset-cookie:a=b",
    ] {
        let answer = open(&server, &format!("/assets/{name}")).await;
        assert_eq!(answer.status(), 404, "{name}");
        assert!(answer.refusal().sentence.starts_with("the web page has no file `"), "{answer:?}");
    }
    // These are no paths of the page, and what else there is, is told only with a token.
    for path in ["/assets/../index.html", "/assets/", "/assets", "//", "/./", "/index.html"] {
        assert_eq!(open(&server, path).await.status(), 401, "{path}");
        assert_eq!(server.get(path).await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn a_link_on_another_page_opens_ours_and_no_script_there_loads_it() {
    let server = TestServer::new().await;
    let with = |path, headers: [&str; 3]| {
        let names = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];
        let ask = visit(&server, path);
        names.into_iter().zip(headers).fold(ask, |ask, (name, value)| ask.header(name, value))
    };
    let link = ["cross-site", "navigate", "document"];
    assert_eq!(server.send(&with("/", link)).await.status(), 200);
    for (path, headers) in [
        ("/", ["cross-site", "cors", "empty"]),
        ("/", ["cross-site", "navigate", "iframe"]),
        ("/", ["same-site", "no-cors", "script"]),
        (SCRIPT, ["cross-site", "no-cors", "script"]),
        (SCRIPT, link),
        ("/actions", link),
        ("/health", link),
    ] {
        assert_eq!(server.send(&with(path, headers)).await.status(), 403, "{path} {headers:?}");
    }
    let evil = with("/", link).without("host").header("host", "evil.example");
    assert_eq!(server.send(&evil).await.status(), 421);
    let posted = RawRequest { method: "POST".to_owned(), ..with("/", link) };
    assert_eq!(server.send(&posted).await.status(), 403);
}

#[tokio::test]
async fn a_name_that_the_user_gave_is_ours() {
    let server = TestServer::new().await;
    let named = |host: &str, origin: &str| {
        server.ask("GET", "/").without("host").header("host", host).header("origin", origin)
    };
    for (host, origin, status) in [
        ("paned.example", "https://paned.example", 200),
        ("paned.example", "http://paned.example", 200),
        ("paned.example", "https://evil.example", 403),
        ("paned.example:1", "https://paned.example:1", 421),
        ("sub.paned.example", "https://paned.example", 421),
    ] {
        assert_eq!(server.send(&named(host, origin)).await.status(), status, "{host} {origin}");
    }
}
