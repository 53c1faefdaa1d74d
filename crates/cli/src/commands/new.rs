//! `paned new`: starts a program in a new pane.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::{PaneId, PaneInfo, Size};
use serde_json::{Map, Value, json};

use super::layout::current_tmux_pane;
use super::support::duration::seconds;
use super::{params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned new                                   a login shell here
  paned new -- cargo watch -x test            a program with its arguments
  paned new --id web --size 120x40 -- npm run dev
  paned new --session work -- vim notes.md    shown in tmux: `paned session attach work`
  paned new --env PORT=3000 --meta owner=ann --tag web --timeout 10m -- ./serve";

/// Start a program in a new pane and print the pane's id
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to name it; a name is made up when left out
    #[arg(long)]
    id: Option<PaneId>,
    /// Where to start it [default: here]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// What to call it
    #[arg(long)]
    title: Option<String>,
    /// How large its terminal is, as in 120x40
    #[arg(long)]
    size: Option<Size>,
    /// A variable on top of the server's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// Free data; the value is JSON where it reads as JSON, text otherwise
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    meta: Vec<(String, String)>,
    /// A label
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// End it after so long, as in 90s or 10m; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    timeout: Option<u32>,
    /// Have automatic clean-up leave it alone
    #[arg(long)]
    persist: bool,
    /// Tell its end by a notice: an event, and a message to the agent that started it
    #[arg(long)]
    notify_on_exit: bool,
    /// What the token of its program may do besides reading and typing: spawn, approve
    #[arg(long, value_name = "POWER", value_delimiter = ',', value_parser = ["spawn", "approve"])]
    can: Vec<String>,
    /// Show it in tmux, in this session, which is started if there is none
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    session: Option<String>,
    /// Show it in the tmux window that this is typed in
    #[arg(long)]
    here: bool,
    /// Show it in tmux: never, always, or auto, if its command needs a user who looks at it
    #[arg(long, value_name = "WHEN", value_parser = ["never", "auto", "always"])]
    visible: Option<String>,
    /// What happens to it when the user closes it in tmux: close or detach
    #[arg(long, value_name = "WHAT", value_parser = ["close", "detach"])]
    on_view_closed: Option<String>,
    /// The program and its arguments [default: your login shell]
    #[arg(trailing_var_arg = true)]
    argv: Vec<String>,
}

#[cfg(test)]
impl Args {
    /// The program and its arguments.
    pub(crate) fn argv(&self) -> &[String] {
        &self.argv
    }
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let answer = context.action("pane:new", &request(args)?)?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        let pane: PaneInfo = read(answer)?;
        context.out.line(pane.id.as_str())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: Args) -> Result<Value> {
    let cwd = from_here(args.cwd)?;
    let text = |(name, value): (String, String)| (name, Value::String(value));
    let here = if args.here { current_tmux_pane()? } else { Map::new() };
    let mut request = params([
        ("id", json!(args.id)),
        ("argv", if args.argv.is_empty() { Value::Null } else { json!(args.argv) }),
        ("cwd", json!(cwd)),
        ("title", json!(args.title)),
        ("size", json!(args.size)),
        ("env", args.env.into_iter().map(text).collect::<Map<_, _>>().into()),
        ("meta", args.meta.into_iter().map(json_or_text).collect::<Map<_, _>>().into()),
        ("tags", json!(args.tag)),
        ("timeoutSeconds", json!(args.timeout)),
        ("persist", json!(args.persist)),
        ("notifyOnExit", json!(args.notify_on_exit)),
        ("can", if args.can.is_empty() { Value::Null } else { json!(args.can) }),
        ("session", json!(args.session)),
        ("visible", json!(args.visible)),
        ("onViewClosed", json!(args.on_view_closed)),
    ]);
    if let Some(request) = request.as_object_mut() {
        request.extend(here);
    }
    Ok(request)
}

/// Resolves a folder against our working directory, since the server has another.
pub(super) fn from_here(folder: Option<PathBuf>) -> Result<String> {
    let here = std::env::current_dir().context("cannot tell where we are; say it with `--cwd`")?;
    // Built from its components, which drops a slash at the end.
    let folder: PathBuf = here.join(folder.unwrap_or_default()).components().collect();
    Ok(folder.to_string_lossy().into_owned())
}

pub(super) fn json_or_text((key, value): (String, String)) -> (String, Value) {
    let json = serde_json::from_str(&value).ok();
    (key, json.unwrap_or(Value::String(value)))
}

/// Parses `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_json_where_it_reads_as_json() {
        let read = |text: &str| json_or_text(pair(text).unwrap());
        assert_eq!(read("n=3"), ("n".into(), json!(3)));
        assert_eq!(read("who=ann"), ("who".into(), json!("ann")));
        assert_eq!(read("q=a=b"), ("q".into(), json!("a=b")));
        assert!(pair("alone").is_err());
    }
}
