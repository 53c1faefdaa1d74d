//! The connection to one tmux server: a handle for everybody, and the task that owns the control client.
//!
//! Commands are written as they come and answered in order. The client is always read, whether or not anybody takes
//! what it says. When it is lost, whoever waits is told, and it is connected again.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::command::Command;
use super::decode::{Item, Reply};
use super::error::Error;
use super::facts::{Fact, Facts, Outbox, Server};
use super::ids::{WindowId, number};
use super::notice::Notice;
use super::place::{ANCHOR, Place, Start};
use super::rows::Mark;
use super::watchdog::{Pause, Verdict, Watchdog};
use super::wire::Wire;

/// So long may an answer take, if nobody says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// So many commands wait to be written.
const REQUESTS: usize = 64;
/// What tells us of panes in sessions that we are not attached to: each renames the anchor's window, which every
/// control client hears of. Not done inside the hook, because tmux tells nothing of what hooks do.
const BELLS: [&str; 3] = ["window-layout-changed[7263]", "pane-exited[7263]", "pane-died[7263]"];

/// What tells us of panes on somebody's server, where we set no hooks: tmux looks once a second, in every session, and
/// says only what has changed.
const WATCHED: &str =
    "paned::#{S:#{W:#{window_active}#{window_layout}#{P:#{pane_id}#{pane_active}}}}";

/// A handle to the connection. When the last is dropped, the connection ends; the server and its panes do not.
#[derive(Clone, Debug)]
pub struct Client {
    requests: mpsc::Sender<Request>,
    server: watch::Receiver<Option<Server>>,
    pub(super) mark: Mark,
}

#[derive(Debug)]
struct Request {
    line: String,
    parts: usize,
    counts: bool,
    answer: oneshot::Sender<Result<Vec<Reply>, Error>>,
}

/// Connects to a server, and starts it first if it is our own.
///
/// # Errors
/// When there is no tmux, it is too old, or it cannot be reached.
pub async fn connect(place: Place) -> Result<(Client, Facts), Error> {
    place.version(DEADLINE).await?;
    let (wire, server) = match open(&place, Start::IfOwn).await {
        Err(Error::NoServer(_)) if place.is_own() => {
            // The one before is just ending, and took us with it.
            sleep(Pause::default().next()).await;
            open(&place, Start::IfOwn).await?
        }
        opened => opened?,
    };
    let (requests, inbox) = mpsc::channel(REQUESTS);
    let (now, seen) = watch::channel(Some(server.clone()));
    let (outbox, facts) = Outbox::new();
    let task = Task { place, inbox, outbox, now, held: None };
    tokio::spawn(task.run(wire, server));
    Ok((Client { requests, server: seen, mark: Mark::draw() }, facts))
}

impl Client {
    /// Runs a command within [`DEADLINE`]; answers one reply for each of its parts.
    ///
    /// # Errors
    /// What tmux says against it, or that it did not answer.
    pub async fn run(&self, command: &Command) -> Result<Vec<Reply>, Error> {
        self.run_within(command, DEADLINE).await
    }

    /// Runs a command within a time of the caller's choice.
    ///
    /// # Errors
    /// What tmux says against it, or that it did not answer.
    pub async fn run_within(
        &self,
        command: &Command,
        limit: Duration,
    ) -> Result<Vec<Reply>, Error> {
        let (answer, answered) = oneshot::channel();
        let (line, parts, counts) = (command.encode()?, command.parts(), command.counts());
        let gone = || Error::Gone("it was closed".to_owned());
        let ask = async {
            self.requests
                .send(Request { line, parts, counts, answer })
                .await
                .map_err(|_| gone())?;
            answered.await.unwrap_or_else(|_| Err(gone()))
        };
        timeout(limit, ask).await.unwrap_or(Err(Error::Timeout(limit)))
    }

    /// Has somebody's server tell what there is within a second, and from then on what changes: what comes and goes
    /// between two of its looks would not be told. A server of our own tells everything anyway.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn watch(&self) -> Result<(), Error> {
        let command = Command::new("refresh-client").word("-B").format(WATCHED);
        self.run(&command).await.map(drop)
    }

    /// The server that is connected now.
    #[must_use]
    pub fn server(&self) -> Option<Server> {
        self.server.borrow().clone()
    }
}

struct Task {
    place: Place,
    inbox: mpsc::Receiver<Request>,
    outbox: Outbox,
    now: watch::Sender<Option<Server>>,
    /// A request that came while nobody was there, and wakes the server.
    held: Option<Request>,
}

/// Who waits for replies, in the order of asking.
#[derive(Default)]
struct Queue(VecDeque<Waiting>);

