//! What every command works with: how to print, and what was said before the command.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use crate::args::Global;
use crate::client::{self, Client, Place, Reason};
use crate::config::File;
use crate::out::Out;
use crate::settings::{self, Flags, Legacy, Settings, Sources, process_env};
use crate::state::State;

/// What every command works with.
pub(crate) struct Context {
    pub(crate) out: Out,
    pub(crate) global: Global,
}

impl Context {
    /// The settings, with these flags of the command on top.
    pub(crate) fn settings(&self, mut flags: Flags) -> Result<Settings> {
        flags.extend(self.flags());
        let file = self.config()?;
        let legacy = &Legacy::read(&process_env);
        Ok(Sources { flags: &flags, env: &process_env, file: &file, legacy }.settle()?)
    }

    /// The state folder of the server we talk to.
    pub(crate) fn state(&self) -> Result<State> {
        if let Some((Place::Unix(socket), _)) = Place::asked_for(&self.global, &process_env)?
            && let Some(state) = State::of_socket(&socket)
        {
            return Ok(state);
        }
        let (flags, file) = (self.flags(), self.config()?);
        let legacy = &Legacy::default();
        let sources = Sources { flags: &flags, env: &process_env, file: &file, legacy };
        Ok(State::at(sources.folder()?))
    }

    /// Whoever talks to the server.
    pub(crate) fn client(&self) -> Result<Client> {
        let (place, reason) = match Place::asked_for(&self.global, &process_env)? {
            Some(asked) => asked,
            None if self.global.state_dir.is_some() => (Place::of(&self.state()?), Reason::Folder),
            None => (Place::of(&self.state()?), Reason::Usual),
        };
        Ok(Client::new(place, reason, &process_env))
    }

    /// Asks the server to run an action, and waits for the answer.
    pub(crate) fn action(&self, name: &str, params: &Value) -> Result<Value> {
        let client = self.client()?;
        client::block_on(client.action(name, params))?
    }

    fn config(&self) -> Result<File> {
        let (path, asked_for) = settings::config_path(self.global.config.as_deref(), &process_env)?;
        Ok(File::read(&path, asked_for)?)
    }

    fn flags(&self) -> Flags {
        let folder = self.global.state_dir.as_ref();
        let text = |folder: &PathBuf| ("state_dir", folder.to_string_lossy().into_owned());
        folder.map(text).into_iter().collect()
    }
}
