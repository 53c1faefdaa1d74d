//! A whole server in this process, on a free port and a socket, with panes in memory.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use paned_backend::Backend;
use paned_backend::fake::FakeBackend;
use paned_kernel::journal::{Journal, OpenedJournal};
use paned_kernel::{AdvertisedAddress, Kernel, KernelSetup};
use paned_model::{EventId, Time};
use paned_server::{
    Error, HttpServerConfig, Listener, PageBundle, PageContent, PageFile, ServedApi, ServerLimits,
    serve,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::{RawRequest, RawResponse, SseClient, send};

/// A small web page.
pub(crate) const PAGE: PageBundle = PageBundle {
    files: &[
        PageFile {
            path: "/index.html",
            hash: "1",
            content: PageContent::Plain(b"<!doctype html><title>test</title>"),
        },
        PageFile { path: "/assets/app-1a2b3c4d.js", hash: "2", content: SCRIPT },
        PageFile { path: "/assets/icon.svg", hash: "3", content: PageContent::Plain(b"<svg/>") },
        PageFile { path: "/manifest.webmanifest", hash: "4", content: PageContent::Plain(b"{}") },
    ],
};

/// `export {};`, compressed by gzip, and something that stands for Brotli.
const SCRIPT: PageContent = PageContent::Compressed {
    gzip: b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xad\x28\xc8\x2f\x2a\x51\xa8\xae\xb5\xe6\x02\x00\x51\x44\x07\x40\x0b\x00\x00\x00",
    brotli: Some(b"brotli"),
};

pub(crate) struct TestServer {
    pub(crate) kernel: Kernel,
    pub(crate) fake: FakeBackend,
    pub(crate) address: SocketAddr,
    /// The listeners of compat APIs, in the order of `compat_setup`.
    #[allow(dead_code, reason = "the server's own tests have no compat APIs")]
    pub(crate) compat_addrs: Vec<SocketAddr>,
    /// The owner's token.
    pub(crate) token: String,
    socket: PathBuf,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), Error>>,
    _folder: TempDir,
}

pub(crate) fn now() -> Time {
    Time(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64)
}

impl TestServer {
    pub(crate) async fn new() -> Self {
        Self::with(ServerLimits::default()).await
    }

    pub(crate) async fn with(limits: ServerLimits) -> Self {
        let fake = FakeBackend::default();
        Self::with_backend(Arc::new(fake.clone()), fake, limits).await
    }

    /// A server over this backend, whose panes are those of the fake.
    pub(crate) async fn with_backend(
        backend: Arc<dyn Backend>,
        fake: FakeBackend,
        limits: ServerLimits,
    ) -> Self {
        let opened =
            OpenedJournal { records: Vec::new(), first: None, last: EventId(0), recovery: None };
        Self::start(backend, fake, limits, (Journal::memory(), opened)).await
    }

    /// A server over this journal.
    #[allow(dead_code, reason = "the tests of the compat APIs use it")]
    pub(crate) async fn with_journal(journal: (Journal, OpenedJournal)) -> Self {
        let fake = FakeBackend::default();
        Self::start(Arc::new(fake.clone()), fake, ServerLimits::default(), journal).await
    }

    async fn start(
        backend: Arc<dyn Backend>,
        fake: FakeBackend,
        limits: ServerLimits,
        journal: (Journal, OpenedJournal),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (socket, token_file) = (folder.path().join("socket"), folder.path().join("token"));
        let kernel = kernel(token_file.clone(), backend, journal).await;
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let unix = UnixListener::bind(&socket).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move { drop(stopped.await) };
        let mut listeners =
            vec![(Listener::Tcp(tcp), ServedApi::Main), (Listener::Unix(unix), ServedApi::Main)];
        let (compat, served) = crate::compat_setup();
        let mut compat_addrs = Vec::new();
        for api in served {
            let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
            compat_addrs.push(tcp.local_addr().unwrap());
            listeners.push((Listener::Tcp(tcp), api));
        }
        let names = vec!["paned.example".to_owned()];
        let config = HttpServerConfig { limits, compat, page: PAGE, names };
        let serving = tokio::spawn(serve(kernel.clone(), listeners, config, shutdown));
        let token = std::fs::read_to_string(token_file).unwrap().trim().to_owned();
        Self { kernel, fake, address, compat_addrs, token, socket, stop, serving, _folder: folder }
    }

