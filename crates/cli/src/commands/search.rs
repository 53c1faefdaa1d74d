//! `paned search`: finds lines in what panes have printed.

mod context_lines;

use std::process::ExitCode;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::support::duration::millis;
use super::support::output;
use crate::client;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, units};
use context_lines::{ContextSize, ShownLine};

/// The exit code when nothing was found, as grep's.
const NOTHING_FOUND: u8 = 1;
/// The most hits that the server answers.
const MOST_HITS: usize = 1000;

/// Search the output of panes
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned search 'error|panic'               in all panes, also finished ones
  paned search timeout -i --pane web --pane db
  paned search panic -A 20                 each match with the 20 lines after it
  paned search TODO -c                     how many lines match, by pane
  paned search TODO --limit 1000 | sort

A terminal shows the matches below each pane's name, oldest first; a pipe has `pane:line:text`, \
with `-` in place of `:` for lines around a match. The newest matches are found first, so --limit \
leaves out old ones. The exit code is 1 when nothing matches, as with grep.

Patterns are regular expressions without backreferences and look-around.")]
pub(crate) struct Args {
    /// A regular expression, matched against each line without escape sequences
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Only in this pane; repeatable [default: all panes]
    #[arg(long, value_name = "PANE")]
    #[serde(rename = "panes", skip_serializing_if = "Vec::is_empty")]
    pane: Vec<String>,
    /// Maximum number of matching lines [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Time limit; a number alone is seconds [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
    /// Print N lines after each match
    #[arg(short = 'A', long, value_name = "N")]
    #[serde(skip)]
    after: Option<u64>,
    /// Print N lines before each match
    #[arg(short = 'B', long, value_name = "N")]
    #[serde(skip)]
    before: Option<u64>,
    /// Print N lines before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    #[serde(skip)]
    context: Option<u64>,
    /// Print only how many lines match in each pane
    #[arg(short, long, conflicts_with_all = ["after", "before", "context"])]
    #[serde(skip)]
    count: bool,
    /// Print matches only, no notes
    #[arg(short, long)]
    #[serde(skip)]
    quiet: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneSearchReply {
    hits: Vec<SearchHitReply>,
    panes: usize,
    truncated: bool,
    timed_out: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchHitReply {
    pane_id: String,
    n: u64,
    text: String,
    /// Where the pattern matches, as pairs of character positions.
    #[serde(default)]
    matches: Vec<(usize, usize)>,
    #[serde(default)]
    cut: bool,
}

pub(crate) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    if args.count {
        args.limit = args.limit.or(Some(MOST_HITS));
    }
    let answer: Value = context.call("pane:search", &args)?;
    let found = match context.out.is_json() {
        true => {
            context.out.json(&answer)?;
            client::read(answer)?
        }
        false => {
            let found: PaneSearchReply = client::read(answer)?;
            show(context, &args, &found)?;
            found
        }
    };
    Ok(if found.hits.is_empty() { NOTHING_FOUND.into() } else { ExitCode::SUCCESS })
}

fn show(context: &CliContext, args: &Args, found: &PaneSearchReply) -> Result<()> {
    let groups = groups(&found.hits);
    if args.count {
        for group in &groups {
            let count = format!(":{}", group.hits.len());
            let name = StyledLine::new(TextStyle::Accent(3), group.pane);
            context.out.line(name.then(TextStyle::Plain, &count))?;
        }
    } else {
        let size = ContextSize {
            before: args.before.or(args.context).unwrap_or(0),
            after: args.after.or(args.context).unwrap_or(0),
        };
        for (at, group) in groups.iter().enumerate() {
            if 0 < at && context.out.is_terminal() {
                context.out.line("")?;
            }
            group.show(context, size)?;
        }
    }
    if args.quiet { Ok(()) } else { note(context.out, found) }
}

/// The hits of one pane, oldest first.
struct PaneHits<'a> {
    pane: &'a str,
    hits: Vec<&'a SearchHitReply>,
}

