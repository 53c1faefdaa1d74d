//! What must be known after a restart: the place in the journal, the turns of agents at that place,
//! and how far output was searched.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use paned_model::EventId;
use paned_policy::notify::NotifyTracker;
use serde::{Deserialize, Serialize};

/// What is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotifyPlace {
    /// All notifications about events up to this one are delivered or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handled: Option<EventId>,
    /// The agents at that place.
    #[serde(default)]
    pub(crate) tracker: NotifyTracker,
    /// From where on the output of a pane is searched: by rule, then by instance.
    #[serde(default)]
    pub(crate) lines: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The file with it.
pub(crate) struct PlaceFile {
    path: PathBuf,
    stored: NotifyPlace,
}

impl PlaceFile {
    /// Reads the file. One that is missing or damaged means that nothing is known.
    pub(crate) fn read(path: &Path) -> (Self, NotifyPlace) {
        let text = fs::read_to_string(path).unwrap_or_default();
        let place: NotifyPlace = serde_json::from_str(&text).unwrap_or_default();
        (Self { path: path.to_owned(), stored: place.clone() }, place)
    }

    /// Writes a changed place, whole or not at all.
    pub(crate) fn save(&mut self, place: &NotifyPlace) -> io::Result<()> {
        if self.stored == *place {
            return Ok(());
        }
        let text = serde_json::to_vec(place).map_err(io::Error::other)?;
        let fresh = self.path.with_extension("new");
        let _ = fs::remove_file(&fresh);
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(&text)?;
        fs::rename(fresh, &self.path)?;
        self.stored = place.clone();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_and_a_damaged_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify.json");
        let (mut file, place) = PlaceFile::read(&path);
        assert_eq!(place, NotifyPlace::default());
        let mut tracker = NotifyTracker::default();
        tracker.resume("a", paned_model::Time(5));
        let place = NotifyPlace { handled: Some(EventId(7)), tracker, ..place };
        file.save(&place).unwrap();
        assert_eq!(PlaceFile::read(&path).1, place);
        fs::write(&path, "{").unwrap();
        assert_eq!(PlaceFile::read(&path).1, NotifyPlace::default());
    }
}
