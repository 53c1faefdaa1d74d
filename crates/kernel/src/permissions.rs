//! Permission rules for the programs that callers start: which rules apply to a caller, what the
//! file system says about a program, and the verdict.
//!
//! Every action declares the commands that a call starts (`Action::commands`), which are judged
//! before it runs. The code that starts panes and shells checks once more that what it starts was
//! judged, so that an action whose declaration is missing is refused, not run.

mod lookup;
mod opencode_files;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use paned_model::{Code, PaneRef, Refusal, Scope};
use paned_policy::permissions::{
    FolderRule, PermissionDecision, PermissionRules, PermissionVerdict, SpawnCommand, judge,
};
use sha2::{Digest, Sha256};

pub(crate) use self::lookup::PathLookup;
pub(crate) use self::opencode_files::OpenCodeProject;
use crate::panes::environment::EnvironmentSpec;
use crate::setup::PermissionSetup;
use crate::{Caller, Kernel};

/// As whom a caller starts programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpawnerKind {
    /// The owner, outside of agents.
    Owner,
    /// A program that runs in an agent's pane, or in one that was started from it.
    Agent,
    /// Another token, or an extension.
    Token,
    /// A client of the opencode-pty listener.
    OpenCode,
}

/// A command that a call starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandToJudge {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The requested folder.
    pub(crate) cwd: Option<String>,
    /// The variables that the request sets.
    pub(crate) env: Vec<(String, String)>,
    /// Whether the server's environment is inherited.
    pub(crate) inherits: bool,
    /// Whether it was permitted before, or is set by the configuration: only a rule that denies
    /// counts.
    pub(crate) is_trusted: bool,
}

impl CommandToJudge {
    /// A command in an environment.
    pub(crate) fn new(
        argv: Vec<String>,
        cwd: Option<String>,
        environment: &EnvironmentSpec,
    ) -> Self {
        let env = environment.env.clone().into_iter().collect();
        Self { argv, cwd, env, inherits: environment.inherits(), is_trusted: false }
    }

    /// What distinguishes it from other commands. A digest, because its variables may be secret.
    fn key(&self) -> String {
        let Self { argv, cwd, env, inherits, .. } = self;
        let text = serde_json::json!([argv, cwd, env, inherits]).to_string();
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A command that a person is to be asked about.
pub(crate) struct AskedCommand {
    pub(crate) verdict: PermissionVerdict,
    pub(crate) argv: Vec<String>,
    /// What distinguishes it from other commands.
    pub(crate) key: String,
}

/// The commands of one call that were permitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct PermittedCommands(Arc<Mutex<Vec<Vec<String>>>>);

impl PermittedCommands {
    pub(crate) fn add(&self, argv: Vec<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(argv);
    }

    fn contains(&self, argv: &[String]) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|it| it == argv)
    }
}

impl Kernel {
    /// As whom a caller starts programs.
    pub(crate) fn spawner_kind(&self, caller: &Caller) -> SpawnerKind {
        if caller.is_opencode {
            return SpawnerKind::OpenCode;
        }
        if self.is_from_agent(caller) {
            return SpawnerKind::Agent;
        }
        let is_owner = caller.is_owner() && caller.grant.scopes.contains(&Scope::Admin);
        match is_owner && caller.extension.is_none() {
            true => SpawnerKind::Owner,
            false => SpawnerKind::Token,
        }
    }

    /// How many agents there are from the pane of a caller upwards, to the one that no pane has
    /// started. Agents whose panes are gone count.
    pub(crate) fn agents_above(&self, caller: &Caller) -> usize {
        let own = caller.pane.as_ref();
        let Some(pane) = own.and_then(|own| self.panes().find(own)) else { return 0 };
        let (is_agent, above, at_start) = {
            let state = pane.lock();
            let record = &state.record;
            (record.agent.is_some(), record.ancestors.clone(), record.agents_above)
        };
        let is_agents = |above: &&PaneRef| {
            self.panes().find(above).is_some_and(|it| it.lock().record.agent.is_some())
        };
        let now = above.iter().filter(is_agents).count();
        usize::from(is_agent) + now.max(at_start)
    }

    /// Whether the commands of a caller need to be judged. Without rules, those of the owner do
    /// not.
    pub(crate) fn judges_commands_of(&self, caller: &Caller) -> bool {
        let setup = &self.setup().permissions;
        let defaults = [setup.owner, setup.agents, setup.tokens];
        let is_open = defaults.iter().all(|it| *it == PermissionDecision::Allow);
        if is_open && !caller.is_opencode && setup.rules.rules().is_empty() {
            return !setup.rules.allows_everything();
        }
        self.judges_commands_as(self.spawner_kind(caller))
    }

    fn judges_commands_as(&self, kind: SpawnerKind) -> bool {
        let setup = &self.setup().permissions;
        let default = setup.default_for(kind).0;
        kind == SpawnerKind::OpenCode || !setup.rules.allows_everything_with(default)
    }

