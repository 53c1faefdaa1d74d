//! The server's sentences in the words of the command line.
//!
//! A sentence of the kernel names actions and parameters, because it is read over HTTP as well. On
//! the command line `pane:close` is `paned close web` and `graceMs` is `--grace-ms`. Nothing else
//! of a sentence is changed, and JSON output is never changed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clap::Command;
use paned_model::PaneId;

use crate::args::Cli;

/// The commands of actions. A `…` is the pane that the sentence is about.
const COMMANDS: &[(&str, &str)] = &[
    ("agent:answer", "paned agent answer …"),
    ("agent:cancel", "paned action agent:cancel"),
    ("agent:cleanup", "paned agent rm --idle"),
    ("agent:create", "paned agent new"),
    ("agent:explain", "paned agent explain …"),
    ("agent:interrupt", "paned agent interrupt …"),
    ("agent:last", "paned agent last …"),
    ("agent:list", "paned agent ls"),
    ("agent:message", "paned agent send …"),
    ("agent:messages", "paned action agent:messages"),
    ("agent:profiles", "paned agent profiles"),
    ("agent:record", "paned agent record …"),
    ("agent:restart", "paned agent restart …"),
    ("agent:set-state", "paned action agent:set-state"),
    ("agent:state", "paned agent state …"),
    ("agent:wait", "paned agent wait …"),
    ("event:emit", "paned emit"),
    ("event:list", "paned action event:list"),
    ("ext:info", "paned ext info"),
    ("ext:install", "paned ext install"),
    ("ext:list", "paned ext list"),
    ("ext:logs", "paned ext logs"),
    ("ext:new", "paned ext new"),
    ("ext:reload", "paned ext reload"),
    ("ext:remove", "paned ext remove"),
    ("ext:set", "paned ext set"),
    ("grant:create", "paned token create"),
    ("grant:create-code", "paned web"),
    ("grant:list", "paned token list"),
    ("grant:revoke", "paned token revoke"),
    ("layout:apply", "paned layout apply"),
    ("layout:get", "paned layout get"),
    ("layout:hide", "paned layout hide …"),
    ("layout:place", "paned layout place …"),
    ("layout:plan", "paned layout plan …"),
    ("layout:save", "paned layout save"),
    ("pane:activate", "paned activate …"),
    ("pane:adopt", "paned adopt …"),
    ("pane:close", "paned close …"),
    ("pane:delete-meta", "paned meta …"),
    ("pane:get", "paned get …"),
    ("pane:get-meta", "paned meta …"),
    ("pane:keys", "paned keys …"),
    ("pane:kill", "paned kill …"),
    ("pane:list", "paned ls"),
    ("pane:marks", "paned action pane:marks"),
    ("pane:new", "paned new"),
    ("pane:paste", "paned paste …"),
    ("pane:prune", "paned prune"),
    ("pane:read", "paned read …"),
    ("pane:record", "paned record …"),
    ("pane:release", "paned action pane:release"),
    ("pane:remove", "paned rm …"),
    ("pane:rename", "paned rename …"),
    ("pane:resize", "paned resize …"),
    ("pane:restart", "paned restart …"),
    ("pane:run", "paned run"),
    ("pane:screen", "paned screen …"),
    ("pane:search", "paned search"),
    ("pane:set-meta", "paned meta …"),
    ("pane:tag", "paned tag …"),
    ("pane:update-meta", "paned meta …"),
    ("pane:wait", "paned wait …"),
    ("pane:write", "paned write …"),
    ("permission:test", "paned permit test …"),
    ("server:status", "paned server status"),
    ("server:stop", "paned server stop"),
    ("server:upgrade", "paned server upgrade"),
    ("session:list", "paned session list"),
    ("session:start", "paned session start"),
    ("session:stop", "paned session stop"),
    ("shell:run", "paned action shell:run"),
    ("subagent:closed", "paned action subagent:closed"),
    ("subagent:opened", "paned action subagent:opened"),
    ("tmux:list", "paned tmux ls"),
    ("GET /actions", "paned list"),
];

/// Words after which a quoted word is a parameter, and not a value or a name.
const BEFORE_PARAMETERS: [&str; 15] = [
    "", "a", "an", "and", "both", "change", "given", "include", "of", "omit", "or", "pass", "set",
    "with", "without",
];

