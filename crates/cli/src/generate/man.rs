//! Man pages: `paned.1`, and one for each command, such as `paned-agent-new.1`.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::args::Cli;
use crate::help;

/// A man page and the name of its file.
pub(super) struct ManPage {
    pub(super) file: String,
    pub(super) text: String,
}

/// The pages of all commands.
pub(super) fn pages() -> Vec<ManPage> {
    let mut root = Cli::whole_command();
    root.build();
    let mut pages = vec![overview(&root)];
    for command in visible(&root) {
        collect(command, "paned", &mut pages);
    }
    pages
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

fn collect(command: &Command, parent: &str, pages: &mut Vec<ManPage>) {
    let name = format!("{parent}-{}", command.get_name());
    pages.push(page(command, &name));
    for inner in visible(command) {
        collect(inner, &name, pages);
    }
}

/// `paned.1`: what `paned --help` prints, and where the other pages are.
fn overview(root: &Command) -> ManPage {
    let mut text = head("paned", root);
    text += ".SH SYNOPSIS\n\\fBpaned\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n";
    text += ".SH DESCRIPTION\n";
    text += &verbatim(&help::long_text());
    text += ".SH FILES\n.TP\n\\fI~/.config/paned/config.toml\\fR\nSettings; see \\fBpaned\\-config\\fR(1).\n";
    text += ".TP\n\\fI~/.local/state/paned\\fR\nPanes, journal and logs.\n";
    text += ".SH SEE ALSO\n";
    let pages: Vec<_> =
        visible(root).map(|it| format!("\\fBpaned\\-{}\\fR(1)", escape(it.get_name()))).collect();
    let _ = writeln!(text, "{}", pages.join(", "));
    ManPage { file: "paned.1".to_owned(), text }
}

fn page(command: &Command, name: &str) -> ManPage {
    let mut text = head(name, command);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(text, ".SH SYNOPSIS\n{}", verbatim(usage));
    if let Some(about) = command.get_long_about() {
        let _ = writeln!(text, ".SH DESCRIPTION\n{}", escape(&about.to_string()));
    }
    let inner: Vec<_> = visible(command).collect();
    if !inner.is_empty() {
        text += ".SH COMMANDS\n";
        for command in inner {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let page = format!("{name}-{}", command.get_name());
            let _ = writeln!(text, ".TP\n\\fB{}\\fR(1)\n{}", escape(&page), escape(&about));
        }
    }
    let args: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    if !args.is_empty() {
        text += ".SH OPTIONS\n";
        args.iter().for_each(|arg| text += &option(arg));
    }
    if let Some(more) = command.get_after_help() {
        text += &sections(&more.to_string());
    }
    text += ".SH SEE ALSO\n\\fBpaned\\fR(1) has the options of every command.\n";
    ManPage { file: format!("{name}.1"), text }
}

fn head(name: &str, command: &Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let title = escape(&name.to_uppercase());
    let name = escape(name);
    format!(
        ".TH \"{title}\" 1 \"\" \"paned {version}\" \"paned\"\n.SH NAME\n{name} \\- {}\n",
        escape(&about)
    )
}

/// A flag or a positional argument with its help and its values.
fn option(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let flags: Vec<_> = short.into_iter().chain(long).collect();
    let names = arg.get_value_names().unwrap_or_default().join(" ");
    let value = if arg.get_action().takes_values() { names } else { String::new() };
    let flags: Vec<_> = flags.iter().map(|flag| format!("\\fB{}\\fR", escape(flag))).collect();
    let value = if value.is_empty() { value } else { format!("\\fI{}\\fR", escape(&value)) };
    let tag = [flags.join(", "), value].into_iter().filter(|it| !it.is_empty());
    let tag = tag.collect::<Vec<_>>().join(" ");
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let choices = arg.get_possible_values();
    let choices: Vec<_> =
        choices.iter().filter(|it| !it.is_hide_set()).map(|it| it.get_name()).collect();
    let choices = match choices.is_empty() || !arg.get_action().takes_values() {
        true => String::new(),
        false => format!(" [possible values: {}]", choices.join(", ")),
    };
    format!(".TP\n{tag}\n{}\n", escape(&format!("{help}{choices}")))
}

/// The text below a command's help: examples are a section of their own, with their line breaks.
fn sections(text: &str) -> String {
    let mut roff = String::new();
    let mut is_example = false;
    for block in text.split("\n\n") {
        match block.strip_prefix("Examples:\n") {
            Some(examples) => {
                is_example = true;
                let _ = write!(roff, ".SH EXAMPLES\n{}", verbatim(examples));
            }
            None => {
                roff += if is_example { ".SH NOTES\n" } else { ".PP\n" };
                is_example = false;
                let _ = writeln!(roff, "{}", escape(&block.replace('\n', " ")));
            }
        }
    }
    roff
}

/// Lines as they are.
fn verbatim(text: &str) -> String {
    format!(".nf\n{}\n.fi\n", escape(text.trim_end()))
}

/// Text in which nothing is a command of roff, in ASCII.
fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let line = |line: &str| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    };
    let text = text.lines().map(line).collect::<Vec<_>>().join("\n");
    text.chars().fold(String::new(), |mut ascii, letter| {
        let _ = match letter {
            letter if letter.is_ascii() => write!(ascii, "{letter}"),
            letter => write!(ascii, "\\[u{:04X}]", u32::from(letter)),
        };
        ascii
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let pages = pages();
        let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
        for file in ["paned.1", "paned-new.1", "paned-agent.1", "paned-agent-new.1"] {
            assert!(files.contains(&file), "{file}: {files:?}");
        }
        for page in &pages {
            assert!(page.text.starts_with(".TH \"PANED"), "{}", page.file);
            assert!(page.file == "paned.1" || page.text.contains(".SH SYNOPSIS"), "{}", page.file);
        }
        let new = pages.iter().find(|page| page.file == "paned-new.1").unwrap();
        assert!(new.text.contains("\n.SH EXAMPLES\n.nf\n  paned new "), "{}", new.text);
    }

    #[test]
    fn text_is_never_a_command_of_roff() {
        assert_eq!(escape(".x\n'y\n a-b \\n"), "\\&.x\n\\&'y\n a\\-b \\en");
        assert_eq!(escape("…"), "\\[u2026]");
    }
}