    /// The verdict on a command of a caller.
    pub(crate) async fn judge_command(
        &self,
        kind: SpawnerKind,
        command: CommandToJudge,
        project: Option<OpenCodeProject>,
    ) -> Result<PermissionVerdict, Refusal> {
        let kernel = self.clone();
        let judged = tokio::task::spawn_blocking(move || kernel.judge_now(kind, &command, project));
        judged.await.map_err(Refusal::internal)
    }

    /// The same; reads files.
    fn judge_now(
        &self,
        kind: SpawnerKind,
        command: &CommandToJudge,
        project: Option<OpenCodeProject>,
    ) -> PermissionVerdict {
        let setup = self.setup();
        let home = setup.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.as_str());
        let cwd = command.cwd.as_deref().map(Path::new).or(home.map(Path::new));
        let cwd = cwd.map(|it| it.canonicalize().unwrap_or_else(|_| it.to_owned()));
        let cwd = cwd.unwrap_or_else(|| PathBuf::from("/"));
        let lookup = PathLookup::new(&setup.env, &command.env, command.inherits, &cwd);
        let changed = lookup::changed_variables(&setup.env, &command.env, command.inherits);
        let spawn =
            SpawnCommand { argv: &command.argv, cwd: Some(&cwd), changed_variables: &changed };
        let rules = setup.permissions.rules_for(kind);
        let mut verdict = judge(&spawn, &rules, &lookup);
        let project = match (project, kind) {
            (None, SpawnerKind::OpenCode) if setup.permissions.opencode_files => {
                Some(OpenCodeProject::find(&cwd, setup.permissions.opencode_config.as_deref()))
            }
            (project, _) => project,
        };
        if let Some(project) = project {
            let other = match project.rules() {
                Ok(rules) => judge(&spawn, &rules, &lookup),
                Err(error) => PermissionVerdict::refused(&error),
            };
            verdict = verdict.and(other);
        }
        verdict
    }

    /// Judges the commands of a call before it runs.
    ///
    /// # Errors
    /// `denied` when a rule denies one. The verdict to ask about is returned, if there is one.
    pub(crate) async fn judge_commands(
        &self,
        caller: &Caller,
        commands: Vec<CommandToJudge>,
        permitted: &PermittedCommands,
    ) -> Result<Option<AskedCommand>, Refusal> {
        let mut asks = None;
        for command in commands {
            let kind = self.spawner_kind(caller);
            let argv = command.argv.clone();
            let key = command.key();
            if self.judges_commands_as(kind) {
                let is_trusted = command.is_trusted;
                let verdict = self.judge_command(kind, command, None).await?;
                match verdict.decision {
                    PermissionDecision::Deny if !is_trusted || verdict.is_denied_by_rule() => {
                        return Err(denied(&verdict));
                    }
                    PermissionDecision::Ask if !is_trusted && asks.is_none() => {
                        asks = Some(AskedCommand { verdict, argv: argv.clone(), key });
                    }
                    PermissionDecision::Allow
                    | PermissionDecision::Ask
                    | PermissionDecision::Deny => {}
                }
            }
            permitted.add(argv);
        }
        Ok(asks)
    }

    /// Refuses to start a command that was not judged in this call and is not allowed outright.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) async fn check_judged(
        &self,
        caller: &Caller,
        permitted: &PermittedCommands,
        command: CommandToJudge,
    ) -> Result<(), Refusal> {
        if permitted.contains(&command.argv) {
            return Ok(());
        }
        match self.judge_commands(caller, vec![command], permitted).await? {
            None => Ok(()),
            Some(AskedCommand { verdict, .. }) => {
                let sentence =
                    format!("the permission rules ask about it first: {}", verdict.reason);
                Err(Refusal::new(Code::Denied, sentence))
            }
        }
    }
}

impl PermissionSetup {
    /// The rules for a kind of caller.
    fn rules_for(&self, kind: SpawnerKind) -> PermissionRules {
        let (default, source) = self.default_for(kind);
        self.rules.with_default(default, source)
    }

    /// The default for a kind of caller, and the setting that it comes from.
    fn default_for(&self, kind: SpawnerKind) -> (PermissionDecision, &'static str) {
        match kind {
            SpawnerKind::Owner => (self.owner, "permissions.cli"),
            SpawnerKind::Agent => (self.agents, "permissions.agents"),
            SpawnerKind::Token => (self.tokens, "permissions.tokens"),
            SpawnerKind::OpenCode => (PermissionDecision::Allow, "OpenCode's default"),
        }
    }
}

/// The refusal of a command.
fn denied(verdict: &PermissionVerdict) -> Refusal {
    let sentence = match verdict.deciding_rule() {
        Some(rule) => format!("the permission rule `{rule}` refuses it: {}", verdict.reason),
        None => format!("the permission rules refuse it: {}", verdict.reason),
    };
    Refusal::new(Code::Denied, sentence)
}

/// A folder rule is about resolved folders.
impl OpenCodeProject {
    pub(crate) fn rules(&self) -> Result<PermissionRules, String> {
        let mut rules = self.found.clone()?.rules(&self.folder, &self.file)?;
        if let Some(FolderRule { folder, .. }) = &mut rules.folder
            && let Ok(resolved) = folder.canonicalize()
        {
            *folder = resolved;
        }
        Ok(rules)
    }
}
