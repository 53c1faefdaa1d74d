//! D27, D28: how fast events reach all subscribers, also beside one that does not read.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Row;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity};
use crate::http::Client;
use crate::plan::Plan;
use crate::server::Server;
use crate::stats;
use crate::subscriber_pool::{MARK, SubscriberPool};
use crate::ws::Socket;

pub(super) const ROW: Row = Row { name: "D27", doc: "events to 100 subscribers", run };

const SUBSCRIBERS: usize = 100;
const EVENTS: u64 = 8000;
/// How many sockets events are emitted over: of each, the server has 64 actions under transport at
/// most.
const EMITTERS: u64 = 8;
/// How many events are written at once, by the limit and by the emitters.
const BATCH: u64 = 512;
const TEXT: &str = "something happened to something, and somebody may want to know";

/// How a client subscribes to events.
#[derive(Clone, Copy)]
enum EventTransport {
    Sse,
    WebSocket,
}

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let count = plan.amount(EVENTS);
    let server = Server::start(plan)?;
    let mut figures = vec![emission(plan, &server, count)?];
    for (transport, name) in
        [(EventTransport::Sse, "SSE"), (EventTransport::WebSocket, "WebSocket")]
    {
        let all = |streams| Ok((streams, None));
        let (limit, ours) = plan.in_turn(
            || limit(transport, count),
            || deliver(&server, transport, count, SUBSCRIBERS, all),
        )?;
        let (others, beside) = plan.in_turn(
            || deliver(&server, transport, count, SUBSCRIBERS - 1, all),
            || deliver(&server, transport, count, SUBSCRIBERS, without_last),
        )?;
        let rate = |listeners: usize, times: Vec<Duration>| {
            Quantity::rate((count * listeners as u64) as f64, stats::best(times))
        };
        let what = format!("deliveries to {SUBSCRIBERS} subscribers over {name}, none lost");
        let limit = rate(SUBSCRIBERS, limit);
        let ours = rate(SUBSCRIBERS, ours);
        figures.push(Figure::ratio(what, limit, ours).at_least(0.15, 0.5));
        let what = format!("to the other 99 beside one who has stopped, {name}");
        let others = rate(SUBSCRIBERS - 1, others);
        let beside = rate(SUBSCRIBERS - 1, beside);
        figures.push(Figure::ratio(what, others, beside).at_least(0.7, 0.95).of("D28"));
    }
    Ok(figures)
}

/// How fast events are emitted, for one subscriber: no delivery is faster than that.
fn emission(plan: &Plan, server: &Server, count: u64) -> Result<Figure, Error> {
    let one = |_| deliver(server, EventTransport::Sse, count, 1, |streams| Ok((streams, None)));
    let times = (0..plan.rounds).map(one).collect::<Result<Vec<_>, _>>()?;
    let rate = Quantity::rate(count as f64, stats::best(times));
    Ok(Figure::plain("events emitted over 8 WebSockets and told to one subscriber", rate))
}

/// The connections that are read, and one that is not.
type SubscriberStreams = (Vec<TcpStream>, Option<TcpStream>);

fn without_last(mut streams: Vec<TcpStream>) -> Result<SubscriberStreams, Error> {
    let last = streams.pop();
    Ok((streams, last))
}

/// How long it takes until this number of events has reached all subscribers that read.
fn deliver(
    server: &Server,
    transport: EventTransport,
    count: u64,
    subscribers: usize,
    split: impl Fn(Vec<TcpStream>) -> Result<SubscriberStreams, Error>,
) -> Result<Duration, Error> {
    let streams = (0..subscribers).map(|_| follow(server, transport)).collect::<Result<_, _>>()?;
    let (reading, _stopped) = split(streams)?;
    let mut pool = SubscriberPool::new(reading)?;
    let emitters = (0..EMITTERS).map(|_| Socket::open(server.address(), "/ws"));
    let emitters = emitters.collect::<Result<Vec<_>, _>>()?;
    let begun = Instant::now();
    let emit = |mut emitter| thread::spawn(move || emit(&mut emitter, count / EMITTERS));
    let emitting: Vec<_> = emitters.into_iter().map(emit).collect();
    let received = pool.receive_each(count);
    let took = begun.elapsed();
    let mut emitting = emitting.into_iter();
    emitting.try_for_each(|one| one.join().expect("an emitter does not panic"))?;
    received.map(|()| took)
}

