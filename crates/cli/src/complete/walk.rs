//! Finds what a word of the command line is: a command, a flag, the value of an argument, or a word
//! of a program that paned is to run.

use clap::{Arg, Command};

/// A place in the command line.
pub(super) struct WordSlot<'a> {
    /// The names of the commands before it, without `paned`.
    pub(super) path: Vec<&'a str>,
    pub(super) command: &'a Command,
    pub(super) kind: SlotKind<'a>,
    /// The values that were given before it.
    pub(super) given: Vec<String>,
    /// The values of flags that were given before it, by id.
    pub(super) options: Vec<(&'a str, String)>,
}

pub(super) enum SlotKind<'a> {
    Subcommand,
    Flag,
    /// The value of an argument; `prefix` is the flag in the same word, as in `--state=`.
    Value {
        arg: &'a Arg,
        prefix: String,
    },
    /// A word of a program whose first word is at this index, not counting `paned`.
    Program {
        at: usize,
    },
    Nothing,
}

/// The slot of `word`, which comes after the words `before`.
pub(super) fn slot<'a>(root: &'a Command, before: &[String], word: &str) -> WordSlot<'a> {
    let mut walker = Walker {
        root,
        command: root,
        path: Vec::new(),
        given: Vec::new(),
        options: Vec::new(),
        positionals: 0,
        waiting: None,
        is_after_dashes: false,
        program: None,
    };
    for (at, word) in before.iter().enumerate() {
        walker.step(at, word);
    }
    let kind = walker.kind(before.len(), word);
    let Walker { path, command, given, options, .. } = walker;
    WordSlot { path, command, kind, given, options }
}

struct Walker<'a> {
    root: &'a Command,
    command: &'a Command,
    path: Vec<&'a str>,
    given: Vec<String>,
    options: Vec<(&'a str, String)>,
    /// How many positional arguments were given to the command.
    positionals: usize,
    /// A flag whose value is the next word.
    waiting: Option<&'a Arg>,
    is_after_dashes: bool,
    /// Where the program begins that paned is to run.
    program: Option<usize>,
}

impl<'a> Walker<'a> {
    fn step(&mut self, at: usize, word: &str) {
        if self.program.is_some() {
            return;
        }
        if let Some(arg) = self.waiting.take() {
            return self.options.push((arg.get_id().as_str(), word.to_owned()));
        }
        if word == "--" && !self.is_after_dashes {
            self.is_after_dashes = true;
            self.program = self.positional().filter(|arg| is_program(arg)).map(|_| at + 1);
            return;
        }
        if word.starts_with('-') && 1 < word.len() && !self.is_after_dashes {
            return self.flag(word);
        }
        match self.command.find_subcommand(word).filter(|_| self.positionals == 0) {
            Some(command) => {
                self.command = command;
                self.path.push(command.get_name());
            }
            None => {
                if self.positional().is_some_and(is_program) {
                    self.program = Some(at);
                }
                self.given.push(word.to_owned());
                self.positionals += 1;
            }
        }
    }

    fn flag(&mut self, word: &str) {
        let name = word.split('=').next().unwrap_or(word);
        let Some(arg) = self.find_flag(name).filter(|arg| arg.get_action().takes_values()) else {
            return;
        };
        match word.split_once('=') {
            Some((_, value)) => self.options.push((arg.get_id().as_str(), value.to_owned())),
            None => self.waiting = Some(arg),
        }
    }

    fn find_flag(&self, name: &str) -> Option<&'a Arg> {
        let mut all = self.command.get_arguments().chain(self.root.get_arguments());
        match name.strip_prefix("--") {
            Some(long) => all.find(|arg| {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long() == Some(long) || aliases.contains(&long)
            }),
            // Of several short flags in one word, the last can take a value.
            None => all.find(|arg| arg.get_short() == name.chars().next_back()),
        }
    }

    /// The argument that the next word without a flag is for.
    fn positional(&self) -> Option<&'a Arg> {
        let all: Vec<_> = self.command.get_positionals().collect();
        if self.is_after_dashes
            && let Some(last) = all.iter().find(|arg| arg.is_last_set())
        {
            return Some(last);
        }
        let mut usual = all.iter().filter(|arg| !arg.is_last_set());
        let takes_many = |arg: &&&Arg| {
            arg.get_num_args().is_some_and(|count| 1 < count.max_values())
                || matches!(arg.get_action(), clap::ArgAction::Append)
        };
        let next = usual.clone().nth(self.positionals);
        next.or_else(|| usual.next_back().filter(takes_many)).copied()
    }

    fn kind(&self, at: usize, word: &str) -> SlotKind<'a> {
        if let Some(start) = self.program {
            return SlotKind::Program { at: start };
        }
        if let Some(arg) = self.waiting {
            return SlotKind::Value { arg, prefix: String::new() };
        }
        if word.starts_with('-') && !self.is_after_dashes {
            return match word.split_once('=') {
                Some((flag, _)) => match self.find_flag(flag) {
                    Some(arg) => SlotKind::Value { arg, prefix: format!("{flag}=") },
                    None => SlotKind::Nothing,
                },
                None => SlotKind::Flag,
            };
        }
        match self.positional() {
            Some(arg) if is_program(arg) => SlotKind::Program { at },
            Some(arg) => SlotKind::Value { arg, prefix: String::new() },
            None if self.positionals == 0 && self.command.has_subcommands() => SlotKind::Subcommand,
            None => SlotKind::Nothing,
        }
    }
}

/// Whether the argument is a program with its own arguments.
fn is_program(arg: &Arg) -> bool {
    arg.get_id() == "argv"
}
