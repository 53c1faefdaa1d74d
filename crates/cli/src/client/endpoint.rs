//! The server's address: from flags or the environment, or from the state folder.

use std::fmt;
use std::path::PathBuf;

use hyper::Uri;
use paned_model::Refusal;

use crate::args::Global;
use crate::settings::Env;
use crate::state_folder::StateFolder;

/// Where a server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerEndpoint {
    /// At a unix socket, which only its user can open.
    Unix(PathBuf),
    /// At `host:port`, where a token is required.
    Tcp { authority: String, token: Option<String> },
}

/// Why this endpoint was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointSource {
    /// No flag or variable names another one.
    Default,
    /// It is in the state folder of `--state-dir`.
    StateDir,
    /// This flag or variable names it.
    Named(&'static str),
}

impl ServerEndpoint {
    /// The endpoint that flags or, after them, the environment name, and which of them names it. A
    /// state folder from a flag takes precedence over the environment, and is not resolved here.
    ///
    /// # Errors
    /// When an address is invalid.
    pub(crate) fn from_flags_or_env(
        global: &Global,
        env: Env<'_>,
    ) -> Result<Option<(Self, EndpointSource)>, Refusal> {
        let token = || global.token.clone().or_else(|| env("PANED_TOKEN"));
        let named = |endpoint, name| Ok(Some((endpoint, EndpointSource::Named(name))));
        if let Some(socket) = &global.socket {
            return named(Self::Unix(socket.clone()), "`--socket`");
        }
        if let Some(url) = &global.url {
            return named(Self::tcp(url, token())?, "`--url`");
        }
        if global.state_dir.is_some() {
            return Ok(None);
        }
        if let Some(socket) = env("PANED_SOCKET") {
            return named(Self::Unix(socket.into()), "PANED_SOCKET");
        }
        match env("PANED_URL") {
            Some(url) => named(Self::tcp(&url, token())?, "PANED_URL"),
            None => Ok(None),
        }
    }

    /// The endpoint of a state folder's server.
    pub(crate) fn of(state: &StateFolder) -> Self {
        Self::Unix(Self::socket_of(state))
    }

    /// The socket of the server of this state folder.
    pub(crate) fn socket_of(state: &StateFolder) -> PathBuf {
        state.server_info().map_or_else(|| state.socket(), |info| info.socket)
    }

    fn tcp(url: &str, token: Option<String>) -> Result<Self, Refusal> {
        let refuse = |why| {
            let sentence =
                format!("`{}` {why}; write it as http://127.0.0.1:7263", url.escape_debug());
            Refusal::invalid(sentence)
        };
        let uri: Uri = url.parse().map_err(|_| refuse("is not an address"))?;
        let authority = uri.authority().ok_or_else(|| refuse("is not an address"))?;
        if uri.scheme_str() != Some("http") || authority.as_str().contains('@') {
            return Err(refuse("is not an http:// address"));
        }
        let port = authority.port_u16().unwrap_or(80);
        Ok(Self::Tcp { authority: format!("{}:{port}", authority.host()), token })
    }
}

impl fmt::Display for ServerEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp { authority, .. } => write!(f, "http://{authority}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(global: &Global, env: &[(&str, &str)], place: Option<(ServerEndpoint, &'static str)>) {
        let look = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let place = place.map(|(place, by)| (place, EndpointSource::Named(by)));
        assert_eq!(ServerEndpoint::from_flags_or_env(global, &look), Ok(place));
    }

    fn unix(path: &str) -> ServerEndpoint {
        ServerEndpoint::Unix(path.into())
    }

    fn tcp(authority: &str, token: &str) -> ServerEndpoint {
        ServerEndpoint::Tcp { authority: authority.into(), token: Some(token.into()) }
    }

    #[test]
    fn flags_beat_the_environment_and_a_socket_beats_an_address() {
        let env = [("PANED_SOCKET", "/e"), ("PANED_URL", "http://h:1"), ("PANED_TOKEN", "t")];
        let none = Global::default();
        check(&none, &env, Some((unix("/e"), "PANED_SOCKET")));
        check(&none, &env[1..], Some((tcp("h:1", "t"), "PANED_URL")));
        check(&none, &[], None);
        let socket = Global { socket: Some("/f".into()), ..none.clone() };
        check(&socket, &env, Some((unix("/f"), "`--socket`")));
        let url = Global { url: Some("http://[::1]:9/".into()), ..none.clone() };
        check(&url, &env, Some((tcp("[::1]:9", "t"), "`--url`")));
        check(&Global { state_dir: Some("/s".into()), ..none }, &env, None);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for url in ["", "7263", "/x", "https://h:1", "http://u:p@h:1", "ws://h"] {
            assert!(ServerEndpoint::tcp(url, None).is_err(), "{url}");
        }
    }
}
