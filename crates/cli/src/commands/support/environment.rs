//! The environment that a program gets from the command line: the caller's own, as any program that
//! a shell starts has it, unless the server is on another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use paned_kernel::is_reserved_variable;
use paned_model::Refusal;
use rustix::fs::Mode;
use rustix::process::umask;
use serde::Serialize;

use super::env_file;
use super::params::from_here;
use crate::client::ApiClient;
use crate::out::Out;

/// What `--clean-env` takes from the caller, besides variables that start with `LC_`.
const CLEAN: [&str; 6] = ["HOME", "LANG", "LOGNAME", "SHELL", "TZ", "USER"];
/// The `PATH` of `--clean-env`.
const CLEAN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How large an environment may be as JSON: a request has at most 1 MiB, with a little more in it.
const MAX_BYTES: usize = (1 << 20) - (64 << 10);

/// Where a program starts, and with which variables.
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentArgs {
    /// The working directory [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    #[serde(serialize_with = "from_here")]
    cwd: Option<PathBuf>,
    /// Set a variable; NAME alone passes yours on; repeatable
    #[arg(long = "env", value_name = "NAME[=VALUE]", value_parser = variable)]
    #[serde(skip)]
    variables: Vec<VariableFlag>,
    /// Set the variables in this file, which has a line NAME=VALUE for each
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    env_file: Vec<PathBuf>,
    /// Start it without your environment: only HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, a
    /// default PATH, and what --env and --env-file give
    #[arg(long)]
    #[serde(skip)]
    clean_env: bool,
    /// What the flags come to, see [`EnvironmentArgs::resolve`].
    #[arg(skip)]
    env: BTreeMap<String, String>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    inherit_env: Option<bool>,
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    umask: Option<String>,
}

/// One `--env`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VariableFlag {
    /// `NAME=VALUE`
    Set(String, String),
    /// `NAME`: the caller's own value.
    Pass(String),
}

fn variable(text: &str) -> Result<VariableFlag, String> {
    let flag = match text.split_once('=') {
        Some((name, value)) => VariableFlag::Set(name.to_owned(), value.to_owned()),
        None => VariableFlag::Pass(text.to_owned()),
    };
    let (VariableFlag::Set(name, _) | VariableFlag::Pass(name)) = &flag;
    match name.is_empty() {
        true => Err("the name is missing; write it as NAME=VALUE or NAME".to_owned()),
        false => Ok(flag),
    }
}

impl EnvironmentArgs {
    /// The caller's environment with these variables on top, in a folder.
    pub(crate) fn of_project(cwd: PathBuf, variables: Vec<(String, String)>) -> Self {
        let variables = variables.into_iter();
        Self {
            cwd: Some(cwd),
            variables: variables.map(|(name, value)| VariableFlag::Set(name, value)).collect(),
            env_file: Vec::new(),
            clean_env: false,
            env: BTreeMap::new(),
            inherit_env: None,
            umask: None,
        }
    }

