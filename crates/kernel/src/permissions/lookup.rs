//! What the file system says about the programs of a command.

use std::fs;
use std::path::{Path, PathBuf};

use paned_backend::find_program;
use paned_policy::permissions::{ProgramLookup, ProgramNames};

/// How many links are followed from a program to its file.
const MAX_LINKS: usize = 16;

/// Looks up programs as the command does, and as the server would.
pub(crate) struct PathLookup<'a> {
    /// The `PATH` of the command.
    own: Option<&'a str>,
    /// The server's.
    usual: Option<&'a str>,
    cwd: &'a Path,
}

impl<'a> PathLookup<'a> {
    pub(crate) fn new(
        server: &'a [(String, String)],
        request: &'a [(String, String)],
        inherits: bool,
        cwd: &'a Path,
    ) -> Self {
        let path = |env: &'a [(String, String)]| {
            env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str())
        };
        let usual = path(server);
        let own = path(request).or(usual.filter(|_| inherits));
        Self { own, usual, cwd }
    }
}

impl ProgramLookup for PathLookup<'_> {
    fn find(&self, program: &str) -> ProgramNames {
        let bare = program.rsplit('/').next().unwrap_or(program);
        let usual = find_program(bare, self.usual, self.cwd).ok();
        let Ok(file) = find_program(program, self.own, self.cwd) else {
            return ProgramNames { paths: Vec::new(), is_other: program.contains('/') };
        };
        let resolve = |path: &PathBuf| path.canonicalize().ok();
        let is_other = match (resolve(&file), usual.as_ref().and_then(resolve)) {
            (Some(own), Some(usual)) => own != usual,
            _ => true,
        };
        ProgramNames { paths: links(file), is_other }
    }
}

/// A file and what it is a link to, step by step, and the file at the end.
fn links(file: PathBuf) -> Vec<String> {
    let mut paths = vec![file.to_string_lossy().into_owned()];
    if let Ok(end) = file.canonicalize() {
        paths.push(end.to_string_lossy().into_owned());
    }
    let mut at = file;
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&at) else { break };
        at = at.parent().unwrap_or(Path::new("/")).join(target);
        paths.push(at.to_string_lossy().into_owned());
    }
    paths.dedup();
    paths
}

/// The variables that change what a program runs and that a request sets to another value than the
/// server has. A request with a whole environment, as the CLI sends it, is taken for the user's
/// own, except for what the dynamic linker and shells read.
pub(crate) fn changed_variables(
    server: &[(String, String)],
    request: &[(String, String)],
    inherits: bool,
) -> Vec<String> {
    let is_hard = |name: &str| {
        ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4"].contains(&name)
            || ["LD_", "DYLD_", "BASH_FUNC_"].iter().any(|prefix| name.starts_with(prefix))
    };
    let is_new = |(name, value): &&(String, String)| {
        !server.iter().any(|(own, has)| own == name && has == value)
    };
    // Programs are looked up on both values of `PATH` and compared.
    let counts = |name: &str| name != "PATH" && (inherits || is_hard(name));
    let changed = request.iter().filter(is_new).map(|(name, _)| name.clone());
    changed.filter(|name| counts(name)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn program(path: &Path) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn links_and_other_paths_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        program(&one.join("tool"));
        program(&two.join("tool"));
        symlink("tool", one.join("link")).unwrap();
        let env = |path: &Path| vec![("PATH".to_owned(), path.to_string_lossy().into_owned())];
        let (server, other) = (env(&one), env(&two));
        let lookup = PathLookup::new(&server, &[], true, folder.path());
        assert!(!lookup.find("tool").is_other);
        assert!(lookup.find("link").paths.iter().any(|it| it.ends_with("one/tool")));
        assert!(!lookup.find(&one.join("tool").to_string_lossy()).is_other);
        assert!(lookup.find(&two.join("tool").to_string_lossy()).is_other);
        assert!(lookup.find("two/tool").is_other);
        let lookup = PathLookup::new(&server, &other, true, folder.path());
        assert!(lookup.find("tool").is_other);
    }

    #[test]
    fn variables_that_are_as_on_the_server_do_not_count() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let server = [pair("EDITOR", "vi"), pair("PATH", "/bin")];
        let request =
            [pair("EDITOR", "vi"), pair("PATH", "/x"), pair("LD_PRELOAD", "x"), pair("PAGER", "x")];
        assert_eq!(changed_variables(&server, &request, true), ["LD_PRELOAD", "PAGER"]);
        assert_eq!(changed_variables(&server, &request, false), ["LD_PRELOAD"]);
    }
}
