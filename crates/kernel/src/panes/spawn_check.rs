//! Checks before a program is started, each with its own message.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paned_model::{PaneId, Refusal};
use serde_json::json;

use crate::{AdvertisedAddress, Token};

/// The program's file, looked up as a shell would: by the pane's own `PATH`, from its own folder.
pub(crate) fn find_program(name: &str, path: Option<&str>, cwd: &Path) -> Result<PathBuf, Refusal> {
    if name.is_empty() {
        return Err(Refusal::invalid("`argv` starts with an empty program name"));
    }
    if name.contains('/') {
        let file = cwd.join(name);
        return match is_program(&file) {
            true => Ok(file),
            false if file.is_dir() => {
                Err(no_program(NOT_EXECUTABLE, format!("`{name}` is a folder, no program")))
            }
            false if file.exists() => {
                Err(no_program(NOT_EXECUTABLE, format!("`{name}` may not be executed")))
            }
            false => Err(no_program(MISSING, format!("no program `{name}`"))),
        };
    }
    let path = path.unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let folders = path.split(':').filter(|folder| !folder.is_empty());
    let mut files = folders.map(|folder| cwd.join(folder).join(name));
    files
        .find(|file| is_program(file))
        .ok_or_else(|| no_program(MISSING, format!("no program `{}` on PATH", name.escape_debug())))
}

/// A shell has exit codes for these, 127 and 126.
const MISSING: &str = "missing";
const NOT_EXECUTABLE: &str = "notExecutable";

fn no_program(how: &str, sentence: String) -> Refusal {
    Refusal::invalid(sentence).with_details(json!({ "program": how }))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The folder to start in.
pub(crate) fn find_folder(requested: Option<&str>, home: Option<&str>) -> Result<PathBuf, Refusal> {
    let Some(requested) = requested else {
        let home = home.map(Path::new).filter(|home| home.is_dir());
        return Ok(home.unwrap_or(Path::new("/")).to_owned());
    };
    let folder = Path::new(requested);
    if !folder.is_absolute() {
        let sentence =
            format!("`cwd` must be an absolute path; `{}` is not", requested.escape_debug());
        return Err(Refusal::invalid(sentence));
    }
    match folder.metadata() {
        Ok(found) if found.is_dir() => Ok(folder.to_owned()),
        Ok(_) => {
            Err(Refusal::invalid(format!("`cwd` is no folder: `{}`", requested.escape_debug())))
        }
        Err(error) => Err(Refusal::invalid(format!(
            "`cwd` cannot be used: `{}`: {error}",
            requested.escape_debug()
        ))),
    }
}

/// Refuses a text that a program cannot be given.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Refusal> {
    match text.contains('\0') {
        true => Err(Refusal::invalid(format!(
            "`{field}` holds a NUL character, which no program can be given"
        ))),
        false => Ok(()),
    }
}

/// Refuses a variable's name that no environment can hold.
pub(crate) fn check_variable(name: &str, value: &str) -> Result<(), Refusal> {
    if name.is_empty() || name.contains('=') {
        let sentence = format!("`env`: `{}` is no variable's name", name.escape_debug());
        return Err(Refusal::invalid(sentence));
    }
    check_text("env", name)?;
    check_text("env", value)
}

/// The whole environment of a pane: what the server was started with, except what is about the
/// server's own terminal; then the pane's identity and our address; then what the request adds.
pub(crate) fn environment(
    base: &[(String, String)],
    requested: BTreeMap<String, String>,
    identity: &PaneIdentity<'_>,
) -> Vec<(String, String)> {
    let mut env: BTreeMap<String, String> =
        base.iter().filter(|(name, _)| !is_reserved(name)).cloned().collect();
    env.extend(identity.variables());
    env.extend(requested);
    env.into_iter().collect()
}

fn is_reserved(name: &str) -> bool {
    const TERMINAL: [&str; 9] = [
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
    name.starts_with("PANED_") || name.starts_with("POLY_") || TERMINAL.contains(&name)
}

/// What a pane needs to reach the server as itself.
pub(crate) struct PaneIdentity<'a> {
    pub(crate) id: &'a PaneId,
    pub(crate) address: &'a AdvertisedAddress,
    pub(crate) token: &'a Token,
}

impl PaneIdentity<'_> {
    fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let port = self.address.port.map(|port| port.to_string());
        let variables = [
            ("PANED_PANE", Some(self.id.to_string())),
            ("PANED_URL", self.address.url.clone()),
            ("PANED_TOKEN", Some(self.token.reveal().to_owned())),
            ("PANED_SOCKET", self.address.socket.clone()),
            ("POLY_PANE", Some(self.id.to_string())),
            ("POLY_PORT", port),
            ("POLY_BASE_URL", self.address.url.clone()),
            ("TERM", Some("xterm-256color".into())),
            ("COLORTERM", Some("truecolor".into())),
        ];
        variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str, cwd: &str, sentence: &str) {
        let refusal = find_program(name, Some("/bin:/usr/bin"), Path::new(cwd)).unwrap_err();
        assert_eq!(refusal.sentence, sentence);
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
        refused("/etc", "/", "`/etc` is a folder, no program");
        refused("/etc/passwd", "/", "`/etc/passwd` may not be executed");
    }

    #[test]
    fn folders_are_checked() {
        assert!(
            find_folder(Some("/no/such"), None).unwrap_err().sentence.contains("cannot be used")
        );
        assert!(find_folder(Some("/etc/passwd"), None).unwrap_err().sentence.contains("no folder"));
        assert!(find_folder(Some("etc"), None).unwrap_err().sentence.contains("absolute"));
        assert_eq!(find_folder(None, Some("/etc")).unwrap(), Path::new("/etc"));
        assert_eq!(find_folder(None, Some("/no/such")).unwrap(), Path::new("/"));
    }

    #[test]
    fn the_environment_is_the_base_then_who_it_is_then_what_was_asked_for() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let base = [
            pair("HOME", "/root"),
            pair("TMUX", "x"),
            pair("PANED_STATE_DIR", "/s"),
            pair("A", "1"),
        ];
        let (id, address) = ("p".parse().unwrap(), AdvertisedAddress::default());
        let (_, token) =
            crate::grants::StoredGrant::new(crate::grants::owner_grant(paned_model::Time(0)));
        let who = PaneIdentity { id: &id, address: &address, token: &token };
        let env = environment(&base, [pair("A", "2"), pair("TERM", "dumb")].into(), &who);
        let get =
            |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!(get("HOME"), Some("/root"));
        assert_eq!((get("TMUX"), get("PANED_STATE_DIR")), (None, None));
        assert_eq!((get("A"), get("TERM")), (Some("2"), Some("dumb")));
        assert_eq!((get("PANED_PANE"), get("POLY_PANE")), (Some("p"), Some("p")));
        assert_eq!(get("PANED_TOKEN"), Some(token.reveal()));
    }
}
