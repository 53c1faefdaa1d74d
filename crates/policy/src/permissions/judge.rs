//! Judges a command: takes it apart and matches each simple command with the rules.

use super::pattern::{CommandNames, PatternMatch, glob};
use super::programs::{SAFE_BUILTINS, UNSAFE_VARIABLE, is_unsafe_variable};
use super::shell_text::Dialect;
use super::special;
use super::verdict::{PermissionStep, PermissionVerdict};
use super::words::{Word, assignment, file_name, shown};
use super::wrappers::{self, Inner, InnerCommands};
use super::{
    FolderRule, PermissionDecision, PermissionRule, PermissionRules, ProgramLookup, ProgramNames,
};
use PermissionDecision::{Allow, Ask, Deny};

/// How deep commands may start commands, and how many of them are judged.
const DEEPEST: usize = 16;
const MOST_STEPS: usize = 500;

/// A command that is to be started.
#[derive(Clone, Debug)]
pub struct SpawnCommand<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// Its working directory, resolved; `None` when it is the usual one.
    pub cwd: Option<&'a std::path::Path>,
    /// Variables that the request sets to other values than the server's environment has.
    pub changed_variables: &'a [String],
}

/// Judges a command.
#[must_use]
pub fn judge(
    command: &SpawnCommand<'_>,
    rules: &PermissionRules,
    lookup: &dyn ProgramLookup,
) -> PermissionVerdict {
    if rules.allows_everything() {
        return PermissionVerdict::allowed("no rule asks or denies");
    }
    let mut judge = Judge { rules, lookup, steps: Vec::new(), unsafe_variable: None };
    for name in command.changed_variables {
        judge.sets_variable(name, &Context::default());
    }
    if let Some(cwd) = command.cwd {
        judge.folder(&cwd.to_string_lossy(), true, &[]);
    }
    let words: Vec<Word> = command.argv.iter().map(|arg| Word::Known(arg.clone())).collect();
    judge.command(&words, &Context::default());
    judge.verdict()
}

/// Where a simple command stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The programs that start it.
    pub(super) via: Vec<String>,
    /// Whether a shell reads it, so that the shell's own commands count.
    pub(super) in_shell: bool,
    /// Whether its input is what another command prints, or a file.
    pub(super) is_fed: bool,
    /// What a here-document feeds it, if that is known.
    pub(super) fed_text: Option<Word>,
    /// Whether its output goes into a file.
    pub(super) writes_file: bool,
    /// Whether the folder that it runs in is known.
    pub(super) is_moved: bool,
}

impl Context {
    /// What a program starts.
    pub(super) fn inside(&self, program: &str) -> Self {
        let mut via = self.via.clone();
        via.push(program.to_owned());
        Self { via, in_shell: false, writes_file: false, ..self.clone() }
    }
}

/// A rule that matches, what it decides here, and why.
type Ruling<'a> = (&'a PermissionRule, PermissionDecision, String);

pub(super) struct Judge<'a> {
    pub(super) rules: &'a PermissionRules,
    lookup: &'a dyn ProgramLookup,
    pub(super) steps: Vec<PermissionStep>,
    /// A variable that changes which programs run, if one is set.
    unsafe_variable: Option<String>,
}

impl<'a> Judge<'a> {
    fn verdict(mut self) -> PermissionVerdict {
        if let Some(name) = &self.unsafe_variable {
            let raised =
                self.steps.iter_mut().filter(|it| it.decision == Allow && it.rule.is_some());
            for step in raised {
                step.decision = Ask;
                step.reason = format!("a rule allows it, but `{name}` is set, {UNSAFE_VARIABLE}");
            }
            if self.steps.is_empty() && self.rules.default != Allow {
                let name = name.clone();
                self.ask(&[], &Context::default(), &format!("`{name}` is set, {UNSAFE_VARIABLE}"));
            }
        }
        PermissionVerdict::new(self.steps)
    }

