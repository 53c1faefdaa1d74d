//! Keeps the program of one extension running: starts it, restarts it after a pause, gives up when
//! it fails too often.

use std::sync::Arc;
use std::time::Duration;

use paned_kernel::extensions::ExtensionStatus;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::extensions::RuntimeContext;
use super::failures::{AfterFailure, FailureLog};
use super::life::{Life, LifeEvent, LifeSetup, initialize_params};
use super::process::{ExtensionProcess, ProgramCommand, exit_sentence};
use super::shared::{SharedHandle, VetoRules};
use super::watch::FileWatch;
use crate::manifest::Program;
use crate::rpc::connection::Fault;
use crate::runner::ExtensionSetup;

/// What a supervisor is asked to do.
pub(crate) enum Command {
    /// Start the program anew with this setup. Answered when it runs or has failed.
    Start(Box<ExtensionSetup>, oneshot::Sender<()>),
    /// End the program, and the supervisor.
    Stop,
}

/// The supervisor of one extension.
pub(crate) struct Supervisor {
    context: Arc<RuntimeContext>,
    shared: SharedHandle,
    setup: ExtensionSetup,
    commands: mpsc::Receiver<Command>,
    failures: FailureLog,
    restarts: u32,
    files: FileWatch,
    /// Those who wait for the outcome of a start.
    waiting: Vec<oneshot::Sender<()>>,
}

/// Why a life of the program ended.
enum LifeEnd {
    /// It was asked for; nothing when the runtime is gone.
    Command(Option<Command>),
    /// The program failed, after this long.
    Failed(String, Duration),
    /// It cannot be started, and trying again would not help.
    Unable(String),
}

impl Supervisor {
    pub(crate) fn new(
        context: Arc<RuntimeContext>,
        shared: SharedHandle,
        setup: ExtensionSetup,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        let files = FileWatch::new(&setup.manifest);
        Self {
            context,
            shared,
            setup,
            commands,
            failures: FailureLog::default(),
            restarts: 0,
            files,
            waiting: Vec::new(),
        }
    }

    /// Runs until it is asked to stop. `first` is answered when the program runs or has failed.
    pub(crate) async fn run(mut self, first: oneshot::Sender<()>) {
        self.waiting.push(first);
        loop {
            let command = match self.run_once().await {
                LifeEnd::Command(command) => command,
                LifeEnd::Unable(reason) => self.wait_failed(reason).await,
                LifeEnd::Failed(reason, ran) => match self.pause(reason, ran).await {
                    Some(command) => command,
                    None => continue,
                },
            };
            match command {
                Some(Command::Start(setup, done)) => self.renew(*setup, done),
                Some(Command::Stop) | None => break,
            }
        }
        self.shared.set_down(ExtensionStatus::Stopped, None);
    }

    /// Begins anew: earlier failures do not count any more.
    fn renew(&mut self, setup: ExtensionSetup, done: oneshot::Sender<()>) {
        self.files = FileWatch::new(&setup.manifest);
        self.setup = setup;
        self.waiting.push(done);
        self.failures = FailureLog::default();
        self.restarts = 0;
        self.shared.set_restarts(0);
    }

    fn tell_waiting(&mut self) {
        for done in self.waiting.drain(..) {
            let _ = done.send(());
        }
    }

    /// The next command. A change of the extension's files is passed on: it comes back as a
    /// command to start with what the manifest says then. Cancel-safe.
    async fn next_command(
        commands: &mut mpsc::Receiver<Command>,
        files: &mut FileWatch,
        context: &RuntimeContext,
        name: &str,
    ) -> Option<Command> {
        loop {
            tokio::select! {
                command = commands.recv() => return command,
                () = files.changed() => context.note_change(name),
            }
        }
    }

    /// One life of the program.
    async fn run_once(&mut self) -> LifeEnd {
        self.shared.set_starting();
        self.apply_rules();
        let name = self.shared.name.clone();
        if let Err(error) = self.context.paths.make(&name) {
            return LifeEnd::Failed(format!("cannot make its folder: {error}"), Duration::ZERO);
        }
        let argv = match self.argv().await {
            Ok(argv) => argv,
            Err(reason) => return LifeEnd::Unable(reason),
        };
        let env = self.context.environment(&name);
        let folder = self.setup.manifest.folder.clone();
        let program = ProgramCommand { argv, folder, env };
        let paths = &self.context.paths;
        let (process, pipes) = match ExtensionProcess::spawn(&program, &paths.process(&name)) {
            Ok(spawned) => spawned,
            Err(error) => {
                let shown = program.argv.first().map_or("", String::as_str).escape_debug();
                let reason = format!("cannot start `{shown}`: {error}");
                return LifeEnd::Failed(reason, Duration::ZERO);
            }
        };
        match Life::begin(process, pipes, self.life_setup()) {
            Ok(life) => self.live(life).await,
            Err(reason) => LifeEnd::Unable(reason),
        }
    }

