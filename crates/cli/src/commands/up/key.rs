//! The secret key of the hashes by which `paned up` finds changed definitions.
//!
//! A hash is in the meta of a pane, which every token with the scope `read` may read, and covers
//! the values of variables. With a key that only the user has, nothing can be guessed from it. A
//! user with another state folder has another key, and finds every definition changed.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::state_folder::StateFolder;

/// The length of a key in its file.
const LENGTH: usize = 43;

/// The key in the state folder, which is made if it is not there.
pub(super) fn read_or_make(state: &StateFolder) -> Result<String> {
    state.make()?;
    let path = state.up_key();
    let failed = || format!("cannot use {}", path.display());
    match fs::read_to_string(&path) {
        Ok(key) if key.len() == LENGTH => return Ok(key),
        // Only a disk that was full, or another program, leaves such a file.
        Ok(_) => fs::remove_file(&path).with_context(failed)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(failed),
    }
    make(&path).with_context(failed)
}

/// Makes a key. Of several commands at once, the first one's counts.
fn make(path: &Path) -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("no random numbers: {error}"))?;
    let number = getrandom::u64().map_err(|error| anyhow!("no random numbers: {error}"))?;
    let fresh = path.with_extension(format!("{number:016x}.new"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let linked = file
        .write_all(BASE64_URL_SAFE_NO_PAD.encode(bytes).as_bytes())
        .and_then(|()| fs::hard_link(&fresh, path));
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        Ok(()) | Err(_) => Ok(fs::read_to_string(path)?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_user_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path().join("state"));
        state.make().unwrap();
        let make = || read_or_make(&state).unwrap();
        let keys: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && key.len() == LENGTH), "{keys:?}");
        assert_eq!(fs::metadata(state.up_key()).unwrap().mode() & 0o777, 0o600);
        fs::write(state.up_key(), "").unwrap();
        let other = make();
        assert!(other != keys[0] && other.len() == LENGTH);
    }
}
