//! Permission rules: whether a command may be started, from its arguments and the user's rules.
//!
//! A command is taken apart into simple commands: programs that only start another command
//! (`env`, `sudo`, `sh -c`) are seen through, and shell text is parsed with a grammar. Each simple
//! command gets a decision, and the strictest one counts: deny, then ask, then allow. What cannot
//! be known before it runs is never allowed by a rule. Nothing here looks up or runs a program:
//! [`ProgramLookup`] is given by the caller.
//!
//! The rules are guard rails for programs that cooperate, not a sandbox.

mod judge;
mod opencode;
mod pattern;
mod programs;
mod runners;
mod shell;
mod shell_text;
mod special;
mod verdict;
mod words;
mod wrapper_table;
mod wrappers;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use judge::{SpawnCommand, judge};
pub use opencode::OpenCodeRules;
pub use pattern::{CommandPattern, PatternError};
pub use verdict::{PermissionStep, PermissionVerdict};

/// What is done about a command. The later ones are stricter.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// It is started.
    #[default]
    Allow,
    /// A person is asked first.
    Ask,
    /// It is refused.
    Deny,
}

impl PermissionDecision {
    /// The name, as in configuration files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The decision of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|it| it.as_str() == name)
    }
}

/// A pattern of commands, and what is done about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    /// What is done.
    pub decision: PermissionDecision,
    /// About which commands.
    pub pattern: CommandPattern,
    /// Where it comes from, such as `permissions.deny`.
    pub source: Arc<str>,
}

/// Rules for working directories outside of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRule {
    /// The folder, resolved.
    pub folder: std::path::PathBuf,
    /// What is done about commands that start outside of it.
    pub outside: PermissionDecision,
    /// Folders outside of it with a rule of their own: a glob on the resolved path.
    pub exceptions: Vec<(String, PermissionDecision)>,
    /// Where it comes from.
    pub source: Arc<str>,
}

/// All rules that apply to a caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionRules {
    rules: Vec<PermissionRule>,
    /// What is done about a command that no rule matches.
    pub default: PermissionDecision,
    /// Where that default is set.
    pub default_source: Arc<str>,
    /// Where commands may start.
    pub folder: Option<FolderRule>,
}

impl PermissionRules {
    /// No rules, and this decision about every command.
    #[must_use]
    pub fn new(default: PermissionDecision, source: &str) -> Self {
        Self { rules: Vec::new(), default, default_source: source.into(), folder: None }
    }

    /// Adds a rule. The pattern `*` sets the decision about commands that no other rule matches;
    /// of several, the strictest counts.
    pub fn add(&mut self, rule: PermissionRule) {
        if !rule.pattern.is_everything() {
            return self.rules.push(rule);
        }
        let is_set = self.default_source.contains('*');
        if !is_set || self.default < rule.decision {
            self.default = rule.decision;
            self.default_source = format!("{} `*`", rule.source).into();
        }
    }

    /// The same rules with another decision about commands that no rule matches, unless a rule `*`
    /// sets it.
    #[must_use]
    pub fn with_default(&self, default: PermissionDecision, source: &str) -> Self {
        if self.default_source.contains('*') {
            return self.clone();
        }
        Self { default, default_source: source.into(), ..self.clone() }
    }

    /// The rules, without `*`.
    #[must_use]
    pub fn rules(&self) -> &[PermissionRule] {
        &self.rules
    }

    /// Whether every command is allowed whatever it is, so that none needs to be judged.
    #[must_use]
    pub fn allows_everything(&self) -> bool {
        self.allows_everything_with(self.default)
    }

    /// The same with this default, unless a rule `*` sets it.
    #[must_use]
    pub fn allows_everything_with(&self, default: PermissionDecision) -> bool {
        let is_set = self.default_source.contains('*');
        let default = if is_set { self.default } else { default };
        default == PermissionDecision::Allow
            && self.folder.is_none()
            && self.rules.iter().all(|rule| rule.decision == PermissionDecision::Allow)
    }
}

/// What the file system says about programs.
pub trait ProgramLookup {
    /// The file that a program name or path means in the command's environment.
    fn find(&self, program: &str) -> ProgramNames;
}

/// The names of a program's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramNames {
    /// The names of the file and of every file that it is a link to, with their folders.
    pub paths: Vec<String>,
    /// Whether it is another file than the one that the bare name means on the usual `PATH`.
    pub is_other: bool,
}

/// A lookup that knows no program.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLookup;

impl ProgramLookup for NoLookup {
    fn find(&self, program: &str) -> ProgramNames {
        ProgramNames { paths: Vec::new(), is_other: program.contains('/') }
    }
}

#[cfg(test)]
mod tests;
