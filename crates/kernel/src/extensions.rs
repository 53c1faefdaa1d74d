//! Extensions as the `ext:*` actions see them. Another crate runs them: the kernel knows them by
//! [`ExtensionHost`] only.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use paned_backend::BoxedFuture;
use paned_model::{Code, Refusal, Scope};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Kernel;

/// What installs and runs extensions.
pub trait ExtensionHost: Send + Sync + 'static {
    /// Every extension in the extensions folder, by name.
    fn list(&self) -> BoxedFuture<'_, Result<Vec<ExtensionInfo>, Refusal>>;

    /// One extension.
    fn info(&self, name: String) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>>;

    /// Puts an extension into the extensions folder and starts it.
    fn install(&self, request: InstallRequest) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>>;

    /// Stops an extension and deletes it.
    fn remove(&self, request: RemoveRequest) -> BoxedFuture<'_, Result<ExtensionRemoval, Refusal>>;

    /// Reads the folder of one or every extension again and restarts it.
    fn reload(&self, name: Option<String>) -> BoxedFuture<'_, Result<Vec<ExtensionInfo>, Refusal>>;

    /// Writes a new extension to start from.
    fn create(&self, request: CreateRequest) -> BoxedFuture<'_, Result<StarterFiles, Refusal>>;

    /// Reads the log of an extension.
    fn logs(&self, request: LogRequest) -> BoxedFuture<'_, Result<LogText, Refusal>>;

    /// Changes what the user decides about an extension, and restarts it.
    fn set(&self, request: SetRequest) -> BoxedFuture<'_, Result<ExtensionInfo, Refusal>>;
}

/// What kind of program an extension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ExtensionKind {
    /// A program in any language, with `paned.toml`.
    Program,
    /// A package in TypeScript or JavaScript, with `package.json`.
    Node,
}

/// Whether an extension runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ExtensionStatus {
    /// Started, but not ready.
    Starting,
    /// Ready.
    Running,
    /// It exited or did not answer; it is started again after a pause.
    Restarting,
    /// It failed too often, or cannot be started; `paned ext reload` tries again.
    Failed,
    /// Not started, or turned off by the user.
    Stopped,
    /// Its manifest is not valid.
    Invalid,
}

impl ExtensionStatus {
    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Restarting => "restarting",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Invalid => "invalid",
        }
    }
}

/// An extension.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionInfo {
    /// Its name, which is the noun of its actions and events.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// One sentence about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its folder.
    pub folder: PathBuf,
    /// Where that folder is, if it is a symbolic link in the extensions folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<PathBuf>,
    /// What kind of program it is; absent if its manifest cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ExtensionKind>,
    /// Whether it runs.
    pub status: ExtensionStatus,
    /// Why it does not run, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How often it was restarted since it was started or reloaded.
    pub restarts: u32,
    /// Whether it is started with the server.
    pub enabled: bool,
    /// What its calls may do.
    pub scopes: BTreeSet<Scope>,
    /// What its manifest asks for.
    pub scopes_asked: BTreeSet<Scope>,
    /// Whether actions that it may veto are refused while it does not answer.
    pub required: bool,
    /// How long one event or one veto may take, in milliseconds, if it is not the server's limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The events it receives, as patterns.
    pub events: Vec<String>,
    /// The actions it is asked about before they run, as patterns.
    pub veto: Vec<String>,
    /// The actions it offers.
    pub actions: Vec<String>,
    /// The file with its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The dependencies in its `package.json` that are not installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The command that installs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_command: Option<String>,
    /// What was left out when it was installed, such as symbolic links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What to install.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallRequest {
    /// A git address (`https://…`, `ssh://…`, `file://…` or `git@host:path`), which may end in
    /// `#branch` or `#tag`, or the absolute path of a local folder.
    #[schemars(length(min = 1, max = 4096), extend("format" = "extension-source"))]
    pub source: String,
    /// The name it must have. It is refused if it has another one.
    pub name: Option<String>,
    /// The branch or tag to install; the default branch when omitted.
    pub rev: Option<String>,
    /// Whether an installed extension of that name is replaced.
    #[serde(default)]
    pub replace: bool,
}

/// What to remove.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoveRequest {
    /// The extension.
    pub name: String,
    /// Whether its data folder, its log and the user's settings for it are kept.
    #[serde(default)]
    pub keep_data: bool,
}

