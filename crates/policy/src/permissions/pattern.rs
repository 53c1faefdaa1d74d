//! Patterns of commands: words with `*` for any text and `?` for one character. A word `*` stands
//! for any number of arguments.
//!
//! A rule that allows must cover the whole command. One that denies or asks matches if its words
//! occur in this order among the arguments, so that an option between them does not evade it.

use std::fmt;

use super::words::{Word, file_name};

/// The longest pattern, in characters, and the most words of one.
const LONGEST: usize = 4096;
const MOST_WORDS: usize = 64;

/// A pattern of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    text: String,
    program: String,
    args: Vec<String>,
}

/// Why a text is not a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It has no words.
    Empty,
    /// It is too long.
    Long,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a rule is empty; write a command such as `git push`"),
            Self::Long => {
                write!(f, "a rule is too long: at most {LONGEST} characters and {MOST_WORDS} words")
            }
        }
    }
}

/// Whether a pattern matches a command of which some words are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PatternMatch {
    No,
    /// It depends on words that are not known.
    Maybe,
    Yes,
}

/// The names of the program of a command.
pub(super) struct CommandNames<'a> {
    /// As it was written.
    pub(super) written: &'a str,
    /// Paths of its file and of what that is a link to.
    pub(super) paths: &'a [String],
    /// Whether the written path is another file than the one that its name usually means.
    pub(super) is_other: bool,
}

impl CommandPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let Some(program) = words.next() else { return Err(PatternError::Empty) };
        let args: Vec<String> = words.collect();
        if LONGEST < text.chars().count() || MOST_WORDS < args.len() {
            return Err(PatternError::Long);
        }
        Ok(Self { text: text.trim().to_owned(), program, args })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches every command.
    pub(super) fn is_everything(&self) -> bool {
        let stars = |word: &String| word.bytes().all(|byte| byte == b'*');
        stars(&self.program) && self.args.iter().all(stars)
    }

    /// Whether it names this argument literally.
    pub(super) fn names_argument(&self, arg: &str) -> bool {
        self.args.iter().any(|word| word == arg)
    }

    /// Whether it covers the whole command: for rules that allow.
    pub(super) fn covers(&self, names: &CommandNames<'_>, args: &[Word]) -> bool {
        let is_named = match self.program.contains('/') {
            true => names.written.starts_with('/') && glob(&self.program, names.written),
            false => !names.is_other && glob(&self.program, file_name(names.written)),
        };
        is_named && (self.args.is_empty() || covers_args(&self.args, args))
    }

    /// Whether its words occur in the command: for rules that deny or ask.
    pub(super) fn occurs(&self, names: &CommandNames<'_>, args: &[Word]) -> PatternMatch {
        let mut paths = names.paths.iter().map(String::as_str).chain([names.written]);
        let is_named = match self.program.contains('/') {
            true => paths.any(|path| glob(&self.program, path)),
            false => paths.any(|path| glob(&self.program, file_name(path))),
        };
        if !is_named {
            return PatternMatch::No;
        }
        let same = same_options(names);
        occurs_args(&self.args, args, &same)
    }
}

/// Whether patterns cover all arguments, one by one. A pattern `*` covers any number of them, and
/// a last pattern that ends with `*` all that follow.
fn covers_args(patterns: &[String], args: &[Word]) -> bool {
    // Which numbers of arguments the patterns so far can cover.
    let mut covered = vec![false; args.len() + 1];
    covered[0] = true;
    for (at, pattern) in patterns.iter().enumerate() {
        let mut next = vec![false; args.len() + 1];
        let is_star = pattern.bytes().all(|byte| byte == b'*');
        let is_open = at + 1 == patterns.len() && pattern.ends_with('*');
        let mut any_before = false;
        for end in 0..=args.len() {
            let one = 0 < end
                && covered[end - 1]
                && args[end - 1].known().is_some_and(|arg| glob(pattern, arg));
            any_before |= if is_star { covered[end] } else { is_open && one };
            next[end] = if is_star || is_open { any_before } else { one };
        }
        covered = next;
    }
    covered[args.len()]
}

