//! Shells, commands of shells, and programs that take commands in a form of their own.

use super::judge::{Context, Judge};
use super::shell::holds_command;
use super::shell_text::Dialect;
use super::words::{Word, assignment, shown};
use super::wrappers::{Inner, InnerCommands, program_name};

/// Commands of a shell that are not in `SAFE_BUILTINS`.
pub(super) const BUILTINS: &[&str] = &[
    ".",
    "alias",
    "bind",
    "builtin",
    "command",
    "compgen",
    "complete",
    "coproc",
    "declare",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "getopts",
    "hash",
    "history",
    "let",
    "local",
    "mapfile",
    "nameref",
    "read",
    "readarray",
    "readonly",
    "select",
    "source",
    "trap",
    "typeset",
    "unset",
    "vared",
    "zle",
    "autoload",
    "zmodload",
    "emulate",
    "function",
    "[[",
    "repeat",
];

/// Commands that set the variables in their arguments and start nothing.
const SETTERS: &[&str] =
    &["declare", "export", "getopts", "local", "nameref", "read", "readonly", "typeset", "unset"];

/// Judges a command of the shell itself. Returns false for one that is judged like a program.
pub(super) fn builtin(
    judge: &mut Judge<'_>,
    name: &str,
    words: &[Word],
    context: &Context,
) -> bool {
    let args = words.get(1..).unwrap_or_default();
    let holds = args.iter().any(|arg| arg.known().is_some_and(holds_command));
    let is_evaluated = ["test", "[", "printf", "wait", "shift", "exit", "return"].contains(&name);
    if holds && is_evaluated && (name != "printf" || has_option(args, "-v")) {
        judge.ask(words, context, "the shell may run the command in its arguments");
        return true;
    }
    if name == "printf" && has_option(args, "-v") {
        args.iter().filter_map(Word::known).for_each(|arg| judge.sets_variable(arg, context));
        return false;
    }
    if ["cd", "pushd"].contains(&name) {
        let folder = args.iter().find(|arg| arg.known().is_none_or(|arg| !arg.starts_with('-')));
        let home = Word::Unknown("~".to_owned());
        judge.changes_folder(folder.unwrap_or(&home), context);
        return false;
    }
    if SETTERS.contains(&name) {
        args.iter().filter_map(Word::known).for_each(|arg| judge.sets_variable(arg, context));
        let is_unknown = args.iter().any(|arg| arg.known().is_none() && !is_named_value(arg));
        if holds || is_unknown {
            judge.ask(words, context, "the variables that it sets may change what runs");
        }
        return true;
    }
    match name {
        "eval" => {
            judge.ask(words, context, "`eval` runs text as commands");
            if args.iter().all(|arg| arg.known().is_some()) {
                let texts: Vec<_> = args.iter().filter_map(Word::known).collect();
                let text = Word::Known(texts.join(" "));
                judge.script(&text, Dialect::Bash, &context.inside("eval"));
            }
        }
        "trap" => {
            judge.ask(words, context, "`trap` runs text as commands");
            if let Some(text @ Word::Known(_)) = args.iter().find(|it| it.known() != Some("--")) {
                judge.script(text, Dialect::Bash, &context.inside("trap"));
            }
        }
        "." | "source" => judge.ask(words, context, "it runs the commands of a file"),
        "exec" if args.is_empty() => {}
        "exec" | "command" | "builtin" | "noglob" | "nocorrect" => return false,
        _ if BUILTINS.contains(&name) => {
            judge.ask(words, context, "this command of the shell may change what runs");
        }
        _ => return false,
    }
    true
}

/// Whether a word assigns a value that is not known to a variable that is.
fn is_named_value(word: &Word) -> bool {
    let Word::Unknown(raw) = word else { return false };
    assignment(raw).is_some() && !raw.contains('{')
        || raw.split_once('=').is_some_and(|(name, _)| assignment(&format!("{name}=")).is_some())
}

/// Whether an option takes shell text: `-c`, `-qc` or `--command`.
fn takes_text(args: &[Word]) -> bool {
    args.iter().filter_map(Word::known).any(|arg| {
        arg.starts_with("--command")
            || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('c')
    })
}

fn has_option(args: &[Word], option: &str) -> bool {
    args.iter().any(|arg| arg.known().is_none_or(|arg| arg.starts_with(option)))
}

