//! What the user has installed: tmux, agents, completions; and whether the server finds the same.

use std::fs;
use std::path::{Path, PathBuf};

use paned_backend::find_program;
use paned_backend::tmux::installed_version;
use serde_json::Value;

use super::{Check, in_home};
use crate::client::block_on;
use crate::out::units;
use crate::settings::process_env;

pub(super) fn checks(status: Option<&Value>, profiles: Option<&Value>) -> Vec<Check> {
    let servers = status.and_then(|status| status.get("searchPath")?.as_str());
    let mut checks = vec![tmux()];
    checks.extend(profiles.map(|profiles| agents(profiles, servers)));
    checks.extend(servers.and_then(|servers| paths(process_env("PATH").as_deref()?, servers)));
    checks.extend(completions());
    checks
}

fn file(program: &str, path: Option<&str>) -> Option<PathBuf> {
    find_program(program, path, Path::new("/")).ok()
}

fn tmux() -> Check {
    let Some(file) = file("tmux", process_env("PATH").as_deref()) else {
        return Check::notice(
            "tmux",
            "not installed",
            "`paned session` needs tmux 3.2 or newer; everything else works without it",
        );
    };
    let place = in_home(&file);
    match block_on(installed_version()) {
        Ok(Ok(version)) => Check::good("tmux", format!("tmux {version} at {place}")),
        Ok(Err(error)) => Check::bad(
            "tmux",
            format!("{place}: {error}"),
            "`paned session` needs tmux 3.2 or newer",
        ),
        Err(error) => Check::bad("tmux", format!("{place}: {error}"), "try again"),
    }
}

/// Where the agents of the profiles are: for us, and for the server where that differs.
fn agents(profiles: &Value, servers: Option<&str>) -> Check {
    let mine = process_env("PATH");
    let profiles = profiles.get("profiles").and_then(Value::as_array).into_iter().flatten();
    let lines: Vec<String> = profiles
        .filter_map(|profile| {
            let name = profile.get("name").and_then(Value::as_str)?;
            let program = profile.pointer("/command/0").and_then(Value::as_str)?;
            let here = file(program, mine.as_deref());
            let there = servers.map_or_else(|| here.clone(), |path| file(program, Some(path)));
            Some(format!("{name} {}", places(here.as_deref(), there.as_deref())?))
        })
        .collect();
    match lines.is_empty() {
        true => Check::notice(
            "agents",
            "none of the known agents is on PATH",
            "`paned agent profiles` lists those that paned knows",
        ),
        false => Check::good("agents", lines.join("\n")),
    }
}

/// Where a program is for us and for the server, if it is anywhere.
fn places(here: Option<&Path>, there: Option<&Path>) -> Option<String> {
    Some(match (here, there) {
        (None, None) => return None,
        (Some(here), Some(there)) if here == there => format!("at {}", in_home(here)),
        (Some(here), Some(there)) => {
            format!("at {}, for the server at {}", in_home(here), in_home(there))
        }
        (Some(here), None) => format!("at {}, not for the server", in_home(here)),
        (None, Some(there)) => format!("at {}, for the server only", in_home(there)),
    })
}

/// Whether the server looks for programs where we do.
fn paths(mine: &str, servers: &str) -> Option<Check> {
    let folders = |path: &str| -> Vec<String> {
        path.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect()
    };
    let known = folders(servers);
    let mut missing = folders(mine);
    missing.retain(|folder| !known.contains(folder));
    missing.dedup();
    if missing.is_empty() {
        return Some(Check::good("PATH", "the server has every folder of yours"));
    }
    let count = units::count(missing.len(), "folder");
    let named: Vec<_> = missing.iter().take(3).map(|folder| in_home(Path::new(folder))).collect();
    let more = if named.len() < missing.len() { ", …" } else { "" };
    Some(Check::notice(
        "PATH",
        format!("the server lacks {count} of yours: {}{more}", named.join(", ")),
        "your own commands use your PATH; HTTP clients use the server's: `paned server restart` updates it",
    ))
}

/// Whether the user's shell completes paned's commands.
fn completions() -> Option<Check> {
    let shell = process_env("SHELL")?;
    let shell = Path::new(&shell).file_name()?.to_str()?.to_owned();
    let home = PathBuf::from(process_env("HOME")?);
    let (files, startup): (&[&str], &str) = match shell.as_str() {
        "bash" => (
            &[
                ".local/share/bash-completion/completions/paned",
                "/usr/share/bash-completion/completions/paned",
                "/usr/local/share/bash-completion/completions/paned",
                "/etc/bash_completion.d/paned",
            ],
            ".bashrc",
        ),
        "zsh" => (
            &[
                ".zsh/completions/_paned",
                ".zfunc/_paned",
                ".local/share/zsh/site-functions/_paned",
                "/usr/local/share/zsh/site-functions/_paned",
                "/usr/share/zsh/site-functions/_paned",
                "/usr/share/zsh/vendor-completions/_paned",
            ],
            ".zshrc",
        ),
        "fish" => (
            &[
                ".config/fish/completions/paned.fish",
                "/usr/share/fish/vendor_completions.d/paned.fish",
            ],
            ".config/fish/config.fish",
        ),
        _ => return None,
    };
    let found = files.iter().map(|file| home.join(file)).find(|file| file.exists());
    if let Some(found) = found {
        return Some(Check::good("completions", format!("for {shell}, {}", in_home(&found))));
    }
    let startup = home.join(startup);
    let is_sourced = fs::read_to_string(&startup).is_ok_and(|it| it.contains("paned completions"));
    Some(match is_sourced {
        true => Check::good("completions", format!("for {shell}, {}", in_home(&startup))),
        false => Check::notice(
            "completions",
            format!("not installed for {shell}"),
            "`paned completions --help` shows how",
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn folders_that_the_server_lacks_are_named() {
        assert!(paths("/bin:/usr/bin", "/usr/bin:/bin:/opt").unwrap().hint.is_none());
        let check = paths("/bin:/opt/x", "/bin").unwrap();
        assert!(check.ok && check.detail.contains("1 folder of yours: /opt/x"), "{check:?}");
        assert!(check.hint.is_some());
    }

    #[test]
    fn agents_are_named_with_their_files_and_missing_ones_are_not() {
        let profiles = json!({ "profiles": [
            { "name": "shell", "command": ["sh"] }, { "name": "none", "command": ["no-such-program"] },
        ] });
        let check = agents(&profiles, Some("/nowhere"));
        assert!(
            check.detail.starts_with("shell at ") && check.detail.ends_with(", not for the server")
        );
        assert!(!check.detail.contains("none"), "{check:?}");
    }
}
