//! Programs that start the command in their arguments, and how they take it.

use super::judge::Context;
use super::pattern::glob;
use super::programs::{BASH_SHELLS, INTERPRETERS, OPAQUE, OTHER_SHELLS, POSIX_SHELLS};
use super::runners;
use super::shell_text::Dialect;
use super::special;
use super::words::{Word, file_name};
use super::wrapper_table::{WRAPPERS, Wrapper};

/// What a program starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// A program with arguments.
    Command(Vec<Word>),
    /// The same, by the shell itself: its own commands count.
    Words(Vec<Word>),
    /// Perhaps a program with arguments: only a rule that denies it counts.
    Maybe(Vec<Word>),
    /// Shell text.
    Script(Word, Dialect),
    /// It changes the working directory.
    Folder(Word),
    /// It sets a variable.
    Variable(String),
    /// Something that cannot be judged, and why.
    Opaque(String),
    /// Nothing.
    Nothing,
}

/// A program that starts others.
#[derive(Debug)]
pub(super) struct InnerCommands {
    pub(super) name: String,
    pub(super) inner: Vec<Inner>,
    /// Whether it needs no rule of its own.
    pub(super) is_transparent: bool,
    /// The option that takes code: a rule that names it allows it.
    pub(super) option: Option<String>,
}

/// What a program starts that has these names; `None` for one that starts nothing.
pub(super) fn unwrap(names: &[String], args: &[Word], context: &Context) -> Option<InnerCommands> {
    // An applet that is a link to busybox is called by its own name.
    let own = names.first().map(String::as_str).unwrap_or_default();
    let mut names = names.iter().map(String::as_str).filter(|name| {
        *name == own || !["busybox", "toybox", "coreutils", "uutils"].contains(name)
    });
    names.find_map(|name| unwrap_named(name, args, context))
}

fn unwrap_named(name: &str, args: &[Word], context: &Context) -> Option<InnerCommands> {
    if let Some(dialect) = dialect(name) {
        return Some(InnerCommands::transparent(name, special::shell(args, dialect, context)));
    }
    if OTHER_SHELLS.contains(&name) {
        let is_plain = args
            .iter()
            .all(|arg| arg.known().is_some_and(|it| ["-l", "-i", "--login"].contains(&it)));
        let inner = match is_plain && !context.is_fed {
            true => Inner::Nothing,
            false => Inner::Opaque(format!("`{name}` reads a language that is not judged")),
        };
        return Some(InnerCommands::transparent(name, vec![inner]));
    }
    if let Some(inner) = special::program(name, args, context) {
        return Some(inner);
    }
    if let Some((_, reason)) = OPAQUE.iter().find(|(names, _)| names.contains(&name)) {
        return Some(InnerCommands::transparent(name, vec![Inner::Opaque((*reason).to_owned())]));
    }
    let run = runners::inner(name, args);
    if let Some(mut wrapped) = interpreter(name, args, context) {
        wrapped.inner.extend(run.unwrap_or_default());
        return Some(wrapped);
    }
    if let Some(inner) = run {
        let name = name.to_owned();
        return Some(InnerCommands { name, inner, is_transparent: false, option: None });
    }
    let wrapper = WRAPPERS.iter().find(|it| it.names.iter().any(|pattern| glob(pattern, name)))?;
    Some(InnerCommands {
        name: name.to_owned(),
        inner: wrapper.inner(name, args, context),
        is_transparent: wrapper.is_transparent,
        option: None,
    })
}

/// The language of a shell, by its name.
pub(super) fn dialect(name: &str) -> Option<Dialect> {
    let name = name.strip_prefix('-').unwrap_or(name);
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.' || it == '-');
    let is_one_of = |shells: &[&str]| shells.contains(&name) || shells.contains(&bare);
    if is_one_of(BASH_SHELLS) {
        return Some(Dialect::Bash);
    }
    is_one_of(POSIX_SHELLS).then_some(Dialect::Posix)
}

/// An interpreter that is given code.
fn interpreter(name: &str, args: &[Word], context: &Context) -> Option<InnerCommands> {
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.' || it == '-');
    let bare = bare.split_once('.').map_or(bare, |(bare, _)| bare);
    let matches = |programs: &[&str]| programs.contains(&name) || programs.contains(&bare);
    let (_, options) = INTERPRETERS.iter().find(|(programs, _)| matches(programs))?;
    let found = args.iter().find_map(|arg| match arg {
        Word::Known(arg) => options.iter().find(|option| takes_code(option, arg)),
        Word::Unknown(_) => None,
    });
    let reads_input =
        ["python", "pypy", "perl", "ruby", "node", "php", "lua", "tclsh", "bun", "sqlite3", "psql"]
            .contains(&bare);
    let has_file = args.iter().any(|arg| arg.known().is_none_or(|arg| !arg.starts_with('-')));
    let inner = match found {
        Some(option) => Inner::Opaque(format!("`{name} {option}` runs code that is not judged")),
        None if special::has_leading_unknown(args) => {
            Inner::Opaque(format!("an argument of `{name}` may be code"))
        }
        None if reads_input && context.is_fed && !has_file => {
            Inner::Opaque(format!("`{name}` runs what it reads"))
        }
        None => return None,
    };
    let option = found.map(|option| (*option).to_owned());
    Some(InnerCommands { name: name.to_owned(), inner: vec![inner], is_transparent: true, option })
}

