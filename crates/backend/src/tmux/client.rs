//! The connection to one tmux server: a handle for everybody, and the task that owns the control client.
//!
//! Commands are written as they come and answered in order. The client is always read, whether or not anybody takes
//! what it says. When it is lost, whoever waits is told, and it is connected again.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::command::TmuxCommand;
use super::control_process::ControlProcess;
use super::decode::{Item, TmuxReply};
use super::error::Error;
use super::events::{TmuxEvent, TmuxEventQueue, TmuxEvents, TmuxServerInfo};
use super::ids::{WindowId, number};
use super::notice::Notice;
use super::rows::FieldSeparator;
use super::server_addr::{ANCHOR_SESSION, StartPolicy, TmuxServerAddr};
use super::watchdog::{RetryBackoff, Watchdog, WatchdogVerdict};

/// So long may an answer take, if nobody says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// So many commands wait to be written.
const MAX_REQUESTS: usize = 64;
/// What tells us of panes in sessions that we are not attached to: each renames the anchor's window, which every
/// control client hears of. Not done inside the hook, because tmux tells nothing of what hooks do.
const CHANGE_HOOKS: [&str; 3] =
    ["window-layout-changed[7263]", "pane-exited[7263]", "pane-died[7263]"];

/// What tells us of panes on somebody's server, where we set no hooks: tmux looks once a second, in every session, and
/// says only what has changed.
const CHANGE_SUBSCRIPTION: &str =
    "paned::#{S:#{W:#{window_active}#{window_layout}#{P:#{pane_id}#{pane_active}}}}";

/// A handle to the connection. When the last is dropped, the connection ends; the server and its panes do not.
#[derive(Clone, Debug)]
pub struct ControlClient {
    requests: mpsc::Sender<TmuxRequest>,
    server: watch::Receiver<Option<TmuxServerInfo>>,
    pub(super) separator: FieldSeparator,
}

#[derive(Debug)]
struct TmuxRequest {
    line: String,
    parts: usize,
    counts: bool,
    answer: oneshot::Sender<Result<Vec<TmuxReply>, Error>>,
}

/// Connects to a server, and starts it first if it is our own.
///
/// # Errors
/// When there is no tmux, it is too old, or it cannot be reached.
pub async fn connect(place: TmuxServerAddr) -> Result<(ControlClient, TmuxEvents), Error> {
    place.version(DEADLINE).await?;
    let (wire, server) = match open(&place, StartPolicy::IfOwn).await {
        Err(Error::NoServer(_)) if place.is_own() => {
            // The one before is just ending, and took us with it.
            sleep(RetryBackoff::default().next()).await;
            open(&place, StartPolicy::IfOwn).await?
        }
        opened => opened?,
    };
    let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
    let (now, seen) = watch::channel(Some(server.clone()));
    let (outbox, facts) = TmuxEventQueue::new();
    let task = TmuxClientTask { addr: place, inbox, outbox, now, waking_request: None };
    tokio::spawn(task.run(wire, server));
    Ok((ControlClient { requests, server: seen, separator: FieldSeparator::random() }, facts))
}

impl ControlClient {
    /// Runs a command within [`DEADLINE`]; answers one reply for each of its parts.
    ///
    /// # Errors
    /// What tmux says against it, or that it did not answer.
    pub async fn run(&self, command: &TmuxCommand) -> Result<Vec<TmuxReply>, Error> {
        self.run_within(command, DEADLINE).await
    }

    /// Runs a command within a time of the caller's choice.
    ///
    /// # Errors
    /// What tmux says against it, or that it did not answer.
    pub async fn run_within(
        &self,
        command: &TmuxCommand,
        limit: Duration,
    ) -> Result<Vec<TmuxReply>, Error> {
        let (answer, answered) = oneshot::channel();
        let (line, parts, counts) = (command.encode()?, command.parts(), command.counts());
        let gone = || Error::Gone("it was closed".to_owned());
        let ask = async {
            self.requests
                .send(TmuxRequest { line, parts, counts, answer })
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
        let command = TmuxCommand::new("refresh-client").word("-B").format(CHANGE_SUBSCRIPTION);
        self.run(&command).await.map(drop)
    }

    /// The server that is connected now.
    #[must_use]
    pub fn server(&self) -> Option<TmuxServerInfo> {
        self.server.borrow().clone()
    }
}

struct TmuxClientTask {
    addr: TmuxServerAddr,
    inbox: mpsc::Receiver<TmuxRequest>,
    outbox: TmuxEventQueue,
    now: watch::Sender<Option<TmuxServerInfo>>,
    /// A request that came while nobody was there, and wakes the server.
    waking_request: Option<TmuxRequest>,
}

/// Who waits for replies, in the order of asking.
#[derive(Default)]
struct ReplyQueue(VecDeque<PendingCommand>);

struct PendingCommand {
    parts: usize,
    counts: bool,
    replies: Vec<TmuxReply>,
    /// None for our own pings.
    answer: Option<oneshot::Sender<Result<Vec<TmuxReply>, Error>>>,
}

enum TmuxClientEvent {
    Item(Option<Item>),
    Request(Option<TmuxRequest>),
    Delivered,
    Tick,
}

impl TmuxClientTask {
    async fn run(mut self, wire: ControlProcess, server: TmuxServerInfo) {
        let mut connected = Some((wire, server));
        let mut pause = RetryBackoff::default();
        let mut gone = false;
        loop {
            if let Some((wire, server)) = connected.take() {
                (pause, gone) = (RetryBackoff::default(), false);
                if !self.serve_connection(wire, server).await {
                    return;
                }
            }
            let start =
                if self.waking_request.is_some() { StartPolicy::IfOwn } else { StartPolicy::Never };
            match open(&self.addr, start).await {
                Ok(found) => connected = Some(found),
                Err(error) => {
                    if let Some(request) = self.waking_request.take() {
                        let _ = request.answer.send(Err(error.clone()));
                    }
                    if !std::mem::replace(&mut gone, true) {
                        self.outbox.push(TmuxEvent::ServerGone(error.clone()));
                    }
                    if !self.wait_before_retry(pause.next(), &error).await {
                        return;
                    }
                }
            }
        }
    }