fn emit(socket: &mut Socket, count: u64) -> Result<(), Error> {
    let text = format!("{}{TEXT}", MARK as char);
    let params = json!({ "name": "bench:happened", "payload": { "text": text } });
    let action = json!({ "type": "action", "name": "event:emit", "params": params }).to_string();
    let mut left = count;
    while left != 0 {
        let batch = left.min(BATCH);
        socket.send_all((0..batch).map(|_| action.as_str()))?;
        left -= batch;
    }
    // The last answer: until then the socket must stay open.
    socket.send(r#"{"type":"action","id":1,"name":"server:status"}"#)?;
    while !matches!(socket.receive()?, crate::ws::Frame::Text(text) if text.starts_with(br#"{"type":"ok""#))
    {
    }
    Ok(())
}

/// A connection over which events come from now on.
fn follow(server: &Server, transport: EventTransport) -> Result<TcpStream, Error> {
    match transport {
        EventTransport::Sse => {
            let client = Client::connect(server.address())?;
            client.stream("/events?include=bench:happened").map(|chunks| chunks.into_socket())
        }
        EventTransport::WebSocket => {
            let mut socket = Socket::open(server.address(), "/ws")?;
            socket.send(r#"{"type":"events","id":1,"include":"bench:happened"}"#)?;
            // The welcome, and the confirmation.
            socket.receive()?;
            socket.receive()?;
            Ok(socket.into_stream())
        }
    }
}

/// How long it takes to write as many bytes to as many connections, many events at once, with
/// nothing else.
fn limit(transport: EventTransport, count: u64) -> Result<Duration, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").doing("listen")?;
    let address = listener.local_addr().doing("listen")?;
    let mut pairs = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let client = TcpStream::connect(address).doing("connect")?;
        pairs.push((client, listener.accept().doing("accept")?.0));
    }
    let (clients, servers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let mut pool = SubscriberPool::new(clients)?;
    let begun = Instant::now();
    let writing = thread::spawn(move || write_all(servers, transport, count));
    pool.receive_each(count)?;
    let took = begun.elapsed();
    writing.join().expect("a writer does not panic")?;
    Ok(took)
}

/// Returns the connections: they must stay open until everything was received.
fn write_all(
    mut streams: Vec<TcpStream>,
    transport: EventTransport,
    count: u64,
) -> Result<Vec<TcpStream>, Error> {
    let mut left = count;
    while left != 0 {
        let batch = left.min(BATCH);
        let bytes: Vec<u8> = (0..batch).flat_map(|id| event(transport, id)).collect();
        for stream in &mut streams {
            stream.write_all(&bytes).doing("write to subscribers")?;
        }
        left -= batch;
    }
    Ok(streams)
}

/// An event as the server sends it, of the same length.
fn event(transport: EventTransport, id: u64) -> Vec<u8> {
    let mark = MARK as char;
    let time = "2026-01-01T00:00:00.000Z";
    let payload = format!(r#"{{"text":"{mark}{TEXT}"}}"#);
    match transport {
        EventTransport::Sse => {
            format!("id: {id}\nevent: bench:happened\ntime: {time}\ndata: {payload}\n\n")
                .into_bytes()
        }
        EventTransport::WebSocket => {
            let message = format!(
                r#"{{"type":"event","id":{id},"time":"{time}","name":"bench:happened","payload":{payload}}}"#
            );
            // A frame of text whose length takes two bytes.
            let [_, _, high, low] = (message.len() as u32).to_be_bytes();
            [&[0x81, 126, high, low], message.as_bytes()].concat()
        }
    }
}
