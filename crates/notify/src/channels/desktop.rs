//! A notification of the desktop, through the program that the system has for it.

use tokio::process::Command;

use super::command::run;
use super::{ChannelSetup, DeliveryError, has_program};
use crate::notice::Notice;

/// The program that shows notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopProgram {
    /// `notify-send`, for desktops that follow freedesktop.org.
    NotifySend,
    /// `osascript`, on macOS.
    AppleScript,
}

impl DesktopProgram {
    /// The one of this system.
    #[must_use]
    pub const fn of_system() -> Self {
        if cfg!(target_os = "macos") { Self::AppleScript } else { Self::NotifySend }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::NotifySend => "notify-send",
            Self::AppleScript => "osascript",
        }
    }
}

/// Reads title and text as arguments, so that neither can be taken for a part of the script.
const APPLE_SCRIPT: [&str; 3] =
    ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];

pub(super) fn problem(setup: &ChannelSetup) -> Option<String> {
    let program = setup.desktop.name();
    (!has_program(&setup.env, program)).then(|| match setup.desktop {
        DesktopProgram::NotifySend => {
            "there is no `notify-send` on the PATH of the server: install libnotify \
             (Debian: `apt install libnotify-bin`)"
                .to_owned()
        }
        DesktopProgram::AppleScript => format!("there is no `{program}` on the PATH of the server"),
    })
}

pub(super) async fn deliver(setup: &ChannelSetup, notice: &Notice) -> Result<(), DeliveryError> {
    if let Some(problem) = problem(setup) {
        return Err(DeliveryError::lasting(problem));
    }
    let program = setup.desktop.name();
    let mut command = Command::new(program);
    match setup.desktop {
        DesktopProgram::NotifySend => {
            command.args(["--app-name=paned", "--"]).arg(notice.title());
            command.arg(escape_markup(&notice.text()));
            if let Some(bus) = session_bus(setup) {
                command.env("DBUS_SESSION_BUS_ADDRESS", bus);
            }
        }
        DesktopProgram::AppleScript => {
            for line in APPLE_SCRIPT {
                command.args(["-e", line]);
            }
            command.arg(notice.title()).arg(notice.text());
        }
    }
    run(setup, command, program, b"").await
}

/// Where the user's message bus is, if the environment of the server does not say: a server that
/// was started over ssh or at boot does not know it.
fn session_bus(setup: &ChannelSetup) -> Option<String> {
    let is_set = |name: &str| setup.env.iter().any(|(key, _)| key == name);
    if is_set("DBUS_SESSION_BUS_ADDRESS") {
        return None;
    }
    let path = format!("/run/user/{}/bus", rustix::process::getuid().as_raw());
    std::path::Path::new(&path).exists().then(|| format!("unix:path={path}"))
}

/// Desktops read the text as markup.
fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_a_program_is_shown_as_text() {
        assert_eq!(escape_markup("<a href=x>&"), "&lt;a href=x&gt;&amp;");
    }
}