    /// Serves one connection to its end. False when nobody needs us any more.
    async fn serve_connection(&mut self, mut wire: ControlProcess, server: TmuxServerInfo) -> bool {
        self.now.send_replace(Some(server.clone()));
        self.outbox.push(TmuxEvent::Connected(server.clone()));
        let mut queue = ReplyQueue::default();
        let wanted = self.serve(&mut wire, &mut queue, server.window).await;
        self.now.send_replace(None);
        if !wanted {
            wire.kill();
            return false;
        }
        let why = wire.close().await;
        tracing::warn!(%why, "lost the connection to tmux");
        queue.fail(&why);
        self.outbox.push(TmuxEvent::ClientLost(why));
        true
    }

    async fn serve(
        &mut self,
        wire: &mut ControlProcess,
        queue: &mut ReplyQueue,
        bell: WindowId,
    ) -> bool {
        let mut dog = Watchdog::new(Instant::now());
        if let Some(request) = self.waking_request.take() {
            queue.ask(request, wire);
        }
        loop {
            let event = tokio::select! {
                item = wire.next_item() => TmuxClientEvent::Item(item),
                asked = self.inbox.recv(), if wire.has_room() => TmuxClientEvent::Request(asked),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => TmuxClientEvent::Delivered,
                () = sleep_until(dog.deadline()) => TmuxClientEvent::Tick,
            };
            match event {
                TmuxClientEvent::Item(Some(item)) => {
                    self.handle_item(item, queue, wire, bell);
                    dog.heard(Instant::now(), queue.is_awaiting());
                }
                TmuxClientEvent::Item(None) => return true,
                TmuxClientEvent::Request(Some(request)) => {
                    queue.ask(request, wire);
                    dog.asked(Instant::now());
                }
                TmuxClientEvent::Request(None) => return false,
                TmuxClientEvent::Delivered => {}
                TmuxClientEvent::Tick => match dog.tick(Instant::now()) {
                    WatchdogVerdict::Healthy => {}
                    WatchdogVerdict::Ping => {
                        queue.ping(wire);
                        dog.asked(Instant::now());
                    }
                    // Perhaps it was us who slept: what it has said meanwhile counts.
                    WatchdogVerdict::Dead => {
                        match timeout(Duration::ZERO, wire.next_item()).await {
                            Ok(Some(item)) => {
                                self.handle_item(item, queue, wire, bell);
                                dog.heard(Instant::now(), queue.is_awaiting());
                            }
                            Ok(None) | Err(_) => return true,
                        }
                    }
                },
            }
        }
    }

    fn handle_item(
        &mut self,
        item: Item,
        queue: &mut ReplyQueue,
        wire: &mut ControlProcess,
        bell: WindowId,
    ) {
        match item {
            Item::Reply(reply) if reply.header.is_ours() => queue.answer(reply, wire),
            // What hooks answer, and what the client was started with.
            Item::Reply(_) => {}
            Item::Notice(Notice::WindowRenamed(window, _, _))
                if self.addr.is_own() && window == bell =>
            {
                self.outbox.push(TmuxEvent::Changed);
            }
            Item::Notice(notice) => self.outbox.push(TmuxEvent::Notice(notice)),
            Item::Stray(line) => {
                tracing::warn!(line = %line.escape_ascii(), "a stray line from tmux");
                self.outbox.push(TmuxEvent::Resync);
            }
        }
    }

