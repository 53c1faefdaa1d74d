//! The connection to one tmux server: a shared handle, and the task that owns the control client.
//!
//! Commands are written as they come and answered in order. The client is always read, whether or
//! not its events are taken. When the connection is lost, the task connects again. Requests that
//! tmux may have read fail; those that were not written go to the next connection.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::attach_lock::attach_lock;
use super::command::TmuxCommand;
use super::control_process::ControlProcess;
use super::decode::{Item, TmuxReply};
use super::error::Error;
use super::events::{TmuxEvent, TmuxEventQueue, TmuxEvents, TmuxServerInfo};
use super::ids::{WindowId, number};
use super::notice::Notice;
use super::own_server::CONFIG_OPTION;
use super::rows::FieldSeparator;
use super::server_addr::{ANCHOR_SESSION, StartPolicy, TmuxServerAddr};
use super::watchdog::{RetryBackoff, Watchdog, WatchdogVerdict};

/// How long a reply may take by default.
pub const DEADLINE: Duration = Duration::from_secs(2);
/// How many commands may wait to be written.
const MAX_REQUESTS: usize = 64;
/// Hooks that report changes of panes in sessions that we are not attached to: each renames the
/// anchor window, and tmux notifies every control client of that. `run-shell -b` renames it outside
/// the hook, because tmux sends no notifications for what hooks do.
const CHANGE_HOOKS: [&str; 3] =
    ["window-layout-changed[7263]", "pane-exited[7263]", "pane-died[7263]"];

/// A subscription for changes of panes on a foreign server, where we set no hooks: tmux evaluates
/// it once a second, in every session, and reports only changes.
pub(super) const CHANGE_SUBSCRIPTION: &str =
    "paned::#{S:#{W:#{window_active}#{window_layout}#{P:#{pane_id}#{pane_active}}}}";

/// A handle to the connection. Dropping the last one closes the connection; the server and its
/// panes live on.
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
pub async fn connect(addr: TmuxServerAddr) -> Result<(ControlClient, TmuxEvents), Error> {
    addr.version(DEADLINE).await?;
    let (process, server) = match open(&addr, StartPolicy::IfOwn).await {
        Err(Error::NoServer(_)) if addr.is_own() => {
            // The previous server was just exiting and closed our connection.
            sleep(RetryBackoff::default().next()).await;
            open(&addr, StartPolicy::IfOwn).await?
        }
        opened => opened?,
    };
    let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
    let (now, server_info) = watch::channel(Some(server.clone()));
    let (outbox, events) = TmuxEventQueue::new();
    let task = TmuxClientTask { addr, inbox, outbox, now, waiting: VecDeque::new() };
    tokio::spawn(task.run(process, server));
    Ok((
        ControlClient { requests, server: server_info, separator: FieldSeparator::random() },
        events,
    ))
}

impl ControlClient {
    /// Runs a command within [`DEADLINE`]; returns one reply for each of its parts.
    ///
    /// # Errors
    /// When tmux refuses it, or does not answer.
    pub async fn run(&self, command: &TmuxCommand) -> Result<Vec<TmuxReply>, Error> {
        self.run_within(command, DEADLINE).await
    }

