//! The arguments that every command takes which starts a program in a pane.

use paned_model::{Refusal, Size};
use serde::Serialize;
use serde_json::Value;

use super::environment::EnvironmentArgs;
use super::params::{json_pair, object};
use super::tty;
use crate::client::ApiClient;
use crate::out::Out;

/// What the new pane is like.
#[derive(clap::Args, Serialize)]
pub(crate) struct SpawnArgs {
    #[command(flatten)]
    #[serde(flatten)]
    environment: EnvironmentArgs,
    /// The title
    #[arg(long)]
    title: Option<String>,
    /// The size of its terminal, as in 120x40 [default: that of yours]
    #[arg(long)]
    pub(crate) size: Option<Size>,
    /// Metadata; the value is parsed as JSON if possible, otherwise it is text; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = json_pair)]
    #[serde(serialize_with = "object")]
    meta: Vec<(String, Value)>,
    /// A tag; repeatable
    #[arg(long, value_name = "TAG")]
    #[serde(rename = "tags")]
    tag: Vec<String>,
}

impl SpawnArgs {
    /// Fills in what the caller's shell has: its environment and the size of its terminal. Call
    /// this before the arguments are sent.
    ///
    /// # Errors
    /// When a variable to pass on is not set, or a file of variables cannot be read.
    pub(crate) fn resolve(&mut self, out: Out, client: &ApiClient) -> Result<(), Refusal> {
        self.size = self.size.or_else(tty::size);
        self.environment.resolve(out, client)
    }
}

/// Where it is shown.
#[derive(clap::Args, Serialize)]
pub(crate) struct SpawnViewArgs {
    /// Show it in tmux, in this session, which is started if there is none
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    session: Option<String>,
    /// Show it in the current tmux window
    #[arg(long)]
    #[serde(skip)]
    pub(crate) here: bool,
}
