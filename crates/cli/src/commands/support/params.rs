//! How arguments become parameters of an action, where the two differ in more than a name.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use paned_model::Refusal;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::settings::process_env;

/// Parameters for one of the panes that a command is given.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaneParams<'a, T> {
    pub(crate) pane_id: &'a str,
    #[serde(flatten)]
    pub(crate) args: &'a T,
}

/// Parameters, and with `--here` the tmux pane that this is typed in.
#[derive(Serialize)]
pub(crate) struct WindowParams<'a, T> {
    pub(crate) tmux: Option<String>,
    pub(crate) beside: Option<String>,
    #[serde(flatten)]
    pub(crate) args: &'a T,
}

impl<'a, T> WindowParams<'a, T> {
    /// The parameters of these arguments, which may have `--here` among them.
    ///
    /// # Errors
    /// When they have, and this is not typed in tmux.
    pub(crate) fn new(args: &'a T, here: bool) -> Result<Self, Refusal> {
        let tmux = process_env("TMUX").filter(|_| here);
        let beside = process_env("TMUX_PANE").filter(|_| here);
        if here && (tmux.is_none() || beside.is_none()) {
            return Err(Refusal::invalid("`--here` requires a terminal inside tmux"));
        }
        Ok(Self { tmux, beside, args })
    }
}

/// Parses `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Parses `NAME=VALUE`, where the value is JSON if it reads as JSON, and text otherwise.
pub(crate) fn json_pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = pair(text)?;
    Ok((key, serde_json::from_str(&value).unwrap_or(Value::String(value))))
}

/// Pairs as an object; of two with one name the last counts.
pub(crate) fn object<V: Serialize, S: Serializer>(
    pairs: &[(String, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// A folder resolved against our working directory, since the server has another.
pub(crate) fn from_here<S: Serializer>(
    folder: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let here =
        std::env::current_dir().context("cannot determine the working directory; pass `--cwd`");
    let here = here.map_err(|error| S::Error::custom(format!("{error:#}")))?;
    // Built from its components, which drops a slash at the end.
    let folder: PathBuf =
        here.join(folder.as_deref().unwrap_or("".as_ref())).components().collect();
    serializer.serialize_str(&folder.to_string_lossy())
}

/// A flag that switches a parameter off.
pub(crate) fn negated<S: Serializer>(flag: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!flag)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn meta_is_json_where_it_reads_as_json() {
        let read = |text: &str| json_pair(text).unwrap();
        assert_eq!(read("n=3"), ("n".into(), json!(3)));
        assert_eq!(read("who=ann"), ("who".into(), json!("ann")));
        assert_eq!(read("q=a=b"), ("q".into(), json!("a=b")));
        assert!(pair("alone").is_err());
    }
}
