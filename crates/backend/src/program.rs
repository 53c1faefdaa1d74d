//! Where a program is found and started, on the machine that this runs on. Each mistake has its own
//! message.

use std::path::{Path, PathBuf};

use crate::{Error, SpawnSpec};

/// Variables that describe the terminal of whatever started us, not the one that a program gets.
pub const TERMINAL_VARIABLES: [&str; 9] = [
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "LINES",
    "COLUMNS",
    "TMUX",
    "TMUX_PANE",
    "STY",
];

/// Replaces the program of a spec by its file, and the requested folder by the one to start in.
pub(crate) fn resolve(spec: &mut SpawnSpec) -> Result<(), Error> {
    let variable =
        |name: &str| spec.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let cwd = find_folder(spec.cwd.as_deref(), variable("HOME"))?;
    let program = find_program(&spec.program, variable("PATH"), &cwd)?;
    spec.program = program.to_string_lossy().into_owned();
    spec.cwd = Some(cwd.to_string_lossy().into_owned());
    Ok(())
}

/// The program's file, looked up as a shell would: by its own `PATH`, from its own folder.
///
/// # Errors
/// When there is none, or it cannot be executed.
pub fn find_program(name: &str, path: Option<&str>, cwd: &Path) -> Result<PathBuf, Error> {
    if name.is_empty() {
        return Err(Error::Refused("`argv` starts with an empty program name".to_owned()));
    }
    if name.contains('/') {
        let file = cwd.join(name);
        return match is_program(&file) {
            true => Ok(file),
            false if file.is_dir() => {
                Err(Error::NotExecutable(format!("`{name}` is a folder, not a program")))
            }
            false if file.exists() => {
                Err(Error::NotExecutable(format!("`{name}` is not executable")))
            }
            false => Err(Error::NoProgram(format!("no program `{name}`"))),
        };
    }
    let path = path.unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let folders = path.split(':').filter(|folder| !folder.is_empty());
    let mut files = folders.map(|folder| cwd.join(folder).join(name));
    files
        .find(|file| is_program(file))
        .ok_or_else(|| Error::NoProgram(format!("no program `{}` on PATH", name.escape_debug())))
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
            format!("`cwd` must be an absolute path; `{}` is not", requested.escape_debug());
        return Err(Error::Refused(sentence));
    }
    match folder.metadata() {
        Ok(found) if found.is_dir() => Ok(folder.to_owned()),
        Ok(_) => {
            Err(Error::Refused(format!("`cwd` is not a folder: `{}`", requested.escape_debug())))
        }
        Err(error) => Err(Error::Refused(format!(
            "`cwd` cannot be used: `{}`: {error}",
            requested.escape_debug()
        ))),
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
        refused("", "/", "`argv` starts with an empty program name");
        refused("no-such-thing", "/", "no program `no-such-thing` on PATH");
        refused("/no/such", "/", "no program `/no/such`");
        refused("/etc", "/", "`/etc` is a folder, not a program");
        refused("/etc/passwd", "/", "`/etc/passwd` is not executable");
    }

    #[test]
    fn folders_are_checked() {
        assert!(
            find_folder(Some("/no/such"), None).unwrap_err().to_string().contains("cannot be used")
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
