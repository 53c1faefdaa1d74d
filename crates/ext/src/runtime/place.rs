//! The place of an extension in the journal, and the actions it vetoes, in a small file: what must
//! be known before its program runs again.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::EventId;
use serde::{Deserialize, Serialize};

/// What is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredPlace {
    /// All events up to this one are handled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handled: Option<EventId>,
    /// The actions it was last asked about, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    veto: Vec<String>,
}

/// The place of one extension.
pub(crate) struct EventPlace {
    path: PathBuf,
    now: Mutex<StoredPlace>,
    /// What the file holds. Locked while it is written.
    stored: Mutex<StoredPlace>,
}

impl EventPlace {
    /// Reads the place. A file that is missing or damaged is no place.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let stored: StoredPlace = serde_json::from_str(&text).unwrap_or_default();
        Self { path: path.to_owned(), now: Mutex::new(stored.clone()), stored: Mutex::new(stored) }
    }

    /// All events up to this one are handled; none if it never received any.
    pub(crate) fn handled(&self) -> Option<EventId> {
        lock(&self.now).handled
    }

    /// All events up to this one are handled.
    pub(crate) fn set_handled(&self, event: EventId) {
        lock(&self.now).handled = Some(event);
    }

    /// The actions it was last asked about.
    pub(crate) fn veto(&self) -> Vec<String> {
        lock(&self.now).veto.clone()
    }

    /// It is asked about these actions.
    pub(crate) fn set_veto(&self, veto: Vec<String>) {
        lock(&self.now).veto = veto;
    }

    /// Whether [`Self::save`] would write anything.
    pub(crate) fn is_changed(&self) -> bool {
        *lock(&self.now) != *lock(&self.stored)
    }

    /// Writes what changed, whole or not at all. It need not survive a power cut: events come at
    /// least once. Blocks.
    pub(crate) fn save(&self) -> io::Result<()> {
        let mut stored = lock(&self.stored);
        let now = lock(&self.now).clone();
        if *stored == now {
            return Ok(());
        }
        let text = serde_json::to_vec(&now).map_err(io::Error::other)?;
        let fresh = self.path.with_extension("new");
        let _ = fs::remove_file(&fresh);
        let mut open = fs::OpenOptions::new();
        let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
        io::Write::write_all(&mut file, &text)?;
        fs::rename(fresh, &self.path)?;
        *stored = now;
        Ok(())
    }

    /// Forgets the place.
    pub(crate) fn forget(&self) {
        let mut stored = lock(&self.stored);
        *stored = StoredPlace::default();
        *lock(&self.now) = StoredPlace::default();
        let _ = fs::remove_file(&self.path);
    }
}

/// Every value behind these locks is consistent between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("place.json");
        let place = EventPlace::read(&path);
        assert_eq!((place.handled(), place.is_changed()), (None, false));
        place.set_handled(EventId(7));
        place.set_veto(vec!["pane:*".into()]);
        assert!(place.is_changed());
        place.save().unwrap();
        assert!(!place.is_changed());
        let again = EventPlace::read(&path);
        assert_eq!((again.handled(), again.veto()), (Some(EventId(7)), vec!["pane:*".to_owned()]));
        again.forget();
        assert_eq!(EventPlace::read(&path).handled(), None);
        fs::write(&path, "{").unwrap();
        assert_eq!(EventPlace::read(&path).handled(), None);
    }
}
