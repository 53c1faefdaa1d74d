//! Output: late joiners and clients that reconnect.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use paned_backend::fake::{FakeBackend, FakePane};
use paned_backend::{
    Backend, BoxedFuture, Error, PaneHandle, ProcessFingerprint, RecoveredPane, RecoveredState,
    SpawnSpec,
};
use paned_model::frame::Survivor;
use paned_model::{Exit, PaneId, Size, Time};
use paned_server::ServerLimits;
use paned_term::{Screen, ScreenView};
use serde_json::json;
use tokio::sync::Notify;

use super::client::WsReceived;
use crate::client::DEADLINE;
use crate::test_server::TestServer;

/// A screen after these bytes.
fn shown(bytes: &[u8]) -> ScreenView {
    let mut screen = Screen::new(Size::default());
    screen.feed(bytes);
    ScreenView { revision: 0, ..screen.view() }
}

/// Joins a pane after `printed` and lets it print `rest`: the dump and the live bytes together must
/// show the same screen as all of the output.
async fn check_join(server: &TestServer, id: &str, printed: &[u8], rest: &[u8]) {
    server.pane(id).await;
    let pane = server.fake.pane(id).unwrap();
    pane.print(printed);
    let mut ws = server.ws().await;
    let answer = ws.ask(json!({ "type": "subscribe", "pane": id })).await;
    let size = json!({ "cols": 80, "rows": 24 });
    assert_eq!((&answer["type"], &answer["size"]), (&json!("subscribed"), &size), "{answer}");
    let dump = ws.bytes().await;
    assert_eq!((dump.kind, json!(dump.offset)), (2, answer["offset"].clone()));
    pane.print(rest);
    pane.exit(Exit::Code(0));
    let (mut seen, mut at) = (dump.bytes, dump.offset);
    while let WsReceived::Bytes(live) = ws.next().await {
        assert_eq!((live.kind, live.offset), (1, at));
        at += live.bytes.len() as u64;
        seen.extend(live.bytes);
    }
    assert_eq!(at, (printed.len() + rest.len()) as u64);
    let whole = [printed, rest].concat();
    assert_eq!(shown(&seen), shown(&whole), "joined after {:?}", String::from_utf8_lossy(printed));
}

#[tokio::test]
async fn a_late_joiner_sees_what_everybody_sees_wherever_they_join() {
    let server = TestServer::new().await;
    let text = "plain\r\n\x1b[1;31mred\x1b[0m é 漢 🎉\x1b]2;títle\x07\x1b[5;10Hthere\x1b[?2026h\x1b[2J\
                \x1b[Hnew\x1b[?2026l\x1b]0;again\x1b\\\x1bP1$r0m\x1b\\\x1b(0q\x1b(B\x1b[?25l.";
    for cut in 0..=text.len() {
        let (printed, rest) = text.as_bytes().split_at(cut);
        check_join(&server, &format!("p{cut}"), printed, rest).await;
    }
}

#[tokio::test]
async fn the_rest_of_a_long_string_is_not_taken_for_text() {
    let server = TestServer::new().await;
    let text = format!("before\x1bPq{}\x1b\\after", "#0~~@@".repeat(5000));
    for (n, cut) in [100, 5000, 20_000, text.len() - 6].into_iter().enumerate() {
        let (printed, rest) = text.as_bytes().split_at(cut);
        check_join(&server, &format!("p{n}"), printed, rest).await;
    }
}

#[tokio::test]
async fn a_channel_begins_where_it_is_asked_to() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let pane = server.fake.pane("a").unwrap();
    pane.print(b"0123456789");
    for (from, offset) in [(json!("start"), 0), (json!("now"), 10), (json!(4), 4), (json!(10), 10)]
    {
        let mut ws = server.ws().await;
        let answer = ws.subscribe("a", from).await;
        assert_eq!((&answer["offset"], &answer["status"]), (&json!(offset), &json!("running")));
        if offset < 10 {
            assert_eq!(ws.bytes().await.bytes, &b"0123456789"[offset..]);
        }
        ws.expect_quiet().await;
    }
    let mut ws = server.ws().await;
    let beyond = ws.ask(json!({ "type": "subscribe", "pane": "a", "since": 11 })).await;
    assert_eq!(beyond["code"], "invalid");
}

/// A deterministic random number generator.
struct OutputRng(u64);

impl OutputRng {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % below
    }

    fn print(&mut self, pane: &FakePane, printed: &mut Vec<u8>) {
        let bytes: Vec<_> = (0..self.below(100_000)).map(|_| b' ' + self.below(64) as u8).collect();
        pane.print(&bytes);
        printed.extend(bytes);
    }
}

#[tokio::test]
async fn whoever_comes_back_a_hundred_times_loses_and_repeats_nothing() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let pane = server.fake.pane("a").unwrap();
    let (mut rng, mut printed, mut read) = (OutputRng(7), Vec::new(), Vec::new());
    for _ in 0..100 {
        rng.print(&pane, &mut printed);
        let mut ws = server.ws().await;
        ws.subscribe("a", json!(read.len())).await;
        rng.print(&pane, &mut printed);
        for _ in 0..rng.below(4) {
            if read.len() == printed.len() {
                break;
            }
            let frame = ws.bytes().await;
            assert_eq!(frame.offset, read.len() as u64);
            read.extend(frame.bytes);
        }
    }
    pane.exit(Exit::Code(0));
    let mut ws = server.ws().await;
    ws.subscribe("a", json!(read.len())).await;
    if read.len() < printed.len() {
        read.extend(ws.read_to(printed.len() as u64).await);
    }
    assert!(read == printed, "{} bytes of {} are the same", read.len(), printed.len());
    assert_eq!(ws.text().await["type"], "exit");
}

