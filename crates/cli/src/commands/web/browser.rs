//! Opens a link in the user's browser.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::settings::process_env;

/// The program that opens a link in the user's browser.
pub(super) struct Browser(PathBuf);

impl Browser {
    /// The program of this desktop; none where there is no desktop, as over SSH.
    pub(super) fn find() -> Option<Self> {
        let name = opener(cfg!(target_os = "macos"), &|name| process_env(name).is_some())?;
        let folders = std::env::var_os("PATH")?;
        let files = std::env::split_paths(&folders).map(|folder| folder.join(name));
        files.into_iter().find(|file| file.is_file()).map(Self)
    }

    /// Starts it. It may run as long as the browser does, so it is not waited for. Returns whether
    /// it was started.
    pub(super) fn open(&self, link: &str) -> bool {
        let mut command = Command::new(&self.0);
        command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    }
}

/// The name of the program, by the variables of a desktop.
fn opener(is_mac: bool, is_set: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let is_remote = ["SSH_CONNECTION", "SSH_TTY"].into_iter().any(is_set);
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set);
    match (is_remote, is_mac) {
        (true, _) => None,
        (false, true) => Some("open"),
        (false, false) if is_set("WSL_DISTRO_NAME") => Some("wslview"),
        (false, false) => has_screen.then_some("xdg-open"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_opened_only_where_the_user_sits() {
        let check = |is_mac, set: &[&str], expect| {
            assert_eq!(opener(is_mac, &|name| set.contains(&name)), expect, "{set:?}");
        };
        check(false, &["DISPLAY"], Some("xdg-open"));
        check(false, &["WAYLAND_DISPLAY"], Some("xdg-open"));
        check(false, &["WSL_DISTRO_NAME", "DISPLAY"], Some("wslview"));
        check(true, &[], Some("open"));
        check(false, &[], None);
        check(false, &["DISPLAY", "SSH_CONNECTION"], None);
        check(true, &["SSH_TTY"], None);
    }
}
