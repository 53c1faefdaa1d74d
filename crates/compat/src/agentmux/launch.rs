//! The command that a session runs, and the profile that judges it. Pure.

use serde::Deserialize;

use super::{AgentmuxConfig, AgentmuxPermissions};

/// The agents that agentmux itself knows. Another name is that of a profile of paned.
const KNOWN_AGENTS: [&str; 2] = ["claude", "codex"];

/// What agentmux's own `codex --no-alt-screen --full-auto` stands for. codex 0.169 no longer takes
/// `--full-auto`; these are the options that it was short for.
const CODEX_ARGS: [&str; 5] =
    ["--no-alt-screen", "--sandbox", "workspace-write", "--ask-for-approval", "on-request"];

/// A profile, as `agent:profiles` lists it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct AgentmuxProfile {
    pub(super) name: String,
    command: Vec<String>,
}

/// What a session starts: parameters of `agent:create`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AgentmuxLaunch {
    /// The profile; without one, that of the program is used, or the one for any program.
    pub(super) profile: Option<String>,
    /// The command, where it is not the profile's.
    pub(super) argv: Option<Vec<String>>,
    /// Whether the agent asks, if that was set by name.
    pub(super) permissions: Option<&'static str>,
}

impl AgentmuxLaunch {
    pub(super) fn new(config: &AgentmuxConfig, profile: AgentmuxProfile) -> Self {
        let permissions = match config.permissions {
            AgentmuxPermissions::AsAgentmux => None,
            AgentmuxPermissions::Ask => Some("ask"),
            AgentmuxPermissions::Auto => Some("auto"),
        };
        if config.argv.is_some() {
            // agentmux takes any program for its agent; only its own prompt need not be there.
            let is_of_program = KNOWN_AGENTS.contains(&profile.name.as_str());
            let profile = (!is_of_program).then_some(profile.name);
            return Self { profile, argv: config.argv.clone(), permissions };
        }
        let mut argv = profile.command;
        if profile.name == "codex" {
            argv.extend(CODEX_ARGS.map(str::to_owned));
        }
        // A command of our own gets no arguments about permissions: the user's own mode stays.
        let argv = permissions.is_none().then_some(argv);
        Self { profile: Some(profile.name), argv, permissions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(
        name: &str,
        argv: Option<&[&str]>,
        permissions: AgentmuxPermissions,
    ) -> AgentmuxLaunch {
        let argv = argv.map(|argv| argv.iter().map(|word| (*word).to_owned()).collect());
        let config = AgentmuxConfig { argv, permissions, ..AgentmuxConfig::default() };
        let profile = AgentmuxProfile { name: name.to_owned(), command: vec![name.to_owned()] };
        AgentmuxLaunch::new(&config, profile)
    }

    /// The command line, or `-` for that of the profile; and the permissions that are asked for.
    #[track_caller]
    fn check(name: &str, permissions: AgentmuxPermissions, argv: &str, asked: Option<&str>) {
        let launch = launch(name, None, permissions);
        assert_eq!(launch.profile.as_deref(), Some(name));
        assert_eq!(launch.argv.map_or("-".to_owned(), |argv| argv.join(" ")), argv, "{name}");
        assert_eq!(launch.permissions, asked, "{name}");
    }

    #[test]
    fn agents_run_as_agentmux_ran_them_unless_permissions_are_named() {
        use AgentmuxPermissions::{AsAgentmux, Ask, Auto};
        let codex = "codex --no-alt-screen --sandbox workspace-write --ask-for-approval on-request";
        check("codex", AsAgentmux, codex, None);
        check("claude", AsAgentmux, "claude", None);
        check("aider", AsAgentmux, "aider", None);
        for (permissions, asked) in [(Ask, "ask"), (Auto, "auto")] {
            check("codex", permissions, "-", Some(asked));
            check("claude", permissions, "-", Some(asked));
        }
    }

    #[test]
    fn a_command_of_the_users_own_is_judged_by_what_it_is() {
        let argv: &[&str] = &["python3", "-q"];
        for name in KNOWN_AGENTS {
            let launch = launch(name, Some(argv), AgentmuxPermissions::AsAgentmux);
            assert_eq!((launch.profile, launch.permissions), (None, None));
            assert_eq!(launch.argv.as_deref(), Some(&["python3".to_owned(), "-q".to_owned()][..]));
        }
        let named = launch("mine", Some(argv), AgentmuxPermissions::AsAgentmux);
        assert_eq!(named.profile.as_deref(), Some("mine"));
    }
}
