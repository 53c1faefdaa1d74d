//! Runs git with a time-out, without prompts, and without running programs that a repository names.
//!
//! An agent can write into its worktree and often into the repository. Hooks, file system monitors,
//! filters and the like that the repository configures would run as the server, outside of the
//! agent's sandbox. So settings that only the repository makes are disabled; settings of the user,
//! such as the filters of git-lfs, stay.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use paned_model::{Code, Refusal};
use tokio::process::Command;
use tokio::time::timeout;

use crate::Kernel;

/// How long git may take; a checkout of a large tree takes a while.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Settings of every run; they override all configuration.
const OVERRIDES: [(&str, &str); 8] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.askPass", ""),
    ("core.pager", "cat"),
    ("core.alternateRefsCommand", ""),
    ("submodule.recurse", "false"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
];

/// Keys by which a repository could make git run a program: the section, the end of the name, and
/// the value to use where the user's own configuration has none.
const PROGRAMS: [(&str, &str, &str); 12] = [
    ("filter.", ".clean", ""),
    ("filter.", ".smudge", ""),
    ("filter.", ".process", ""),
    ("filter.", ".required", "false"),
    ("core.sshcommand", "", "ssh"),
    ("core.gitproxy", "", ""),
    ("credential.", "helper", ""),
    ("remote.", ".uploadpack", "git-upload-pack"),
    ("remote.", ".vcs", ""),
    ("remote.", ".proxy", ""),
    ("diff.", ".command", ""),
    ("diff.", ".textconv", ""),
];

/// A repository, and how git is run in it.
pub(super) struct Git<'a> {
    kernel: &'a Kernel,
    /// Arguments that name its location.
    location_args: Vec<OsString>,
    common: Option<OsString>,
    /// Keys and values that override all configuration.
    overrides: Vec<(String, String)>,
}

impl<'a> Git<'a> {
    /// Git in the repository that contains a folder.
    pub(super) async fn containing(kernel: &'a Kernel, folder: &Path) -> Result<Self, Refusal> {
        Self::new(kernel, vec!["-C".into(), folder.into()], None).await
    }

    /// Git in this repository, independent of its working trees.
    pub(super) async fn in_repository(
        kernel: &'a Kernel,
        repository: &Path,
    ) -> Result<Self, Refusal> {
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(repository);
        Self::new(kernel, vec!["-C".into(), repository.into(), git_dir], None).await
    }

    /// Git in a working tree of a repository. The location of the repository is never read from the
    /// tree.
    pub(super) async fn in_tree(
        kernel: &'a Kernel,
        repository: &Path,
        git_dir: &Path,
        tree: &Path,
    ) -> Result<Self, Refusal> {
        let option = |name: &str, path: &Path| {
            let mut option = OsString::from(name);
            option.push(path);
            option
        };
        let location_args = vec![
            "-C".into(),
            tree.into(),
            option("--git-dir=", git_dir),
            option("--work-tree=", tree),
        ];
        Self::new(kernel, location_args, Some(repository.into())).await
    }

    async fn new(
        kernel: &'a Kernel,
        location_args: Vec<OsString>,
        common: Option<OsString>,
    ) -> Result<Self, Refusal> {
        let overrides = OVERRIDES.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let mut git = Self { kernel, location_args, common, overrides };
        // Reading the configuration runs no program.
        let list = git.run(&["config", "--list", "--show-scope", "--null"]).await?;
        git.overrides.extend(neutralize(&list));
        Ok(git)
    }

