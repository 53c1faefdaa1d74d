//! The folders in which agents and MCP clients keep their configuration.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::settings::Env;

/// Where files are: of the user, or of the project in the current folder.
pub(crate) struct Homes<'a> {
    env: Env<'a>,
    home: PathBuf,
    /// The project's folder, if its files are meant.
    pub(crate) project: Option<PathBuf>,
}

impl<'a> Homes<'a> {
    /// # Errors
    /// When the environment has no home.
    pub(crate) fn new(env: Env<'a>, project: Option<PathBuf>) -> Result<Self> {
        let home = env("HOME").filter(|home| !home.is_empty()).context("HOME is not set")?;
        Ok(Self { env, home: home.into(), project })
    }

    /// The user's home, or the folder that a variable names in place of `default` in it.
    fn folder(&self, variable: &str, default: &str) -> PathBuf {
        let named = (self.env)(variable).filter(|path| !path.is_empty());
        named.map_or_else(|| self.home.join(default), PathBuf::from)
    }

    /// A file of the project if that is meant, otherwise one of the user.
    fn file(&self, project: &str, user: impl FnOnce() -> PathBuf) -> PathBuf {
        self.project.as_ref().map_or_else(user, |folder| folder.join(project))
    }

    /// Claude Code's settings. Those of a project are the user's own: they name a path of this
    /// machine, so they are not shared.
    pub(crate) fn claude_settings(&self) -> PathBuf {
        self.file(".claude/settings.local.json", || {
            self.folder("CLAUDE_CONFIG_DIR", ".claude").join("settings.json")
        })
    }

    /// Claude Code's MCP servers.
    pub(crate) fn claude_servers(&self) -> PathBuf {
        self.file(".mcp.json", || self.folder("CLAUDE_CONFIG_DIR", "").join(".claude.json"))
    }

    /// A file of Codex.
    pub(crate) fn codex(&self, name: &str) -> PathBuf {
        self.file(&format!(".codex/{name}"), || self.folder("CODEX_HOME", ".codex").join(name))
    }

    /// Gemini CLI's settings.
    pub(crate) fn gemini(&self) -> PathBuf {
        let file = ".gemini/settings.json";
        self.file(file, || self.folder("GEMINI_CLI_HOME", "").join(file))
    }

    /// The extension of pi.
    pub(crate) fn pi(&self) -> PathBuf {
        self.file(".pi/extensions/paned.ts", || {
            self.folder("PI_CODING_AGENT_DIR", ".pi/agent").join("extensions/paned.ts")
        })
    }

    /// aider's configuration.
    pub(crate) fn aider(&self) -> PathBuf {
        let file = ".aider.conf.yml";
        self.file(file, || self.home.join(file))
    }

    /// OpenCode's configuration: the file that is there, with or without comments.
    pub(crate) fn opencode(&self) -> PathBuf {
        let named = (self.env)("OPENCODE_CONFIG").filter(|path| !path.is_empty());
        if let (None, Some(named)) = (&self.project, named) {
            return named.into();
        }
        let user = || self.folder("XDG_CONFIG_HOME", ".config").join("opencode");
        let folder = self.project.clone().unwrap_or_else(user);
        let commented = folder.join("opencode.jsonc");
        if commented.exists() { commented } else { folder.join("opencode.json") }
    }

    /// Cursor's MCP servers.
    pub(crate) fn cursor(&self) -> PathBuf {
        let file = ".cursor/mcp.json";
        self.file(file, || self.home.join(file))
    }
}
