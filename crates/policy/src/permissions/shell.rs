//! Walks the syntax tree of shell text, and judges each simple command in it.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, ExtendedTestExpr, FunctionBody,
    IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, ProcessSubstitutionKind,
    Program, SimpleCommand,
};
use brush_parser::{Parser, SourceInfo};

use super::judge::{Context, Judge};
use super::shell_text::{Dialect, WordContent};
use super::words::Word;

/// The longest shell text that is parsed, in bytes, and how deep its constructs may be nested: the
/// parser recurses for each level, and its time doubles with some.
const LONGEST: usize = 32 << 10;
const DEEPEST_TEXT: usize = 12;

/// Judges all simple commands of a shell text.
pub(super) fn walk(judge: &mut Judge<'_>, text: &str, dialect: Dialect, context: &Context) {
    let shown = [Word::Known(text.to_owned())];
    if LONGEST < text.len() || DEEPEST_TEXT < nesting(text) {
        return judge.ask(&shown, context, "the shell text is too long or too deep to judge");
    }
    // A hidden character may mean different things to the shell and to the grammar.
    if text.contains(['\0', '\r']) {
        return judge.ask(&shown, context, "the shell text holds control characters");
    }
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let reader = Cursor::new(text.as_bytes());
        let source = SourceInfo::default();
        Parser::new(reader, &dialect.options(), &source).parse_program()
    }));
    let Ok(Ok(program)) = parsed else {
        return judge.ask(&shown, context, "the shell text cannot be parsed");
    };
    let context = Context { in_shell: true, ..context.clone() };
    ShellWalk { judge, dialect, context: context.clone(), is_moved: context.is_moved }
        .program(&program);
}