/// Whether an argument is an option that takes code, alone or in a group of letters.
fn takes_code(option: &str, arg: &str) -> bool {
    if let Some(start) = option.strip_suffix('*') {
        return arg.starts_with(start);
    }
    let letter = option.strip_prefix('-').filter(|rest| rest.len() == 1);
    match letter {
        Some(letter) => arg
            .strip_prefix('-')
            .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter)),
        None => {
            let attached = arg
                .strip_prefix(option)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
            // Long options may be shortened.
            let name = arg.split_once('=').map_or(arg, |(name, _)| name);
            attached || 4 < name.len() && option.starts_with("--") && option.starts_with(name)
        }
    }
}

impl InnerCommands {
    pub(super) fn transparent(name: &str, inner: Vec<Inner>) -> Self {
        Self { name: name.to_owned(), inner, is_transparent: true, option: None }
    }
}

impl Wrapper {
    /// The command after the options.
    fn inner(&self, name: &str, args: &[Word], context: &Context) -> Vec<Inner> {
        let mut inner = Vec::new();
        let mut replaced = None;
        let mut rest = args;
        while let [first, after @ ..] = rest {
            let Word::Known(arg) = first else { break };
            if !arg.starts_with('-') || arg == "-" && name != "-" {
                break;
            }
            rest = after;
            if arg == "--" {
                break;
            }
            if self.quiet.contains(&arg.as_str()) {
                return vec![Inner::Nothing];
            }
            let Some(takes_next) = self.option(arg) else {
                let shown = arg.escape_debug();
                return vec![Inner::Opaque(format!(
                    "`{name}` is given `{shown}`, which is not known"
                ))];
            };
            let value = match takes_next {
                true => {
                    let [value, after @ ..] = rest else { return vec![Inner::Nothing] };
                    rest = after;
                    Some(value.clone())
                }
                false => attached_value(arg).map(|value| Word::Known(value.to_owned())),
            };
            let is = |options: &[&str]| options.iter().any(|it| arg.starts_with(it));
            if let Some(value) = value {
                if is(self.folder) {
                    inner.push(Inner::Folder(value.clone()));
                }
                if name.ends_with("xargs") && is(&["-I"]) {
                    replaced = value.known().map(str::to_owned);
                }
            }
        }
        while let [Word::Known(arg), after @ ..] = rest
            && self.assigns
            // `env` takes any name, also one that no shell could set.
            && arg.contains('=')
        {
            inner.push(Inner::Variable(arg.clone()));
            rest = after;
        }
        if rest.len() < self.operands || rest[..self.operands].iter().any(|it| it.known().is_none())
        {
            inner.push(match rest.len() < self.operands {
                true => Inner::Nothing,
                false => Inner::Opaque(format!("`{name}` may start any of its arguments")),
            });
            return inner;
        }
        let mut words = rest[self.operands..].to_vec();
        if words.is_empty() {
            inner.push(Inner::Nothing);
            return inner;
        }
        if name.ends_with("xargs") {
            words = appended(words, replaced.as_deref());
        }
        let by_shell = context.in_shell
            && ["command", "builtin", "exec", "time", "noglob", "nocorrect", "-"].contains(&name);
        inner.push(if by_shell { Inner::Words(words) } else { Inner::Command(words) });
        inner
    }

    /// Whether an option takes the next word as its value; `None` for one that is not known.
    fn option(&self, arg: &str) -> Option<bool> {
        if arg.starts_with("--") {
            return match arg.split_once('=') {
                Some((name, _)) => {
                    (self.longs.contains(&name) || self.switches.contains(&name)).then_some(false)
                }
                None if self.longs.contains(&arg) => Some(true),
                None => self.switches.contains(&arg).then_some(false),
            };
        }
        let letters = arg.strip_prefix('-')?;
        for (at, letter) in letters.char_indices() {
            if self.values.contains(letter) {
                return Some(at + letter.len_utf8() == letters.len());
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}

/// The value that is attached to an option: `-n5` or `--lines=5`.
fn attached_value(arg: &str) -> Option<&str> {
    match arg.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, value)| value),
        None => arg.get(2..).filter(|value| !value.is_empty()),
    }
}

/// The command of `xargs`, with the words that it adds from its input.
fn appended(words: Vec<Word>, replaced: Option<&str>) -> Vec<Word> {
    let input = || Word::Unknown("<input>".to_owned());
    let Some(replaced) = replaced else { return words.into_iter().chain([input()]).collect() };
    let holds = |word: &Word| word.known().is_some_and(|text| text.contains(replaced));
    words.into_iter().map(|word| if holds(&word) { input() } else { word }).collect()
}

/// The name of a program without its folder, of a word.
pub(super) fn program_name(word: &Word) -> Option<&str> {
    word.known().map(file_name)
}
