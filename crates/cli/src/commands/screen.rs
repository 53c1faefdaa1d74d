//! `paned screen`: shows a pane's screen as it is now.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::ValueEnum;
use paned_model::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client;
use crate::context::CliContext;

/// Print a pane's current screen
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned screen web                rows of text; with colours in a terminal
  paned screen web -o web.png     a picture; the extension selects the format
  paned screen web --format svg > web.svg
  paned screen web --history 100  include rows that scrolled off its top
  paned screen web --json         also cursor, title, modes and revision")]
pub(crate) struct Args {
    /// The pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The format [default: from the file's extension; ansi in a terminal, text elsewhere]
    #[arg(long, value_enum)]
    format: Option<ScreenFormatArg>,
    /// Also print up to N rows that scrolled off its top, as text
    #[arg(long, value_name = "N", default_value = "0")]
    history: usize,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    output: Option<PathBuf>,
    /// Do not escape bidirectional control characters
    #[arg(long)]
    #[serde(skip)]
    raw: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum ScreenFormatArg {
    /// Rows of text
    Text,
    /// Rows with colours, as escape sequences
    Ansi,
    /// An SVG picture
    Svg,
    /// A picture
    Png,
}

/// What `pane:screen` answers, as far as it is shown.
#[derive(Deserialize)]
struct PaneScreenReply {
    #[serde(default)]
    history: Vec<String>,
    rows: Vec<String>,
    ansi: Option<String>,
    svg: Option<String>,
    png: Option<String>,
}

pub(crate) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    let is_for_terminal = context.out.is_terminal() && !context.out.is_json();
    // What scrolled off is kept as text.
    let is_plain = args.format.is_none() && args.output.is_none() && 0 < args.history;
    let requested = args.format.or(is_plain.then_some(ScreenFormatArg::Text));
    let format = format(requested, args.output.as_deref(), is_for_terminal)?;
    if 0 < args.history && format != ScreenFormatArg::Text {
        return Err(Refusal::invalid("`--history` requires the format text").into());
    }
    if format == ScreenFormatArg::Png && args.output.is_none() && is_for_terminal {
        return Err(
            Refusal::invalid("a terminal cannot show PNG; write to a file with `-o`").into()
        );
    }
    args.format = Some(format);
    let answer: Value = context.call("pane:screen", &args)?;
    if context.out.is_json() && args.output.is_none() {
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown: PaneScreenReply = client::read(answer)?;
    match &args.output {
        None => show(context, &args, format, &shown)?,
        Some(file) => write(context, file, &shown.bytes(format)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The requested format, or else that of the file's extension, or else the default for the output.
fn format(
    requested: Option<ScreenFormatArg>,
    file: Option<&Path>,
    is_for_terminal: bool,
) -> Result<ScreenFormatArg, Refusal> {
    let default = if file.is_none() && is_for_terminal {
        ScreenFormatArg::Ansi
    } else {
        ScreenFormatArg::Text
    };
    let extension = file.and_then(Path::extension).map(OsStr::to_string_lossy);
    match (requested, extension.as_deref()) {
        (Some(requested), _) => Ok(requested),
        (None, None) => Ok(default),
        (None, Some(extension)) if extension.eq_ignore_ascii_case("txt") => {
            Ok(ScreenFormatArg::Text)
        }
        (None, Some(extension)) => ScreenFormatArg::from_str(extension, true).map_err(|_| {
            let extension = extension.escape_debug();
            Refusal::invalid(format!(
                "unknown format `{extension}`; use the extension .png, .svg, .ansi or .txt, or \
                pass `--format`"
            ))
        }),
    }
}

fn show(
    context: &CliContext,
    args: &Args,
    format: ScreenFormatArg,
    shown: &PaneScreenReply,
) -> Result<()> {
    match format {
        ScreenFormatArg::Text => show_text(context, args, shown),
        ScreenFormatArg::Ansi | ScreenFormatArg::Svg if !args.raw => {
            let text = shown.bytes(format)?;
            Ok(context.out.ansi(&String::from_utf8_lossy(&text))?)
        }
        ScreenFormatArg::Ansi | ScreenFormatArg::Svg | ScreenFormatArg::Png => {
            Ok(context.out.bytes(&shown.bytes(format)?)?)
        }
    }
}

/// Blank rows at the bottom are left out: they only push the rest off the screen.
fn show_text(context: &CliContext, args: &Args, shown: &PaneScreenReply) -> Result<()> {
    let last = shown.rows.iter().rposition(|row| !row.is_empty());
    let rows = &shown.rows[..last.map_or(0, |last| last + 1)];
    let rows = shown.history.iter().chain(rows);
    if args.raw {
        let text: String = rows.map(|row| format!("{row}\n")).collect();
        return Ok(context.out.bytes(text.as_bytes())?);
    }
    Ok(context.out.program_lines(rows.map(String::as_str))?)
}

fn write(context: &CliContext, file: &Path, bytes: &[u8]) -> Result<()> {
    let name = file.display();
    fs::write(file, bytes)
        .map_err(|error| Refusal::invalid(format!("cannot write {name}: {error}")))?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "file": file, "bytes": bytes.len() }))?);
    }
    Ok(context.out.note(format!("paned: wrote {name}"))?)
}

impl PaneScreenReply {
    fn bytes(&self, format: ScreenFormatArg) -> Result<Vec<u8>> {
        let ended = |text: &str| format!("{}\n", text.trim_end_matches('\n')).into_bytes();
        let missing = || Refusal::internal("the server answered without the picture");
        Ok(match format {
            ScreenFormatArg::Text => {
                let rows: Vec<_> = self.history.iter().chain(&self.rows).cloned().collect();
                ended(&rows.join("\n"))
            }
            ScreenFormatArg::Ansi => ended(self.ansi.as_deref().ok_or_else(missing)?),
            ScreenFormatArg::Svg => ended(self.svg.as_deref().ok_or_else(missing)?),
            ScreenFormatArg::Png => {
                let base64 = self.png.as_deref().ok_or_else(missing)?;
                BASE64_STANDARD.decode(base64).context("the server sent invalid base64")?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        asked: Option<ScreenFormatArg>,
        file: Option<&str>,
        is_for_eyes: bool,
        expect: ScreenFormatArg,
    ) {
        assert_eq!(format(asked, file.map(Path::new), is_for_eyes), Ok(expect));
    }

    #[test]
    fn what_is_asked_for_beats_the_files_name_and_that_beats_the_reader() {
        check(Some(ScreenFormatArg::Svg), Some("a.png"), true, ScreenFormatArg::Svg);
        check(None, Some("a.PNG"), true, ScreenFormatArg::Png);
        check(None, Some("screen"), true, ScreenFormatArg::Text);
        check(None, Some("a.txt"), true, ScreenFormatArg::Text);
        check(None, None, true, ScreenFormatArg::Ansi);
        check(None, None, false, ScreenFormatArg::Text);
    }

    #[test]
    fn a_file_that_says_another_format_is_refused() {
        let refused = format(None, Some(Path::new("a.bmp")), false).unwrap_err();
        assert!(refused.sentence.contains("`bmp`") && refused.sentence.contains(".png"));
    }
}
