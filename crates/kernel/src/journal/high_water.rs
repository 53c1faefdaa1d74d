//! The high-water mark: a small file beside the database that records which ids may have been used,
//! so that none is assigned twice even when the database is lost.
//!
//! It has three fields. `reserved`: no event has a greater id; raised in steps, and synced to disk
//! before the ids are used. `committed`: the last published id, written after each commit without
//! waiting for the disk, so it survives a kill but not a power cut. `boot`: the boot it was written
//! in, which distinguishes the two. A database that ends before `committed` has lost events; after
//! another boot it may have, and numbering continues after `reserved` in both cases.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use paned_model::EventId;

/// Ids stay below this: up to it JSON numbers are exact. A greater one in the file is damage.
const MAX_ID: u64 = 1 << 53;
/// How many ids one sync reserves.
const RESERVE_STEP: u64 = 4096;

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HighWaterMark {
    pub(super) reserved: EventId,
    pub(super) committed: EventId,
    boot: String,
}

impl HighWaterMark {
    /// No id beyond this one is assigned, in this boot.
    pub(super) fn at(last: EventId) -> Self {
        Self { reserved: last, committed: last, boot: boot() }
    }

    /// Reads the file beside this journal; nothing when it is missing or malformed.
    pub(super) fn load(journal: &Path) -> Option<Self> {
        let text = fs::read_to_string(path(journal)).ok()?;
        let mut words = text.split_whitespace();
        let mut number = || words.next()?.parse().ok().map(EventId);
        let reserved = number()?;
        let committed = number()?;
        let boot = words.next().unwrap_or_default().to_owned();
        (committed <= reserved && reserved.0 < MAX_ID).then_some(Self { reserved, committed, boot })
    }

    /// Whether the machine has not rebooted since this was written.
    pub(super) fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
    }

    /// Always of the same length, so that it can be overwritten in place.
    fn text(&self) -> String {
        format!("{:020} {:020} {}\n", self.reserved.0, self.committed.0, self.boot)
    }
}

/// The open file.
pub(super) struct HighWaterFile {
    file: File,
    mark: HighWaterMark,
}

impl HighWaterFile {
    /// Writes this mark, replacing an older one.
    pub(super) fn create(journal: &Path, mark: HighWaterMark) -> io::Result<Self> {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path(journal))?;
        let opened = Self { file, mark };
        opened.write()?;
        opened.file.set_len(opened.mark.text().len() as u64)?;
        opened.file.sync_all()?;
        Ok(opened)
    }

    /// Makes sure that ids up to this one may be used. Syncs to disk once in many calls.
    pub(super) fn reserve(&mut self, id: EventId) -> io::Result<()> {
        if id <= self.mark.reserved {
            return Ok(());
        }
        let reserved = EventId(id.0 + RESERVE_STEP);
        self.save(HighWaterMark { reserved, ..self.mark.clone() })
    }

    /// Records that everything up to this id is committed and may be published.
    pub(super) fn commit(&mut self, id: EventId) -> io::Result<()> {
        self.mark.committed = id;
        self.write()
    }

    /// Releases the ids that were reserved and not used: the next start continues without a gap.
    pub(super) fn release_reserved(&mut self) -> io::Result<()> {
        self.save(HighWaterMark { reserved: self.mark.committed, ..self.mark.clone() })
    }

    /// Keeps the new mark only when it is synced, so that a failed attempt is retried.
    fn save(&mut self, mark: HighWaterMark) -> io::Result<()> {
        self.file.write_all_at(mark.text().as_bytes(), 0)?;
        self.file.sync_data()?;
        self.mark = mark;
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        self.file.write_all_at(self.mark.text().as_bytes(), 0)
    }
}

fn path(journal: &Path) -> PathBuf {
    super::check::with_suffix(journal, ".high")
}

/// The id of this boot. Empty where the system has none: then a power cut looks like a kill.
fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_beyond_all_ids_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.db");
        for (reserved, is_believed) in
            [(5000, true), (MAX_ID - 1, true), (MAX_ID, false), (u64::MAX, false)]
        {
            fs::write(path(&journal), format!("{reserved:020} {:020} boot\n", 7)).unwrap();
            assert_eq!(HighWaterMark::load(&journal).is_some(), is_believed, "{reserved}");
        }
    }
}