    /// Judges a simple command and what it starts.
    pub(super) fn command(&mut self, words: &[Word], context: &Context) {
        if DEEPEST < context.via.len() || MOST_STEPS < self.steps.len() {
            return self.ask(words, context, "it starts too many commands to judge them all");
        }
        let Some((first, args)) = words.split_first() else { return };
        let program = match first {
            Word::Known(name) if !(context.in_shell && name.starts_with('=')) => name.clone(),
            Word::Known(_) | Word::Unknown(_) => {
                return self.ask(words, context, "its program is known only when it runs");
            }
        };
        let found = match context.in_shell && is_builtin(&program) {
            true => ProgramNames::default(),
            false if context.is_moved && program.contains('/') && !program.starts_with('/') => {
                ProgramNames { paths: Vec::new(), is_other: true }
            }
            false => self.lookup.find(&program),
        };
        let names =
            CommandNames { written: &program, paths: &found.paths, is_other: found.is_other };
        let rule = self.rule(&names, args);
        if let Some((rule, Deny, reason)) = rule {
            return self.push(words, context, Deny, Some(rule), reason);
        }
        let mut called = vec![file_name(&program).to_owned()];
        called.extend(found.paths.iter().map(|path| file_name(path).to_owned()));
        if context.in_shell && special::builtin(self, &program, words, context) {
            return;
        }
        match wrappers::unwrap(&called, args, context) {
            Some(wrapped) => {
                // Another program of that name may do anything.
                let is_transparent = wrapped.is_transparent && !found.is_other;
                self.wrapper(words, context, rule, InnerCommands { is_transparent, ..wrapped });
            }
            None => self.plain(words, context, rule),
        }
    }

    /// A program that starts no other command, as far as its arguments say.
    fn plain(&mut self, words: &[Word], context: &Context, rule: Option<Ruling<'a>>) {
        if let Some((rule, decision, reason)) = rule {
            return self.push(words, context, decision, Some(rule), reason);
        }
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let is_safe = context.in_shell && !context.writes_file && SAFE_BUILTINS.contains(&name);
        if is_safe {
            let reason = format!("`{name}` is a command of the shell that starts no program");
            return self.push(words, context, Allow, None, reason);
        }
        let reason = format!("no rule matches it; {}", self.default_reason());
        self.push(words, context, self.rules.default, None, reason);
    }

    /// A program that starts other commands.
    fn wrapper(
        &mut self,
        words: &[Word],
        context: &Context,
        rule: Option<Ruling<'a>>,
        wrapped: InnerCommands,
    ) {
        let InnerCommands { name, inner, is_transparent, option } = wrapped;
        let is_allowed = rule.as_ref().is_some_and(|(_, decision, _)| *decision == Allow);
        let names_option = |option: &String| {
            rule.as_ref().is_some_and(|(rule, ..)| rule.pattern.names_argument(option))
        };
        match rule {
            Some((rule, decision, ref reason)) => {
                self.push(words, context, decision, Some(rule), reason.clone());
            }
            None if !is_transparent => {
                let reason = format!(
                    "`{name}` starts a command with other rights or elsewhere, or is not the usual \
                     program of that name, and no rule allows it; {}",
                    self.default_reason()
                );
                self.push(words, context, self.rules.default, None, reason);
            }
            None => {}
        }
        let is_named = is_allowed && option.as_ref().is_some_and(names_option);
        let deeper = context.inside(&name);
        for part in inner {
            match part {
                Inner::Command(words) => self.command(&words, &deeper),
                Inner::Maybe(words) => self.denials(|judge| judge.command(&words, &deeper)),
                Inner::Words(words) => {
                    let context = Context { in_shell: true, ..deeper.clone() };
                    self.command(&words, &context);
                }
                Inner::Script(text, dialect) => self.script(&text, dialect, &deeper),
                Inner::Folder(folder) => self.changes_folder(&folder, &deeper),
                Inner::Variable(variable) => self.sets_variable(&variable, &deeper),
                Inner::Opaque(_) if is_named => {}
                Inner::Opaque(reason) => self.ask(words, context, &reason),
                Inner::Nothing if rule.is_none() && is_transparent => {
                    self.plain(words, context, None);
                }
                Inner::Nothing => {}
            }
        }
    }

    /// Judges shell text.
    pub(super) fn script(&mut self, text: &Word, dialect: Dialect, context: &Context) {
        let Word::Known(text) = text else {
            let reason = "a shell runs text that is known only when it runs";
            return self.ask(std::slice::from_ref(text), context, reason);
        };
        super::shell::walk(self, text, dialect, context);
    }

