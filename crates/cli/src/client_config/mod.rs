//! Edits of configuration files that belong to other programs: agents and MCP clients.
//!
//! An [`Edit`] is pure: the text of a file in, the new text out. Comments, order, indentation, line
//! endings and unknown keys stay as they are. [`file`] alone reads and writes.

mod command;
mod diff;
mod file;
mod homes;
mod json_hooks;
mod json_server;
mod json_text;
mod lines;
mod plan;
mod script;
mod toml_server;
mod yaml;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use command::{OwnCommand, is_own_command, own_program};
pub(crate) use homes::Homes;
pub(crate) use plan::{ChangeArgs, Operation, Target, change, status};

/// What is put into a file, and how.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Hooks in the format that Claude Code, Codex and Gemini CLI share.
    JsonHooks(HookEvents),
    /// A whole file of ours, with this text.
    Script(String),
    /// The notification command of aider, in YAML.
    AiderNotification {
        /// The command.
        command: String,
    },
    /// A server in an object of a JSON file.
    JsonServer {
        /// The object that has a member for each server.
        parent: &'static str,
        /// Our member.
        server: Value,
    },
    /// A server in a table of a TOML file.
    TomlServer {
        /// The table that has a table for each server.
        parent: &'static str,
        /// Our table.
        server: Value,
    },
}

/// The hooks of one agent.
#[derive(Clone, Debug)]
pub(crate) struct HookEvents {
    /// The profile of the agent; it marks the commands that are ours.
    pub(crate) agent: &'static str,
    /// The events to report.
    pub(crate) events: &'static [&'static str],
    /// The command that reports them.
    pub(crate) command: String,
    /// How long the agent waits for it, in its own unit.
    pub(crate) timeout: u32,
}

/// The name of our member among the servers of an MCP client.
pub(crate) const SERVER: &str = "paned";

/// Why a file cannot be edited: a clause that follows the file's path.
pub(crate) type EditError = String;

/// What a file contains of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstallState {
    /// Exactly what would be installed.
    Current,
    /// Something of ours that would be installed differently now; the commands it runs.
    Outdated(Vec<String>),
    /// Nothing.
    Absent,
}

impl Edit {
    /// The text with our part in it. It is the same text if the part is there already.
    ///
    /// # Errors
    /// When the text cannot be parsed, or has no room for our part.
    pub(crate) fn install(&self, text: &str) -> Result<String, EditError> {
        lines::preserving(text, |text| match self {
            Self::JsonHooks(hooks) => json_hooks::install(text, hooks),
            Self::Script(own) => script::install(text, own),
            Self::AiderNotification { command } => yaml::install(text, command),
            Self::JsonServer { parent, server } => json_server::install(text, parent, server),
            Self::TomlServer { parent, server } => toml_server::install(text, parent, server),
        })
    }

    /// The text without our part.
    ///
    /// # Errors
    /// When the text cannot be parsed.
    pub(crate) fn remove(&self, text: &str) -> Result<String, EditError> {
        lines::preserving(text, |text| match self {
            Self::JsonHooks(hooks) => json_hooks::remove(text, hooks.agent),
            Self::Script(_) => script::remove(text),
            Self::AiderNotification { .. } => yaml::remove(text),
            Self::JsonServer { parent, .. } => json_server::remove(text, parent),
            Self::TomlServer { parent, .. } => toml_server::remove(text, parent),
        })
    }

    /// What the text contains of ours.
    ///
    /// # Errors
    /// When the text cannot be parsed.
    pub(crate) fn installed(&self, text: &str) -> Result<InstallState, EditError> {
        if self.remove(text)? == text {
            return Ok(InstallState::Absent);
        }
        // A part that cannot be installed again is not the one that would be.
        if self.install(text).is_ok_and(|installed| installed == text) {
            return Ok(InstallState::Current);
        }
        Ok(InstallState::Outdated(self.commands(text)))
    }

    /// The commands of our part.
    fn commands(&self, text: &str) -> Vec<String> {
        match self {
            Self::JsonHooks(hooks) => json_hooks::commands(text, hooks.agent),
            Self::Script(_) => script::commands(text),
            Self::AiderNotification { .. } => yaml::commands(text),
            Self::JsonServer { parent, .. } => json_server::commands(text, parent),
            Self::TomlServer { parent, .. } => toml_server::commands(text, parent),
        }
    }
}