    /// Computes the environment to send. Call this before the arguments are sent.
    ///
    /// # Errors
    /// When a variable to pass on is not set, or a file cannot be read.
    pub(crate) fn resolve(&mut self, out: Out, client: &ApiClient) -> Result<(), Refusal> {
        let caller = CallerEnvironment::read();
        let is_local = client.is_on_this_machine();
        if self.clean_env && !is_local {
            let sentence =
                "`--clean-env` requires a server on this machine; this one may be on another";
            return Err(Refusal::invalid(sentence));
        }
        if is_local {
            self.inherit_env = Some(false);
            self.umask = Some(current_umask());
            self.env = match self.clean_env {
                true => caller.clean(),
                false => caller.inherited(out),
            };
        }
        for file in &self.env_file {
            self.env.extend(env_file::read(file)?);
        }
        for flag in &self.variables {
            let (name, value) = match flag {
                VariableFlag::Set(name, value) => (name, value.clone()),
                VariableFlag::Pass(name) => (name, caller.pass(name)?),
            };
            self.env.insert(name.clone(), value);
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Refusal> {
        let bytes = serde_json::to_vec(&self.env).map_or(0, |json| json.len());
        if bytes <= MAX_BYTES {
            return Ok(());
        }
        let kib = bytes >> 10;
        let sentence = format!(
            "your environment is too large: {kib} KiB (limit {} KiB); start with `--clean-env` and \
             add what the program needs with `--env NAME`",
            MAX_BYTES >> 10
        );
        Err(Refusal::invalid(sentence))
    }
}

/// The environment of this process.
struct CallerEnvironment {
    variables: BTreeMap<String, String>,
    /// The names of those that are not UTF-8, which a request cannot carry.
    not_utf8: Vec<String>,
}

impl CallerEnvironment {
    fn read() -> Self {
        let mut variables = BTreeMap::new();
        let mut not_utf8 = Vec::new();
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    variables.insert(name, value);
                }
                (Ok(name), Err(_)) => not_utf8.push(name),
                (Err(name), _) => not_utf8.push(name.to_string_lossy().into_owned()),
            }
        }
        Self { variables, not_utf8 }
    }

    /// What a program inherits. A warning names what is left out.
    fn inherited(&self, out: Out) -> BTreeMap<String, String> {
        if !self.not_utf8.is_empty() {
            let names = self.not_utf8.join(", ");
            let _ = out.note(format!("paned: skipped variables that are not UTF-8: {names}"));
        }
        let variables = self.variables.iter().filter(|(name, _)| !is_reserved_variable(name));
        variables.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What a program gets with `--clean-env`.
    fn clean(&self) -> BTreeMap<String, String> {
        let is_kept = |name: &str| {
            CLEAN.contains(&name) || name.starts_with("LC_") && !is_reserved_variable(name)
        };
        let kept = self.variables.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
        kept.chain([("PATH".to_owned(), CLEAN_PATH.to_owned())]).collect()
    }

    /// The value of a variable that is passed on by its name.
    fn pass(&self, name: &str) -> Result<String, Refusal> {
        if self.not_utf8.iter().any(|it| it == name) {
            return Err(Refusal::invalid(format!("`--env {name}`: its value is not UTF-8")));
        }
        self.variables.get(name).cloned().ok_or_else(|| {
            let sentence = format!(
                "`--env {name}`: {name} is not set here; give it a value with `--env {name}=VALUE`"
            );
            Refusal::invalid(sentence)
        })
    }
}

/// Our file mode creation mask, in octal. It can be read only by setting it.
fn current_umask() -> String {
    let mask = umask(Mode::RWXG | Mode::RWXO);
    umask(mask);
    format!("{:03o}", mask.as_raw_mode())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(variables: &[(&str, &str)]) -> CallerEnvironment {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let variables = variables.iter().map(pair).collect();
        CallerEnvironment { variables, not_utf8: vec!["LATIN".to_owned()] }
    }

    #[test]
    fn what_is_about_the_callers_own_terminal_is_not_passed_on() {
        let all =
            [("A", "1"), ("TERM", "x"), ("PANED_TOKEN", "t"), ("SHLVL", "2"), ("LC_ALL", "C")];
        let passed = caller(&all).inherited(Out::new(false, crate::out::ColourChoice::Never));
        assert_eq!(passed.into_keys().collect::<Vec<_>>(), ["A", "LC_ALL"]);
    }

    #[test]
    fn a_clean_environment_has_the_user_and_a_default_path() {
        let all =
            [("A", "1"), ("HOME", "/h"), ("PATH", "/x"), ("LC_ALL", "C"), ("LC_TERMINAL", "i")];
        let clean = caller(&all).clean();
        assert_eq!(clean.keys().collect::<Vec<_>>(), ["HOME", "LC_ALL", "PATH"]);
        assert_eq!(clean["PATH"], CLEAN_PATH);
    }

    #[test]
    fn a_variable_is_set_or_passed_on() {
        assert_eq!(variable("A=b=c"), Ok(VariableFlag::Set("A".into(), "b=c".into())));
        assert_eq!(variable("A"), Ok(VariableFlag::Pass("A".into())));
        assert!(variable("=b").is_err());
        let caller = caller(&[("A", "1")]);
        assert_eq!(caller.pass("A").unwrap(), "1");
        assert!(caller.pass("B").unwrap_err().sentence.contains("B is not set here"));
        assert!(caller.pass("LATIN").unwrap_err().sentence.contains("not UTF-8"));
    }
}
