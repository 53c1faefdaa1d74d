//! What values a setting takes, and the sentence for a value that it does not take.

use std::net::IpAddr;
use std::path::Path;

use paned_backend::tmux::SessionName;
use paned_compat::CompatAddress;

use super::listen::{self, ListenAddress};

/// What values a setting takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SettingKind {
    Text,
    Number {
        low: u64,
        high: u64,
    },
    Boolean,
    Choice(&'static [&'static str]),
    Folder,
    /// A file, or nothing.
    File,
    /// The name of a tmux session.
    Session,
    /// A tmux server: the name of its socket, its path, or nothing.
    TmuxSocket,
    /// An address that only this machine can reach.
    Loopback,
    /// An address for a listener with TLS, or nothing.
    Listen,
    /// A list of names of this server.
    Names,
    /// A port, or nothing.
    OptionalPort,
    /// A program and its arguments: a string, or a list of strings.
    Command,
    /// A list of commands.
    Commands,
    /// A list of names of actions.
    Actions,
    Seconds,
    /// The address of another tool's protocol.
    Listener(&'static str),
}

/// The most seconds that a setting in seconds can have.
const MAX_SECONDS: f64 = 3600.0;

impl SettingKind {
    /// Checks a value.
    ///
    /// # Errors
    /// With what the setting takes, to be put after "invalid …: ".
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        let is_valid = match self {
            Self::Text
            | Self::Folder
            | Self::File
            | Self::Commands
            | Self::Actions
            | Self::Command => true,
            Self::Session => SessionName::new(text).is_ok(),
            Self::TmuxSocket => text.is_empty() || is_tmux_socket(text),
            Self::Number { low, high } => {
                text.parse().is_ok_and(|number: u64| (low..=high).contains(&number))
            }
            Self::Boolean => boolean(text).is_some(),
            Self::Choice(choices) => choices.contains(&text),
            Self::Loopback => is_loopback(text),
            Self::Listen => match text {
                "" => true,
                text => return text.parse::<ListenAddress>().map(|_| ()),
            },
            Self::Names => listen::check_names(text),
            Self::OptionalPort => text.is_empty() || text.parse::<u16>().is_ok(),
            Self::Seconds => seconds(text).is_some(),
            Self::Listener(protocol) => return check_listener(protocol, text),
        };
        let text = text.escape_debug();
        if is_valid { Ok(()) } else { Err(format!("`{text}` is not {}", self.describe())) }
    }

    /// What it takes, as a noun.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Number { low, high } => format!("a number from {low} to {high}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(choices) => {
                let (last, others) = choices.split_last().unwrap_or((&"", &[]));
                format!("{} or {last}", others.join(", "))
            }
            Self::Folder => "a folder".to_owned(),
            Self::File => "a file".to_owned(),
            Self::Session => {
                "the name of a session; use letters, digits, `_`, `.` and `-`".to_owned()
            }
            Self::TmuxSocket => {
                "the name of a tmux socket, or its absolute path; a name has letters, digits, `_`, \
                 `.` and `-`"
                    .to_owned()
            }
            Self::Loopback => {
                "a loopback address; without TLS, paned serves on 127.0.0.1, ::1 and localhost only, \
                 and `--listen lan` serves other machines with TLS"
                    .to_owned()
            }
            Self::Listen => "`lan`, or an address such as 192.168.1.2:7443".to_owned(),
            Self::Names => "a list of host names, each with or without a port".to_owned(),
            Self::OptionalPort => "a port from 0 to 65535".to_owned(),
            Self::Command => "a command, or a list of its words".to_owned(),
            Self::Commands => "a list of commands".to_owned(),
            Self::Actions => "a list of actions".to_owned(),
            Self::Seconds => format!("a number of seconds up to {MAX_SECONDS}"),
            Self::Listener(_) => "an address such as 127.0.0.1:8765".to_owned(),
        }
    }

    /// Whether a value is written as a TOML string.
    pub(super) fn is_quoted(self) -> bool {
        !matches!(
            self,
            Self::Number { .. } | Self::Boolean | Self::Commands | Self::Actions | Self::Names
        )
    }

    /// The values that it takes, for the documentation, where they are few or in a range.
    pub(super) fn range(self) -> Option<String> {
        match self {
            Self::Number { low, high } => Some(format!("{low} to {high}")),
            Self::Choice(_) => Some(self.describe()),
            _ => None,
        }
    }
}

/// A boolean in one of the spellings that variables of other tools have, too.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A number of seconds. Nothing and a negative number are 0.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = if text.is_empty() { 0.0 } else { text.trim().parse().ok()? };
    (seconds <= MAX_SECONDS).then_some(seconds.max(0.0))
}

/// A name cannot leave tmux's folder.
fn is_tmux_socket(text: &str) -> bool {
    let is_name = SessionName::new(text).is_ok() && !text.starts_with('.');
    is_name || Path::new(text).is_absolute()
}

fn is_loopback(text: &str) -> bool {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    text == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn check_listener(protocol: &str, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    format!("{protocol}={text}").parse::<CompatAddress>().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: SettingKind, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(kind.check(text), Ok(()), "{text}");
        }
        for text in bad {
            assert!(kind.check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_checked_by_kind() {
        check(SettingKind::Number { low: 1, high: 9 }, &["1", "9"], &["0", "10", "", "x", "-1"]);
        check(SettingKind::Boolean, &["true", "Off", "1"], &["perhaps", ""]);
        check(SettingKind::Loopback, &["localhost", "::1", "[::1]", "127.0.0.2"], &["0.0.0.0"]);
        check(SettingKind::Listen, &["", "lan", "10.0.0.2:1"], &["0.0.0.0:x", "box"]);
        check(SettingKind::Names, &["", "a\nb:1"], &["http://a"]);
        check(SettingKind::Session, &["main", "a.b-1"], &["", "a b", "a:b"]);
        check(SettingKind::TmuxSocket, &["", "poly", "/run/x"], &["..", "a/b", "./x", "a b"]);
        check(SettingKind::OptionalPort, &["", "0", "65535"], &["65536", "x"]);
        check(SettingKind::Seconds, &["", "-1", "1.5"], &["x", "3601"]);
        check(SettingKind::Listener("agentmux"), &["", "127.0.0.1:1,open"], &["0.0.0.0:1", "x"]);
    }

    #[test]
    fn a_refusal_says_what_the_setting_takes() {
        let refusal = SettingKind::Choice(&["a", "b", "c"]).check("d").unwrap_err();
        assert_eq!(refusal, "`d` is not a, b or c");
        let refusal = SettingKind::Number { low: 0, high: 2 }.check("-\n1").unwrap_err();
        assert_eq!(refusal, "`-\\n1` is not a number from 0 to 2");
    }
}
