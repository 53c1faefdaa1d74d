//! One life of an extension's program: its process, its pipes, and the tasks on them.

use std::collections::BTreeSet;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use paned_kernel::{ExtensionGrant, Kernel};
use paned_model::{EventId, Scope};
use serde_json::json;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::calls::{NounCheck, Session, SessionSetup};
use super::delivery::{EventDelivery, save_place};
use super::process::{ExtensionProcess, ProcessPipes};
use super::shared::SharedHandle;
use crate::rpc::MAX_LINE;
use crate::rpc::connection::{CallError, Connection, Fault, QueuedLine};
use crate::rpc::lines::{Line, LineReader};
use crate::rpc::message::{PARSE_ERROR, RpcError};

/// How long a program may take to answer `initialize`.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a program may not read its standard input while a line waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a program's last lines are read after its end: a child of it may hold the pipe.
const LAST_LINES_TIMEOUT: Duration = Duration::from_millis(500);
/// Longer lines of standard error are cut.
const MAX_LOG_LINE: usize = 8 << 10;
const BUFFER: usize = 64 << 10;
/// Reports of faults that wait.
const FAULTS: usize = 16;
/// The version of the protocol.
const PROTOCOL: u32 = 1;

/// What a program begins its life with.
pub(crate) struct LifeSetup {
    pub(crate) kernel: Kernel,
    pub(crate) shared: SharedHandle,
    pub(crate) scopes: BTreeSet<Scope>,
    pub(crate) may_rename: Option<NounCheck>,
    pub(crate) events: Vec<String>,
    pub(crate) veto: Vec<String>,
    /// The first event it gets, if it never had one.
    pub(crate) first_event: EventId,
    pub(crate) timeout: Duration,
}

/// A program that was started.
pub(crate) struct Life {
    process: ExtensionProcess,
    session: Arc<Session>,
    faults: mpsc::Receiver<Fault>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
    log_reader: JoinHandle<()>,
    delivery: Option<JoinHandle<()>>,
    stopping: watch::Sender<bool>,
    first_event: EventId,
    timeout: Duration,
    pub(crate) started_at: Instant,
}

/// What happened to a program.
pub(crate) enum LifeEvent {
    Exited(ExitStatus),
    Fault(Fault),
}

impl Life {
    /// Begins to talk to a process.
    ///
    /// # Errors
    /// When a pattern of the manifest is invalid.
    pub(crate) fn begin(
        process: ExtensionProcess,
        pipes: ProcessPipes,
        setup: LifeSetup,
    ) -> Result<Self, String> {
        let LifeSetup { kernel, shared, scopes, may_rename, events, veto, .. } = setup;
        let (report, faults) = mpsc::channel(FAULTS);
        let (connection, lines) = Connection::new(report);
        let grant: ExtensionGrant = kernel.extension_grant(&shared.name, scopes);
        let session = Session::new(SessionSetup {
            kernel,
            shared: shared.clone(),
            connection: connection.clone(),
            grant,
            may_rename,
            events,
            veto,
        })?;
        let session = Arc::new(session);
        let ProcessPipes { stdin, stdout, stderr } = pipes;
        Ok(Self {
            process,
            faults,
            reader: tokio::spawn(read_messages(stdout, session.clone())),
            writer: tokio::spawn(write_lines(stdin, lines, connection)),
            log_reader: tokio::spawn(read_log(stderr, shared)),
            session,
            delivery: None,
            stopping: watch::Sender::new(false),
            first_event: setup.first_event,
            timeout: setup.timeout,
            started_at: Instant::now(),
        })
    }