/// A removed extension.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionRemoval {
    /// Its name.
    pub name: String,
    /// The folder or link that was deleted.
    pub folder: PathBuf,
    /// The folder that the link pointed to, which is untouched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<PathBuf>,
    /// The data folder, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
}

/// The language of a new extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum StarterLanguage {
    /// TypeScript.
    Ts,
    /// JavaScript.
    Js,
    /// Python.
    Python,
}

/// Which extension to write.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateRequest {
    /// Its name.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,31}$"))]
    pub name: String,
    /// The language it is written in.
    pub language: StarterLanguage,
    /// The absolute path of the folder in which its folder is made; the extensions folder when
    /// omitted.
    #[schemars(regex(pattern = r"^/[^\x00]*$"))]
    pub dir: Option<PathBuf>,
}

/// The files of a new extension.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StarterFiles {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The files in it.
    pub files: Vec<PathBuf>,
    /// The command that runs its test, in its folder.
    pub test_command: String,
    /// The extension, if it is in the extensions folder and was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extension: Option<Box<ExtensionInfo>>,
}

/// Which part of a log to read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogRequest {
    /// The extension.
    pub name: String,
    /// How many of the last lines; 200 when omitted. Ignored with `after`.
    #[schemars(range(max = 100_000))]
    pub lines: Option<usize>,
    /// Read on from here: the `next` of an earlier answer.
    #[schemars(regex(pattern = "^[0-9]{1,19}-[0-9]{1,19}$"))]
    pub after: Option<String>,
    /// How long to wait for text if there is none, in milliseconds; at most 30000.
    #[schemars(range(max = 30_000))]
    pub wait_ms: Option<u64>,
}

/// A part of a log.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogText {
    /// Whole lines.
    pub text: String,
    /// Where to read on, for `after`.
    pub next: String,
    /// The file.
    pub file: PathBuf,
}

/// What the user decides about an extension. What is omitted stays as it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = changes_something)]
pub struct SetRequest {
    /// The extension.
    pub name: String,
    /// What its calls may do, in place of what its manifest asks for.
    pub scopes: Option<BTreeSet<Scope>>,
    /// Whether its scopes are again those that its manifest asks for.
    #[serde(default)]
    pub reset_scopes: bool,
    /// Whether it runs.
    pub enabled: Option<bool>,
}

/// A request without a change is refused, and so are scopes together with `resetScopes`.
fn changes_something(schema: &mut Schema) {
    let no_scopes = json!({ "type": "null" });
    let rules = json!([
        {
            "required": ["scopes"],
            "properties": { "scopes": { "type": "array" }, "resetScopes": { "const": false } },
        },
        {
            "required": ["resetScopes"],
            "properties": { "scopes": no_scopes.clone(), "resetScopes": { "const": true } },
        },
        {
            "required": ["enabled"],
            "properties": { "scopes": no_scopes, "enabled": { "type": "boolean" } },
        },
    ]);
    schema.insert("allOf".to_owned(), json!([{ "anyOf": rules }]));
}

/// The host, once there is one.
#[derive(Default)]
pub(crate) struct ExtensionHostSlot(Mutex<Option<Arc<dyn ExtensionHost>>>);

impl ExtensionHostSlot {
    fn set(&self, host: Option<Arc<dyn ExtensionHost>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = host;
    }

    fn get(&self) -> Option<Arc<dyn ExtensionHost>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Kernel {
    /// Sets what installs and runs extensions. It is dropped when the kernel stops.
    pub fn set_extension_host(&self, host: Arc<dyn ExtensionHost>) {
        self.inner.extension_host.set(Some(host));
    }

    pub(crate) fn drop_extension_host(&self) {
        self.inner.extension_host.set(None);
    }

    /// What installs and runs extensions.
    ///
    /// # Errors
    /// When the server was started without.
    pub fn extension_host(&self) -> Result<Arc<dyn ExtensionHost>, Refusal> {
        self.inner.extension_host.get().ok_or_else(|| {
            let sentence = "extensions are turned off: set `enabled = true` under `[extensions]` in \
                            config.toml, then `paned server restart`";
            Refusal::new(Code::Unavailable, sentence)
        })
    }
}
