//! The permissions in OpenCode's configuration: `permission.bash` and
//! `permission.external_directory`, as their users write them.
//!
//! Each is one decision, or a map from patterns to decisions. The pattern `*` is the decision about
//! everything else. Where several patterns match, the strictest counts, whatever their order or
//! length is.

use std::path::Path;

use serde_json::Value;

use super::{CommandPattern, FolderRule, PermissionDecision, PermissionRule, PermissionRules};

/// What OpenCode's configuration says about commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCodeRules {
    bash: Option<Value>,
    external_directory: Option<Value>,
}

impl OpenCodeRules {
    /// Reads the text of `opencode.json` or `opencode.jsonc`.
    ///
    /// # Errors
    /// When it is not JSON, or a permission in it is not known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = without_comments(text);
        let config: Value = serde_json::from_str(&plain).map_err(|error| error.to_string())?;
        let permission = config.get("permission");
        // One decision is about every tool.
        let get = |key: &str| match permission {
            Some(all @ Value::String(_)) => Some(all.clone()),
            Some(permission) => permission.get(key).or_else(|| permission.get("*")).cloned(),
            None => None,
        };
        let found = Self { bash: get("bash"), external_directory: get("external_directory") };
        found.rules(Path::new("/"), "")?;
        Ok(found)
    }

    /// The same, where what this does not set comes from another file.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            bash: merged(other.bash, self.bash),
            external_directory: merged(other.external_directory, self.external_directory),
        }
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bash.is_none() && self.external_directory.is_none()
    }

    /// The rules for programs that start in a project's folder.
    ///
    /// # Errors
    /// When a decision or a pattern is not valid.
    pub fn rules(&self, folder: &Path, file: &str) -> Result<PermissionRules, String> {
        let source = format!("{file} permission.bash");
        let mut rules = PermissionRules::new(PermissionDecision::Allow, "OpenCode's default");
        for (pattern, decision) in entries(self.bash.as_ref(), "bash")? {
            let pattern = CommandPattern::parse(&pattern).map_err(|error| error.to_string())?;
            let source = source.trim().into();
            rules.add(PermissionRule { decision, pattern, source });
        }
        let mut outside = PermissionDecision::Allow;
        let mut exceptions = Vec::new();
        for (pattern, decision) in entries(self.external_directory.as_ref(), "external_directory")?
        {
            match pattern.trim_matches('*').is_empty() {
                true => outside = outside.max(decision),
                false => exceptions.push((pattern, decision)),
            }
        }
        if outside != PermissionDecision::Allow
            || exceptions.iter().any(|(_, it)| *it != PermissionDecision::Allow)
        {
            let source = format!("{file} permission.external_directory").trim().into();
            rules.folder =
                Some(FolderRule { folder: folder.to_owned(), outside, exceptions, source });
        }
        Ok(rules)
    }
}

/// Two settings as OpenCode merges its files: maps entry by entry.
fn merged(base: Option<Value>, over: Option<Value>) -> Option<Value> {
    match (base, over) {
        (Some(Value::Object(mut base)), Some(Value::Object(over))) => {
            base.extend(over);
            Some(Value::Object(base))
        }
        (base, over) => over.or(base),
    }
}

/// The patterns of a permission with their decisions.
fn entries(
    permission: Option<&Value>,
    name: &str,
) -> Result<Vec<(String, PermissionDecision)>, String> {
    let decision = |value: &Value| {
        let known = value.as_str().and_then(PermissionDecision::from_name);
        known.ok_or_else(|| format!("`permission.{name}` must be allow, ask or deny, not {value}"))
    };
    match permission {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => {
            map.iter().map(|(key, value)| Ok((key.clone(), decision(value)?))).collect()
        }
        Some(value) => Ok(vec![("*".to_owned(), decision(value)?)]),
    }
}

/// JSON without comments and trailing commas, which OpenCode's files may have.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = string_end(rest);
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else {
            if matches!(first, '}' | ']') {
                let kept = plain.trim_end().trim_end_matches(',').len();
                if plain.trim_end().ends_with(',') {
                    plain.truncate(kept);
                }
            }
            plain.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    plain
}

/// The length of the JSON string at the start of a text.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use PermissionDecision::{Allow, Ask, Deny};

    #[test]
    fn files_are_read_with_comments_and_trailing_commas() {
        let text = "{ // a\n \"permission\": { \"bash\": { \"*\": \"ask\", \"git *\": \"allow\", /* x */ \"rm \\\"*//\": \"deny\", }, }, }";
        let rules =
            OpenCodeRules::parse(text).unwrap().rules(Path::new("/p"), "opencode.json").unwrap();
        assert_eq!(rules.default, Ask);
        let found: Vec<_> =
            rules.rules().iter().map(|it| (it.pattern.as_str(), it.decision)).collect();
        assert_eq!(found, [("git *", Allow), ("rm \"*//", Deny)]);
    }

    #[test]
    fn one_decision_is_about_all_commands() {
        let rules =
            |text: &str| OpenCodeRules::parse(text).unwrap().rules(Path::new("/p"), "").unwrap();
        assert_eq!(rules("{}").default, Allow);
        assert_eq!(rules(r#"{"permission":{"bash":"deny"}}"#).default, Deny);
        assert_eq!(rules(r#"{"permission":"ask"}"#).default, Ask);
        assert_eq!(rules(r#"{"permission":{"*":"ask","edit":"deny"}}"#).default, Ask);
    }

    #[test]
    fn an_unknown_decision_is_an_error() {
        let error = OpenCodeRules::parse(r#"{"permission":{"bash":{"rm":"never"}}}"#).unwrap_err();
        assert_eq!(error, "`permission.bash` must be allow, ask or deny, not \"never\"");
        assert!(OpenCodeRules::parse("{").is_err());
    }
}