/// The hits by pane, oldest first; the pane with the newest hit comes last.
fn groups(hits: &[SearchHitReply]) -> Vec<PaneHits<'_>> {
    let mut groups: Vec<PaneHits<'_>> = Vec::new();
    // The server answers the newest first.
    for hit in hits {
        match groups.iter_mut().find(|group| group.pane == hit.pane_id) {
            Some(group) => group.hits.push(hit),
            None => groups.push(PaneHits { pane: &hit.pane_id, hits: vec![hit] }),
        }
    }
    groups.reverse();
    for group in &mut groups {
        group.hits.sort_by_key(|hit| hit.n);
    }
    groups
}

impl PaneHits<'_> {
    fn show(&self, context: &CliContext, size: ContextSize) -> Result<()> {
        let out = context.out;
        if out.is_terminal() {
            out.line(StyledLine::new(TextStyle::Accent(3), self.pane))?;
        }
        let lines = context_lines::lines(context, self, size)?;
        let mut last = None;
        for line in &lines {
            // As grep does, so that only lines that follow each other are printed together.
            if size.is_some() && last.is_some_and(|last| last + 1 < line.n) {
                out.line(StyledLine::new(TextStyle::Faint, "--"))?;
            }
            last = Some(line.n);
            self.print(out, line)?;
        }
        Ok(())
    }

    fn print(&self, out: Out, line: &ShownLine) -> Result<()> {
        let mark = if line.is_match { ':' } else { '-' };
        if !out.is_terminal() && !out.has_colour() {
            return Ok(
                out.program_line(&format!("{}{mark}{}{mark}{}", self.pane, line.n, line.text))?
            );
        }
        let name = match out.is_terminal() {
            true => StyledLine::default(),
            false => StyledLine::new(TextStyle::Accent(3), &format!("{}{mark}", self.pane)),
        };
        let number = StyledLine::new(TextStyle::Faint, &format!("{}{mark}", line.n));
        Ok(out.line(name.with(number).with(highlighted(&line.text, &line.matches)))?)
    }
}

/// A line with its matches highlighted.
fn highlighted(text: &str, matches: &[(usize, usize)]) -> StyledLine {
    let chars: Vec<char> = text.chars().collect();
    let part = |from: usize, to: usize| -> String {
        chars.get(from..to.min(chars.len())).unwrap_or_default().iter().collect()
    };
    let mut line = StyledLine::default();
    let mut done = 0;
    for (start, end) in matches {
        line = line.then(TextStyle::Plain, &part(done, *start));
        line = line.then(TextStyle::Match, &part(*start, *end));
        done = *end;
    }
    line.then(TextStyle::Plain, &part(done, chars.len()))
}

fn note(out: Out, found: &PaneSearchReply) -> Result<()> {
    if found.hits.is_empty() {
        out.note(format!("paned: no match in {}", units::count(found.panes, "pane")))?;
    }
    output::note_cut_lines(out, found.hits.iter().filter(|hit| hit.cut).count())?;
    if found.truncated {
        out.note("paned: there are older matches; raise `--limit` or name panes with `--pane`")?;
    }
    if found.timed_out {
        out.note("paned: timed out before everything was searched; raise `--timeout`")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(pane: &str, n: u64) -> SearchHitReply {
        let (pane_id, text) = (pane.to_owned(), "x".to_owned());
        SearchHitReply { pane_id, n, text, matches: Vec::new(), cut: false }
    }

    #[test]
    fn hits_are_grouped_and_the_newest_comes_last() {
        let hits = [hit("web", 9), hit("db", 4), hit("web", 2), hit("db", 1)];
        let groups = groups(&hits);
        let shown: Vec<_> = groups
            .iter()
            .map(|group| (group.pane, group.hits.iter().map(|hit| hit.n).collect::<Vec<_>>()))
            .collect();
        assert_eq!(shown, [("db", vec![1, 4]), ("web", vec![2, 9])]);
    }

    #[test]
    fn matches_are_highlighted_by_character() {
        let line = highlighted("漢 error é error", &[(2, 7), (10, 15)]);
        let expect = "漢 \x1b[1;31merror\x1b[0m é \x1b[1;31merror\x1b[0m";
        assert_eq!(line.render(true), expect);
        assert_eq!(line.render(false), "漢 error é error");
        assert_eq!(highlighted("ab", &[(1, 9)]).render(false), "ab");
    }
}
