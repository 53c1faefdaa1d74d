//! The environment that a program is started with, and what no program can be given.

use std::collections::BTreeMap;

use paned_backend::TERMINAL_VARIABLES;
use paned_model::{PaneId, Refusal};

use crate::AdvertisedAddress;
use crate::grants::Token;

/// Refuses a text that a program cannot be given.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Refusal> {
    match text.contains('\0') {
        true => Err(Refusal::invalid(format!(
            "`{field}` holds a NUL character, which no program can be given"
        ))),
        false => Ok(()),
    }
}

/// Refuses a variable's name that no environment can hold.
pub(crate) fn check_variable(name: &str, value: &str) -> Result<(), Refusal> {
    if name.is_empty() || name.contains('=') {
        let sentence = format!("`env`: `{}` is not a variable name", name.escape_debug());
        return Err(Refusal::invalid(sentence));
    }
    check_text("env", name)?;
    check_text("env", value)
}

/// The whole environment of a pane: what the server was started with, except what is about the
/// server's own terminal; then the pane's identity and our address; then what the request adds.
pub(crate) fn environment(
    base: &[(String, String)],
    requested: BTreeMap<String, String>,
    identity: &PaneIdentity<'_>,
) -> Vec<(String, String)> {
    let mut env: BTreeMap<String, String> =
        base.iter().filter(|(name, _)| !is_reserved(name)).cloned().collect();
    env.extend(identity.variables());
    env.extend(requested);
    env.into_iter().collect()
}

fn is_reserved(name: &str) -> bool {
    name.starts_with("PANED_") || name.starts_with("POLY_") || TERMINAL_VARIABLES.contains(&name)
}

/// What a pane needs to reach the server as itself.
pub(crate) struct PaneIdentity<'a> {
    pub(crate) id: &'a PaneId,
    pub(crate) address: &'a AdvertisedAddress,
    pub(crate) token: &'a Token,
}

impl PaneIdentity<'_> {
    fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let port = self.address.port.map(|port| port.to_string());
        let variables = [
            ("PANED_PANE", Some(self.id.to_string())),
            ("PANED_URL", self.address.url.clone()),
            ("PANED_TOKEN", Some(self.token.reveal().to_owned())),
            ("PANED_SOCKET", self.address.socket.clone()),
            ("POLY_PANE", Some(self.id.to_string())),
            ("POLY_PORT", port),
            ("POLY_BASE_URL", self.address.url.clone()),
            ("TERM", Some("xterm-256color".into())),
            ("COLORTERM", Some("truecolor".into())),
        ];
        variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_the_base_then_who_it_is_then_what_was_asked_for() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let base = [
            pair("HOME", "/root"),
            pair("TMUX", "x"),
            pair("PANED_STATE_DIR", "/s"),
            pair("A", "1"),
        ];
        let (id, address) = ("p".parse().unwrap(), AdvertisedAddress::default());
        let (_, token) =
            crate::grants::StoredGrant::new(crate::grants::owner_grant(paned_model::Time(0)));
        let who = PaneIdentity { id: &id, address: &address, token: &token };
        let env = environment(&base, [pair("A", "2"), pair("TERM", "dumb")].into(), &who);
        let get =
            |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!(get("HOME"), Some("/root"));
        assert_eq!((get("TMUX"), get("PANED_STATE_DIR")), (None, None));
        assert_eq!((get("A"), get("TERM")), (Some("2"), Some("dumb")));
        assert_eq!((get("PANED_PANE"), get("POLY_PANE")), (Some("p"), Some("p")));
        assert_eq!(get("PANED_TOKEN"), Some(token.reveal()));
    }
}
