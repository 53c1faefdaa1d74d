//! The ports of a server's last start. With `--port 0` a restart takes the same port again, because
//! programs in its panes were given its address.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use paned_backend::port_listener::PortUse;
use paned_model::{Code, Refusal};

use crate::state_folder::StateFolder;

/// The ports by listener: [`MAIN`], or the name of another tool's protocol.
pub(super) struct RememberedPorts {
    file: PathBuf,
    before: BTreeMap<String, u16>,
    now: BTreeMap<String, u16>,
    /// What the user must know: which listeners have another port than before, and why.
    pub(super) notes: Vec<String>,
}

/// The listener of paned's own API.
pub(super) const MAIN: &str = "paned";

impl RememberedPorts {
    /// Reads the ports of the last start; none if there was no start, or the file is malformed.
    pub(super) fn read(state: &StateFolder) -> Self {
        let file = state.ports();
        let text = fs::read(&file).unwrap_or_default();
        let before = serde_json::from_slice(&text).unwrap_or_default();
        Self { file, before, now: BTreeMap::new(), notes: Vec::new() }
    }

    /// Listens on this port. Instead of a free one (0) it is the one of the last start, as long as
    /// that is not taken.
    ///
    /// # Errors
    /// As `bind`.
    pub(super) fn listen(
        &mut self,
        name: &str,
        port: u16,
        bind: impl Fn(u16) -> Result<Vec<TcpListener>, Refusal>,
    ) -> Result<Vec<TcpListener>, Refusal> {
        let is_free = port == 0 && !self.now.contains_key(name);
        let before = self.before.get(name).copied().filter(|_| is_free);
        let bound = match before.map(&bind) {
            Some(Err(refusal)) if refusal.code == Code::Unavailable => bind(port),
            Some(bound) => bound,
            None => bind(port),
        }?;
        let now = bound.first().and_then(|first| first.local_addr().ok()).map_or(0, |at| at.port());
        self.now.entry(name.to_owned()).or_insert(now);
        if let Some(before) = before.filter(|before| *before != now) {
            self.notes.push(moved(name, before, now));
        }
        Ok(bound)
    }

    /// Writes the ports of this start. Without them the next one may choose others, which is no
    /// reason not to serve.
    pub(super) fn save(&self) {
        if self.now == self.before {
            return;
        }
        if let Err(error) = self.write() {
            tracing::warn!(%error, "cannot write {}", self.file.display());
        }
    }

    fn write(&self) -> io::Result<()> {
        let fresh = self.file.with_extension("new");
        let _ = fs::remove_file(&fresh);
        let mut open = OpenOptions::new();
        let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
        serde_json::to_writer(&mut file, &self.now)?;
        file.write_all(b"\n")?;
        fs::rename(fresh, &self.file)
    }
}

fn moved(name: &str, before: u16, now: u16) -> String {
    let holder = match PortUse::of(before) {
        PortUse::By(owner) => owner.to_string(),
        PortUse::ByOtherUser => "a program of another user".to_owned(),
        PortUse::Free => "another program".to_owned(),
    };
    let what = if name == MAIN { "the server" } else { name };
    format!(
        "port {before}, on which {what} listened before, is taken by {holder}: it listens on \
         {now} now; programs in panes started before reach the server by PANED_SOCKET only"
    )
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn bind(port: u16) -> Result<Vec<TcpListener>, Refusal> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let bound = bound.map_err(|error| Refusal::new(Code::Unavailable, error.to_string()));
        bound.map(|listener| vec![listener])
    }

    /// Starts once with port 0; returns the listener, its port and what the user must know.
    fn start(state: &StateFolder) -> (Vec<TcpListener>, u16, Vec<String>) {
        let mut ports = RememberedPorts::read(state);
        let bound = ports.listen(MAIN, 0, bind).unwrap();
        ports.save();
        let port = bound[0].local_addr().unwrap().port();
        (bound, port, ports.notes)
    }

    #[test]
    fn a_free_port_is_chosen_once_and_again_when_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(dir.path().to_owned());
        let (bound, first, _) = start(&state);
        drop(bound);
        let (bound, second, notes) = start(&state);
        assert_eq!((first, notes.as_slice()), (second, &[] as &[String]));
        let (_other, third, notes) = start(&state);
        assert_ne!(third, second);
        assert!(notes[0].contains(&format!("port {second}, on which the server")), "{notes:?}");
        drop(bound);
        fs::write(state.ports(), "{").unwrap();
        assert_eq!(start(&state).2, [""; 0], "a malformed file counts as none");
    }

    #[test]
    fn a_port_that_was_asked_for_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::at(dir.path().to_owned());
        let (_bound, taken, _) = start(&state);
        let mut ports = RememberedPorts::read(&state);
        assert!(ports.listen(MAIN, taken, bind).is_err());
        assert!(ports.notes.is_empty());
    }
}
