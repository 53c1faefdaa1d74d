//! What is shown of extensions: what is in the folder, what the user decided, how they run.

use std::collections::BTreeSet;
use std::fs;

use paned_kernel::extensions::{ExtensionInfo, ExtensionKind, ExtensionStatus};
use paned_model::Refusal;
use paned_model::near::{did_you_mean, nearest};
use serde_json::json;

use super::ExtensionManager;
use crate::scan::{FoundExtension, Scan};
use crate::user_settings::{SettingsByName, UserSettings};
use crate::{Manifest, Program, RunState};

impl ExtensionManager {
    pub(super) async fn list_all(&self) -> Result<Vec<ExtensionInfo>, Refusal> {
        let (scan, settings) = self.read().await?;
        let mut all: Vec<_> =
            scan.extensions.iter().map(|it| self.info_from(it, &settings)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    pub(super) async fn info_of(&self, name: &str) -> Result<ExtensionInfo, Refusal> {
        let (scan, settings) = self.read().await?;
        Ok(self.info_from(self.find(&scan, name)?, &settings))
    }

    /// The extension of this name: the one it exports, that in its manifest, or that of its folder.
    pub(super) fn find<'a>(
        &self,
        scan: &'a Scan,
        name: &str,
    ) -> Result<&'a FoundExtension, Refusal> {
        let exported = |found: &&FoundExtension| {
            self.runner.state(&found.name).and_then(|state| state.name).as_deref() == Some(name)
        };
        let in_folder = |found: &&FoundExtension| found.folder.file_name() == Some(name.as_ref());
        let found = scan.extensions.iter().find(exported).or_else(|| scan.get(name));
        let found = found.or_else(|| scan.extensions.iter().find(in_folder));
        found.ok_or_else(|| {
            let near = nearest(name, scan.extensions.iter().map(|found| found.name.as_str()));
            let shown = name.chars().take(64).collect::<String>();
            let shown = shown.escape_debug();
            let hint = did_you_mean(&near).unwrap_or_else(|| "`paned ext list` lists all".into());
            let sentence = format!("no extension `{shown}`; {hint}");
            Refusal::not_found(sentence).with_details(json!({ "name": name, "near": near }))
        })
    }

    pub(super) fn info_from(
        &self,
        found: &FoundExtension,
        settings: &SettingsByName,
    ) -> ExtensionInfo {
        let settings = settings.get(&found.name).cloned().unwrap_or_default();
        let mut info = match &found.manifest {
            Ok(manifest) => self.valid(manifest, settings),
            Err(reason) => invalid(found, reason),
        };
        info.folder.clone_from(&found.folder);
        info.link.clone_from(&found.link);
        let log = self.paths.log(&found.name);
        info.log = fs::metadata(&log).is_ok().then_some(log);
        info
    }

    fn valid(&self, manifest: &Manifest, settings: UserSettings) -> ExtensionInfo {
        let UserSettings { scopes, disabled } = settings;
        let state = self.runner.state(&manifest.name).filter(|_| !disabled);
        let state = state.unwrap_or_else(|| not_started(manifest, disabled));
        ExtensionInfo {
            name: state.name.unwrap_or_else(|| manifest.name.clone()),
            version: manifest.version.clone(),
            description: manifest.description.clone(),
            kind: Some(match manifest.program {
                Program::Command(_) => ExtensionKind::Program,
                Program::Node(_) => ExtensionKind::Node,
            }),
            status: state.status,
            reason: state.reason,
            pid: state.pid,
            restarts: state.restarts,
            enabled: !disabled,
            scopes: scopes.unwrap_or_else(|| manifest.scopes.clone()),
            scopes_asked: manifest.scopes.clone(),
            required: manifest.required,
            timeout_ms: manifest.timeout.map(|limit| limit.as_millis() as u64),
            events: state.events,
            veto: state.veto,
            actions: state.actions,
            missing: manifest.missing.clone(),
            install_command: manifest.install_command(),
            ..blank()
        }
    }
}

/// The state of an extension that the runner does not know.
fn not_started(manifest: &Manifest, disabled: bool) -> RunState {
    let name = &manifest.name;
    let reason = match disabled {
        true => format!("turned off; `paned ext set {name} --enabled` starts it"),
        false => format!("not started; `paned ext reload {name}` starts it"),
    };
    RunState {
        name: None,
        status: ExtensionStatus::Stopped,
        reason: Some(reason),
        pid: None,
        restarts: 0,
        events: manifest.subscribe.clone(),
        veto: manifest.veto.clone(),
        actions: Vec::new(),
    }
}

fn invalid(found: &FoundExtension, reason: &str) -> ExtensionInfo {
    ExtensionInfo { name: found.name.clone(), reason: Some(reason.to_owned()), ..blank() }
}

fn blank() -> ExtensionInfo {
    ExtensionInfo {
        name: String::new(),
        version: None,
        description: None,
        folder: Default::default(),
        link: None,
        kind: None,
        status: ExtensionStatus::Invalid,
        reason: None,
        pid: None,
        restarts: 0,
        enabled: true,
        scopes: BTreeSet::new(),
        scopes_asked: BTreeSet::new(),
        required: false,
        timeout_ms: None,
        events: Vec::new(),
        veto: Vec::new(),
        actions: Vec::new(),
        log: None,
        missing: Vec::new(),
        install_command: None,
        left_out: Vec::new(),
    }
}