/// Parameters whose flag has another name.
const FLAGS: &[(&str, &str)] = &[("screenChangeSince", "--screen-change-since")];

/// The long flags of all commands.
static KNOWN_FLAGS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut flags = BTreeSet::new();
    collect_flags(&Cli::whole_command(), &mut flags);
    flags
});

fn collect_flags(command: &Command, flags: &mut BTreeSet<String>) {
    flags.extend(command.get_arguments().filter_map(|it| it.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|it| collect_flags(it, flags));
}

/// A sentence of the server with commands and flags in place of actions and parameters.
pub(crate) fn in_commands(sentence: &str) -> String {
    in_commands_about(&plain_number_error(&without_error_numbers(sentence)), None)
}

/// What Rust says of a text that is no number, and what a user needs to know.
const NUMBER_ERRORS: [(&str, &str); 4] = [
    (": invalid digit found in string", ": it must be a whole number"),
    (": cannot parse integer from empty string", ": it must be a whole number"),
    (": number too large to fit in target type", ": the number is too large"),
    (": number would be zero for non-zero type", ": the number must be at least 1"),
];

fn plain_number_error(sentence: &str) -> String {
    let found = NUMBER_ERRORS
        .iter()
        .find_map(|(rust, plain)| Some(format!("{}{plain}", sentence.strip_suffix(rust)?)));
    found.unwrap_or_else(|| sentence.to_owned())
}

/// A sentence without the ` (os error 2)` that follows a message of the operating system: it says
/// nothing that the message does not.
fn without_error_numbers(sentence: &str) -> String {
    const BEFORE: &str = " (os error ";
    let mut text = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once(BEFORE) {
        text += before;
        let digits = after.trim_start_matches(|c: char| c.is_ascii_digit());
        rest = match digits.strip_prefix(')') {
            Some(rest) if digits.len() < after.len() => rest,
            _ => {
                text += BEFORE;
                after
            }
        };
    }
    text + rest
}

/// The same for a sentence about a pane that it does not name.
pub(crate) fn in_commands_about(sentence: &str, pane: Option<&str>) -> String {
    if sentence.matches('`').count() % 2 == 1 {
        return sentence.to_owned();
    }
    let mut text = String::with_capacity(sentence.len());
    let mut pane = pane;
    // Values that are listed after this word are never flags.
    let mut lists_values = false;
    for (index, part) in sentence.split('`').enumerate() {
        if index % 2 == 0 {
            lists_values = match part {
                _ if part.contains("expected") || part.contains("did you mean") => true,
                _ => lists_values && !part.contains(';'),
            };
            text += part;
            continue;
        }
        if text.trim_end().ends_with("did you mean") {
            text += &format!("`{part}`");
            continue;
        }
        let word = text.trim_end().rsplit(' ').next().unwrap_or_default();
        if word == "pane" && part.parse::<PaneId>().is_ok() {
            pane = Some(part);
        }
        let starts_clause = text.is_empty() || word.ends_with([';', ':']);
        let follows = BEFORE_PARAMETERS.contains(&word.trim_end_matches(','))
            || word.ends_with("`,") && text.ends_with(' ');
        text += &match lists_values {
            true => format!("`{part}`"),
            false => quoted(part, pane, starts_clause || follows),
        };
    }
    text
}

fn quoted(part: &str, pane: Option<&str>, can_be_flag: bool) -> String {
    if let Some((_, command)) = COMMANDS.iter().find(|(action, _)| *action == part) {
        return match pane {
            Some(pane) => format!("`{}`", command.replace('…', pane)),
            None => format!("`{}`", command.trim_end_matches(" …")),
        };
    }
    match flag(part).filter(|_| can_be_flag) {
        Some(flag) => format!("`{flag}`"),
        None => format!("`{part}`"),
    }
}

/// The flag of a parameter, if a command has it.
fn flag(parameter: &str) -> Option<String> {
    if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == parameter) {
        return Some((*flag).to_owned());
    }
    let kebab = kebab(parameter);
    let without_unit = kebab.strip_suffix("-ms").or_else(|| kebab.strip_suffix("-seconds"));
    let names = [Some(kebab.as_str()), without_unit];
    let found = names.into_iter().flatten().find(|name| KNOWN_FLAGS.contains(*name));
    found.map(|name| format!("--{name}"))
}

