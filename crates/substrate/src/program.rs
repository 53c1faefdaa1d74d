//! Programs to start, and how they are resolved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paned_backend::{describes_terminal, find_folder, find_program};

use super::Error;

/// A program for a new pane. No shell reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments; empty for the user's shell.
    pub argv: Vec<String>,
    /// Variables on top of the inherited ones: natively those of this process, on tmux those of its
    /// server.
    pub env: Vec<(String, String)>,
    /// The working directory; the user's home by default.
    pub cwd: Option<PathBuf>,
}

/// A program that was resolved, ready to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolvedProgram {
    pub(super) file: PathBuf,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: PathBuf,
}

impl Program {
    /// A program with its arguments.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { argv: argv.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Resolves program, environment and folder, as a shell would.
    pub(super) fn find(&self) -> Result<ResolvedProgram, Error> {
        self.check()?;
        let env = environment(&self.env);
        let cwd = folder(self.cwd.as_deref(), &env)?;
        let argv = match self.argv.is_empty() {
            true => vec![env.get("SHELL").cloned().unwrap_or_else(|| "/bin/sh".to_owned())],
            false => self.argv.clone(),
        };
        let file = find(&argv[0], env.get("PATH").map(String::as_str), &cwd)?;
        Ok(ResolvedProgram { file, argv, env: env.into_iter().collect(), cwd })
    }

    fn check(&self) -> Result<(), Error> {
        let pairs = self.env.iter().flat_map(|(name, value)| [name, value]);
        if self.argv.iter().chain(pairs).any(|text| text.contains('\0')) {
            return Err(Error::InvalidCommand(
                "arguments and variables cannot contain a NUL \
                character"
                    .into(),
            ));
        }
        match self.env.iter().find(|(name, _)| name.is_empty() || name.contains('=')) {
            None => Ok(()),
            Some((name, _)) => {
                let says = format!("invalid variable name `{}`", name.escape_debug());
                Err(Error::InvalidCommand(says))
            }
        }
    }
}

fn environment(extra: &[(String, String)]) -> BTreeMap<String, String> {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut env: BTreeMap<String, String> =
        own.filter(|(name, _)| !describes_terminal(name)).collect();
    env.insert("TERM".into(), "xterm-256color".into());
    env.insert("COLORTERM".into(), "truecolor".into());
    env.extend(extra.iter().cloned());
    env
}

fn folder(requested: Option<&Path>, env: &BTreeMap<String, String>) -> Result<PathBuf, Error> {
    let text = requested.map(Path::to_string_lossy);
    find_folder(text.as_deref(), env.get("HOME").map(String::as_str)).map_err(|_| {
        let path = requested.unwrap_or(Path::new("")).display();
        Error::InvalidCommand(format!(
            "invalid working directory `{path}`: pass the absolute path of a folder"
        ))
    })
}

fn find(name: &str, path: Option<&str>, cwd: &Path) -> Result<PathBuf, Error> {
    let sentence = || format!("no program `{}`", name.escape_debug());
    find_program(name, path, cwd).map_err(|_| Error::InvalidCommand(sentence()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(program: Program, says: &str) {
        assert_eq!(program.find(), Err(Error::InvalidCommand(says.to_owned())));
    }

    #[test]
    fn a_program_is_found_as_a_shell_would() {
        let sh = Program { cwd: Some("/".into()), ..Program::new(["sh", "-c", "x"]) };
        let ready = sh.find().unwrap();
        assert!(ready.file.ends_with("bin/sh"), "{ready:?}");
        assert_eq!((ready.argv, ready.cwd), (sh.argv, "/".into()));
        let here = Program { cwd: Some("/bin".into()), ..Program::new(["./sh"]) };
        assert_eq!(here.find().unwrap().file, Path::new("/bin/./sh"));
    }

    #[test]
    fn no_program_is_the_shell() {
        let env = vec![("SHELL".to_owned(), "/bin/sh".to_owned())];
        let ready = Program { env, ..Program::default() }.find().unwrap();
        assert_eq!(ready.file, Path::new("/bin/sh"));
    }

    #[test]
    fn what_cannot_be_started_is_refused() {
        refused(Program::new(["no-such-thing"]), "no program `no-such-thing`");
        refused(Program::new([""]), "no program ``");
        refused(Program::new(["a\0"]), "arguments and variables cannot contain a NUL character");
        let env = vec![("a=b".to_owned(), String::new())];
        refused(Program { env, ..Program::new(["sh"]) }, "invalid variable name `a=b`");
        let program = Program { cwd: Some("/no/such".into()), ..Program::new(["sh"]) };
        refused(
            program,
            "invalid working directory `/no/such`: pass the absolute path of a \
                         folder",
        );
    }
}
