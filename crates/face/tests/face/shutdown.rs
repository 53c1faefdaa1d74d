//! Stopping, and clients that go away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paned_face::{Error, HttpServerConfig, Listener, ServedApi, ServerLimits, serve};
use paned_kernel::journal::Batch;
use paned_kernel::{ActionHook, HookCall, HookVerdict};
use paned_model::EventFilter;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::{DEADLINE, send};
use crate::house::House;

/// Says when it is asked, and lets an action wait until it is told to go on.
#[derive(Default)]
struct ActionBarrier {
    reached: Notify,
    release: Notify,
}

/// A turnstile as a hook.
struct BarrierHook(Arc<ActionBarrier>);

impl ActionHook for BarrierHook {
    fn name(&self) -> &str {
        "turnstile"
    }

    fn before(&self, _: HookCall) -> paned_substrate::BoxedFuture<'_, Result<HookVerdict, String>> {
        Box::pin(async {
            self.0.reached.notify_one();
            self.0.release.notified().await;
            Ok(HookVerdict::Allow)
        })
    }
}

fn add_barrier(house: &House) -> Arc<ActionBarrier> {
    let turnstile = Arc::new(ActionBarrier::default());
    house.kernel.add_hook(Arc::new(BarrierHook(turnstile.clone())));
    turnstile
}

#[tokio::test]
async fn a_change_is_finished_though_its_asker_goes_away() {
    let house = House::new().await;
    let owner = house.kernel.owner(None);
    let include: EventFilter = "action:success".parse().unwrap();
    let mut told = house.kernel.events(None, include, &owner).unwrap();
    let turnstile = add_barrier(&house);
    let mut stream = house.tcp().await;
    let ask = house.ask("POST", "/emit/a:b");
    stream.write_all(ask.text().as_bytes()).await.unwrap();
    turnstile.reached.notified().await;
    drop(stream);
    turnstile.release.notify_one();
    let batch = timeout(DEADLINE, told.next(1)).await.expect("the change was never told of");
    assert!(matches!(batch, Batch::Entries(_)), "{batch:?}");
}

#[tokio::test]
async fn a_request_under_way_is_answered_when_the_server_stops() {
    let house = House::new().await;
    let turnstile = add_barrier(&house);
    let asked = tokio::spawn({
        let (stream, ask) = (house.tcp().await, house.ask("POST", "/emit/a:b"));
        async move { send(stream, &ask).await.status() }
    });
    turnstile.reached.notified().await;
    let address = house.address;
    let stopped = tokio::spawn(house.stop());
    let began = Instant::now();
    while TcpStream::connect(address).await.is_ok() {
        assert!(began.elapsed() < DEADLINE, "others are still let in");
    }
    turnstile.release.notify_one();
    assert_eq!(asked.await.unwrap(), 200);
    stopped.await.unwrap();
}

#[tokio::test]
async fn streams_and_idle_connections_do_not_hold_up_the_end() {
    // So patient that no machine is slow enough to take its patience for the reason of the end.
    let patient = ServerLimits { shutdown_grace: 3 * DEADLINE, ..ServerLimits::default() };
    let house = House::with(patient).await;
    let mut events = house.follow("a:x").await;
    let _idle = house.tcp().await;
    let began = Instant::now();
    house.stop().await;
    assert!(began.elapsed() < patient.shutdown_grace, "{:?}", began.elapsed());
    assert_eq!(events.frame().await, None);
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_short_at_last() {
    let shutdown_grace = Duration::from_millis(50);
    let house = House::with(ServerLimits { shutdown_grace, ..ServerLimits::default() }).await;
    let turnstile = add_barrier(&house);
    let mut stream = house.tcp().await;
    stream.write_all(house.ask("POST", "/emit/a:b").text().as_bytes()).await.unwrap();
    turnstile.reached.notified().await;
    timeout(DEADLINE, house.stop()).await.expect("the server never stops");
}

#[tokio::test]
async fn a_listener_that_others_could_reach_is_refused() {
    let house = House::new().await;
    let open = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = serve(
        house.kernel,
        vec![(Listener::Tcp(open), ServedApi::Main)],
        HttpServerConfig::default(),
        async {},
    );
    assert!(matches!(served.await, Err(Error::NotLoopback(_))));
}

#[tokio::test]
async fn everything_is_told_before_the_end() {
    let house = House::new().await;
    let mut events = house.follow("*").await;
    house.emit("a:x", &json!({})).await;
    house.stop().await;
    let mut names = Vec::new();
    while let Some(event) = events.event().await {
        names.push(event.get("event").unwrap().to_owned());
    }
    assert!(names.contains(&"a:x".to_owned()), "{names:?}");
}