/// Whether patterns match arguments in order, with or without others between them. Letters of
/// options may be anywhere: programs take them in any order.
fn occurs_args(patterns: &[String], args: &[Word], same: &[SameOption]) -> PatternMatch {
    let mut known = args.iter().filter_map(Word::known);
    let mut wanted = patterns.iter().filter(|it| !it.bytes().all(|byte| byte == b'*'));
    let is_there = |pattern: &String| match short_letters(pattern) {
        Some(letters) => has_letters(letters, args, same),
        None => known.any(|arg| matches_argument(pattern, arg)),
    };
    if wanted.all(is_there) {
        return PatternMatch::Yes;
    }
    // An unknown word may stand for everything that is missing.
    let is_known = args.iter().all(|arg| arg.known().is_some());
    if is_known { PatternMatch::No } else { PatternMatch::Maybe }
}

/// Whether a pattern matches an argument, or the name of an option with a value.
fn matches_argument(pattern: &str, arg: &str) -> bool {
    let name = arg.split_once('=').map(|(name, _)| name);
    let name = name.filter(|name| name.starts_with("--"));
    glob(pattern, arg) || name.is_some_and(|name| glob(pattern, name))
}

/// The letters of an argument such as `-rf`.
fn short_letters(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-')?;
    let is_group = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_group.then_some(letters)
}

/// Whether each of these letters is an option of the command, in whatever groups they are given:
/// `-rf` is also `-fr`, `-vrf` and `-r -f`.
fn has_letters(wanted: &str, args: &[Word], same: &[SameOption]) -> bool {
    let given = |letter: char| {
        args.iter().filter_map(Word::known).any(|arg| match short_letters(arg) {
            Some(letters) => letters.chars().any(|it| it == letter || is_other(letter, it, same)),
            None => same.iter().any(|it| it.letter == letter && it.is_long(arg)),
        })
    };
    wanted.chars().all(given)
}

fn is_other(letter: char, given: char, same: &[SameOption]) -> bool {
    same.iter().any(|it| it.letter == letter && it.other == Some(given))
}

/// Other ways to write an option of one letter.
#[derive(Clone, Copy)]
struct SameOption {
    letter: char,
    other: Option<char>,
    long: &'static str,
}

impl SameOption {
    const fn new(letter: char, other: Option<char>, long: &'static str) -> Self {
        Self { letter, other, long }
    }

    /// Whether an argument is the long form; programs take its beginning, too.
    fn is_long(&self, arg: &str) -> bool {
        arg.strip_prefix("--").is_some_and(|name| !name.is_empty() && self.long.starts_with(name))
    }
}

/// The options that rules deny most, of the programs that have them.
const SAME_OPTIONS: &[(&[&str], &[SameOption])] = &[
    (
        &["rm", "cp", "chmod", "chown", "chgrp"],
        &[
            SameOption::new('r', Some('R'), "recursive"),
            SameOption::new('R', Some('r'), "recursive"),
            SameOption::new('f', None, "force"),
        ],
    ),
    (&["mv", "ln"], &[SameOption::new('f', None, "force")]),
    (
        &["git"],
        &[
            SameOption::new('f', None, "force"),
            SameOption::new('f', None, "force-with-lease"),
            SameOption::new('D', None, "delete"),
            SameOption::new('d', None, "delete"),
        ],
    ),
];

fn same_options(names: &CommandNames<'_>) -> Vec<SameOption> {
    let written = [names.written];
    let paths = names.paths.iter().map(String::as_str).chain(written);
    let names: Vec<&str> = paths.map(file_name).collect();
    let rows =
        SAME_OPTIONS.iter().filter(|(programs, _)| names.iter().any(|it| programs.contains(it)));
    rows.flat_map(|(_, options)| options.iter().copied()).collect()
}

