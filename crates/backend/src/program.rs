//! Where a program is found and started, on the machine that this runs on. Each mistake has its own
//! message.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Error, PathOwner, SpawnSpec};

/// Where programs are looked up without a `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Variables that describe the terminal, or the shell, of the process that has them. A program on
/// another terminal must not see them.
const TERMINAL_VARIABLES: [&str; 23] = [
    "COLORTERM",
    "COLUMNS",
    "GPG_TTY",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
    "LINES",
    "OLDPWD",
    "SHLVL",
    "SSH_TTY",
    "STY",
    "TERM",
    "TERMCAP",
    "TERM_FEATURES",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TMUX",
    "TMUX_PANE",
    "VTE_VERSION",
    "WINDOWID",
    "WT_SESSION",
    "ZELLIJ",
    "_",
];
/// Prefixes of variables with which terminal programs identify their windows.
const TERMINAL_PREFIXES: [&str; 6] =
    ["ALACRITTY_", "ITERM_", "KITTY_", "KONSOLE_", "WEZTERM_", "ZELLIJ_"];

/// Whether a variable describes the terminal or the shell of the process that has it, so that a
/// program on another terminal must not inherit it.
#[must_use]
pub fn describes_terminal(name: &str) -> bool {
    TERMINAL_VARIABLES.contains(&name)
        || TERMINAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Replaces the program of a spec by its file, and the requested folder by the one to start in,
/// which `PWD` then names.
pub(crate) fn resolve(spec: &mut SpawnSpec) -> Result<(), Error> {
    let variable =
        |name: &str| spec.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let cwd = find_folder(spec.cwd.as_deref(), variable("HOME"))?;
    let path = variable("PATH");
    let whose = match (path, spec.path_owner) {
        (None, _) => "the default PATH",
        (Some(_), PathOwner::Caller) => "your PATH",
        (Some(_), PathOwner::Server) => "the server's PATH",
    };
    let program = find_program_on(&spec.program, path, whose, &cwd)?;
    // A shell reports its folder by the links it was entered through.
    let is_named = variable("PWD").is_some_and(|pwd| is_same_folder(Path::new(pwd), &cwd));
    spec.program = program.to_string_lossy().into_owned();
    let cwd = cwd.to_string_lossy().into_owned();
    if !is_named {
        spec.env.retain(|(name, _)| name != "PWD");
        spec.env.push(("PWD".to_owned(), cwd.clone()));
    }
    spec.cwd = Some(cwd);
    Ok(())
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    one.is_absolute() && id(one).is_some_and(|found| id(other) == Some(found))
}

/// The program's file, looked up as a shell would: by its own `PATH`, from its own folder.
///
/// # Errors
/// When there is none, or it cannot be executed.
pub fn find_program(name: &str, path: Option<&str>, cwd: &Path) -> Result<PathBuf, Error> {
    find_program_on(name, path, "PATH", cwd)
}

/// The same; `whose` says in the error which `PATH` was searched.
fn find_program_on(
    name: &str,
    path: Option<&str>,
    whose: &str,
    cwd: &Path,
) -> Result<PathBuf, Error> {
    if name.is_empty() {
        return Err(Error::Refused("`argv` must not start with an empty program name".to_owned()));
    }
    if name.contains('/') {
        return find_file(name, cwd);
    }
    let folders = path.unwrap_or(DEFAULT_PATH).split(':').filter(|folder| !folder.is_empty());
    let mut files = folders.map(|folder| cwd.join(folder).join(name));
    files.find(|file| is_program(file)).ok_or_else(|| {
        let is_here = is_program(&cwd.join(name));
        let name = name.escape_debug();
        let hint = if is_here { format!("; did you mean `./{name}`?") } else { String::new() };
        Error::NoProgram(format!("no program `{name}` on {whose}{hint}"))
    })
}

/// A program that is given by its path.
fn find_file(name: &str, cwd: &Path) -> Result<PathBuf, Error> {
    let file = cwd.join(name);
    if is_program(&file) {
        return Ok(file);
    }
    let shown = name.escape_debug();
    match file.metadata() {
        Ok(found) if found.is_dir() => {
            Err(Error::NotExecutable(format!("`{shown}` is a folder, not a program")))
        }
        Ok(_) => {
            let quote = if name.contains(char::is_whitespace) { "'" } else { "" };
            Err(Error::NotExecutable(format!(
                "`{shown}` is not executable; try `chmod +x {quote}{shown}{quote}`"
            )))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(Error::NotExecutable(format!("cannot access `{shown}`: permission denied")))
        }
        Err(_) => Err(Error::NoProgram(format!("no program `{shown}`"))),
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The folder to start a program in on this machine: the one requested, or else the home folder, or
/// `/` where there is none.
///
/// # Errors
/// When the one requested is no absolute path of a folder.
pub fn find_folder(requested: Option<&str>, home: Option<&str>) -> Result<PathBuf, Error> {
    let Some(requested) = requested else {
        let home = home.map(Path::new).filter(|home| home.is_dir());
        return Ok(home.unwrap_or(Path::new("/")).to_owned());
    };
    let folder = Path::new(requested);
    if !folder.is_absolute() {
        let sentence =
            format!("`cwd` must be an absolute path, not `{}`", requested.escape_debug());
        return Err(Error::Refused(sentence));
    }
    match folder.metadata() {
        Ok(found) if found.is_dir() => Ok(folder.to_owned()),
        Ok(_) => {
            Err(Error::Refused(format!("`cwd` is not a folder: `{}`", requested.escape_debug())))
        }
        Err(error) => {
            Err(Error::Refused(format!("cannot use `cwd` `{}`: {error}", requested.escape_debug())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str, cwd: &str, sentence: &str) {
        let refusal = find_program(name, Some("/bin:/usr/bin"), Path::new(cwd)).unwrap_err();
        assert_eq!(refusal.to_string(), sentence);
    }

    #[test]
    fn programs_are_found_on_the_path_or_from_the_folder() {
        let sh = find_program("sh", Some("/nowhere:/bin"), Path::new("/")).unwrap();
        assert_eq!(sh, Path::new("/bin/sh"));
        assert_eq!(find_program("bin/sh", None, Path::new("/")).unwrap(), Path::new("/bin/sh"));
        assert_eq!(find_program("sh", Some("bin"), Path::new("/")).unwrap(), Path::new("/bin/sh"));
    }

    #[test]
    fn each_way_of_not_being_a_program_has_its_sentence() {
        refused("", "/", "`argv` must not start with an empty program name");
        refused("no-such-thing", "/", "no program `no-such-thing` on PATH");
        refused("/no/such", "/", "no program `/no/such`");
        refused("/etc", "/", "`/etc` is a folder, not a program");
        refused("/etc/passwd", "/", "`/etc/passwd` is not executable; try `chmod +x /etc/passwd`");
    }

    #[test]
    fn a_program_beside_us_is_suggested_and_the_path_has_an_owner() {
        let refusal = find_program_on("sh", Some("/no"), "your PATH", Path::new("/bin"));
        let sentence = refusal.unwrap_err().to_string();
        assert_eq!(sentence, "no program `sh` on your PATH; did you mean `./sh`?");
    }

    #[test]
    fn what_describes_a_terminal_is_known() {
        for name in ["TERM", "TMUX_PANE", "KITTY_WINDOW_ID", "_", "SHLVL"] {
            assert!(describes_terminal(name), "{name}");
        }
        for name in ["PATH", "SSH_AUTH_SOCK", "TERMINFO", "LC_ALL", "VIRTUAL_ENV"] {
            assert!(!describes_terminal(name), "{name}");
        }
    }

    #[test]
    fn folders_are_checked() {
        assert!(
            find_folder(Some("/no/such"), None).unwrap_err().to_string().contains("cannot use")
        );
        assert!(
            find_folder(Some("/etc/passwd"), None)
                .unwrap_err()
                .to_string()
                .contains("not a folder")
        );
        assert!(find_folder(Some("etc"), None).unwrap_err().to_string().contains("absolute"));
        assert_eq!(find_folder(None, Some("/etc")).unwrap(), Path::new("/etc"));
        assert_eq!(find_folder(None, Some("/no/such")).unwrap(), Path::new("/"));
    }
}
