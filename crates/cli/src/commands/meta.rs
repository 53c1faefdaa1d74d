//! `paned meta` and `paned tag`: free data and free labels of a pane.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::near::{did_you_mean, nearest};
use paned_model::{Meta, PaneInfo, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::support::params::json_pair;
use crate::context::CliContext;
use crate::out::{Out, StyledLine};

/// Show or change a pane's metadata
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned meta web                       show all entries
  paned meta web owner                 show one entry
  paned meta web owner=ann port=3000   set two
  paned meta web --delete owner

A value is parsed as JSON if possible, otherwise it is text.")]
pub(crate) struct MetaArgs {
    /// The pane
    pane: String,
    /// Keys to show, or KEY=VALUE to set
    #[arg(value_name = "KEY[=VALUE]")]
    entries: Vec<String>,
    /// Delete this entry; repeatable
    #[arg(short, long, value_name = "KEY")]
    delete: Vec<String>,
}

#[derive(Deserialize)]
struct MetaReply {
    meta: Meta,
}

pub(crate) fn meta(context: &CliContext, args: &MetaArgs) -> Result<ExitCode> {
    let (set, keys): (Vec<&String>, Vec<&String>) =
        args.entries.iter().partition(|entry| entry.contains('='));
    let changes = !set.is_empty() || !args.delete.is_empty();
    if changes && !keys.is_empty() {
        let sentence = format!("`{}` has no value; write it as {0}=VALUE", keys[0].escape_debug());
        return Err(Refusal::invalid(sentence).into());
    }
    if !changes {
        return context.show(
            "pane:get-meta",
            &json!({ "paneId": args.pane }),
            |reply: MetaReply| show_meta(context.out, &reply.meta, &keys),
        );
    }
    let set: Vec<(String, Value)> = set
        .iter()
        .map(|entry| json_pair(entry).map_err(Refusal::invalid))
        .collect::<Result<_, _>>()?;
    let set: Meta = set.into_iter().collect();
    let params = json!({ "paneId": args.pane, "set": set, "deleteKeys": args.delete });
    context.show("pane:update-meta", &params, |reply: MetaReply| {
        show_meta(context.out, &reply.meta, &[])
    })
}

/// Prints all entries, or the values of these keys.
fn show_meta(out: Out, meta: &Meta, keys: &[&String]) -> Result<()> {
    for key in keys {
        let Some(value) = meta.get(key.as_str()) else {
            let near = nearest(key, meta.keys().map(String::as_str));
            let hint = did_you_mean(&near).unwrap_or("`paned meta PANE` shows all keys".to_owned());
            let sentence = format!("no entry `{}`; {hint}", key.escape_debug());
            return Err(Refusal::not_found(sentence).into());
        };
        out.line(text(value))?;
    }
    if !keys.is_empty() {
        return Ok(());
    }
    if meta.is_empty() {
        return Ok(out.note("no meta data; set some with `paned meta PANE KEY=VALUE`")?);
    }
    let entries: Vec<(&str, StyledLine)> =
        meta.iter().map(|(key, value)| (key.as_str(), text(value).into())).collect();
    Ok(out.fields(&entries)?)
}

/// A value as it would be typed.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Show, add or remove a pane's tags
#[derive(clap::Args)]
#[command(
    override_usage = "paned tag PANE [+TAG|-TAG]...",
    after_help = "\
Examples:
  paned tag web                    show them
  paned tag web +server -old       add one and remove one
  paned ls --tag server            list the panes with a tag
  paned kill --tag server          stop them"
)]
pub(crate) struct TagArgs {
    /// The pane
    pane: String,
    /// Tags to add, with or without +, and tags to remove, with -
    #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "+TAG|-TAG")]
    tags: Vec<String>,
}

/// The parameters of `pane:tag`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct TagParams {
    pane_id: String,
    add: Vec<String>,
    remove: Vec<String>,
}

#[derive(Deserialize)]
struct TagReply {
    tags: Vec<String>,
}

pub(crate) fn tag(context: &CliContext, args: &TagArgs) -> Result<ExitCode> {
    if args.tags.is_empty() {
        let params = json!({ "paneId": args.pane });
        return context
            .show("pane:get", &params, |pane: PaneInfo| show_tags(context.out, &pane.tags));
    }
    let mut params = TagParams { pane_id: args.pane.clone(), ..TagParams::default() };
    for word in &args.tags {
        match word.strip_prefix('-') {
            Some(flag) if flag.starts_with('-') => {
                let word = word.escape_debug();
                let sentence = format!("`{word}` comes after the pane; pass flags before it");
                return Err(Refusal::invalid(sentence).into());
            }
            Some(tag) => params.remove.push(tag.to_owned()),
            None => params.add.push(word.strip_prefix('+').unwrap_or(word).to_owned()),
        }
    }
    context.show("pane:tag", &params, |reply: TagReply| show_tags(context.out, &reply.tags))
}

fn show_tags(out: Out, tags: &[String]) -> Result<()> {
    match tags.is_empty() {
        true => Ok(out.note("no tags")?),
        false => Ok(out.line(tags.join(" "))?),
    }
}