/// What a shell runs.
pub(super) fn shell(args: &[Word], dialect: Dialect, context: &Context) -> Vec<Inner> {
    let mut inner = Vec::new();
    let mut rest = args;
    let mut reads_script = false;
    while let [first, after @ ..] = rest {
        let Word::Known(arg) = first else {
            return vec![Inner::Opaque("an argument of a shell is known only when it runs".into())];
        };
        let is_option = arg.len() > 1 && (arg.starts_with('-') || arg.starts_with('+'));
        if !is_option || arg == "--" {
            if arg == "--" || arg == "-" {
                rest = after;
            }
            break;
        }
        rest = after;
        match arg.as_str() {
            "--version" | "--help" => return vec![Inner::Nothing],
            "--login" | "--noprofile" | "--norc" | "--posix" | "--restricted" | "--verbose"
            | "--noediting" | "--no-rcs" | "--noglobalrcs" => {}
            "--rcfile" | "--init-file" => {
                let reason = "a shell reads the commands of a file".to_owned();
                inner.push(Inner::Opaque(reason));
                rest = rest.get(1..).unwrap_or_default();
            }
            long if long.starts_with("--") => {
                return vec![Inner::Opaque(format!(
                    "a shell is given `{}`, which is not known",
                    long.escape_debug()
                ))];
            }
            letters if !letters[1..].bytes().all(|it| it.is_ascii_alphanumeric()) => {
                let letters = letters.escape_debug();
                let reason = format!("a shell is given `{letters}`, which is not known");
                return vec![Inner::Opaque(reason)];
            }
            letters => {
                reads_script |= letters.contains('c') && letters.starts_with('-');
                if letters.contains('s') || letters.contains('i') && context.is_fed {
                    inner.push(Inner::Opaque("a shell runs what it reads".to_owned()));
                }
                // `-o pipefail` and `-O extglob` take a word each.
                let values = letters.matches(['o', 'O']).count();
                rest = rest.get(values..).unwrap_or_default();
            }
        }
    }
    match rest.split_first() {
        Some((text, _)) if reads_script => inner.push(Inner::Script(text.clone(), dialect)),
        None if reads_script => inner.push(Inner::Nothing),
        Some((Word::Known(file), _))
            if ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&file.as_str()) =>
        {
            inner.extend(fed(dialect, context));
        }
        Some((Word::Unknown(_), _)) => {
            inner.push(Inner::Opaque("a shell runs a file that is known only then".to_owned()));
        }
        // A script is a program of its own, too.
        Some((Word::Known(file), arguments)) => {
            let file = if file.contains('/') { file.clone() } else { format!("./{file}") };
            inner.push(Inner::Command(
                std::iter::once(Word::Known(file)).chain(arguments.iter().cloned()).collect(),
            ));
        }
        None if context.is_fed => inner.extend(fed(dialect, context)),
        None => inner.push(Inner::Nothing),
    }
    inner
}

/// What a shell runs that reads its input.
fn fed(dialect: Dialect, context: &Context) -> Vec<Inner> {
    let reason = Inner::Opaque("a shell runs what it reads".to_owned());
    match &context.fed_text {
        Some(text @ Word::Known(_)) => vec![reason, Inner::Script(text.clone(), dialect)],
        Some(Word::Unknown(_)) | None => vec![reason],
    }
}

