//! What every command gets: how to print, and the global flags.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use crate::args::Global;
use crate::client::{self, ApiClient, EndpointSource, ServerEndpoint};
use crate::config::ConfigFile;
use crate::out::Out;
use crate::settings::{self, AgentmuxConfigFile, SettingFlags, Settings, Sources, process_env};
use crate::state_folder::StateFolder;

/// What every command gets.
pub(crate) struct CliContext {
    pub(crate) out: Out,
    pub(crate) global: Global,
}

impl CliContext {
    /// The settings, with these flags of the command on top.
    pub(crate) fn settings(&self, mut flags: SettingFlags) -> Result<Settings> {
        flags.extend(self.flags());
        let file = self.config()?;
        let legacy = &AgentmuxConfigFile::read(&process_env);
        Ok(Sources { flags: &flags, env: &process_env, file: &file, legacy }.resolve()?)
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
        let sources = Sources { flags: &flags, env: &process_env, file: &file, legacy };
        Ok(StateFolder::at(sources.state_dir()?))
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
        Ok(ApiClient::new(endpoint, source, &process_env))
    }

    /// Asks the server to run an action, and waits for the answer.
    pub(crate) fn action(&self, name: &str, params: &Value) -> Result<Value> {
        let client = self.client()?;
        client::block_on(client.action(name, params))?
    }

    fn config(&self) -> Result<ConfigFile> {
        let (path, asked_for) = settings::config_path(self.global.config.as_deref(), &process_env)?;
        Ok(ConfigFile::read(&path, asked_for)?)
    }

    fn flags(&self) -> SettingFlags {
        let folder = self.global.state_dir.as_ref();
        let text = |folder: &PathBuf| ("state_dir", folder.to_string_lossy().into_owned());
        folder.map(text).into_iter().collect()
    }
}
