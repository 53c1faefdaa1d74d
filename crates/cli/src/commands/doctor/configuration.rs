//! The configuration file in use, and its mistakes: also those that a flag or variable hides.

use std::path::Path;

use super::{Check, in_home};
use crate::config::ConfigFile;
use crate::context::CliContext;
use crate::settings::{self, AgentmuxConfigFile, SettingFlags, Sources, process_env};

pub(super) fn check(context: &CliContext) -> Check {
    const NAME: &str = "config";
    let found = settings::config_path(context.global.config.as_deref(), &process_env);
    let (path, is_named) = match found {
        Ok(found) => found,
        Err(refusal) => return Check::refused(NAME, &refusal.sentence),
    };
    let shown = in_home(&path);
    let file = match ConfigFile::read(&path, is_named) {
        Ok(file) => file,
        Err(refusal) => return Check::refused(NAME, &refusal.sentence),
    };
    if !path.exists() {
        return Check::good(NAME, format!("defaults; {shown} does not exist"));
    }
    match mistake(&file) {
        Some(sentence) => Check::refused(NAME, &sentence),
        None => Check::good(NAME, format!("{shown}{}", unused(&path))),
    }
}

/// What is wrong with the values of the file alone.
fn mistake(file: &ConfigFile) -> Option<String> {
    // State and profiles need a home folder, which is no setting of the file.
    let env = |name: &str| process_env(name).filter(|_| !name.starts_with("PANED_"));
    let flags = &SettingFlags::new();
    let legacy = &AgentmuxConfigFile::default();
    let resolved = Sources { flags, env: &env, file, legacy }.resolve();
    resolved.err().map(|refusal| refusal.sentence)
}

/// Whether the file is empty.
fn unused(path: &Path) -> &'static str {
    match std::fs::metadata(path) {
        Ok(file) if file.len() == 0 => ", which is empty",
        Ok(_) | Err(_) => "",
    }
}