/// What a program starts that takes commands in a form of its own.
pub(super) fn program(name: &str, args: &[Word], context: &Context) -> Option<InnerCommands> {
    let inner = match name {
        "find" | "gfind" => find(args),
        "fd" | "fdfind" => after_option(args, &["-x", "-X", "--exec", "--exec-batch"])?,
        "env" | "genv" if has_split(args) => {
            let mut inner = vec![Inner::Opaque("`env -S` splits text into a command".to_owned())];
            inner.extend(split_text(args).map(|text| Inner::Script(text, Dialect::Posix)));
            inner
        }
        "su" | "runuser" | "sg" => {
            text_after(args, name, &["-c", "--command", "--session-command"])
        }
        "script" => match takes_text(args) {
            true => text_after(args, name, &["-c", "--command"]),
            // On macOS and BSD the command follows the file.
            false => vec![Inner::Opaque("`script` may start a shell or a command".to_owned())],
        },
        "flock" => {
            let mut inner = text_after(args, name, &["-c", "--command"]);
            let words =
                args.iter().skip_while(|it| it.known().is_none_or(|it| it.starts_with('-')));
            let command: Vec<_> = words.skip(1).cloned().collect();
            inner.extend(
                (!command.is_empty() && !has_option(args, "-c")).then_some(Inner::Command(command)),
            );
            inner
        }
        "watch" | "ssh" | "tmux" => {
            let words: Vec<_> = args.iter().filter_map(Word::known).collect();
            let operands = words.iter().position(|word| !word.starts_with('-'));
            let after =
                operands.map_or(words.len(), |at| if name == "watch" { at } else { at + 1 });
            let text = words.get(after..).unwrap_or_default().join(" ");
            let reason = format!("`{name}` starts a shell for its arguments");
            vec![Inner::Opaque(reason), Inner::Script(Word::Known(text), Dialect::Posix)]
        }
        "git" => git(args)?,
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(args)?,
        "sed" | "gsed" => sed(args)?,
        "sudo" | "doas" if runs_shell(args) => {
            vec![Inner::Opaque(format!("`{name}` starts a shell"))]
        }
        "cargo" if args.iter().any(|arg| arg.known() == Some("watch")) => {
            vec![Inner::Opaque("`cargo watch` starts commands".to_owned())]
        }
        "busybox" | "toybox" if args.first().and_then(program_name).is_none() => {
            vec![Inner::Nothing]
        }
        _ => return None,
    };
    let _ = context;
    let is_transparent = !["su", "runuser", "sg", "sudo", "doas"].contains(&name);
    Some(InnerCommands { name: name.to_owned(), inner, is_transparent, option: None })
}

/// The commands of `find -exec`.
fn find(args: &[Word]) -> Vec<Inner> {
    let mut inner = vec![Inner::Nothing];
    let mut rest = args;
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            Word::Unknown(_) => {
                inner.push(Inner::Opaque("an argument of `find` may run a command".to_owned()));
            }
            Word::Known(arg) if ["-exec", "-execdir", "-ok", "-okdir"].contains(&arg.as_str()) => {
                let ends = |word: &Word| word.known().is_some_and(|it| it == ";" || it == "+");
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                let words = rest[..end].iter().map(|word| match word.known() {
                    Some(text) if !text.contains("{}") => word.clone(),
                    _ => Word::Unknown("{}".to_owned()),
                });
                inner.push(Inner::Command(words.collect()));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            Word::Known(_) => {}
        }
    }
    inner
}

/// The command after an option.
fn after_option(args: &[Word], options: &[&str]) -> Option<Vec<Inner>> {
    let is = |arg: &Word| arg.known().is_some_and(|arg| options.contains(&arg));
    let at = args.iter().position(is)?;
    let words = args[at + 1..].iter().cloned().chain([Word::Unknown("<found>".to_owned())]);
    Some(vec![Inner::Command(words.collect())])
}

/// The shell text after an option such as `-c`, or in the same word.
fn text_after(args: &[Word], name: &str, options: &[&str]) -> Vec<Inner> {
    let mut inner = vec![Inner::Opaque(format!("`{name}` starts a shell"))];
    for (at, arg) in args.iter().enumerate() {
        let Some(arg) = arg.known() else { continue };
        let is_group = arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c');
        if options.contains(&arg) || is_group {
            inner.extend(args.get(at + 1).map(|text| Inner::Script(text.clone(), Dialect::Posix)));
        } else if let Some(text) = options.iter().find_map(|it| arg.strip_prefix(it)) {
            let text = text.trim_start_matches('=').to_owned();
            inner.push(Inner::Script(Word::Known(text), Dialect::Posix));
        }
    }
    inner
}

fn has_split(args: &[Word]) -> bool {
    let options = args.iter().take_while(|arg| arg.known().is_some_and(|it| it.starts_with('-')));
    let mut known = options.filter_map(Word::known);
    known.any(|it| it.starts_with("--s") || !it.starts_with("--") && it.contains('S'))
}

