//! The arguments that every command takes which starts a program in a pane and returns.

use std::path::PathBuf;

use paned_model::Size;
use serde::Serialize;
use serde_json::Value;

use super::params::{from_here, json_pair, object, pair};

/// What the new pane is like.
#[derive(clap::Args, Serialize)]
pub(crate) struct SpawnArgs {
    /// Where to start it [default: here]
    #[arg(long, value_name = "FOLDER")]
    #[serde(serialize_with = "from_here")]
    cwd: Option<PathBuf>,
    /// What to call it
    #[arg(long)]
    title: Option<String>,
    /// How large its terminal is, as in 120x40
    #[arg(long)]
    size: Option<Size>,
    /// A variable on top of the server's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    #[serde(serialize_with = "object")]
    env: Vec<(String, String)>,
    /// Free data; the value is JSON where it reads as JSON, text otherwise
    #[arg(long, value_name = "KEY=VALUE", value_parser = json_pair)]
    #[serde(serialize_with = "object")]
    meta: Vec<(String, Value)>,
    /// A label
    #[arg(long, value_name = "TAG")]
    #[serde(rename = "tags")]
    tag: Vec<String>,
}

/// Where it is shown.
#[derive(clap::Args, Serialize)]
pub(crate) struct SpawnViewArgs {
    /// Show it in tmux, in this session, which is started if there is none
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    session: Option<String>,
    /// Show it in the tmux window that this is typed in
    #[arg(long)]
    #[serde(skip)]
    pub(crate) here: bool,
}