struct Waiting {
    parts: usize,
    counts: bool,
    replies: Vec<Reply>,
    /// None for our own pings.
    answer: Option<oneshot::Sender<Result<Vec<Reply>, Error>>>,
}

enum Event {
    Heard(Option<Item>),
    Asked(Option<Request>),
    Told,
    Tick,
}

impl Task {
    async fn run(mut self, wire: Wire, server: Server) {
        let mut connected = Some((wire, server));
        let mut pause = Pause::default();
        let mut gone = false;
        loop {
            if let Some((wire, server)) = connected.take() {
                (pause, gone) = (Pause::default(), false);
                if !self.live(wire, server).await {
                    return;
                }
            }
            let start = if self.held.is_some() { Start::IfOwn } else { Start::Never };
            match open(&self.place, start).await {
                Ok(found) => connected = Some(found),
                Err(error) => {
                    if let Some(request) = self.held.take() {
                        let _ = request.answer.send(Err(error.clone()));
                    }
                    if !std::mem::replace(&mut gone, true) {
                        self.outbox.tell(Fact::ServerGone(error.clone()));
                    }
                    if !self.rest(pause.next(), &error).await {
                        return;
                    }
                }
            }
        }
    }

    /// Serves one connection to its end. False when nobody needs us any more.
    async fn live(&mut self, mut wire: Wire, server: Server) -> bool {
        self.now.send_replace(Some(server.clone()));
        self.outbox.tell(Fact::Connected(server.clone()));
        let mut queue = Queue::default();
        let wanted = self.serve(&mut wire, &mut queue, server.window).await;
        self.now.send_replace(None);
        if !wanted {
            wire.abandon();
            return false;
        }
        let why = wire.close().await;
        tracing::warn!(%why, "lost the connection to tmux");
        queue.fail(&why);
        self.outbox.tell(Fact::ClientLost(why));
        true
    }

    async fn serve(&mut self, wire: &mut Wire, queue: &mut Queue, bell: WindowId) -> bool {
        let mut dog = Watchdog::new(Instant::now());
        if let Some(request) = self.held.take() {
            queue.ask(request, wire);
        }
        loop {
            let event = tokio::select! {
                item = wire.hear() => Event::Heard(item),
                asked = self.inbox.recv(), if wire.has_room() => Event::Asked(asked),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => Event::Told,
                () = sleep_until(dog.deadline()) => Event::Tick,
            };
            match event {
                Event::Heard(Some(item)) => {
                    self.take(item, queue, wire, bell);
                    dog.heard(Instant::now(), queue.owes());
                }
                Event::Heard(None) => return true,
                Event::Asked(Some(request)) => {
                    queue.ask(request, wire);
                    dog.asked(Instant::now());
                }
                Event::Asked(None) => return false,
                Event::Told => {}
                Event::Tick => match dog.tick(Instant::now()) {
                    Verdict::Well => {}
                    Verdict::Ask => {
                        queue.ping(wire);
                        dog.asked(Instant::now());
                    }
                    // Perhaps it was us who slept: what it has said meanwhile counts.
                    Verdict::Dead => match timeout(Duration::ZERO, wire.hear()).await {
                        Ok(Some(item)) => {
                            self.take(item, queue, wire, bell);
                            dog.heard(Instant::now(), queue.owes());
                        }
                        Ok(None) | Err(_) => return true,
                    },
                },
            }
        }
    }

    fn take(&mut self, item: Item, queue: &mut Queue, wire: &mut Wire, bell: WindowId) {
        match item {
            Item::Reply(reply) if reply.header.is_ours() => queue.answer(reply, wire),
            // What hooks answer, and what the client was started with.
            Item::Reply(_) => {}
            Item::Notice(Notice::WindowRenamed(window, _, _))
                if self.place.is_own() && window == bell =>
            {
                self.outbox.tell(Fact::Changed);
            }
            Item::Notice(notice) => self.outbox.tell(Fact::Notice(notice)),
            Item::Stray(line) => {
                tracing::warn!(line = %line.escape_ascii(), "a stray line from tmux");
                self.outbox.tell(Fact::Resync);
            }
        }
    }

    /// Waits before the next try, and refuses whoever asks meanwhile; a server of our own is woken by asking. False
    /// when nobody needs us any more.
    async fn rest(&mut self, pause: Duration, error: &Error) -> bool {
        let until = Instant::now() + pause;
        loop {
            let event = tokio::select! {
                asked = self.inbox.recv() => Event::Asked(asked),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => Event::Told,
                () = sleep_until(until), if !self.place.is_own() => Event::Tick,
            };
            match event {
                Event::Asked(None) => return false,
                Event::Asked(Some(request)) if self.place.is_own() => {
                    self.held = Some(request);
                    return true;
                }
                Event::Asked(Some(request)) => _ = request.answer.send(Err(error.clone())),
                Event::Told | Event::Heard(_) => {}
                Event::Tick => return true,
            }
        }
    }
}