    /// Sends `initialize`, as the first request, and waits until the program is ready. The future
    /// owns what it needs.
    pub(crate) fn initialize(
        &self,
        params: serde_json::Value,
    ) -> impl Future<Output = Result<(), String>> + use<> {
        let session = self.session.clone();
        async move {
            let answer = session.connection.request("initialize", &params);
            match timeout(INITIALIZE_TIMEOUT, answer).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(CallError::Refused(error))) => Err(error.message),
                Ok(Err(CallError::Closed)) => Err("it ended before it was ready".to_owned()),
                Ok(Err(CallError::TooLong)) => Err("its settings are too long".to_owned()),
                Err(_) => Err(format!(
                    "it did not answer `initialize` within {} s",
                    INITIALIZE_TIMEOUT.as_secs()
                )),
            }
        }
    }

    /// The program is ready: events are sent from now on.
    pub(crate) async fn deliver(&mut self) {
        save_place(&self.session).await;
        let session = self.session.clone();
        let stopping = self.stopping.subscribe();
        let delivery = EventDelivery::new(session, stopping, self.first_event, self.timeout);
        self.delivery = Some(tokio::spawn(delivery.run()));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until the program ends or something is wrong with it.
    pub(crate) async fn next(&mut self) -> LifeEvent {
        tokio::select! {
            biased;
            Some(fault) = self.faults.recv() => LifeEvent::Fault(fault),
            status = self.process.exited() => LifeEvent::Exited(status),
        }
    }

    /// Ends the program. `politely`: it is told first, and has time to finish.
    pub(crate) async fn end(mut self, politely: bool) {
        self.session.shared.disconnect();
        self.stopping.send_replace(true);
        if politely {
            self.session.connection.notify("shutdown", "{}");
        }
        self.session.connection.end_writing();
        self.process.end(politely).await;
        // What it wrote last may be answers to events.
        let _ = timeout(LAST_LINES_TIMEOUT, &mut self.reader).await;
        self.session.connection.close();
        self.session.end();
        if let Some(delivery) = &mut self.delivery {
            let _ = timeout(LAST_LINES_TIMEOUT, delivery).await;
        }
        let _ = timeout(LAST_LINES_TIMEOUT, &mut self.log_reader).await;
        save_place(&self.session).await;
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        for task in [&self.reader, &self.writer, &self.log_reader] {
            task.abort();
        }
        if let Some(delivery) = &self.delivery {
            delivery.abort();
        }
    }
}

/// The parameters of `initialize`.
pub(crate) fn initialize_params(
    name: &str,
    version: &str,
    folder: &std::path::Path,
    data: &std::path::Path,
    scopes: &BTreeSet<Scope>,
    limit: Duration,
) -> serde_json::Value {
    json!({
        "protocol": PROTOCOL,
        "name": name,
        "version": version,
        "folder": folder,
        "dataFolder": data,
        "scopes": scopes,
        "timeoutMs": u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    })
}

async fn read_messages(stdout: ChildStdout, session: Arc<Session>) {
    let mut lines = LineReader::new(BufReader::with_capacity(BUFFER, stdout), MAX_LINE);
    loop {
        match lines.next().await {
            Ok(Some(Line::Whole(line))) => session.receive(line).await,
            Ok(Some(Line::TooLong(start))) => {
                let error = RpcError::new(PARSE_ERROR, "this line is longer than 8 MiB");
                session.refuse_line(start, error);
            }
            Ok(None) | Err(_) => return,
        }
    }
}

async fn write_lines(
    mut stdin: ChildStdin,
    mut lines: mpsc::Receiver<QueuedLine>,
    connection: Connection,
) {
    while let Some(line) = lines.recv().await {
        let written: io::Result<()> =
            match timeout(WRITE_TIMEOUT, stdin.write_all(&line.bytes)).await {
                Ok(written) => written,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            };
        if written.is_err() {
            return connection.report(Fault::NotReading);
        }
    }
}

async fn read_log(stderr: ChildStderr, shared: SharedHandle) {
    let mut lines = LineReader::new(BufReader::with_capacity(BUFFER, stderr), MAX_LOG_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let (text, end) = match line {
            Line::Whole(text) => (text, "\n"),
            Line::TooLong(start) => (start, " … (the rest of this line was too long)\n"),
        };
        tracing::debug!(
            extension = shared.name,
            "{}",
            String::from_utf8_lossy(text).escape_debug()
        );
        shared.log.write(&[text, end.as_bytes()].concat());
    }
}