#[tokio::test]
async fn a_socket_has_many_channels_and_an_end_to_them() {
    let server = TestServer::new().await;
    server.pane("a").await;
    let mut ws = server.ws().await;
    for channel in 1..=64 {
        assert_eq!(ws.subscribe("a", json!("now")).await["channel"], channel);
    }
    let over = ws.ask(json!({ "type": "subscribe", "pane": "a", "since": "now" })).await;
    assert_eq!(over["code"], "limit");
    ws.ask(json!({ "type": "unsubscribe", "channel": 3, "id": 1 })).await;
    assert_eq!(ws.subscribe("a", json!("now")).await["channel"], 65);
    server.fake.pane("a").unwrap().print(b"x");
    let mut channels = Vec::new();
    for _ in 0..64 {
        channels.push(ws.bytes().await.channel);
    }
    channels.sort_unstable();
    assert_eq!(channels, (1..=65).filter(|channel| *channel != 3).collect::<Vec<_>>());
    ws.expect_quiet().await;
}

#[tokio::test]
async fn an_offset_into_another_pane_of_the_same_name_is_refused() {
    let server = TestServer::new().await;
    server.pane("a").await;
    server.fake.pane("a").unwrap().print(b"0123456789");
    let mut ws = server.ws().await;
    let first = ws.subscribe("a", json!("start")).await;
    let made = server.act("pane:get", json!({ "paneId": "a" })).await["createdAt"].clone();
    assert_eq!(first["createdAt"], made);
    server.act("pane:close", json!({ "paneId": "a" })).await;
    let began = Instant::now();
    // Two panes of one name differ by the millisecond of their creation.
    while json!(Time(millis())) == made {
        assert!(began.elapsed() < DEADLINE);
    }
    server.pane("a").await;
    server.fake.pane("a").unwrap().print(b"something else");
    let mut ws = server.ws().await;
    let again = json!({ "type": "subscribe", "pane": "a", "since": 10, "createdAt": made });
    let refused = ws.ask(again).await;
    assert_eq!(
        (&refused["type"], &refused["code"]),
        (&json!("error"), &json!("gone")),
        "{refused}"
    );
    let made = ws.subscribe("a", json!("now")).await["createdAt"].clone();
    let again = json!({ "type": "subscribe", "pane": "a", "since": 10, "createdAt": made });
    assert_eq!(ws.ask(again).await["type"], "subscribed");
    assert_eq!(ws.bytes().await.bytes, b"else");
    let bad = json!({ "type": "subscribe", "pane": "a", "createdAt": "yesterday" });
    assert_eq!(ws.ask(bad).await["code"], "invalid");
}

fn millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

/// A backend that starts a pane only when it is released.
#[derive(Clone, Default)]
struct SlowBackend {
    fake: FakeBackend,
    release: Arc<Notify>,
}

impl Backend for SlowBackend {
    fn spawn(&self, spec: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>> {
        Box::pin(async {
            self.release.notified().await;
            match spec.id.as_str() {
                "refused" => Err(Error::Refused("it cannot be".into())),
                _ => self.fake.spawn(spec).await,
            }
        })
    }

    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>> {
        self.fake.recover()
    }

    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState> {
        self.fake.reconnect(id)
    }

    fn end(
        &self,
        id: PaneId,
        traces: ProcessFingerprint,
        grace: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        self.fake.end(id, traces, grace)
    }

    fn launch_record(&self, id: PaneId) -> BoxedFuture<'_, Result<Option<String>, Error>> {
        self.fake.launch_record(id)
    }

    fn rename(&self, from: PaneId, to: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        self.fake.rename(from, to)
    }

    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        self.fake.remove(id)
    }
}

#[tokio::test]
async fn a_pane_that_is_being_started_is_waited_for() {
    let slow = SlowBackend::default();
    let server = TestServer::with_backend(
        Arc::new(slow.clone()),
        slow.fake.clone(),
        ServerLimits::default(),
    )
    .await;
    let mut ws = server.ws().await;
    for (id, expect) in [("a", "subscribed"), ("refused", "error")] {
        let new = json!({ "id": id, "argv": ["/bin/sh"] });
        ws.send(json!({ "type": "action", "name": "pane:new", "params": new })).await;
        for from in ["screen", "start"] {
            ws.send(json!({ "type": "subscribe", "pane": id, "since": from, "id": from })).await;
        }
        assert_eq!(ws.ask(json!({ "type": "ping" })).await["type"], "pong");
        slow.release.notify_one();
        let mut answers = 0;
        while answers < 2 {
            if let WsReceived::Text(reply) = ws.next().await
                && reply["id"].is_string()
            {
                assert_eq!(reply["type"], expect, "{reply}");
                answers += 1;
            }
        }
    }
}
