//! The environment that a program is started with, and what no program can be given.

use std::collections::BTreeMap;
use std::path::Path;

use paned_backend::{PathOwner, SECRET_VARIABLES, describes_terminal};
use paned_model::{PaneId, Refusal};
use serde::{Deserialize, Serialize};

use crate::AdvertisedAddress;
use crate::grants::Token;

/// Refuses a text that a program cannot be given.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Refusal> {
    match text.contains('\0') {
        true => Err(Refusal::invalid(format!(
            "`{field}` contains a NUL character, which cannot be passed to a program"
        ))),
        false => Ok(()),
    }
}

/// Refuses a variable's name that no environment can hold.
pub(crate) fn check_variable(name: &str, value: &str) -> Result<(), Refusal> {
    if name.is_empty() || name.contains('=') {
        let sentence = format!("`env`: invalid variable name `{}`", name.escape_debug());
        return Err(Refusal::invalid(sentence));
    }
    check_text("env", name)?;
    check_text("env", value)
}

/// The environment that a request asks for.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentSpec {
    /// Variables on top of what is inherited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// Whether the server's environment is inherited; it is when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) inherit_env: Option<bool>,
    /// The file mode creation mask, in octal; the server's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) umask: Option<String>,
}

impl EnvironmentSpec {
    /// Refuses variables that no environment can hold, and a mask that is none.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.env.iter().try_for_each(|(name, value)| check_variable(name, value))?;
        self.mask().map(|_| ())
    }

    /// Whether the server's environment is inherited.
    pub(crate) fn inherits(&self) -> bool {
        self.inherit_env.unwrap_or(true)
    }

    /// Whose `PATH` the program is looked up on.
    pub(crate) fn path_owner(&self) -> PathOwner {
        match self.inherits() && !self.env.contains_key("PATH") {
            true => PathOwner::Server,
            false => PathOwner::Caller,
        }
    }

    /// The file mode creation mask as a number.
    pub(crate) fn mask(&self) -> Result<Option<u32>, Refusal> {
        let Some(text) = &self.umask else { return Ok(None) };
        let is_octal = (1..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
        let mask = u32::from_str_radix(text, 8).ok().filter(|mask| is_octal && *mask <= 0o777);
        let sentence = || {
            let text = text.escape_debug();
            Refusal::invalid(format!("invalid umask `{text}`; write it in octal, as in `022`"))
        };
        mask.map(Some).ok_or_else(sentence)
    }

    /// The whole environment of a pane: what the server was started with if that is inherited,
    /// except what is about the server's own terminal; then the pane's identity and our address;
    /// then what the request adds.
    pub(crate) fn resolve(
        &self,
        server: &[(String, String)],
        identity: &PaneIdentity<'_>,
    ) -> Vec<(String, String)> {
        let inherited = server.iter().filter(|(name, _)| self.inherits() && !is_reserved(name));
        let mut env: BTreeMap<String, String> = inherited.cloned().collect();
        env.extend(identity.variables());
        env.extend(self.env.clone());
        if let Some(folder) = identity.program_folder.and_then(Path::to_str) {
            append_folder(&mut env, folder);
        }
        env.into_iter().collect()
    }
}

/// Appends a folder to `PATH`, if there is one without it: programs in panes call paned.
fn append_folder(env: &mut BTreeMap<String, String>, folder: &str) {
    let Some(path) = env.get_mut("PATH").filter(|path| !path.is_empty()) else { return };
    if !folder.contains(':') && path.split(':').all(|entry| entry != folder) {
        path.push(':');
        path.push_str(folder);
    }
}

/// Whether a variable is about the process that has it, not about a pane that it starts: its own
/// terminal and shell, the pane that it runs in and the server that it uses.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("PANED_")
        || name.starts_with("POLY_")
        || SECRET_VARIABLES.contains(&name)
        || describes_terminal(name)
}

