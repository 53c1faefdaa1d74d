//! The listener with TLS: what other machines get without a token, and without TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use paned_model::Code;
use paned_server::compat_api::CompatApi;
use paned_server::{
    Error, HttpServerConfig, Listener, ListenerAuth, Route, ServedApi, TlsConfigSource,
    TlsListener, TlsReach, serve,
};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::client::{DEADLINE, RawRequest, RawResponse, send};
use crate::test_server::TestServer;

/// A listener with TLS of a server.
struct TestTls {
    server: TestServer,
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    _stop: oneshot::Sender<()>,
}

impl TestTls {
    async fn start() -> Self {
        let server = TestServer::new().await;
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let certificate = cert.der().clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = tls_listener(listener, certificate.clone(), &signing_key);
        let (stop, stopped) = oneshot::channel::<()>();
        let names = vec!["paned.example".to_owned()];
        let config = HttpServerConfig { names, ..HttpServerConfig::default() };
        let listeners = vec![(Listener::Tls(listener), ServedApi::Main)];
        let shutdown = async move { drop(stopped.await) };
        tokio::spawn(serve(server.kernel.clone(), listeners, config, shutdown));
        Self { server, address, certificate, _stop: stop }
    }

    fn ask(&self, method: &str, path: &str) -> RawRequest {
        RawRequest::new(method, path).header("host", &self.address.to_string())
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream = TcpStream::connect(self.address).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    async fn send(&self, ask: &RawRequest) -> RawResponse {
        send(self.connect().await, ask).await
    }

    /// The response to bytes that are sent without TLS.
    async fn send_plain(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(DEADLINE, stream.read_to_end(&mut answer)).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn tls_listener(
    listener: TcpListener,
    certificate: CertificateDer<'static>,
    key: &KeyPair,
) -> TlsListener {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    let config = TlsConfigSource(Arc::new(move || config.clone()));
    TlsListener { listener, config, reach: TlsReach::PrivateAddresses, names: Vec::new() }
}

#[tokio::test]
async fn with_tls_a_token_is_needed_as_everywhere() {
    let tls = TestTls::start().await;
    let anonymous = tls.send(&tls.ask("GET", "/actions")).await;
    assert_eq!((anonymous.status(), anonymous.refusal().code), (401, Code::Unauthorized));
    assert_eq!(tls.send(&tls.ask("GET", "/health")).await.json(), json!({ "status": "ok" }));
    let owner = format!("Bearer {}", tls.server.token);
    let asked = tls.send(&tls.ask("GET", "/actions").header("authorization", &owner)).await;
    assert_eq!(asked.status(), 200);
}

#[tokio::test]
async fn with_tls_only_its_own_names_and_pages_are_ours() {
    let tls = TestTls::start().await;
    let address = tls.address;
    let port = address.port();
    let given = format!("paned.example:{port}");
    for (host, origin, status) in [
        (address.to_string(), format!("https://{address}"), 200),
        (given.clone(), format!("https://{given}"), 200),
        (address.to_string(), format!("http://{address}"), 403),
        (address.to_string(), "https://evil.example".to_owned(), 403),
        ("evil.example".to_owned(), format!("https://{address}"), 421),
        (format!("192.168.7.7:{port}"), format!("https://192.168.7.7:{port}"), 421),
    ] {
        let ask = RawRequest::new("GET", "/health").header("host", &host);
        let answer = tls.send(&ask.header("origin", &origin)).await;
        assert_eq!(answer.status(), status, "{host} {origin}");
    }
}

#[tokio::test]
async fn without_tls_a_browser_is_sent_to_https_and_a_token_is_not_taken() {
    let tls = TestTls::start().await;
    let address = tls.address;
    let plain = async |ask: RawRequest| tls.send_plain(ask.text().as_bytes()).await;
    let answer = plain(tls.ask("GET", "/x?y=1")).await;
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    assert!(answer.contains(&format!("location: https://{address}/x?y=1\r\n")), "{answer}");
    let owner = format!("Bearer {}", tls.server.token);
    for ask in [
        tls.ask("GET", "/actions").header("authorization", &owner),
        tls.ask("POST", "/action/server:status").json(&json!({})),
        RawRequest::new("GET", "/").header("host", "evil.example"),
    ] {
        let answer = plain(ask).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.contains("this port serves HTTPS only"), "{answer}");
        assert!(!answer.contains("evil.example"), "{answer}");
    }
}

#[tokio::test]
async fn what_is_neither_tls_nor_http_ends_the_connection_and_nothing_else() {
    let tls = TestTls::start().await;
    for bytes in [&b"\x16\x03\x01\x00\x05nope!"[..], b"\x00\x01\x02", b"SSH-2.0-x\r\n"] {
        let answer = tls.send_plain(bytes).await;
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    assert_eq!(tls.send(&tls.ask("GET", "/health")).await.status(), 200);
}

#[tokio::test]
async fn many_wrong_tokens_from_outside_do_not_use_up_the_limit_of_this_machine() {
    let tls = TestTls::start().await;
    let wrong = tls.ask("GET", "/actions").header("authorization", "Bearer wrong");
    let mut codes = Vec::new();
    for _ in 0..60 {
        codes.push(tls.send(&wrong).await.refusal().code);
    }
    assert!(codes.contains(&Code::Limit), "{codes:?}");
    let owner = format!("Bearer {}", tls.server.token);
    let right = tls.ask("GET", "/actions").header("authorization", &owner);
    assert_eq!(tls.send(&right).await.status(), 200);
    let local = tls.server.request_as("wrong", "GET", "/actions");
    assert_eq!(tls.server.send(&local).await.status(), 401);
}

#[tokio::test]
async fn a_websocket_works_over_tls() {
    let tls = TestTls::start().await;
    let mut request = format!("wss://{}/ws", tls.address).into_client_request().unwrap();
    let offered = format!("paned.v1, paned.bearer.{}", tls.server.token);
    let headers = request.headers_mut();
    headers.insert("sec-websocket-protocol", offered.parse().unwrap());
    headers.insert("origin", format!("https://{}", tls.address).parse().unwrap());
    let (mut socket, _) = client_async(request, tls.connect().await).await.unwrap();
    socket.send(Message::text(r#"{"type":"ping"}"#)).await.unwrap();
    let answer = async {
        while let Some(message) = socket.next().await {
            let text = message.unwrap().into_text().unwrap();
            if text.contains("pong") {
                return;
            }
        }
        panic!("the socket ended");
    };
    timeout(DEADLINE, answer).await.unwrap();
}

/// A protocol without routes.
#[derive(Debug)]
struct EmptyApi;

impl CompatApi for EmptyApi {
    fn name(&self) -> &'static str {
        "empty"
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        Vec::new()
    }
}

#[tokio::test]
async fn no_listener_for_other_machines_is_open_to_all() {
    let server = TestServer::new().await;
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(Vec::new()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = tls_listener(listener, cert.der().clone(), &signing_key);
    let open =
        ServedApi::Compat { api: Arc::new(EmptyApi), auth: ListenerAuth::Anyone, pane: None };
    let listeners = vec![(Listener::Tls(listener), open)];
    let served = serve(server.kernel, listeners, HttpServerConfig::default(), async {}).await;
    assert!(matches!(served, Err(Error::OpenToOthers)), "{served:?}");
}