    /// A request as our own client would send it over TCP.
    pub(crate) fn ask(&self, method: &str, path: &str) -> RawRequest {
        let ask = RawRequest::new(method, path).header("host", &self.address.to_string());
        ask.header("authorization", &format!("Bearer {}", self.token))
    }

    /// The same with this token.
    pub(crate) fn request_as(&self, token: &str, method: &str, path: &str) -> RawRequest {
        let ask = self.ask(method, path).without("authorization");
        ask.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub(crate) async fn unix(&self) -> UnixStream {
        UnixStream::connect(&self.socket).await.unwrap()
    }

    pub(crate) async fn send(&self, ask: &RawRequest) -> RawResponse {
        send(self.tcp().await, ask).await
    }

    pub(crate) async fn send_unix(&self, ask: &RawRequest) -> RawResponse {
        send(self.unix().await, ask).await
    }

    pub(crate) async fn get(&self, path: &str) -> RawResponse {
        self.send(&self.ask("GET", path)).await
    }

    /// Runs an action as the owner; it must succeed.
    #[track_caller]
    pub(crate) fn act(&self, name: &str, params: Value) -> impl Future<Output = Value> {
        let ask = self.ask("POST", &format!("/action/{name}")).json(&params);
        async move {
            let answer = self.send(&ask).await;
            assert_eq!(answer.status(), 200, "{ask:?}: {answer:?}");
            answer.json()
        }
    }

    /// Creates a grant. Returns its id and token.
    pub(crate) async fn grant(&self, params: Value) -> (String, String) {
        let created = self.act("grant:create", params).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&created["grant"]["id"]), text(&created["token"]))
    }

    /// Starts a pane. Returns the token of its program.
    pub(crate) async fn pane(&self, id: &str) -> String {
        self.act("pane:new", json!({ "id": id, "argv": ["/bin/sh"] })).await;
        let pane = self.fake.pane(id).unwrap();
        let token = pane.spec.env.iter().find(|(name, _)| name == "PANED_TOKEN");
        token.unwrap().1.clone()
    }

    pub(crate) async fn emit(&self, name: &str, payload: &Value) -> u64 {
        let emitted = self.act("event:emit", json!({ "name": name, "payload": payload })).await;
        emitted["id"].as_u64().unwrap()
    }

    pub(crate) async fn follow(&self, include: &str) -> SseClient<TcpStream> {
        let ask = self.ask("GET", &format!("/events?include={include}"));
        SseClient::open(self.tcp().await, &ask).await
    }

    /// A number of `/metrics`.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let page = self.get("/metrics").await.body;
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }

    /// Stops the server and waits until it has.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap().unwrap();
    }
}

async fn kernel(
    token_file: PathBuf,
    backend: Arc<dyn Backend>,
    (journal, opened): (Journal, OpenedJournal),
) -> Kernel {
    let setup = KernelSetup {
        version: "1.2.3",
        address: AdvertisedAddress::default(),
        env: Vec::new(),
        program_folder: None,
        token_file: Some(token_file),
        limits: paned_kernel::KernelLimits::default(),
        approvals: paned_kernel::ApprovalSetup::default(),
        permissions: paned_kernel::PermissionSetup::default(),
        tmux_view: None,
        adopted_tmux: None,
        profiles: None,
        worktrees: None,
        now,
    };
    let (kernel, _) = Kernel::start(setup, journal, opened, backend).await.unwrap();
    kernel
}