/// The text of `env -S`.
fn split_text(args: &[Word]) -> impl Iterator<Item = Word> {
    let words: Vec<_> = args.iter().filter_map(Word::known).collect();
    let first = words.first().copied().unwrap_or_default();
    let attached = first.split_once('S').map(|(_, text)| text).filter(|_| !first.starts_with("--"));
    let attached = attached.or_else(|| first.split_once('=').map(|(_, text)| text));
    let rest = words.get(1..).unwrap_or_default().join(" ");
    let text = format!("{} {rest}", attached.unwrap_or_default());
    std::iter::once(Word::Known(text.trim().to_owned()))
}

fn runs_shell(args: &[Word]) -> bool {
    let mut options = args.iter().map_while(Word::known).take_while(|it| it.starts_with('-'));
    options.any(|it| {
        it.starts_with("--s") && !it.starts_with("--se") && !it.starts_with("--std")
            || it.starts_with("--lo")
            || it.starts_with("--ed")
            || !it.starts_with("--") && it.contains(['s', 'i', 'e'])
    })
}

/// Options and subcommands of git that start programs.
fn git(args: &[Word]) -> Option<Vec<Inner>> {
    let known: Vec<_> = args.iter().filter_map(Word::known).collect();
    let has = |word: &str| known.contains(&word);
    let starts = |start: &str| known.iter().any(|arg| arg.starts_with(start));
    // `-c name=value`, as one word or two, also after another option with a value.
    let sets_option = known.windows(2).any(|pair| pair[0] == "-c" && pair[1].contains('='))
        || known.iter().any(|arg| arg.starts_with("-c") && arg.contains('='));
    let runs = sets_option
        || has_leading_unknown(args)
        || starts("--config-env")
        || starts("--exec-path=")
        || starts("--upload-pack")
        || starts("--receive-pack")
        || has("rebase") && (starts("-x") || starts("--exec"))
        || has("bisect") && has("run")
        || has("submodule") && has("foreach")
        || has("filter-branch")
        || has("difftool")
        || has("mergetool")
        || has("config") && args.len() > 2
        || has("grep") && (starts("-O") || starts("--open-files"))
        || has("clone")
            && (starts("-c")
                || starts("--config")
                || starts("-u")
                || starts("ext::")
                || has("--template"))
        || starts("ext::")
        || starts("--ext-diff");
    runs.then(|| vec![Inner::Opaque("git may run a command from its arguments".to_owned())])
}

/// Whether a word before the first operand is not known: it may be an option that runs something.
pub(super) fn has_leading_unknown(args: &[Word]) -> bool {
    let mut options =
        args.iter().take_while(|arg| arg.known().is_none_or(|it| it.starts_with('-')));
    options.any(|arg| arg.known().is_none())
}

fn awk(args: &[Word]) -> Option<Vec<Inner>> {
    let runs = |arg: &Word| {
        arg.known().is_none_or(|it| {
            it.contains("system")
                || it.contains('|')
                || it.contains("getline")
                || it.contains('@')
                || it.starts_with("-f")
                || it.starts_with("-i")
                || it.starts_with("-l")
                || it.starts_with("-E")
                || it.starts_with("--")
        })
    };
    args.iter()
        .any(runs)
        .then(|| vec![Inner::Opaque("the program of awk may run a command".to_owned())])
}

fn sed(args: &[Word]) -> Option<Vec<Inner>> {
    let runs = |arg: &Word| match arg {
        Word::Unknown(_) => true,
        Word::Known(it) if it.starts_with("-f") || it.starts_with("--file") => true,
        Word::Known(it)
            if it.starts_with('-') && !it.starts_with("-e") && !it.starts_with("--e") =>
        {
            false
        }
        Word::Known(it) => sed_runs(it),
    };
    args.iter().any(runs).then(|| {
        vec![Inner::Opaque(format!("the script of `sed {}` may run a command", shown(args)))]
    })
}

/// Whether a sed script may hold the command `e`, or the flag `e` of `s`.
fn sed_runs(script: &str) -> bool {
    let script =
        script.strip_prefix("--expression=").or(script.strip_prefix("-e")).unwrap_or(script);
    let bytes = script.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let is_start = before.is_none_or(|it| !it.is_ascii_alphabetic() || b"gpiImM".contains(&it));
        let after = bytes.get(at + 1);
        let ends = after.is_none_or(|it| b" \t\n;}gpiImMw".contains(it));
        *byte == b'e' && is_start && ends
    })
}