/// How deep a text may be nested at most: brackets and keywords that open something.
fn nesting(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let words = text.split(|it: char| !it.is_ascii_alphabetic());
    let mut open = 0_usize;
    for word in words {
        match word {
            "if" | "while" | "until" | "for" | "case" | "select" => open += 1,
            "fi" | "done" | "esac" => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest.max(text.matches('`').count() / 4)
}

struct ShellWalk<'j, 'r> {
    judge: &'j mut Judge<'r>,
    dialect: Dialect,
    context: Context,
    /// Whether a command before has changed the folder.
    is_moved: bool,
}

impl ShellWalk<'_, '_> {
    fn program(&mut self, program: &Program) {
        program.complete_commands.iter().for_each(|list| self.list(list));
    }

    fn list(&mut self, list: &CompoundList) {
        list.0.iter().for_each(|item| self.and_or(&item.0));
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if pipeline.timed.is_some() {
            self.only_bash("`time`");
        }
        for (at, command) in pipeline.seq.iter().enumerate() {
            let before = self.context.is_fed;
            self.context.is_fed |= 0 < at;
            self.command(command);
            // After `exec < file` the input stays.
            if 0 < at {
                self.context.is_fed = before;
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let before = self.context.clone();
                let redirects = redirects.iter().flat_map(|list| &list.0);
                redirects.for_each(|redirect| self.redirect(redirect));
                self.compound(compound);
                self.context = before;
            }
            Command::Function(function) => {
                let FunctionBody(body, redirects) = &function.body;
                let redirects = redirects.iter().flat_map(|list| &list.0);
                redirects.for_each(|redirect| self.redirect(redirect));
                if is_keyword_function(&function.source, &function.fname.value) {
                    self.only_bash("`function`");
                }
                self.compound(body);
                let name = Word::Unknown(format!("{}()", function.fname.value));
                let reason = "a function gives a name another meaning";
                self.judge.ask(&[name], &self.context, reason);
            }
            Command::ExtendedTest(test) => {
                self.only_bash("`[[`");
                self.test(&test.expr);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value);
                // Some shells read it as commands in two subshells.
                self.nested(&arithmetic.expr.value);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().for_each(|it| self.arithmetic(&it.value));
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(clause) => {
                self.judge.sets_variable(&clause.variable_name, &self.context);
                for value in clause.values.iter().flatten() {
                    self.word(&value.value);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|pattern| drop(self.pattern(&pattern.value)));
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for part in clause.elses.iter().flatten() {
                    part.condition.iter().for_each(|list| self.list(list));
                    self.list(&part.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let before = self.context.clone();
        self.context.is_moved = self.is_moved;
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        let mut words = Vec::new();
        for item in prefix {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    self.assignment(assignment);
                }
                other => self.item(other, &mut words),
            }
        }
        if let Some(name) = &command.word_or_name {
            words.push(self.word(&name.value));
        }
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        suffix.for_each(|item| self.item(item, &mut words));
        let moves = words.first().and_then(Word::known).is_some_and(|name| {
            ["cd", "pushd", "popd", "command", "builtin", "eval"].contains(&name)
        });
        self.judge.command(&words, &self.context);
        // `exec < file` is for all commands that follow.
        let stays = words.len() == 1 && words[0].known() == Some("exec") && self.context.is_fed;
        self.context = before;
        self.context.is_fed |= stays;
        self.is_moved |= moves;
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, words: &mut Vec<Word>) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) => {
                words.push(self.word(&word.value));
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                self.assignment(assignment);
                words.push(self.word(&word.value));
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                self.substitution(kind, &shell.list);
                words.push(Word::Unknown(format!("{kind}(…)")));
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        match &assignment.name {
            AssignmentName::VariableName(name) => self.sets(name, &assignment.value),
            AssignmentName::ArrayElementName(name, index) => {
                self.sets(name, &assignment.value);
                self.arithmetic(index);
            }
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.value(&word.value),
            AssignmentValue::Array(values) => {
                self.only_bash("an array");
                for (index, value) in values {
                    index.iter().for_each(|index| self.arithmetic(&index.value));
                    self.value(&value.value);
                }
            }
        }
    }

    fn sets(&mut self, name: &str, value: &AssignmentValue) {
        let value = match value {
            AssignmentValue::Scalar(word) => {
                WordContent::of(&word.value, self.dialect).word(&word.value)
            }
            AssignmentValue::Array(_) => Word::Known(String::new()),
        };
        let text = format!("{name}={}", value.known().unwrap_or_default());
        self.judge.sets_variable(&text, &self.context);
    }

    /// The value of a variable. The shell runs a command that stands in it where the variable is
    /// used in arithmetic.
    fn value(&mut self, raw: &str) {
        let word = self.word(raw);
        if word.known().is_some_and(holds_command) {
            let reason = "the value of a variable holds a command, which the shell may run";
            self.judge.ask(&[word], &self.context, reason);
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, kind, target) => {
                match kind {
                    IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => {
                        self.context.is_fed = true;
                    }
                    IoFileRedirectKind::ReadAndWrite => {
                        self.context.is_fed = true;
                        self.context.writes_file = true;
                    }
                    IoFileRedirectKind::Write
                    | IoFileRedirectKind::Append
                    | IoFileRedirectKind::Clobber => self.context.writes_file = true,
                    IoFileRedirectKind::DuplicateOutput => {}
                }
                match target {
                    IoFileRedirectTarget::Filename(word) => {
                        let word = self.word(&word.value);
                        if word == Word::Known("/dev/null".to_owned()) {
                            self.context.writes_file = false;
                        }
                    }
                    IoFileRedirectTarget::Duplicate(word) => {
                        // `>&file` writes a file, `>&2` does not.
                        let word = self.word(&word.value);
                        let is_fd =
                            |text: &str| text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
                        self.context.writes_file |= !word.known().is_some_and(is_fd);
                    }
                    IoFileRedirectTarget::Fd(_) => {}
                    IoFileRedirectTarget::ProcessSubstitution(kind, shell) => {
                        self.substitution(kind, &shell.list);
                    }
                }
            }
            IoRedirect::HereDocument(_, document) => {
                self.context.is_fed = true;
                let text = &document.doc.value;
                self.context.fed_text = Some(match document.requires_expansion {
                    true => self.here_document(text),
                    false => Word::Known(text.clone()),
                });
            }
            IoRedirect::HereString(_, word) => {
                self.only_bash("a here-string");
                self.context.is_fed = true;
                self.context.fed_text = Some(self.word(&word.value));
            }
            IoRedirect::OutputAndError(word, _) => {
                self.only_bash("`&>`");
                self.context.writes_file = true;
                self.word(&word.value);
            }
        }
    }

    /// `<(…)`, or `>(…)`, whose commands read what is written to it.
    fn substitution(&mut self, kind: &ProcessSubstitutionKind, list: &CompoundList) {
        self.only_bash("process substitution");
        let before = self.context.clone();
        if matches!(kind, ProcessSubstitutionKind::Write) {
            self.context.is_fed = true;
            self.context.fed_text = None;
        }
        self.list(list);
        self.context = before;
    }

    /// A here-document in which expansions are done.
    fn here_document(&mut self, text: &str) -> Word {
        if !text.contains(['$', '`', '\\']) {
            return Word::Known(text.to_owned());
        }
        // Expansions are done as in double quotes.
        self.word(&format!("\"{text}\""));
        let document = Word::Unknown("<<…".to_owned());
        if text.contains('"') && holds_command(text) {
            // A quote means itself, but not inside of a command substitution, and where that ends
            // is not found out here.
            self.word(&in_double_quotes(text));
            let reason = "a here-document has quotes and runs a command";
            self.judge.ask(std::slice::from_ref(&document), &self.context, reason);
        }
        document
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(one, other) | ExtendedTestExpr::Or(one, other) => {
                self.test(one);
                self.test(other);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.tested(&word.value),
            ExtendedTestExpr::BinaryTest(_, one, other) => {
                self.tested(&one.value);
                self.tested(&other.value);
            }
        }
    }

    fn tested(&mut self, raw: &str) {
        let word = self.pattern(raw);
        if holds_command(raw) && word.known().is_some_and(holds_command) {
            self.judge.ask(&[word], &self.context, "a test may run the command in its text");
        }
    }

    /// Arithmetic. A shell may also read it as commands in parentheses.
    fn arithmetic(&mut self, text: &str) {
        let shown = [Word::Unknown(format!("(({text}))"))];
        self.judge.ask(&shown, &self.context, "arithmetic can run commands");
        let content = WordContent::of(&format!("\"{}\"", text.replace('"', "")), self.dialect);
        content.scripts.iter().for_each(|script| self.nested(script));
    }

    /// A pattern, in which parentheses and `|` have a meaning of their own.
    fn pattern(&mut self, raw: &str) -> Word {
        if raw.contains(['(', '|', ' ']) && !holds_command(raw) {
            return Word::Unknown(raw.to_owned());
        }
        self.word(raw)
    }

    fn word(&mut self, raw: &str) -> Word {
        let content = WordContent::of(raw, self.dialect);
        let word = content.word(raw);
        if let Some(reason) = content.opaque {
            self.judge.ask(std::slice::from_ref(&word), &self.context, reason);
        }
        content.scripts.iter().for_each(|script| self.nested(script));
        word
    }

    /// A command substitution.
    fn nested(&mut self, script: &str) {
        let mut context = self.context.inside("$(…)");
        context.is_moved = self.is_moved;
        walk(self.judge, script, self.dialect, &context);
    }

    /// Notes a construct that some shells read as another command.
    fn only_bash(&mut self, what: &str) {
        if self.dialect == Dialect::Posix {
            let reason = "`sh` may be a shell that reads it as something else";
            self.judge.ask(&[Word::Unknown(what.replace('`', ""))], &self.context, reason);
        }
    }
}

/// The text of a here-document as a word in double quotes.
fn in_double_quotes(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => match chars.next_if(|next| matches!(next, '$' | '`' | '\\' | '\n')) {
                Some(next) => quoted.extend(['\\', next]),
                // Anywhere else it stands for itself.
                None => quoted.push_str("\\\\"),
            },
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn is_keyword_function(source: &str, name: &str) -> bool {
    source.trim_start().starts_with("function") && name != "function"
}

/// Whether a text holds a command substitution.
pub(super) fn holds_command(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}
