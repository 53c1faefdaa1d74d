//! Real agent programs, each set up from nothing to talk to the fake model.
//!
//! `scripts/agents` installs them. A [`RealAgent`] is one of them ready to be started: its own
//! home, its settings, a small repository to work in, and the arguments and variables for
//! `pane:new`. It starts nothing itself.

mod setup;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use paned_fake_model::FakeModel;

/// The programs that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are names of programs")]
pub enum Cli {
    Codex,
    Opencode,
    Aider,
    Gemini,
    Qwen,
    Pi,
    Goose,
    Claude,
    Llm,
    Cline,
    Gptme,
    Cn,
    Interpreter,
}

impl Cli {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Codex,
        Self::Opencode,
        Self::Aider,
        Self::Gemini,
        Self::Qwen,
        Self::Pi,
        Self::Goose,
        Self::Claude,
        Self::Llm,
        Self::Cline,
        Self::Gptme,
        Self::Cn,
        Self::Interpreter,
    ];

    /// What it is called, here, in `scripts/agents` and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Pi => "pi",
            Self::Goose => "goose",
            Self::Claude => "claude",
            Self::Llm => "llm",
            Self::Cline => "cline",
            Self::Gptme => "gptme",
            Self::Cn => "cn",
            Self::Interpreter => "interpreter",
        }
    }

    /// Whether it is open source. The others run only where nothing but loopback can be reached.
    #[must_use]
    pub fn is_open_source(self) -> bool {
        self != Self::Claude
    }

    /// The writes with which a user ends a program that waits for a prompt.
    #[must_use]
    pub fn quit_keys(self) -> &'static [&'static str] {
        const CTRL_C: &str = "\u{3}";
        match self {
            Self::Aider | Self::Goose | Self::Claude | Self::Gptme => &["/exit", "\r"],
            Self::Gemini | Self::Qwen => &["/quit", "\r"],
            Self::Llm => &["exit", "\r"],
            Self::Opencode | Self::Cline | Self::Interpreter => &[CTRL_C],
            Self::Codex | Self::Pi | Self::Cn => &[CTRL_C, CTRL_C],
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cli| cli.name() == name)
    }

    /// The folder with its program, if it is installed.
    #[must_use]
    pub fn folder(self) -> Option<PathBuf> {
        let root = folder().join(self.name());
        root.join("installed").is_file().then_some(())?;
        let folders = [root.join("node_modules/.bin"), root.join("bin")];
        folders.into_iter().find(|folder| folder.join(self.name()).exists())
    }
}

/// Where `scripts/agents` puts them.
fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("PANED_AGENTS_DIR") {
        return folder.into();
    }
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    cache.join("paned/agents")
}

/// Whether this process can reach nothing but its own machine.
fn has_only_loopback() -> bool {
    let interfaces = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut names = interfaces.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    !interfaces.is_empty() && names.all(|name| name == "lo")
}

/// An agent program that can be started. Its home is removed with it.
pub struct RealAgent {
    cli: Cli,
    dir: TempDir,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
}

impl RealAgent {
    /// A program with its settings; it must be installed.
    #[must_use]
    #[track_caller]
    pub fn new(cli: Cli, model: &FakeModel) -> Self {
        let bin = cli.folder().unwrap_or_else(|| {
            let name = cli.name();
            panic!("{name} is not installed; run `scripts/agents {name}` first")
        });
        assert!(
            cli.is_open_source() || has_only_loopback(),
            "{} is not open source; run it by `scripts/loopback-only`",
            cli.name()
        );
        let dir = TempDir::with_prefix("paned-real-").unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut real = Self { cli, dir, argv: vec![cli.name().to_owned()], env: BTreeMap::new() };
        let home = real.home().display().to_string();
        fs::create_dir_all(&home).unwrap();
        for (name, value) in [("HOME", home.as_str()), ("PATH", &path), ("LANG", "C.UTF-8")] {
            real.set(name, value);
        }
        real.repository();
        setup::set_up(&mut real, &model.url());
        real
    }

    /// codex.
    #[must_use]
    #[track_caller]
    pub fn codex(model: &FakeModel) -> Self {
        Self::new(Cli::Codex, model)
    }

    /// opencode.
    #[must_use]
    #[track_caller]
    pub fn opencode(model: &FakeModel) -> Self {
        Self::new(Cli::Opencode, model)
    }

    /// aider.
    #[must_use]
    #[track_caller]
    pub fn aider(model: &FakeModel) -> Self {
        Self::new(Cli::Aider, model)
    }

    /// Which program it is.
    #[must_use]
    pub fn cli(&self) -> Cli {
        self.cli
    }

    /// The program and its arguments.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// All variables that it needs.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The folder that it works in, a repository with two files.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.dir.path().join("demo")
    }

    /// Its home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The parameters that start it in a pane of this name and size.
    #[must_use]
    pub fn params(&self, id: &str, cols: u16, rows: u16) -> Value {
        json!({ "id": id, "argv": self.argv, "cwd": self.cwd(), "env": self.env,
            "size": { "cols": cols, "rows": rows } })
    }

    /// Removes a file below its home, as if it had never been started.
    #[track_caller]
    pub fn remove_file(&self, path: &str) {
        fs::remove_file(self.home().join(path)).unwrap();
    }

    /// Sets a variable of its environment.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    fn arg(&mut self, args: &[&str]) {
        self.argv.extend(args.iter().map(|arg| (*arg).to_owned()));
    }

    /// Writes a file below the home.
    fn file(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn repository(&self) {
        let cwd = self.cwd();
        fs::create_dir_all(&cwd).unwrap();
        fs::write(cwd.join("README.md"), "# Demo\n").unwrap();
        fs::write(cwd.join("main.py"), "print('hello')\n").unwrap();
        git(&cwd, &["init", "--quiet", "--initial-branch=main"]);
        git(&cwd, &["config", "user.name", "Demo"]);
        git(&cwd, &["config", "user.email", "demo@localhost"]);
        git(&cwd, &["add", "."]);
        git(&cwd, &["commit", "--quiet", "--message=Begin"]);
    }
}

#[track_caller]
fn git(cwd: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(args).current_dir(cwd).env("HOME", cwd).stdin(Stdio::null());
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