/// `timeoutMs` as `timeout-ms`.
fn kebab(parameter: &str) -> String {
    let mut text = String::with_capacity(parameter.len() + 4);
    for c in parameter.chars() {
        if c.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[track_caller]
    fn check(sentence: &str, expect: &str) {
        assert_eq!(in_commands(sentence), expect);
    }

    #[test]
    fn an_action_is_the_command_for_the_pane_that_the_sentence_is_about() {
        check(
            "pane `web` is still running; stop and delete it with `pane:close`",
            "pane `web` is still running; stop and delete it with `paned close web`",
        );
        check(
            "no pane `wbe`; `pane:list` lists all panes",
            "no pane `wbe`; `paned ls` lists all panes",
        );
        check("start agents with `agent:create`", "start agents with `paned agent new`");
        check("answer it with `agent:answer`", "answer it with `paned agent answer`");
        let tmux = "no tmux pane `%3`; `tmux:list` lists all of them";
        check(tmux, "no tmux pane `%3`; `paned tmux ls` lists all of them");
    }

    #[test]
    fn a_sentence_that_names_no_pane_is_about_the_one_of_the_command() {
        let text = in_commands_about("answer it with `agent:answer`", Some("fix-42"));
        assert_eq!(text, "answer it with `paned agent answer fix-42`");
    }

    #[test]
    fn a_parameter_is_a_flag() {
        check("set `force` to delete it anyway", "set `--force` to delete it anyway");
        check(
            "pass only one of `offset`, `tail` and `since`",
            "pass only one of `--offset`, `--tail` and `--since`",
        );
        check("`timeoutMs` must be at most 9", "`--timeout` must be at most 9");
        check("`graceMs` must be at most 9", "`--grace-ms` must be at most 9");
    }

    #[test]
    fn the_number_of_an_error_is_left_out() {
        check("no such file (os error 2); try x", "no such file; try x");
        check("a (os error 2): b (os error 13)", "a: b");
        check("a (os error ) b (os error 1", "a (os error ) b (os error 1");
    }

    #[test]
    fn a_number_that_is_none_is_explained_in_plain_words() {
        for (text, plain) in [
            ("abc", "it must be a whole number"),
            ("", "it must be a whole number"),
            ("99999999999999999999999", "the number is too large"),
        ] {
            let error = text.parse::<u64>().unwrap_err();
            check(&format!("invalid value: {error}"), &format!("invalid value: {plain}"));
        }
        let error = "0".parse::<std::num::NonZeroU32>().unwrap_err();
        check(&format!("x: {error}"), "x: the number must be at least 1");
    }

    #[test]
    fn names_and_values_stay() {
        for sentence in [
            "no pane `force`",
            "invalid scope `tag`",
            "`colour`: invalid value `title`; expected `force`, `since` or `tail`",
            "invalid event pattern `?`: use a name (`pane:exited`), a prefix (`pane:*`) or `*`",
            "type `exit`",
            "a ` alone",
        ] {
            check(sentence, sentence);
        }
    }

    /// The names of the kernel's actions.
    fn actions() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel/src/actions");
        let mut names = Vec::new();
        collect_names(&folder, &mut names);
        assert!(50 < names.len(), "{names:?}");
        names
    }

    #[test]
    fn every_action_of_the_kernel_has_a_command() {
        for name in actions() {
            assert!(COMMANDS.iter().any(|(action, _)| *action == name), "no command for {name}");
        }
    }

    fn collect_names(folder: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_names(&path, names);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let after = text.split("const NAME: &'static str = \"").skip(1);
            names.extend(after.filter_map(|it| it.split('"').next()).map(str::to_owned));
        }
    }

    #[test]
    fn the_command_of_every_action_exists() {
        let known = actions();
        for (_, line) in COMMANDS.iter().filter(|(name, _)| known.iter().any(|it| it == name)) {
            let root = Cli::whole_command();
            let mut command = &root;
            for word in line.split(' ').skip(1).filter(|it| *it != "…" && !it.contains([':', '-']))
            {
                let found = command.get_subcommands().find(|it| it.get_name() == word);
                command = found.unwrap_or_else(|| panic!("no command `{line}`"));
            }
        }
    }
}