    /// Runs a command within a time limit of the caller's choice.
    ///
    /// # Errors
    /// When tmux refuses it, or does not answer.
    pub async fn run_within(
        &self,
        command: &TmuxCommand,
        limit: Duration,
    ) -> Result<Vec<TmuxReply>, Error> {
        let (answer, answered) = oneshot::channel();
        let line = command.encode()?;
        let parts = command.parts();
        let counts = command.counts();
        let gone = || Error::Gone("it was closed".to_owned());
        let request = async {
            self.requests
                .send(TmuxRequest { line, parts, counts, answer })
                .await
                .map_err(|_| gone())?;
            answered.await.unwrap_or_else(|_| Err(gone()))
        };
        timeout(limit, request).await.unwrap_or(Err(Error::Timeout(limit)))
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
    /// Requests for the next connection: not written to the last one, or made while there was no
    /// server. They start a server of our own.
    waiting: VecDeque<TmuxRequest>,
}

/// Callers that wait for replies, in the order of their requests.
#[derive(Default)]
struct ReplyQueue(VecDeque<PendingCommand>);

struct PendingCommand {
    /// None for our own pings.
    request: Option<TmuxRequest>,
    /// The position of its end in what was queued for the client.
    end: u64,
    replies: Vec<TmuxReply>,
}

enum TmuxClientEvent {
    Item(Option<Item>),
    Request(Option<TmuxRequest>),
    Delivered,
    Tick,
}

impl TmuxClientTask {
    async fn run(mut self, process: ControlProcess, server: TmuxServerInfo) {
        let mut connection = Some((process, server));
        let mut pause = RetryBackoff::default();
        let mut gone = false;
        loop {
            if let Some((process, server)) = connection.take() {
                pause = RetryBackoff::default();
                gone = false;
                if !self.serve_connection(process, server).await {
                    return;
                }
            }
            let start =
                if self.waiting.is_empty() { StartPolicy::Never } else { StartPolicy::IfOwn };
            match open(&self.addr, start).await {
                Ok(opened) => connection = Some(opened),
                Err(error) => {
                    for request in self.waiting.drain(..) {
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

    /// Serves one connection to its end. False when no handle is left.
    async fn serve_connection(
        &mut self,
        mut process: ControlProcess,
        server: TmuxServerInfo,
    ) -> bool {
        self.now.send_replace(Some(server.clone()));
        self.outbox.push(TmuxEvent::Connected(server.clone()));
        let mut queue = ReplyQueue::default();
        let has_handles = self.serve(&mut process, &mut queue, server.window).await;
        self.now.send_replace(None);
        if !has_handles {
            let _attaching = attach_lock(self.addr.socket()).await;
            process.kill().await;
            return false;
        }
        self.waiting = queue.take_unwritten(process.written());
        let why = {
            let _attaching = attach_lock(self.addr.socket()).await;
            process.close().await
        };
        tracing::warn!(%why, "lost the connection to tmux");
        queue.fail(&why);
        self.outbox.push(TmuxEvent::ClientLost(why));
        true
    }

    async fn serve(
        &mut self,
        process: &mut ControlProcess,
        queue: &mut ReplyQueue,
        anchor_window: WindowId,
    ) -> bool {
        let mut watchdog = Watchdog::new(Instant::now());
        for request in self.waiting.drain(..) {
            queue.ask(request, process);
        }
        loop {
            let event = tokio::select! {
                item = process.next_item() => TmuxClientEvent::Item(item),
                request = self.inbox.recv(), if process.has_room() => TmuxClientEvent::Request(request),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => TmuxClientEvent::Delivered,
                () = sleep_until(watchdog.deadline()) => TmuxClientEvent::Tick,
            };
            match event {
                TmuxClientEvent::Item(Some(item)) => {
                    self.handle_item(item, queue, process, anchor_window);
                    watchdog.heard(Instant::now(), queue.is_awaiting());
                }
                TmuxClientEvent::Item(None) => return true,
                TmuxClientEvent::Request(Some(request)) => {
                    queue.ask(request, process);
                    watchdog.asked(Instant::now());
                }
                TmuxClientEvent::Request(None) => return false,
                TmuxClientEvent::Delivered => {}
                TmuxClientEvent::Tick => match watchdog.tick(Instant::now()) {
                    WatchdogVerdict::Healthy => {}
                    WatchdogVerdict::Ping => {
                        queue.ping(process);
                        watchdog.asked(Instant::now());
                    }
                    // Perhaps this process was suspended: what tmux sent meanwhile counts.
                    WatchdogVerdict::Dead => {
                        match timeout(Duration::ZERO, process.next_item()).await {
                            Ok(Some(item)) => {
                                self.handle_item(item, queue, process, anchor_window);
                                watchdog.heard(Instant::now(), queue.is_awaiting());
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
        process: &mut ControlProcess,
        anchor_window: WindowId,
    ) {
        match item {
            Item::Reply(reply) if reply.header.is_ours() => queue.answer(reply, process),
            // Replies to hooks, and to the command that the client was started with.
            Item::Reply(_) => {}
            Item::Notice(Notice::WindowRenamed(window, _, _))
                if self.addr.is_own() && window == anchor_window =>
            {
                self.outbox.push(TmuxEvent::Changed);
            }
            Item::Notice(notice) => self.outbox.push(TmuxEvent::Notice(notice)),
            Item::Stray(line) => {
                tracing::warn!(line = %line.escape_ascii(), "unexpected line from tmux");
                self.outbox.push(TmuxEvent::Resync);
            }
        }
    }

    /// Waits before the next attempt, and fails requests meanwhile; for a server of our own, a
    /// request triggers the attempt. False when no handle is left.
    async fn wait_before_retry(&mut self, pause: Duration, error: &Error) -> bool {
        let until = Instant::now() + pause;
        loop {
            let event = tokio::select! {
                request = self.inbox.recv() => TmuxClientEvent::Request(request),
                () = self.outbox.deliver(), if !self.outbox.is_empty() => TmuxClientEvent::Delivered,
                () = sleep_until(until), if !self.addr.is_own() => TmuxClientEvent::Tick,
            };
            match event {
                TmuxClientEvent::Request(None) => return false,
                TmuxClientEvent::Request(Some(request)) if self.addr.is_own() => {
                    self.waiting.push_back(request);
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
    fn ask(&mut self, request: TmuxRequest, process: &mut ControlProcess) {
        // The caller may have stopped waiting; then the command is not run late.
        if request.answer.is_closed() {
            return;
        }
        // Without the line, which may hold what a user types.
        tracing::trace!(parts = request.parts, "a command line for tmux");
        let end = process.queue_line(&request.line);
        self.0.push_back(PendingCommand { request: Some(request), end, replies: Vec::new() });
    }

    fn ping(&mut self, process: &mut ControlProcess) {
        let end = process.queue_line("display-message -p paned\n");
        self.0.push_back(PendingCommand { request: None, end, replies: Vec::new() });
    }

    fn is_awaiting(&self) -> bool {
        !self.0.is_empty()
    }

    fn answer(&mut self, reply: TmuxReply, process: &mut ControlProcess) {
        let Some(pending) = self.0.front_mut() else {
            return tracing::warn!("tmux sent a reply without a request");
        };
        let ok = reply.ok;
        pending.replies.push(reply);
        let (parts, counts) =
            pending.request.as_ref().map_or((1, false), |request| (request.parts, request.counts));
        if ok && pending.replies.len() < parts {
            let counts = counts && pending.replies.len() == 1;
            if let Some(lines) = counts.then(|| sum(&pending.replies[0].lines)).flatten() {
                process.expect_lines(lines);
            }
            return;
        }
        if let Some(PendingCommand { replies, request: Some(request), .. }) = self.0.pop_front() {
            let _ = request.answer.send(if ok { Ok(replies) } else { Err(refusal(&replies)) });
        }
    }

    /// Takes the requests whose line was not written to its end: tmux has run none of them.
    fn take_unwritten(&mut self, written: u64) -> VecDeque<TmuxRequest> {
        let first = self.0.partition_point(|pending| pending.end <= written);
        self.0.split_off(first).into_iter().filter_map(|pending| pending.request).collect()
    }

    fn fail(&mut self, why: &str) {
        for request in self.0.drain(..).filter_map(|pending| pending.request) {
            let _ = request.answer.send(Err(Error::Gone(why.to_owned())));
        }
    }
}

/// The sum of the two numbers in a reply of one line.
fn sum(lines: &[Vec<u8>]) -> Option<usize> {
    let [line] = lines else { return None };
    let at = line.iter().position(|byte| *byte == b' ')?;
    Some(number::<usize>(&line[..at])? + number::<usize>(&line[at + 1..])?)
}

fn refusal(replies: &[TmuxReply]) -> Error {
    let lines = replies.last().map(|reply| reply.lines.join(&b' ')).unwrap_or_default();
    Error::from_text(&String::from_utf8_lossy(&lines))
}

/// Starts a control client and queries its server.
async fn open(
    addr: &TmuxServerAddr,
    start: StartPolicy,
) -> Result<(ControlProcess, TmuxServerInfo), Error> {
    let _attaching = attach_lock(addr.socket()).await;
    let user_config = match addr.own_tmux() {
        Some(own) => {
            own.check_owner(addr.program(), addr.socket(), DEADLINE).await?;
            own.config_to_load(addr.socket())?
        }
        None => None,
    };
    let attached = match (attach(addr, start).await, addr.any_session()) {
        // The session that the address names has ended; another one is as good.
        (Err(Error::SessionNotFound(_)), Some(any)) => attach(&any, start).await,
        (attached, _) => attached,
    };
    match attached {
        Ok((process, mut server, loaded)) => {
            if let Some(config) = user_config.filter(|config| !config.is(&loaded)) {
                let errors = config.load(addr.program(), addr.socket(), DEADLINE).await;
                server.config_errors = errors.unwrap_or_else(|error| vec![error.to_string()]);
                for error in &server.config_errors {
                    tracing::warn!(%error, "a mistake in the tmux configuration");
                }
            }
            Ok((process, server))
        }
        Err(Error::Refused(text) | Error::SessionNotFound(text)) => Err(Error::NoServer(text)),
        Err(error) => Err(error),
    }
}

/// Starts one control client, and asks it which server it is attached to.
async fn attach(
    addr: &TmuxServerAddr,
    start: StartPolicy,
) -> Result<(ControlProcess, TmuxServerInfo, String), Error> {
    let mut process = ControlProcess::open(addr, start)?;
    match timeout(DEADLINE, identify_server(&mut process, addr)).await {
        Ok(Some((server, loaded))) => Ok((process, server, loaded)),
        Ok(None) => Err(Error::from_text(&process.close().await)),
        Err(_) => {
            process.kill().await;
            Err(Error::Timeout(DEADLINE))
        }
    }
}

/// The server, and the version of the user's configuration that it has loaded.
async fn identify_server(
    process: &mut ControlProcess,
    addr: &TmuxServerAddr,
) -> Option<(TmuxServerInfo, String)> {
    // A server that is just starting may read our lines before it runs the command that the client
    // was started with.
    while !matches!(process.next_item().await?, Item::Notice(Notice::SessionChanged(..))) {}
    let mut replies_before = 1;
    if let Some(own) = addr.own_tmux() {
        let variables = own.variables.iter().filter_map(|(name, value)| set_global(name, value));
        let variables: Vec<String> = variables.collect();
        replies_before = CHANGE_HOOKS.len() + variables.len();
        variables.iter().for_each(|line| _ = process.queue_line(line));
        for hook in CHANGE_HOOKS {
            process.queue_line(&format!(
                "set-hook -gw {hook} 'run-shell -b -C \"rename-window -t ={ANCHOR_SESSION}: {ANCHOR_SESSION}\"'\n"
            ));
        }
    } else {
        process.queue_line(&format!("refresh-client -B \"{CHANGE_SUBSCRIPTION}\"\n"));
    }
    // With an explicit target, because tmux may not yet know which client this is.
    let target = if addr.is_own() { format!("-t ={ANCHOR_SESSION}: ") } else { String::new() };
    process.queue_line(&format!(
        "display-message -p {target}\"#{{pid}} #{{version}} #{{window_id}} #{{{CONFIG_OPTION}}}\"\n"
    ));
    loop {
        match process.next_item().await? {
            Item::Reply(reply) if reply.header.is_ours() && replies_before == 0 => {
                return read_server(&reply, process.pid()?);
            }
            Item::Reply(reply) if reply.header.is_ours() => replies_before -= 1,
            _ => {}
        }
    }
}

/// Sets a variable for every program that the server starts from now on.
fn set_global(name: &str, value: &str) -> Option<String> {
    let set = TmuxCommand::new("set-environment").word("-g").argument(name).argument(value);
    set.encode().ok()
}

fn read_server(reply: &TmuxReply, client_pid: u32) -> Option<(TmuxServerInfo, String)> {
    let line = reply.lines.first().filter(|_| reply.ok)?;
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let pid = number(words.next()?)?;
    let version = String::from_utf8_lossy(words.next()?).into_owned();
    let window = WindowId::parse(words.next()?)?;
    let loaded = String::from_utf8_lossy(words.next().unwrap_or_default()).into_owned();
    // tmux names a client without a terminal after its pid.
    let client = format!("client-{client_pid}");
    let config_errors = Vec::new();
    Some((TmuxServerInfo { pid, version, client, client_pid, config_errors, window }, loaded))
}