impl Queue {
    fn ask(&mut self, request: Request, wire: &mut Wire) {
        let Request { line, parts, counts, answer } = request;
        // Whoever asked may have stopped waiting; then it is not done late.
        if answer.is_closed() {
            return;
        }
        wire.say(&line);
        self.0.push_back(Waiting { parts, counts, replies: Vec::new(), answer: Some(answer) });
    }

    fn ping(&mut self, wire: &mut Wire) {
        wire.say("display-message -p paned\n");
        self.0.push_back(Waiting { parts: 1, counts: false, replies: Vec::new(), answer: None });
    }

    fn owes(&self) -> bool {
        !self.0.is_empty()
    }

    fn answer(&mut self, reply: Reply, wire: &mut Wire) {
        let Some(waiting) = self.0.front_mut() else {
            return tracing::warn!("an answer from tmux that nobody asked for");
        };
        let ok = reply.ok;
        waiting.replies.push(reply);
        if ok && waiting.replies.len() < waiting.parts {
            let counts = waiting.counts && waiting.replies.len() == 1;
            if let Some(lines) = counts.then(|| sum(&waiting.replies[0].lines)).flatten() {
                wire.expect_lines(lines);
            }
            return;
        }
        if let Some(Waiting { replies, answer: Some(answer), .. }) = self.0.pop_front() {
            let _ = answer.send(if ok { Ok(replies) } else { Err(refusal(&replies)) });
        }
    }

    fn fail(&mut self, why: &str) {
        for answer in self.0.drain(..).filter_map(|waiting| waiting.answer) {
            let _ = answer.send(Err(Error::Gone(why.to_owned())));
        }
    }
}

/// The sum of two numbers that are all there is.
fn sum(lines: &[Vec<u8>]) -> Option<usize> {
    let [line] = lines else { return None };
    let at = line.iter().position(|byte| *byte == b' ')?;
    Some(number::<usize>(&line[..at])? + number::<usize>(&line[at + 1..])?)
}

fn refusal(replies: &[Reply]) -> Error {
    let lines = replies.last().map(|reply| reply.lines.join(&b' ')).unwrap_or_default();
    Error::from_text(&String::from_utf8_lossy(&lines))
}

/// Starts a control client and asks it where it is.
async fn open(place: &Place, start: Start) -> Result<(Wire, Server), Error> {
    let mut wire = Wire::open(place, start)?;
    let heard = timeout(DEADLINE, introduction(&mut wire, place)).await;
    match heard {
        Ok(Some(server)) => Ok((wire, server)),
        Ok(None) => Err(match Error::from_text(&wire.close().await) {
            Error::Refused(text) | Error::SessionNotFound(text) => Error::NoServer(text),
            error => error,
        }),
        Err(_) => {
            wire.abandon();
            Err(Error::Timeout(DEADLINE))
        }
    }
}

async fn introduction(wire: &mut Wire, place: &Place) -> Option<Server> {
    // A server that is just starting may read what we say before it does what the client was started with.
    while !matches!(wire.hear().await?, Item::Notice(Notice::SessionChanged(..))) {}
    let mut before = 1;
    if place.is_own() {
        before = BELLS.len();
        for bell in BELLS {
            wire.say(&format!(
                "set-hook -gw {bell} 'run-shell -b -C \"rename-window -t ={ANCHOR}: {ANCHOR}\"'\n"
            ));
        }
    } else {
        wire.say(&format!("refresh-client -B \"{WATCHED}\"\n"));
    }
    // Told where to look, because tmux may not yet know which client this is.
    let at = if place.is_own() { format!("-t ={ANCHOR}: ") } else { String::new() };
    wire.say(&format!("display-message -p {at}\"#{{pid}} #{{version}} #{{window_id}}\"\n"));
    loop {
        match wire.hear().await? {
            Item::Reply(reply) if reply.header.is_ours() && before == 0 => {
                return read_server(&reply, wire.pid()?);
            }
            Item::Reply(reply) if reply.header.is_ours() => before -= 1,
            _ => {}
        }
    }
}

fn read_server(reply: &Reply, client_pid: u32) -> Option<Server> {
    let line = reply.lines.first().filter(|_| reply.ok)?;
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let pid = number(words.next()?)?;
    let version = String::from_utf8_lossy(words.next()?).into_owned();
    let window = WindowId::parse(words.next()?)?;
    // A client without a terminal is called by its process.
    Some(Server { pid, version, client: format!("client-{client_pid}"), client_pid, window })
}
