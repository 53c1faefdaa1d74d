//! Whether a command needs a terminal with a user in front of it: an editor does, a compiler does
//! not.
//!
//! Rules are data: the user's first, then the [`rule_table`]. Programs that only start another
//! command (`sudo`, `env`, `bash -c`) are looked through. Nothing here runs or looks up a program,
//! so only its name is known.

mod rule_table;
mod shell_words;
mod wrappers;

use std::fmt;

use serde::{Deserialize, Serialize};

use rule_table::{InteractiveRule, RULES, SHELLS};
use wrappers::{WRAPPERS, Wrapper};

/// How deep wrappers may be nested.
const DEEPEST: usize = 8;

/// Whether a command needs a terminal with a user in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum InteractiveVerdict {
    /// It does.
    Interactive {
        /// The rule that says so, by the program it is about.
        rule: String,
        /// Why.
        reason: String,
    },
    /// It does not, as far as any rule knows.
    Plain {
        /// Why.
        reason: String,
    },
    /// It cannot be decided without running it.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// A user's rule: `{ program = "mytool", args = ["repl"], visible = true }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// The program's name, without its folder.
    pub program: String,
    /// The arguments that must be present, in this order, with or without others between them.
    #[serde(default)]
    pub args: Vec<String>,
    /// Whether such a command needs a terminal.
    pub visible: bool,
}

/// Judges a command. The first user rule that matches decides; otherwise the built-in rules do.
#[must_use]
pub fn judge<S: AsRef<str>>(argv: &[S], rules: &[UserRule]) -> InteractiveVerdict {
    let argv: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    command(&argv, rules, 0)
}

fn command(argv: &[&str], rules: &[UserRule], depth: usize) -> InteractiveVerdict {
    let [path, args @ ..] = argv else { return plain("the command is empty") };
    let name = path.rsplit('/').next().unwrap_or(path);
    if depth == DEEPEST {
        return unknown(format!("more than {DEEPEST} nested commands"));
    }
    if let Some(rule) = rules.iter().find(|rule| rule.fits(name, args)) {
        return rule.verdict();
    }
    if let Some(script) = shell_script(name, args) {
        return shell(script, rules, depth + 1);
    }
    match WRAPPERS.iter().find(|wrapper| wrapper.programs.contains(&name)) {
        Some(wrapper) => wrapped(wrapper, name, args, rules, depth + 1),
        None => by_table(name, args),
    }
}

/// The script after `-c`, where a shell is given one.
fn shell_script<'a>(name: &str, args: &[&'a str]) -> Option<&'a str> {
    let is_script = |arg: &&str| {
        let letters = arg.strip_prefix('-').unwrap_or("");
        letters.ends_with('c') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let options = args.iter().take_while(|arg| arg.starts_with('-')).count();
    let at = args[..options].iter().position(is_script).filter(|_| SHELLS.contains(&name))?;
    args.get(at + 1).copied()
}

/// Judges a shell script: it needs a terminal if one of its commands does.
fn shell(script: &str, rules: &[UserRule], depth: usize) -> InteractiveVerdict {
    let Some(commands) = shell_words::commands(script) else {
        return unknown("the shell command is too complex to analyze");
    };
    let mut verdict = plain("no command in the script needs a terminal");
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = after_assignments(&words);
        match command(words, rules, depth) {
            found @ InteractiveVerdict::Interactive { .. } => return found,
            found @ InteractiveVerdict::Unknown { .. } => verdict = found,
            InteractiveVerdict::Plain { .. } => {}
        }
    }
    verdict
}

/// Judges the command that a wrapper starts.
fn wrapped(
    wrapper: &Wrapper,
    name: &str,
    args: &[&str],
    rules: &[UserRule],
    depth: usize,
) -> InteractiveVerdict {
    let mut scan = ArgumentScan::new(args, &ArgumentSyntax::before(wrapper.values));
    if let Some(flag) = scan.first_of(wrapper.visible) {
        return interactive(name, format!("`{name} {flag}` opens a shell or an editor"));
    }
    if let Some(flag) = scan.first_of(wrapper.plain) {
        return plain(format!("`{name} {flag}` starts no command"));
    }
    if let Some(sub) = wrapper.sub {
        if scan.operands.first() != Some(&sub) {
            return plain(format!("`{name}` starts a command only as `{name} {sub}`"));
        }
        scan = ArgumentScan::new(scan.rest, &ArgumentSyntax::before(wrapper.values));
    }
    let inner: Vec<&str> = scan.operands.iter().chain(scan.rest).copied().collect();
    let inner = after_assignments(&inner);
    let inner = inner.get(wrapper.skip..).unwrap_or_default();
    if inner.is_empty() {
        return plain(format!("`{name}` starts no command"));
    }
    command(inner, rules, depth)
}

/// The words after leading `NAME=value` assignments.
fn after_assignments<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let is_name = |name: &str| {
        let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let assigns = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    &words[words.iter().take_while(assigns).count()..]
}

fn by_table(name: &str, args: &[&str]) -> InteractiveVerdict {
    // `python3.12` is `python`.
    let bare = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let names = |rule: &&InteractiveRule| rule.programs.iter().any(|it| *it == name || *it == bare);
    let mut reason = format!("no rule matches `{name}`");
    for rule in RULES.iter().filter(names) {
        match rule.judge(args) {
            RuleVerdict::Interactive => return interactive(name, rule.why),
            RuleVerdict::Plain(why) => reason = format!("`{name}` {why}"),
            RuleVerdict::Other => {}
        }
    }
    plain(reason)
}

/// The result of applying a rule to arguments.
enum RuleVerdict {
    Interactive,
    Plain(String),
    /// The rule is about another subcommand.
    Other,
}

