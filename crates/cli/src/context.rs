//! What every command gets: how to print, and the global flags.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::Global;
use crate::client::{self, ApiClient, EndpointSource, NameMemory, OpenConnection, ServerEndpoint};
use crate::commands::ensure_running;
use crate::config::ConfigFile;
use crate::out::progress::Progress;
use crate::out::{Out, StyledLine};
use crate::settings::{self, AgentmuxConfigFile, SettingFlags, Settings, Sources, process_env};
use crate::state_folder::StateFolder;

/// What every command gets.
pub(crate) struct CliContext {
    pub(crate) out: Out,
    pub(crate) global: Global,
    /// What the names that the user typed mean.
    pub(crate) names: NameMemory,
    /// The connection by which the server was found.
    pub(crate) connection: OpenConnection,
    config: OnceCell<ConfigFile>,
}

impl CliContext {
    /// What a command with these global flags gets.
    pub(crate) fn new(out: Out, global: Global) -> Self {
        let names = NameMemory::default();
        let connection = OpenConnection::default();
        Self { out, global, names, connection, config: OnceCell::new() }
    }

    /// The settings, with these flags of the command on top.
    pub(crate) fn settings(&self, mut flags: SettingFlags) -> Result<Settings> {
        flags.extend(self.flags());
        let file = self.config()?;
        let legacy = &AgentmuxConfigFile::read(&process_env);
        Ok(Sources { flags: &flags, env: &process_env, file, legacy }.resolve()?)
    }

    /// The state folder of the server we talk to.
    pub(crate) fn state(&self) -> Result<StateFolder> {
        if let Some((ServerEndpoint::Unix(socket), _)) =
            ServerEndpoint::from_flags_or_env(&self.global, &process_env)?
            && let Some(state) = StateFolder::of_socket(&socket)
        {
            return Ok(state);
        }
        let flags = self.flags();
        let file = self.config()?;
        let legacy = &AgentmuxConfigFile::default();
        let sources = Sources { flags: &flags, env: &process_env, file, legacy };
        Ok(StateFolder::at(sources.state_dir()?))
    }

    /// Whether a command that needs a server may start one: no flag or variable names a server, and
    /// the user has not turned it off.
    pub(crate) fn starts_server(&self) -> Result<bool> {
        let is_off = process_env("PANED_NO_AUTOSTART").is_some_and(|value| value != "0");
        if is_off || ServerEndpoint::from_flags_or_env(&self.global, &process_env)?.is_some() {
            return Ok(false);
        }
        let flags = self.flags();
        let file = self.config()?;
        let legacy = &AgentmuxConfigFile::default();
        Ok(Sources { flags: &flags, env: &process_env, file, legacy }.autostart()?)
    }

    /// The session of a command that names none, if a variable does; otherwise the server knows.
    pub(crate) fn session(&self, named: Option<String>) -> Result<Option<String>> {
        if named.is_some() {
            return Ok(named);
        }
        let flags = self.flags();
        let file = self.config()?;
        let legacy = &AgentmuxConfigFile::default();
        let sources = Sources { flags: &flags, env: &process_env, file, legacy };
        Ok(sources.session_of_variable()?)
    }

    /// A client of the server, which is started if none runs.
    pub(crate) fn client_or_start(&self) -> Result<ApiClient> {
        ensure_running(self)?;
        self.client()
    }

    /// A client of the server.
    pub(crate) fn client(&self) -> Result<ApiClient> {
        let (endpoint, source) =
            match ServerEndpoint::from_flags_or_env(&self.global, &process_env)? {
                Some(named) => named,
                None if self.global.state_dir.is_some() => {
                    (ServerEndpoint::of(&self.state()?), EndpointSource::StateDir)
                }
                None => (ServerEndpoint::of(&self.state()?), EndpointSource::Default),
            };
        let client = ApiClient::new(endpoint, source, &process_env);
        Ok(client.with_names(self.names.clone()).with_connection(self.connection.clone()))
    }

    /// Runs an action with a command's arguments as its parameters, and waits for the answer.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        action: &str,
        args: &impl Serialize,
    ) -> Result<T> {
        let client = self.client()?;
        let _progress = Progress::start(self.out, activity(action));
        client::block_on(client.call(action, args))?
    }

    /// The same, and prints the answer: unchanged with `--json`, otherwise with `show`.
    pub(crate) fn show<T: DeserializeOwned, E: Into<anyhow::Error>>(
        &self,
        action: &str,
        args: &impl Serialize,
        show: impl FnOnce(T) -> Result<(), E>,
    ) -> Result<ExitCode> {
        let answer: Value = self.call(action, args)?;
        match self.out.is_json() {
            true => self.out.json(&answer)?,
            false => show(client::read(answer)?).map_err(Into::into)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The same for a command whose exit code depends on the answer, which is returned.
    pub(crate) fn show_and_return<T: DeserializeOwned, E: Into<anyhow::Error>>(
        &self,
        action: &str,
        args: &impl Serialize,
        show: impl FnOnce(&T) -> Result<(), E>,
    ) -> Result<T> {
        let answer: Value = self.call(action, args)?;
        let reply = client::read(answer.clone())?;
        match self.out.is_json() {
            true => self.out.json(&answer)?,
            false => show(&reply).map_err(Into::into)?,
        }
        Ok(reply)
    }

    /// Runs an action and prints a sentence that says it is done, or the answer with `--json`.
    pub(crate) fn confirm(
        &self,
        action: &str,
        args: &impl Serialize,
        sentence: impl Into<StyledLine>,
    ) -> Result<ExitCode> {
        self.show(action, args, |_: Value| self.out.line(sentence))
    }

    /// The path of `config.toml`, and whether the user named it.
    pub(crate) fn config_path(&self) -> Result<(PathBuf, bool)> {
        Ok(settings::config_path(self.global.config.as_deref(), &process_env)?)
    }

    /// `config.toml` with its mistakes, for `paned config`. It may be missing also where the user
    /// named it: `paned config init` writes it.
    pub(crate) fn load_config(&self) -> Result<ConfigFile> {
        Ok(ConfigFile::load(&self.config_path()?.0, false)?)
    }

    /// `config.toml`, read once.
    fn config(&self) -> Result<&ConfigFile> {
        if let Some(read) = self.config.get() {
            return Ok(read);
        }
        let (path, asked_for) = self.config_path()?;
        let read = ConfigFile::read(&path, asked_for)?;
        Ok(self.config.get_or_init(|| read))
    }

    /// The settings that flags of every command set.
    pub(crate) fn flags(&self) -> SettingFlags {
        let folder = self.global.state_dir.as_ref();
        let text = |folder: &PathBuf| ("state_dir", folder.to_string_lossy().into_owned());
        folder.map(text).into_iter().collect()
    }
}

/// What the user waits for while an action runs.
pub(crate) fn activity(action: &str) -> &'static str {
    match action {
        "agent:create" | "agent:restart" => "starting the agent",
        "agent:message" => "handing over the prompt",
        "agent:answer" => "answering the question",
        "agent:wait" => "waiting for the agent",
        "agent:interrupt" => "interrupting the agent",
        "agent:cleanup" => "deleting the worktree",
        "pane:new" | "pane:restart" => "starting the program",
        "pane:kill" | "pane:close" => "stopping the program",
        "ext:install" => "installing the extension",
        "ext:reload" | "ext:new" | "ext:set" => "starting the extension",
        "ext:remove" => "stopping the extension",
        "pane:search" => "searching",
        "server:upgrade" => "re-executing the server",
        "session:start" => "starting the session",
        "session:stop" => "stopping the session",
        _ => "waiting for the server",
    }
}