/// Whether a glob matches a whole text: `*` is any text, `?` one character.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut from = 0;
    let mut star = None;
    while at < text.len() {
        match pattern.get(from) {
            Some('*') => {
                star = Some((from, at));
                from += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at] => {
                from += 1;
                at += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                from = star_at + 1;
                at = taken + 1;
                star = Some((star_at, at));
            }
        }
    }
    pattern[from..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        let word = |text: &str| match text.strip_prefix('$') {
            Some(_) => Word::Unknown(text.to_owned()),
            None => Word::Known(text.to_owned()),
        };
        line.split_whitespace().map(word).collect()
    }

    #[track_caller]
    fn check(pattern: &str, line: &str, occurs: PatternMatch, covers: bool) {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let words = words(line);
        let written = words[0].known().unwrap();
        let names = CommandNames { written, paths: &[], is_other: written.contains('/') };
        assert_eq!(pattern.occurs(&names, &words[1..]), occurs, "occurs");
        assert_eq!(pattern.covers(&names, &words[1..]), covers, "covers");
    }

    use PatternMatch::{Maybe, No, Yes};

    #[test]
    fn one_word_is_about_a_program_whatever_its_arguments() {
        check("ls", "ls", Yes, true);
        check("ls", "ls -l $X", Yes, true);
        check("ls", "lsof", No, false);
        check("ls*", "lsof", Yes, true);
        check("rm", "/bin/rm -rf x", Yes, false);
        check("/bin/rm", "/bin/rm -rf x", Yes, true);
        check("/bin/rm", "rm -rf x", No, false);
    }

    #[test]
    fn a_star_stands_for_any_number_of_arguments() {
        check("npm *", "npm", Yes, true);
        check("npm *", "npm run build", Yes, true);
        check("git * status", "git -C x status", Yes, true);
        check("git status*", "git status -s", Yes, true);
        check("git status*", "git statusx", Yes, true);
        check("git * --help", "git push", No, false);
    }

    #[test]
    fn a_rule_that_allows_covers_all_arguments() {
        check("git push", "git push", Yes, true);
        check("git push", "git push origin", Yes, false);
        check("git push", "git commit -m push", Yes, false);
        check("git push", "git $X", Maybe, false);
        check("git *", "git $X", Yes, true);
        check("git status *", "git $X", Maybe, false);
    }

    #[test]
    fn letters_of_options_may_be_grouped_and_ordered() {
        check("rm -rf", "rm -fr x", Yes, false);
        check("rm -r", "rm -vrf x", Yes, false);
        check("git push -f", "git push -uf", Yes, false);
        check("git push --force", "git push --force=yes", Yes, false);
        check("git push -f", "git push --foo", No, false);
        check("rm -rf", "rm -r -f x", Yes, false);
        check("rm -rf", "rm x -f -v -r", Yes, false);
        check("tar -x -f", "tar -xf a", Yes, false);
        check("rm -rf", "rm -r x", No, false);
        check("ls -rf", "ls -R --force", No, false);
    }

    #[test]
    fn an_option_is_known_by_its_other_names() {
        check("rm -rf", "rm -Rf x", Yes, false);
        check("rm -rf", "/bin/rm --recursive --force x", Yes, false);
        check("rm -rf", "rm --rec -f x", Yes, false);
        check("rm -r", "rm -- x", No, false);
        check("git push -f", "git push --force-with-lease", Yes, false);
        check("rm -rf", "rm --recursive x", No, false);
    }

    #[test]
    fn an_unknown_word_may_be_what_a_rule_denies() {
        check("git push --force", "git push $X", Maybe, false);
        check("git push --force", "git $X --force", Maybe, false);
        check("git push --force", "git push $X --force", Yes, false);
        check("git push --force", "hg $X", No, false);
    }

    #[test]
    fn globs_match_whole_texts_in_linear_time() {
        assert!(glob("*a*b", "xxaxxb"));
        assert!(!glob("a?", "a"));
        assert!(glob("a.b*", "a.b\n"));
        let many = "a".repeat(2000);
        assert!(!glob(&"a*".repeat(30), &format!("b{many}")));
    }
}