impl InteractiveRule {
    fn judge(&self, mut args: &[&str]) -> RuleVerdict {
        if !self.subs.is_empty() {
            let globals = ArgumentScan::new(args, &ArgumentSyntax::before(self.globals));
            if !globals.operands.first().is_some_and(|sub| self.subs.contains(sub)) {
                return RuleVerdict::Other;
            }
            args = globals.rest;
        }
        let most = self.max_operands.unwrap_or(usize::MAX);
        let options = ArgumentSyntax {
            words: self.words,
            values: self.values,
            end_options: self.end_options,
            max_operands: most,
        };
        let scan = ArgumentScan::new(args, &options);
        if let Some(flag) = scan.first_of(&["--help", "--version"]) {
            return RuleVerdict::Plain(format!("only prints information with `{flag}`"));
        }
        if scan.first_of(self.visible).is_some() {
            return RuleVerdict::Interactive;
        }
        if let Some(flag) = scan.first_of(self.plain).or(scan.first_of(self.end_options)) {
            return RuleVerdict::Plain(format!("needs no terminal with `{flag}`"));
        }
        if self.max_operands.is_some_and(|most| scan.operands.len() > most) {
            return RuleVerdict::Plain("has arguments that make it non-interactive".to_owned());
        }
        if !self.needs.is_empty() && scan.first_of(self.needs).is_none() {
            return RuleVerdict::Plain(format!(
                "needs a terminal only with `{}`",
                self.needs.join("`, `")
            ));
        }
        RuleVerdict::Interactive
    }
}

/// How a program parses its arguments.
struct ArgumentSyntax<'a> {
    words: bool,
    values: &'a [&'a str],
    end_options: &'a [&'a str],
    /// How many operands the program takes; later words belong to the command it starts.
    max_operands: usize,
}

impl<'a> ArgumentSyntax<'a> {
    /// Parses the options before the first operand.
    fn before(values: &'a [&'a str]) -> Self {
        Self { words: false, values, end_options: &[], max_operands: 0 }
    }
}

/// Parsed arguments, as far as the program takes them as its own.
struct ArgumentScan<'a, 'b> {
    flags: Vec<String>,
    operands: Vec<&'b str>,
    /// The words after the last operand that was taken.
    rest: &'a [&'b str],
}

impl<'a, 'b> ArgumentScan<'a, 'b> {
    /// Parses until one operand more than `max_operands`, or an option that ends the options.
    fn new(args: &'a [&'b str], syntax: &ArgumentSyntax<'_>) -> Self {
        let mut scan = Self { flags: Vec::new(), operands: Vec::new(), rest: args };
        let mut options = true;
        while let [arg, rest @ ..] = scan.rest {
            scan.rest = rest;
            if !options || !arg.starts_with('-') || *arg == "-" {
                scan.operands.push(arg);
                if scan.operands.len() > syntax.max_operands {
                    break;
                }
                continue;
            }
            options = *arg != "--";
            let takes = scan.option(arg, syntax);
            if scan.first_of(syntax.end_options).is_some() {
                break;
            }
            if takes {
                scan.rest = scan.rest.get(1..).unwrap_or_default();
            }
        }
        scan
    }

    /// Parses one option or a group of letters; returns whether the next word is its value.
    fn option(&mut self, arg: &str, syntax: &ArgumentSyntax<'_>) -> bool {
        let (name, has_value) = arg.split_once('=').map_or((arg, false), |(name, _)| (name, true));
        let takes = syntax.values.contains(&name);
        self.flags.push(name.to_owned());
        // Programs with single-letter options may have a few words with one dash as well; the table
        // lists those.
        if syntax.words || takes || name.starts_with("--") || syntax.end_options.contains(&name) {
            return takes && !has_value;
        }
        let letters: Vec<char> = arg.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let flag = format!("-{letter}");
            let last = at + 1 == letters.len();
            let takes = syntax.values.contains(&flag.as_str());
            let takes_attached = syntax.values.contains(&format!("{flag}?").as_str());
            let ends_options = syntax.end_options.contains(&flag.as_str());
            self.flags.push(flag);
            if takes || takes_attached || ends_options {
                return takes && last;
            }
        }
        false
    }

    fn first_of(&self, flags: &[&str]) -> Option<&str> {
        self.flags.iter().map(String::as_str).find(|flag| flags.contains(flag))
    }
}

impl UserRule {
    fn fits(&self, name: &str, args: &[&str]) -> bool {
        let mut left = args.iter();
        self.program == name && self.args.iter().all(|wanted| left.any(|arg| arg == wanted))
    }

    fn verdict(&self) -> InteractiveVerdict {
        let pattern = [&self.program].into_iter().chain(&self.args);
        let pattern = pattern.map(String::as_str).collect::<Vec<_>>().join(" ");
        let reason = format!("your rule `{pattern}` matches");
        if self.visible { interactive(&self.program, reason) } else { plain(reason) }
    }
}

fn interactive(rule: &str, reason: impl Into<String>) -> InteractiveVerdict {
    InteractiveVerdict::Interactive { rule: rule.to_owned(), reason: reason.into() }
}

fn plain(reason: impl Into<String>) -> InteractiveVerdict {
    InteractiveVerdict::Plain { reason: reason.into() }
}

fn unknown(reason: impl Into<String>) -> InteractiveVerdict {
    InteractiveVerdict::Unknown { reason: reason.into() }
}

impl fmt::Display for InteractiveVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interactive { rule, reason } => write!(f, "interactive ({rule}): {reason}"),
            Self::Plain { reason } => write!(f, "plain: {reason}"),
            Self::Unknown { reason } => write!(f, "unknown: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests;