    async fn live(&mut self, mut life: Life) -> LifeEnd {
        tracing::info!(extension = self.shared.name, pid = life.pid(), "extension started");
        self.shared.log.note(&format!("started, process {}", life.pid()));
        self.shared.set_pid(life.pid());
        let mut initialize = Box::pin(life.initialize(self.initialize_params()));
        let mut is_ready = false;
        let end = loop {
            tokio::select! {
                ready = &mut initialize, if !is_ready => match ready {
                    Ok(()) => {
                        is_ready = true;
                        self.files.note_ready();
                        life.deliver().await;
                        self.tell_waiting();
                    }
                    Err(reason) => break LifeEnd::Failed(reason, life.started_at.elapsed()),
                },
                event = life.next() => {
                    if let Some(reason) = self.judge(event) {
                        break LifeEnd::Failed(reason, life.started_at.elapsed());
                    }
                }
                command = Self::next_command(
                    &mut self.commands,
                    &mut self.files,
                    &self.context,
                    &self.shared.name,
                ) => break LifeEnd::Command(command),
            }
        };
        drop(initialize);
        if let LifeEnd::Failed(reason, _) = &end {
            self.shared.set_reason(reason);
        }
        if matches!(end, LifeEnd::Command(_)) {
            tracing::info!(extension = self.shared.name, "extension is being stopped");
        }
        life.end(matches!(end, LifeEnd::Command(_))).await;
        end
    }

    /// Why the program has to be started again, if it has.
    fn judge(&mut self, event: LifeEvent) -> Option<String> {
        match event {
            LifeEvent::Exited(status) => Some(exit_sentence(status)),
            LifeEvent::Fault(Fault::Unresponsive(times)) => {
                Some(format!("it did not answer {times} times in a row"))
            }
            LifeEvent::Fault(Fault::NotReading) => {
                Some("it does not read its standard input".to_owned())
            }
            LifeEvent::Fault(Fault::InvalidLine) => {
                let is_too_often = self.failures.note(Instant::now());
                is_too_often.then(|| {
                    "it wrote lines to standard output that are not JSON; print to standard error \
                    instead"
                        .to_owned()
                })
            }
        }
    }

    /// Reports a failure and waits before the next start. Returns a command that comes first.
    async fn pause(&mut self, reason: String, ran: Duration) -> Option<Option<Command>> {
        self.report(&reason);
        let AfterFailure::Restart(pause) = self.failures.end(Instant::now(), ran) else {
            let reason = format!("it failed too often; the last time: {reason}");
            return Some(self.wait_failed(reason).await);
        };
        let again = format!("{reason}; it is started again in {} s", pause.as_secs());
        tracing::warn!(extension = self.shared.name, reason = again, "extension failed");
        self.shared.log.note(&again);
        self.shared.set_down(ExtensionStatus::Restarting, Some(again));
        self.tell_waiting();
        let Self { commands, files, context, shared, .. } = self;
        tokio::select! {
            command = Self::next_command(commands, files, context, &shared.name) => {
                return Some(command);
            }
            () = sleep(pause) => {}
        }
        self.restarts += 1;
        self.shared.set_restarts(self.restarts);
        None
    }

    fn report(&self, reason: &str) {
        self.context.kernel.report_handler_error(&self.shared.name, "exit", reason);
    }

    /// The extension stays down until a command comes.
    async fn wait_failed(&mut self, reason: String) -> Option<Command> {
        let name = &self.shared.name;
        let reason = format!("{reason}; `paned ext reload {name}` tries again");
        tracing::error!(extension = name, reason, "extension failed");
        self.shared.log.note(&reason);
        self.shared.set_down(ExtensionStatus::Failed, Some(reason));
        self.tell_waiting();
        let Self { commands, files, context, shared, .. } = self;
        Self::next_command(commands, files, context, &shared.name).await
    }

    /// Until the program is ready, a required extension is asked about what its manifest and its
    /// last run name: without an answer, these actions are refused.
    fn apply_rules(&self) {
        let manifest = &self.setup.manifest;
        let mut patterns = manifest.veto.clone();
        patterns.extend(self.shared.place.veto());
        patterns.sort_unstable();
        patterns.dedup();
        self.shared.set_veto(rules(&self.context, &self.setup, patterns));
    }

    async fn argv(&self) -> Result<Vec<String>, String> {
        match &self.setup.manifest.program {
            Program::Command(argv) => Ok(argv.clone()),
            Program::Node(_) => {
                let mut argv = self.context.node.command(self.context.paths.root()).await?;
                argv.push(self.setup.manifest.folder.to_string_lossy().into_owned());
                Ok(argv)
            }
        }
    }

    fn life_setup(&self) -> LifeSetup {
        let manifest = &self.setup.manifest;
        let is_node = matches!(manifest.program, Program::Node(_));
        LifeSetup {
            kernel: self.context.kernel.clone(),
            shared: self.shared.clone(),
            scopes: self.setup.scopes.clone(),
            may_rename: is_node.then(|| self.context.noun_check(&self.shared.name)),
            events: manifest.subscribe.clone(),
            veto: manifest.veto.clone(),
            first_event: self.context.first_event,
            timeout: self.timeout(),
        }
    }

    fn timeout(&self) -> Duration {
        self.setup.manifest.timeout.unwrap_or(self.context.hook_timeout)
    }

    fn initialize_params(&self) -> serde_json::Value {
        let name = &self.shared.name;
        let folder = &self.setup.manifest.folder;
        let data = self.context.paths.data(name);
        let version = self.context.kernel.setup().version;
        initialize_params(name, version, folder, &data, &self.setup.scopes, self.timeout())
    }
}

/// The rules by which an extension is asked about actions.
pub(crate) fn rules(
    context: &RuntimeContext,
    setup: &ExtensionSetup,
    patterns: Vec<String>,
) -> VetoRules {
    let manifest = &setup.manifest;
    let timeout = manifest.timeout.unwrap_or(context.hook_timeout);
    VetoRules::new(patterns, manifest.required, timeout)
}
