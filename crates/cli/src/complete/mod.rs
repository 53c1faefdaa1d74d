//! `paned complete`: the candidates for a word of a command line, for completion scripts.
//!
//! `paned complete SHELL INDEX WORD…` prints what kind of word it is and, for values, one candidate
//! in each line with its description. bash splits words at `:` and `=`, so its script passes the
//! line as it is: `paned complete bash POINT BREAKS LINE`. Nothing is printed on standard error and
//! no server is started, because completion must not disturb a shell.

mod line;
mod server_names;
mod source;
mod walk;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Command;

use crate::args::Cli;
use source::ValueSource;
use walk::SlotKind;

/// A word that can be completed to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    value: String,
    about: String,
}

impl Candidate {
    fn new(value: impl Into<String>, about: impl Into<String>) -> Self {
        Self { value: value.into(), about: about.into() }
    }
}

/// What a shell asks: the words of the line, and which of them is completed.
struct CompletionRequest {
    shell: Shell,
    words: Vec<String>,
    /// Characters before which bash has cut the word.
    breaks: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the answer for the arguments after `complete`.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some(request) = read(&args) else { return ExitCode::FAILURE };
    let answer = answer(&request);
    match io::stdout().write_all(answer.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read(args: &[String]) -> Option<CompletionRequest> {
    let (shell, rest) = args.split_first()?;
    if shell == "bash" {
        let [point, breaks, line] = rest else { return None };
        let words = line::words(line, point.parse().ok()?);
        return Some(CompletionRequest { shell: Shell::Bash, words, breaks: breaks.clone() });
    }
    let shell = if shell == "zsh" { Shell::Zsh } else { Shell::Fish };
    let (index, words) = rest.split_first()?;
    let mut words = words.to_vec();
    words.resize(index.parse::<usize>().ok()?.min(words.len()) + 1, String::new());
    Some(CompletionRequest { shell, words, breaks: String::new() })
}

fn answer(request: &CompletionRequest) -> String {
    let root = Cli::whole_command();
    let Some((word, before)) = request.words.get(1..).and_then(<[_]>::split_last) else {
        return "values\n".to_owned();
    };
    let slot = walk::slot(&root, before, word);
    let (candidates, prefix) = match &slot.kind {
        SlotKind::Program { at } => return format!("command {}\n", at + 1),
        SlotKind::Subcommand => (subcommands(slot.command), ""),
        SlotKind::Flag => (flags(&root, slot.command), ""),
        SlotKind::Value { arg, prefix } => match source::of(&slot.path, arg) {
            ValueSource::Files => return "files\n".to_owned(),
            ValueSource::Folders => return "folders\n".to_owned(),
            ValueSource::Words(words) => (words, prefix.as_str()),
            ValueSource::Server(names) => (server_names::ask(names, &slot), prefix.as_str()),
        },
        SlotKind::Nothing => (Vec::new(), ""),
    };
    let partial = &word[prefix.len()..];
    let is_new = |it: &Candidate| it.value == partial || !slot.given.contains(&it.value);
    // Tags come from programs: one with a control character is never offered.
    let is_word = |it: &Candidate| !it.value.contains(char::is_control);
    print(request, word, prefix, candidates.into_iter().filter(is_word).filter(is_new))
}

/// The answer's lines: `values`, then the candidates.
fn print(
    request: &CompletionRequest,
    word: &str,
    prefix: &str,
    candidates: impl Iterator<Item = Candidate>,
) -> String {
    let mut text = "values\n".to_owned();
    // bash replaces what is behind the last of these characters.
    let cut = word.rfind(|letter| request.breaks.contains(letter)).map_or(0, |at| at + 1);
    for Candidate { value, about } in candidates {
        let value = format!("{prefix}{value}");
        let about = about.lines().next().unwrap_or_default().replace('\t', " ");
        let _ = match request.shell {
            Shell::Bash if !value.starts_with(word) => Ok(()),
            Shell::Bash => writeln!(text, "{}", quoted(value.get(cut..).unwrap_or_default())),
            Shell::Zsh if about.is_empty() => writeln!(text, "{}", value.replace(':', "\\:")),
            Shell::Zsh => writeln!(text, "{}:{about}", value.replace(':', "\\:")),
            Shell::Fish => writeln!(text, "{value}\t{about}"),
        };
    }
    text
}

/// A value as bash may put it into a command line, which it does as it is. A backslash before each
/// character that could mean something keeps the value a word, also behind an open quote.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    let mut text = String::new();
    for c in value.chars() {
        if !is_plain(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

fn subcommands(command: &Command) -> Vec<Candidate> {
    let visible = command.get_subcommands().filter(|it| !it.is_hide_set());
    let about = |it: &Command| it.get_about().map(ToString::to_string).unwrap_or_default();
    visible.map(|it| Candidate::new(it.get_name(), about(it))).collect()
}

/// The flags of a command, and those of every command, which are hidden in its own help.
fn flags(root: &Command, command: &Command) -> Vec<Candidate> {
    let own = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let global = root.get_arguments().filter(|arg| arg.is_global_set());
    let flag = |arg: &clap::Arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Candidate::new(format!("--{}", arg.get_long()?), about))
    };
    let help = Candidate::new("--help", "Print help");
    own.chain(global).filter_map(flag).chain([help]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a line of bash with the cursor at its end.
    fn bash(line: &str) -> Vec<String> {
        let args = ["bash", &line.len().to_string(), " =:", line].map(str::to_owned);
        answer(&read(&args).unwrap()).lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        assert_eq!(bash(line), expect, "{line}");
    }

    #[test]
    fn commands_and_flags_are_offered_where_they_are_meant() {
        check("paned atta", &["values", "attach"]);
        check("paned server sta", &["values", "start", "status"]);
        check("paned wait --patt", &["values", "--pattern"]);
        check("paned wait --js", &["values", "--json"]);
        check("paned nosuch x", &["values"]);
    }

    #[test]
    fn words_of_the_program_are_left_to_the_shell() {
        check("paned run -- ls -", &["command 3"]);
        check("paned run ls -", &["command 2"]);
        check("paned new --title x -- ", &["command 5"]);
        check("paned agent new codex -- ", &["command 5"]);
    }

    #[test]
    fn files_are_offered_for_paths_only() {
        check("paned --config ", &["files"]);
        check("paned screen web --output=x", &["files"]);
        check("paned new --cwd ", &["folders"]);
        check("paned new --title ", &["values"]);
        check("paned send web ", &["values"]);
    }

    #[test]
    fn words_that_the_program_knows_are_offered() {
        check("paned token create --scope sp", &["values", "spawn"]);
        check("paned token create --scope=sp", &["values", "spawn"]);
        check("paned new --on-view-closed ", &["values", "close", "detach"]);
        check("paned config show layout.k", &["values", "layout.kind"]);
    }
}
