//! The service files, made from those in `contrib/`.

use std::path::{Path, PathBuf};

use paned_model::Refusal;

use crate::settings::process_env;

const SYSTEMD_UNIT: &str = include_str!("../../../../../contrib/paned.service");
const LAUNCHD_AGENT: &str = include_str!("../../../../../contrib/dev.paned.server.plist");
/// Where the files in `contrib/` expect the binary.
const USUAL_BINARY: &str = "%h/.local/bin/paned";
const USUAL_BINARY_IN_SHELL: &str = "\"$HOME/.local/bin/paned\"";
/// The label of the launchd agent.
pub(super) const LABEL: &str = "dev.paned.server";

/// The program that starts services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ServiceManager {
    Systemd,
    Launchd,
}

impl ServiceManager {
    /// The one of this system.
    pub(super) fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    /// Where the service file of this user is.
    pub(super) fn path(self) -> Result<PathBuf, Refusal> {
        let home = process_env("HOME").map(PathBuf::from);
        let home =
            home.ok_or_else(|| Refusal::invalid("HOME is not set; set it to your home folder"));
        match self {
            Self::Systemd => {
                let named = process_env("XDG_CONFIG_HOME").map(PathBuf::from);
                let named = named
                    .filter(|path| path.is_absolute())
                    .map_or_else(|| home.map(|home| home.join(".config")), Ok)?;
                Ok(named.join("systemd/user/paned.service"))
            }
            Self::Launchd => Ok(home?.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))),
        }
    }
}

/// What a service runs.
pub(super) struct ServiceSpec {
    /// The absolute path of the binary.
    pub(super) binary: PathBuf,
    /// What comes before `serve`, such as `--state-dir` with its folder.
    pub(super) args: Vec<String>,
    /// The PATH of the shell that installs the service.
    pub(super) path: String,
}

impl ServiceSpec {
    /// The service file.
    pub(super) fn render(&self, manager: ServiceManager) -> String {
        match manager {
            ServiceManager::Systemd => self.systemd(),
            ServiceManager::Launchd => self.launchd(),
        }
    }

    fn systemd(&self) -> String {
        let words: Vec<_> = self.words().iter().map(|word| systemd_word(word)).collect();
        let command = words.join(" ");
        let line = |line: &str| match line.split_once('=') {
            Some(("Environment", value)) if value.starts_with("\"PATH=") => {
                let path = self.path.replace('%', "%%");
                format!(
                    "Environment=\"PATH={}\"\n",
                    path.replace('\\', "\\\\").replace('"', "\\\"")
                )
            }
            Some((key, value)) if value.starts_with(USUAL_BINARY) && !line.starts_with('#') => {
                format!("{key}={}\n", value.replacen(USUAL_BINARY, &command, 1))
            }
            _ => format!("{line}\n"),
        };
        body(SYSTEMD_UNIT).lines().map(line).collect()
    }

    fn launchd(&self) -> String {
        let words: Vec<_> = self.words().iter().map(|word| shell_word(word)).collect();
        let command = xml(&words.join(" "));
        let text = LAUNCHD_AGENT
            .replace(&format!("exec {USUAL_BINARY_IN_SHELL}"), &format!("exec {command}"));
        let mut is_path = false;
        let line = |line: &str| {
            let was_path = std::mem::replace(&mut is_path, line.trim() == "<key>PATH</key>");
            if was_path {
                return format!("    <string>{}</string>\n", xml(&self.path));
            }
            format!("{line}\n")
        };
        text.lines().map(line).collect()
    }

    fn words(&self) -> Vec<String> {
        let binary = self.binary.to_string_lossy().into_owned();
        [binary].into_iter().chain(self.args.iter().cloned()).collect()
    }
}

/// A unit without the comment at its top, which is about installing it by hand.
fn body(unit: &str) -> &str {
    unit.find("\n[Unit]").map_or(unit, |at| &unit[at + 1..])
}

/// A word of a unit's command line: without specifiers, variables and quotes.
fn systemd_word(word: &str) -> String {
    let word =
        word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{word}\"")
}

fn shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The folders of a PATH, each once. Relative ones depend on the current folder and are left out.
pub(super) fn clean_path(path: &str) -> String {
    let mut folders: Vec<&str> = Vec::new();
    for folder in path.split(':').filter(|folder| Path::new(folder).is_absolute()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ServiceSpec {
        ServiceSpec {
            binary: "/opt/my \"100%\" $x/paned".into(),
            args: vec!["--state-dir".to_owned(), "/s & t's".to_owned()],
            path: "/a%b:/c&d".to_owned(),
        }
    }

    #[test]
    fn the_unit_is_the_one_of_contrib_with_the_users_paths() {
        let unit = spec().render(ServiceManager::Systemd);
        let command = r#""/opt/my \"100%%\" $$x/paned" "--state-dir" "/s & t's""#;
        assert!(unit.contains(&format!("\nExecStart={command} serve\n")), "{unit}");
        assert!(unit.contains(&format!("\nExecReload={command} server upgrade\n")), "{unit}");
        assert!(unit.contains("\nEnvironment=\"PATH=/a%%b:/c&d\"\n"), "{unit}");
        assert!(unit.starts_with("[Unit]\n") && !unit.contains("%h/.local/bin/paned"), "{unit}");
        assert_eq!(unit.lines().count(), body(SYSTEMD_UNIT).lines().count());
    }

    #[test]
    fn the_launchd_agent_is_the_one_of_contrib_with_the_users_paths() {
        let agent = spec().render(ServiceManager::Launchd);
        let command = r#"exec '/opt/my "100%" $x/paned' '--state-dir' '/s &amp; t'\''s' serve 2"#;
        assert!(agent.contains(command), "{agent}");
        assert!(agent.contains("<string>/a%b:/c&amp;d</string>"), "{agent}");
        assert_eq!(agent.lines().count(), LAUNCHD_AGENT.lines().count());
    }

    #[test]
    fn a_path_loses_what_is_relative_or_repeated() {
        assert_eq!(clean_path("/a::./b:/c:/a:d"), "/a:/c");
    }
}
