//! Shutdown, and clients that disconnect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_kernel::journal::JournalRead;
use paned_kernel::{ActionHook, Caller, HookCall, HookRegistration, HookVerdict};
use paned_model::EventFilter;
use paned_server::{Error, HttpServerConfig, Listener, ServedApi, ServerLimits, serve};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::{DEADLINE, send};
use crate::test_server::TestServer;

/// Reports that an action has begun, and blocks it until it is released.
#[derive(Default)]
struct ActionBarrier {
    reached: Notify,
    release: Notify,
}

/// A barrier as a hook.
struct BarrierHook(Arc<ActionBarrier>);

impl ActionHook for BarrierHook {
    fn name(&self) -> &str {
        "turnstile"
    }

    fn wants(&self, _: &str, _: &Caller) -> bool {
        true
    }

    fn before(&self, _: HookCall) -> paned_backend::BoxedFuture<'_, Result<HookVerdict, String>> {
        Box::pin(async {
            self.0.reached.notify_one();
            self.0.release.notified().await;
            Ok(HookVerdict::Allow)
        })
    }
}

fn add_barrier(server: &TestServer) -> (Arc<ActionBarrier>, HookRegistration) {
    let barrier = Arc::new(ActionBarrier::default());
    let hook = server.kernel.add_hook(Arc::new(BarrierHook(barrier.clone())));
    (barrier, hook)
}

#[tokio::test]
async fn a_change_is_finished_though_its_asker_goes_away() {
    let server = TestServer::new().await;
    let owner = server.kernel.owner(None);
    let include: EventFilter = "action:success".parse().unwrap();
    let mut events = server.kernel.events(None, include, &owner).unwrap();
    let (barrier, _hook) = add_barrier(&server);
    let mut stream = server.tcp().await;
    let ask = server.ask("POST", "/emit/a:b");
    stream.write_all(ask.text().as_bytes()).await.unwrap();
    barrier.reached.notified().await;
    drop(stream);
    barrier.release.notify_one();
    let batch = timeout(DEADLINE, events.next(1)).await.expect("the change was never reported");
    assert!(matches!(batch, JournalRead::Entries(_)), "{batch:?}");
}

#[tokio::test]
async fn a_request_under_way_is_answered_when_the_server_stops() {
    let server = TestServer::new().await;
    let (barrier, _hook) = add_barrier(&server);
    let asked = tokio::spawn({
        let (stream, ask) = (server.tcp().await, server.ask("POST", "/emit/a:b"));
        async move { send(stream, &ask).await.status() }
    });
    barrier.reached.notified().await;
    let address = server.address;
    let stopped = tokio::spawn(server.stop());
    let began = Instant::now();
    while TcpStream::connect(address).await.is_ok() {
        assert!(began.elapsed() < DEADLINE, "others are still let in");
    }
    barrier.release.notify_one();
    assert_eq!(asked.await.unwrap(), 200);
    stopped.await.unwrap();
}

#[tokio::test]
async fn streams_and_idle_connections_do_not_hold_up_the_end() {
    // So long that even on a slow machine this time-out cannot be what ends the server.
    let patient = ServerLimits { shutdown_grace: 3 * DEADLINE, ..ServerLimits::default() };
    let server = TestServer::with(patient).await;
    let mut events = server.follow("a:x").await;
    let _idle = server.tcp().await;
    let began = Instant::now();
    server.stop().await;
    assert!(began.elapsed() < patient.shutdown_grace, "{:?}", began.elapsed());
    assert_eq!(events.frame().await, None);
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_short_at_last() {
    let shutdown_grace = Duration::from_millis(50);
    let server = TestServer::with(ServerLimits { shutdown_grace, ..ServerLimits::default() }).await;
    let (barrier, _hook) = add_barrier(&server);
    let mut stream = server.tcp().await;
    stream.write_all(server.ask("POST", "/emit/a:b").text().as_bytes()).await.unwrap();
    barrier.reached.notified().await;
    timeout(DEADLINE, server.stop()).await.expect("the server never stops");
}

#[tokio::test]
async fn a_listener_that_others_could_reach_is_refused() {
    let server = TestServer::new().await;
    let open = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = serve(
        server.kernel,
        vec![(Listener::Tcp(open), ServedApi::Main)],
        HttpServerConfig::default(),
        async {},
    );
    assert!(matches!(served.await, Err(Error::NotLoopback(_))));
}

#[tokio::test]
async fn everything_is_told_before_the_end() {
    let server = TestServer::new().await;
    let mut events = server.follow("*").await;
    server.emit("a:x", &json!({})).await;
    server.stop().await;
    let mut names = Vec::new();
    while let Some(event) = events.event().await {
        names.push(event.get("event").unwrap().to_owned());
    }
    assert!(names.contains(&"a:x".to_owned()), "{names:?}");
}
