//! Variables of the tools that paned replaces: which of them have no effect, and what to use
//! instead.
//!
//! Those with an effect are in the table of settings. One that is set in vain is reported by
//! `paned config check` and in the server's log, so that no setting is lost in silence.

use super::compat::CompatSettings;
use super::table::{OTHER_VARIABLES, SettingRow, TABLE};
use paned_model::near::closest;

/// A variable that is set and has no effect.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct UnusedVariable {
    pub(crate) name: String,
    /// Why it has none, and what to use instead.
    pub(crate) reason: String,
}

/// Prefixes of the variables that are ours or of the tools that paned replaces.
const PREFIXES: [&str; 4] = ["PANED_", "POLY_", "AGENTMUX_", "PTY_"];

/// Variables that are read, but not for a setting.
const READ: [&str; 5] = [
    "AGENTMUX_CONFIG_FILE",
    "AGENTMUX_ALLOW_CWD_CONFIG",
    "PANED_HANDOVER",
    "POLY_BASE_URL",
    "POLY_PANE",
];

/// Variables that never have an effect, with what to use instead.
pub(crate) const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("AGENTMUX_WINDOW", "an agent is a pane, and there are no windows to name"),
    ("AGENTMUX_URL", "it is for agentmux-submit.sh, and has no effect on the server"),
    ("AGENTMUX_TIMEOUT", "it is for agentmux-submit.sh; use `paned agent send --wait --timeout`"),
    ("AGENTMUX_POLL_INTERVAL", "it is for agentmux-submit.sh; `paned agent wait` does not poll"),
    ("AGENTMUX_IDLE_STABLE_COUNT", "it is for agentmux-submit.sh; `idle` needs no repetition"),
    ("PTY_WEB_PASSWORD", "paned asks for a token instead; `paned token create` makes one"),
    ("PTY_WEB_USERNAME", "paned asks for a token instead; `paned token create` makes one"),
    ("PTY_WEB_AUTOSTART", "use `opencode_pty_serve = true` under `[compat]` in config.toml"),
    ("PTY_AUTOSTART", "use `opencode_pty_serve = true` under `[compat]` in config.toml"),
    ("PTY_SKILL_SOCKET", "paned's socket is named by PANED_SOCKET"),
];

/// The variables among these that are set without an effect.
pub(crate) fn unused_variables(
    set: impl IntoIterator<Item = String>,
    compat: &CompatSettings,
) -> Vec<UnusedVariable> {
    let ours = |name: &String| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut names: Vec<String> = set.into_iter().filter(ours).collect();
    names.sort_unstable();
    let unused = |name: String| {
        let reason = reason(&name, &names, compat)?;
        Some(UnusedVariable { name, reason })
    };
    names.clone().into_iter().filter_map(unused).collect()
}

fn reason(name: &str, set: &[String], compat: &CompatSettings) -> Option<String> {
    if let Some((_, instead)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        return Some((*instead).to_owned());
    }
    if let Some((_, protocol)) = compat.unused_variables.iter().find(|(known, _)| *known == name) {
        let key = protocol.to_string().replace('-', "_");
        return Some(format!(
            "it opens no port by itself: to serve clients of {protocol}, add `--compat {protocol}` \
             or `{key}_serve = true` under `[compat]` in config.toml"
        ));
    }
    let serves_poly = compat.listeners.iter().any(|listener| listener.starts_with("poly="));
    let is_polys = serves_poly && name.starts_with("POLY_");
    let has_effect = |row: &&SettingRow| {
        row.env.contains(&name) && !(is_polys && ["port", "host"].contains(&row.key))
    };
    if let Some(row) = TABLE.iter().find(has_effect) {
        let first = row.env.iter().find(|env| set.iter().any(|name| name == *env))?;
        return (*first != name).then(|| format!("{first} is set and takes precedence"));
    }
    let others = OTHER_VARIABLES.iter().map(|(known, _)| *known);
    if READ.contains(&name) || others.clone().any(|known| known == name) {
        return None;
    }
    let known = TABLE.iter().flat_map(|row| row.env).copied().chain(others);
    Some(match closest(name, known) {
        Some(near) => format!("paned does not know it; did you mean {near}?"),
        None => "paned does not know it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settle;

    #[track_caller]
    fn check(env: &[&str], file: &str, expect: &[(&str, &str)]) {
        let pairs: Vec<_> = env.iter().map(|name| (*name, "1")).collect();
        let compat = settle(None, &pairs, file).unwrap().compat;
        let found = unused_variables(env.iter().map(|name| (*name).to_owned()), &compat);
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, expect.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (found, (_, part)) in found.iter().zip(expect) {
            assert!(found.reason.contains(part), "{found:?}");
        }
    }

    #[test]
    fn variables_without_an_effect_are_found_with_what_to_use_instead() {
        check(&["PTY_SKILL_SOCKET"], "", &[("PTY_SKILL_SOCKET", "PANED_SOCKET")]);
        check(&["PTY_MAX_BUFFER_LINES"], "", &[]);
        check(&["POLY_PORT", "POLY_PANE", "HOME", "AGENTMUX_AGENT"], "", &[]);
        check(&["POLY_PORT", "PANED_PORT"], "", &[("POLY_PORT", "PANED_PORT is set")]);
        check(&["PANED_PROT"], "", &[("PANED_PROT", "did you mean PANED_PORT?")]);
        check(&["POLY_XYZZY"], "", &[("POLY_XYZZY", "does not know it")]);
        check(&["PTY_WEB_PORT"], "", &[("PTY_WEB_PORT", "`--compat opencode-pty`")]);
        check(&["PTY_WEB_PORT"], "[compat]\nopencode_pty_serve = true", &[]);
        check(&["AGENTMUX_TOKEN"], "", &[("AGENTMUX_TOKEN", "`agentmux_serve = true`")]);
    }

    #[test]
    fn no_variable_has_an_effect_and_has_none() {
        for (name, _) in WITHOUT_EFFECT {
            assert!(TABLE.iter().all(|row| !row.env.contains(name)), "{name}");
        }
    }
}