    /// Waits before the next try, and refuses whoever asks meanwhile; a server of our own is woken by asking. False
    /// when nobody needs us any more.
    async fn wait_before_retry(&mut self, pause: Duration, error: &Error) -> bool {
        let until = Instant::now() + pause;
        loop {
            let event = tokio::select! {
                asked = self.inbox.recv() => TmuxClientEvent::Request(asked),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => TmuxClientEvent::Delivered,
                () = sleep_until(until), if !self.addr.is_own() => TmuxClientEvent::Tick,
            };
            match event {
                TmuxClientEvent::Request(None) => return false,
                TmuxClientEvent::Request(Some(request)) if self.addr.is_own() => {
                    self.waking_request = Some(request);
                    return true;
                }
                TmuxClientEvent::Request(Some(request)) => {
                    _ = request.answer.send(Err(error.clone()))
                }
                TmuxClientEvent::Delivered | TmuxClientEvent::Item(_) => {}
                TmuxClientEvent::Tick => return true,
            }
        }
    }
}

impl ReplyQueue {
    fn ask(&mut self, request: TmuxRequest, wire: &mut ControlProcess) {
        let TmuxRequest { line, parts, counts, answer } = request;
        // Whoever asked may have stopped waiting; then it is not done late.
        if answer.is_closed() {
            return;
        }
        wire.queue_line(&line);
        self.0.push_back(PendingCommand {
            parts,
            counts,
            replies: Vec::new(),
            answer: Some(answer),
        });
    }

    fn ping(&mut self, wire: &mut ControlProcess) {
        wire.queue_line("display-message -p paned\n");
        self.0.push_back(PendingCommand {
            parts: 1,
            counts: false,
            replies: Vec::new(),
            answer: None,
        });
    }

    fn is_awaiting(&self) -> bool {
        !self.0.is_empty()
    }

    fn answer(&mut self, reply: TmuxReply, wire: &mut ControlProcess) {
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
        if let Some(PendingCommand { replies, answer: Some(answer), .. }) = self.0.pop_front() {
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

fn refusal(replies: &[TmuxReply]) -> Error {
    let lines = replies.last().map(|reply| reply.lines.join(&b' ')).unwrap_or_default();
    Error::from_text(&String::from_utf8_lossy(&lines))
}

/// Starts a control client and asks it where it is.
async fn open(
    place: &TmuxServerAddr,
    start: StartPolicy,
) -> Result<(ControlProcess, TmuxServerInfo), Error> {
    let mut wire = ControlProcess::open(place, start)?;
    let heard = timeout(DEADLINE, identify_server(&mut wire, place)).await;
    match heard {
        Ok(Some(server)) => Ok((wire, server)),
        Ok(None) => Err(match Error::from_text(&wire.close().await) {
            Error::Refused(text) | Error::SessionNotFound(text) => Error::NoServer(text),
            error => error,
        }),
        Err(_) => {
            wire.kill();
            Err(Error::Timeout(DEADLINE))
        }
    }
}

async fn identify_server(
    wire: &mut ControlProcess,
    place: &TmuxServerAddr,
) -> Option<TmuxServerInfo> {
    // A server that is just starting may read what we say before it does what the client was started with.
    while !matches!(wire.next_item().await?, Item::Notice(Notice::SessionChanged(..))) {}
    let mut before = 1;
    if place.is_own() {
        before = CHANGE_HOOKS.len();
        for bell in CHANGE_HOOKS {
            wire.queue_line(&format!(
                "set-hook -gw {bell} 'run-shell -b -C \"rename-window -t ={ANCHOR_SESSION}: {ANCHOR_SESSION}\"'\n"
            ));
        }
    } else {
        wire.queue_line(&format!("refresh-client -B \"{CHANGE_SUBSCRIPTION}\"\n"));
    }
    // Told where to look, because tmux may not yet know which client this is.
    let at = if place.is_own() { format!("-t ={ANCHOR_SESSION}: ") } else { String::new() };
    wire.queue_line(&format!("display-message -p {at}\"#{{pid}} #{{version}} #{{window_id}}\"\n"));
    loop {
        match wire.next_item().await? {
            Item::Reply(reply) if reply.header.is_ours() && before == 0 => {
                return read_server(&reply, wire.pid()?);
            }
            Item::Reply(reply) if reply.header.is_ours() => before -= 1,
            _ => {}
        }
    }
}

fn read_server(reply: &TmuxReply, client_pid: u32) -> Option<TmuxServerInfo> {
    let line = reply.lines.first().filter(|_| reply.ok)?;
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let pid = number(words.next()?)?;
    let version = String::from_utf8_lossy(words.next()?).into_owned();
    let window = WindowId::parse(words.next()?)?;
    // A client without a terminal is called by its process.
    Some(TmuxServerInfo {
        pid,
        version,
        client: format!("client-{client_pid}"),
        client_pid,
        window,
    })
}
