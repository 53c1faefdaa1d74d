//! The short folder for sockets of a state folder whose own path is too long for them.
//!
//! It is under the user's home, never in a folder that other users can write into.
//! `PANED_RUNTIME_DIR` names another folder. `XDG_RUNTIME_DIR` is used where the home's path is too
//! long, too. It is not the first choice because many systems remove it with the last login of its
//! user, while programs in panes live on. The choice is stored in the state folder, so that a later
//! server and the command line use the same one whatever their environment says.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::trusted_path::{Error, TrustedDir};

/// A socket's path fits in 104 bytes on every system.
pub(super) const LONGEST_SOCKET: usize = 100;
/// The longest name of a socket in the folder.
const LONGEST_NAME: &str = "/tmux/tmux.sock";
/// The file in the state folder that stores the choice.
const FILE: &str = "socket-folder";

/// A short folder of this user for the sockets of one state folder. It may not exist yet.
#[derive(Clone, Debug)]
pub struct SocketFolder {
    state: PathBuf,
    path: PathBuf,
}

impl SocketFolder {
    /// The folder for this state folder: the one that was chosen before, or a new choice.
    #[must_use]
    pub fn of(state: &Path) -> Self {
        let chosen =
            fs::read_to_string(state.join(FILE)).ok().map(|text| PathBuf::from(text.trim_end()));
        let chosen = chosen.filter(|path| path.is_absolute());
        let path = chosen.unwrap_or_else(|| choose(state, |name| std::env::var_os(name)));
        Self { state: state.to_owned(), path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, or checks that the existing one is private to this user and cannot be replaced by
    /// another.
    ///
    /// # Errors
    /// When it cannot be made, is not private, or its path is too long for a socket.
    pub fn make(&self) -> Result<(), Error> {
        if LONGEST_SOCKET < self.path.as_os_str().len() + LONGEST_NAME.len() {
            return Err(Error::Untrusted(format!(
                "the paths {} and {} are too long for sockets; set PANED_RUNTIME_DIR to a folder \
                with a short path, such as /home/me/.run",
                self.state.display(),
                self.path.display()
            )));
        }
        TrustedDir::make_private(&self.path)?;
        self.write_down();
        Ok(())
    }

    /// Best effort: without it the same choice is made again from the same environment.
    fn write_down(&self) {
        let file = self.state.join(FILE);
        let Some(path) = self.path.to_str().filter(|_| !file.exists()) else { return };
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        let written = open.and_then(|mut file| writeln!(file, "{path}"));
        if let Err(error) = written {
            tracing::warn!(%error, "cannot save the choice of the socket folder");
        }
    }
}

fn choose(state: &Path, env: impl Fn(&str) -> Option<std::ffi::OsString>) -> PathBuf {
    let name = format!("{:016x}", hash(state.as_os_str().as_encoded_bytes()));
    let folder = |variable: &str, below: &str| {
        let root = PathBuf::from(env(variable)?);
        root.is_absolute().then(|| root.join(below).join(&name))
    };
    if let Some(named) = folder("PANED_RUNTIME_DIR", "") {
        return named;
    }
    let home = folder("HOME", ".paned");
    let fits = |path: &PathBuf| path.as_os_str().len() + LONGEST_NAME.len() <= LONGEST_SOCKET;
    let own = |path: &PathBuf| {
        path.ancestors().nth(2).is_some_and(|it| TrustedDir::open_private(it).is_ok())
    };
    let fitting = home.clone().filter(fits);
    let other = || folder("XDG_RUNTIME_DIR", "paned").filter(fits).filter(own);
    // One that is too long is refused only when it is needed, with an error message.
    fitting.or_else(other).or(home).unwrap_or_else(|| state.join("sockets"))
}

/// FNV-1a: only has to be the same on every run and build.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn chosen(env: &[(&str, &str)]) -> String {
        let look = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.into())
        };
        choose(Path::new("/s"), look).parent().unwrap().display().to_string()
    }

    #[test]
    fn sockets_go_to_the_home_unless_it_is_too_long_or_another_place_is_named() {
        let long = format!("/{}", "long/".repeat(20));
        let runtime = tempfile::tempdir().unwrap();
        fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let runtime_path = runtime.path().to_str().unwrap();
        let xdg = ("XDG_RUNTIME_DIR", runtime_path);
        assert_eq!(chosen(&[("HOME", "/home/me"), xdg]), "/home/me/.paned");
        assert_eq!(chosen(&[("HOME", "/home/me"), ("PANED_RUNTIME_DIR", "/r")]), "/r");
        assert_eq!(chosen(&[("HOME", &long), xdg]), format!("{runtime_path}/paned"));
        fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(chosen(&[("HOME", &long), xdg]), format!("{long}.paned"));
        assert_eq!(chosen(&[]), "/s");
    }

    #[test]
    fn what_is_too_long_is_refused_with_the_cure() {
        let state = tempfile::tempdir().unwrap();
        let path = PathBuf::from(format!("/{}", "long/".repeat(20)));
        let folder = SocketFolder { state: state.path().to_owned(), path };
        let sentence = folder.make().unwrap_err().to_string();
        assert!(sentence.contains("PANED_RUNTIME_DIR"), "{sentence}");
    }

    #[test]
    fn the_choice_is_remembered_in_the_state_folder() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join("r");
        SocketFolder { state: state.path().to_owned(), path: path.clone() }.make().unwrap();
        assert_eq!(SocketFolder::of(state.path()).path(), path);
    }
}
