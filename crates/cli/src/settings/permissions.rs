//! The settings of permission rules.

use std::path::PathBuf;

use paned_kernel::PermissionSetup;
use paned_model::Refusal;
use paned_policy::permissions::{
    CommandPattern, PermissionDecision, PermissionRule, PermissionRules,
};

use super::Sources;

/// What `permissions.cli` and its like can be.
pub(super) const DECISIONS: &[&str] = &["allow", "ask", "deny"];

impl Sources<'_> {
    /// Which programs callers may start.
    pub(super) fn permissions(&self) -> Result<PermissionSetup, Refusal> {
        let mut rules = PermissionRules::new(PermissionDecision::Allow, "the default");
        for (key, decision) in [
            ("permissions.deny", PermissionDecision::Deny),
            ("permissions.ask", PermissionDecision::Ask),
            ("permissions.allow", PermissionDecision::Allow),
        ] {
            let (lines, origin) = self.pick(key)?;
            for line in lines.lines() {
                let pattern = CommandPattern::parse(line).map_err(|error| {
                    Refusal::invalid(format!("{origin}: invalid `{key}`: {error}"))
                })?;
                rules.add(PermissionRule { decision, pattern, source: key.into() });
            }
        }
        Ok(PermissionSetup {
            rules,
            owner: self.decision("permissions.cli")?,
            agents: self.decision("permissions.agents")?,
            tokens: self.decision("permissions.tokens")?,
            opencode_files: self.boolean("permissions.opencode_files")?,
            opencode_config: self.opencode_config(),
        })
    }

    fn decision(&self, key: &'static str) -> Result<PermissionDecision, Refusal> {
        let name = self.valid(key)?;
        PermissionDecision::from_name(&name)
            .ok_or_else(|| Refusal::internal(format!("the kind of `{key}` is not a decision")))
    }

    /// OpenCode's own configuration file of the user.
    fn opencode_config(&self) -> Option<PathBuf> {
        let folder = (self.env)("XDG_CONFIG_HOME").map(PathBuf::from);
        let folder = folder.or_else(|| Some(PathBuf::from((self.env)("HOME")?).join(".config")));
        folder.map(|folder| folder.join("opencode/opencode.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use super::*;

    #[test]
    fn rules_are_read_from_their_lists() {
        let file =
            "[permissions]\ndeny = ['rm -rf *']\nallow = ['git status*', 'ls']\nagents = 'deny'";
        let setup = settle(None, &[], file).unwrap().permissions;
        let found: Vec<_> = setup
            .rules
            .rules()
            .iter()
            .map(|it| (it.decision.as_str(), it.pattern.as_str()))
            .collect();
        assert_eq!(found, [("deny", "rm -rf *"), ("allow", "git status*"), ("allow", "ls")]);
        assert_eq!(setup.owner, PermissionDecision::Allow);
        assert_eq!(setup.agents, PermissionDecision::Deny);
        assert_eq!(setup.tokens, PermissionDecision::Allow);
    }

    #[test]
    fn agents_are_asked_about_by_default() {
        let setup = settle(None, &[], "").unwrap().permissions;
        assert_eq!(setup.agents, PermissionDecision::Ask);
        assert_eq!(setup.owner, PermissionDecision::Allow);
    }

    #[test]
    fn a_decision_that_does_not_exist_is_refused() {
        let refusal = settle(None, &[], "[permissions]\ncli = 'never'").unwrap_err();
        assert!(
            refusal
                .sentence
                .ends_with(":2: invalid `permissions.cli`: `never` is not allow, ask or deny"),
            "{}",
            refusal.sentence
        );
    }
}