    /// The strictest rule that matches, what it decides here, and why.
    fn rule(&self, names: &CommandNames<'_>, args: &[Word]) -> Option<Ruling<'a>> {
        let mut best: Option<Ruling<'a>> = None;
        let rules: &'a PermissionRules = self.rules;
        for rule in rules.rules() {
            let found = match rule.decision {
                Allow => rule.pattern.covers(names, args).then_some((Allow, "a rule allows it")),
                Ask => match rule.pattern.occurs(names, args) {
                    PatternMatch::No => None,
                    PatternMatch::Maybe | PatternMatch::Yes => Some((Ask, "a rule asks about it")),
                },
                Deny => match rule.pattern.occurs(names, args) {
                    PatternMatch::No => None,
                    PatternMatch::Maybe => Some((
                        Ask,
                        "a rule may deny it: some arguments are known only when it runs",
                    )),
                    PatternMatch::Yes => Some((Deny, "a rule denies it")),
                },
            };
            if let Some((decision, reason)) = found
                && best.as_ref().is_none_or(|(_, before, _)| *before < decision)
            {
                best = Some((rule, decision, reason.to_owned()));
            }
        }
        best
    }

    /// Records that a variable is set: its name, or `NAME=value`. What a rule denies in a value
    /// that programs run is denied.
    pub(super) fn sets_variable(&mut self, text: &str, context: &Context) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = assignment(text).map_or(name, |(name, _)| name);
        if !is_unsafe_variable(name) {
            return;
        }
        self.unsafe_variable.get_or_insert_with(|| name.to_owned());
        let value = Word::Known(value.strip_prefix("() ").unwrap_or(value).to_owned());
        let context = context.inside(name);
        self.denials(|judge| judge.script(&value, Dialect::Bash, &context));
    }

    /// Judges something of which only what is denied counts.
    fn denials(&mut self, judge: impl FnOnce(&mut Self)) {
        let before = self.steps.len();
        judge(self);
        let found = self.steps.split_off(before);
        self.steps.extend(found.into_iter().filter(|it| it.decision == Deny && it.rule.is_some()));
    }

    /// Judges a change of the working directory.
    pub(super) fn changes_folder(&mut self, folder: &Word, context: &Context) {
        let rules = self.rules;
        let Some(rule) = &rules.folder else { return };
        match folder {
            Word::Known(text) => self.folder(text, false, &context.via),
            Word::Unknown(text) if rule.outside != Allow => {
                let text = text.clone();
                self.ask(
                    &[Word::Known("cd".to_owned()), Word::Unknown(text)],
                    context,
                    "its folder is known only when it runs",
                );
            }
            Word::Unknown(_) => {}
        }
    }

    /// Judges a working directory.
    fn folder(&mut self, folder: &str, is_resolved: bool, via: &[String]) {
        let rules = self.rules;
        let Some(rule) = &rules.folder else { return };
        let Some(decision) = rule.decision(folder, is_resolved) else { return };
        let shown = rule.folder.display();
        let reason = format!("the folder is outside of {shown}, where `{}` applies", rule.source);
        self.steps.push(PermissionStep {
            command: format!("cd {}", folder.escape_debug()),
            via: via.to_vec(),
            decision,
            rule: Some(rule.source.to_string()),
            reason,
        });
    }

    /// Records that a person must be asked, or more where the default is stricter.
    pub(super) fn ask(&mut self, words: &[Word], context: &Context, reason: &str) {
        self.push(words, context, self.rules.default.max(Ask), None, reason.to_owned());
    }

    fn default_reason(&self) -> String {
        format!("`{}` is `{}`", self.rules.default_source, self.rules.default.as_str())
    }

    fn push(
        &mut self,
        words: &[Word],
        context: &Context,
        decision: PermissionDecision,
        rule: Option<&PermissionRule>,
        reason: String,
    ) {
        let rule = rule.map(|rule| format!("{}: {}", rule.source, rule.pattern.as_str()));
        let command = shown(words);
        let via = context.via.clone();
        self.steps.push(PermissionStep { command, via, decision, rule, reason });
    }
}

impl FolderRule {
    /// What is decided about a folder outside; `None` for one inside. A folder that is named in a
    /// script is not resolved: a relative one, or one with `..`, may be anywhere.
    fn decision(&self, folder: &str, is_resolved: bool) -> Option<PermissionDecision> {
        let path = std::path::Path::new(folder);
        let is_clear = is_resolved
            || path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        // Compared by component: `/work/app2` is not inside of `/work/app`.
        if is_clear && (path.starts_with(&self.folder) || path.is_relative()) {
            return None;
        }
        let matches = self.exceptions.iter().filter(|(pattern, _)| {
            is_clear && (glob(pattern, folder) || glob(pattern, &format!("{folder}/")))
        });
        Some(matches.map(|(_, decision)| *decision).max().unwrap_or(self.outside))
    }
}

/// Whether a name is a command of the shell itself.
fn is_builtin(name: &str) -> bool {
    SAFE_BUILTINS.contains(&name) || special::BUILTINS.contains(&name)
}