/// What a pane needs to reach the server as itself.
pub(crate) struct PaneIdentity<'a> {
    pub(crate) id: &'a PaneId,
    pub(crate) address: &'a AdvertisedAddress,
    pub(crate) token: &'a Token,
    /// The folder of the paned program.
    pub(crate) program_folder: Option<&'a Path>,
}

impl PaneIdentity<'_> {
    fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let own = [
            ("PANED_PANE", self.id.to_string()),
            ("PANED_TOKEN", self.token.reveal().to_owned()),
            ("POLY_PANE", self.id.to_string()),
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
        ];
        let all = own.into_iter().chain(self.address.variables());
        all.map(|(name, value)| (name.to_owned(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn resolve(spec: &EnvironmentSpec) -> BTreeMap<String, String> {
        let base = [
            pair("HOME", "/root"),
            pair("PATH", "/bin"),
            pair("TMUX", "x"),
            pair("SHLVL", "3"),
            pair("PANED_STATE_DIR", "/s"),
            pair("A", "1"),
        ];
        let id = "p".parse().unwrap();
        let address = AdvertisedAddress::default();
        let (_, token) =
            crate::grants::StoredGrant::new(crate::grants::owner_grant(paned_model::Time(0)));
        let program_folder = Some(Path::new("/opt/paned"));
        let identity = PaneIdentity { id: &id, address: &address, token: &token, program_folder };
        let env = spec.resolve(&base, &identity);
        assert!(env.contains(&pair("PANED_TOKEN", token.reveal())));
        env.into_iter().collect()
    }

    fn requested(variables: &[(&str, &str)]) -> EnvironmentSpec {
        let env = variables.iter().map(|(name, value)| pair(name, value)).collect();
        EnvironmentSpec { env, ..EnvironmentSpec::default() }
    }

    #[test]
    fn the_environment_is_the_base_then_who_it_is_then_what_was_asked_for() {
        let env = resolve(&requested(&[("A", "2"), ("TERM", "dumb")]));
        let get = |name: &str| env.get(name).map(String::as_str);
        assert_eq!(get("HOME"), Some("/root"));
        assert_eq!((get("TMUX"), get("PANED_STATE_DIR"), get("SHLVL")), (None, None, None));
        assert_eq!((get("A"), get("TERM")), (Some("2"), Some("dumb")));
        assert_eq!((get("PANED_PANE"), get("POLY_PANE")), (Some("p"), Some("p")));
    }

    #[test]
    fn nothing_of_the_server_is_inherited_where_the_request_says_so() {
        let spec = EnvironmentSpec { inherit_env: Some(false), ..requested(&[("B", "2")]) };
        let env = resolve(&spec);
        let get = |name: &str| env.get(name).map(String::as_str);
        assert_eq!((get("HOME"), get("PATH"), get("A"), get("B")), (None, None, None, Some("2")));
        assert_eq!((get("PANED_PANE"), get("TERM")), (Some("p"), Some("xterm-256color")));
        assert_eq!(spec.path_owner(), PathOwner::Caller);
        assert_eq!(requested(&[]).path_owner(), PathOwner::Server);
        assert_eq!(requested(&[("PATH", "/x")]).path_owner(), PathOwner::Caller);
    }

    #[test]
    fn the_folder_of_paned_is_appended_to_a_path_without_it() {
        for (path, expected) in
            [("/bin", "/bin:/opt/paned"), ("/opt/paned:/bin", "/opt/paned:/bin"), ("", "")]
        {
            assert_eq!(resolve(&requested(&[("PATH", path)]))["PATH"], expected);
        }
    }

    #[test]
    fn a_umask_is_octal() {
        let mask = |text: &str| {
            let umask = Some(text.to_owned());
            EnvironmentSpec { umask, ..EnvironmentSpec::default() }.mask()
        };
        assert_eq!(mask("022").unwrap(), Some(0o022));
        assert_eq!(mask("0077").unwrap(), Some(0o077));
        for wrong in ["", "8", "1000", "00022", "-1", "+2"] {
            assert!(mask(wrong).is_err(), "{wrong}");
        }
    }
}