    /// Runs git and returns what it prints.
    pub(super) async fn run(&self, args: &[&str]) -> Result<String, Refusal> {
        let env = self.kernel.setup().env.iter().filter(|(name, _)| is_passed_on(name));
        let mut command = Command::new("git");
        command.env_clear().envs(env.map(|(name, value)| (name, value)));
        // No remote helpers beyond those of git itself.
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env("GIT_PROTOCOL_FROM_USER", "0");
        if let Some(common) = &self.common {
            command.env("GIT_COMMON_DIR", common).env("GIT_NO_LAZY_FETCH", "1");
        }
        // As variables: `-c` splits at the first `=`, and a name in a key may contain one.
        command.env("GIT_CONFIG_COUNT", self.overrides.len().to_string());
        for (at, (key, value)) in self.overrides.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command.args(&self.location_args).args(["--no-pager", "--no-optional-locks"]);
        command.args(args).stdin(Stdio::null()).kill_on_drop(true);
        let outcome = timeout(TIMEOUT, command.output()).await.map_err(|_| {
            let sentence = format!("git {} took longer than {} s", args[0], TIMEOUT.as_secs());
            Refusal::new(Code::Timeout, sentence)
        })?;
        let output = outcome.map_err(|error| {
            Refusal::new(Code::Unavailable, format!("git cannot be run: {error}"))
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message =
            stderr.trim().lines().last().unwrap_or_default().trim_start_matches("fatal: ");
        Err(Refusal::new(Code::Conflict, format!("git {} failed: {message}", args[0])))
    }
}

/// Overrides that disable the programs that only the repository names. `list` is the whole
/// configuration: scope, key and value of each entry, each entry after those that it overrides.
fn neutralize(list: &str) -> Vec<(String, String)> {
    let mut fields = list.split('\0');
    let mut entries = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        entries.push((scope, key, value));
    }
    let is_own = |scope: &str| matches!(scope, "global" | "system");
    let mut overrides: Vec<(String, String)> = Vec::new();
    for (scope, key, _) in &entries {
        // `command`: our own overrides.
        if is_own(scope) || *scope == "command" {
            continue;
        }
        let lower = key.to_ascii_lowercase();
        let found = PROGRAMS.iter().find(|(section, end, _)| {
            lower.len() >= section.len() + end.len()
                && lower.starts_with(section)
                && lower.ends_with(end)
        });
        let Some((_, _, neutral)) = found else { continue };
        let users = entries.iter().rev().find(|(scope, it, _)| is_own(scope) && it == key);
        let value = users.map_or(*neutral, |(_, _, value)| value);
        let setting = ((*key).to_owned(), value.to_owned());
        if !overrides.contains(&setting) {
            overrides.push(setting);
        }
    }
    overrides
}

/// Whether git inherits a variable of the server; not those that change its repository or its
/// configuration.
fn is_passed_on(name: &str) -> bool {
    const KEPT: [&str; 6] = [
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
    ];
    !(name.starts_with("GIT_") || name == "SSH_ASKPASS") || KEPT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &[(&str, &str)], expect: &[&str]) {
        let list: String =
            list.iter().map(|(scope, entry)| format!("{scope}\0{entry}\0")).collect();
        let found = neutralize(&list).into_iter().map(|(key, value)| format!("{key} -> {value}"));
        assert_eq!(found.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn programs_that_only_a_repository_names_are_switched_off() {
        check(&[("local", "user.name\nx"), ("global", "filter.lfs.clean\ngit-lfs")], &[]);
        check(&[("local", "filter.evil.clean\n/x")], &["filter.evil.clean -> "]);
        check(&[("local", "filter.a=b.clean\n/x")], &["filter.a=b.clean -> "]);
        check(&[("worktree", "filter.A.b.process\n/x")], &["filter.A.b.process -> "]);
        check(&[("local", "filter.evil.required")], &["filter.evil.required -> false"]);
        check(&[("local", "core.sshcommand\n/x")], &["core.sshcommand -> ssh"]);
        check(&[("local", "credential.helper\n!x")], &["credential.helper -> "]);
        check(
            &[("local", "credential.https://h.helper\n!x")],
            &["credential.https://h.helper -> "],
        );
        check(&[("command", "core.askpass\n")], &[]);
    }

    #[test]
    fn what_the_user_says_beats_what_the_repository_says() {
        let list = [
            ("system", "filter.lfs.clean\nold"),
            ("global", "filter.lfs.clean\ngit-lfs clean -- %f"),
            ("local", "filter.lfs.clean\n/evil"),
            ("local", "filter.lfs.clean\n/evil"),
        ];
        check(&list, &["filter.lfs.clean -> git-lfs clean -- %f"]);
    }

    #[test]
    fn variables_that_configure_git_do_not_reach_it() {
        for name in ["GIT_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_EXTERNAL_DIFF"] {
            assert!(!is_passed_on(name), "{name}");
        }
        for name in ["HOME", "PATH", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"] {
            assert!(is_passed_on(name), "{name}");
        }
    }
}
