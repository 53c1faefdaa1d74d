//! Parses SQLite's write-ahead log, frame by frame. SQLite itself stops at the first damaged frame;
//! this continues.
//!
//! A frame is a page as a transaction left it. Its checksum continues that of the frame before, so
//! a frame can be verified from the checksum stored there, whatever came earlier.

use std::collections::HashMap;

/// The page size of our databases.
pub(super) const PAGE: usize = 4096;
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The log's magic number. Its last bit is the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;

/// The log up to its last commit.
pub(super) struct WalFile<'a> {
    frames: Vec<WalFrame<'a>>,
}

/// One page as a transaction left it.
pub(super) struct WalFrame<'a> {
    pub(super) page: u32,
    pub(super) content: &'a [u8],
    /// Whether its checksum is correct.
    is_valid: bool,
    is_commit: bool,
}

impl<'a> WalFile<'a> {
    /// Parses a log. Leaves out frames of an earlier use of the file, and those after the last
    /// commit.
    pub(super) fn read(log: &'a [u8]) -> Self {
        let is_big_endian = log.get(..4).is_some_and(|magic| number(magic) == MAGIC | 1);
        let chunks = log.get(HEADER..).unwrap_or_default().chunks_exact(FRAME_HEADER + PAGE);
        // The first frame belongs to the current use, also if the log's own header is damaged.
        let salts = chunks.clone().next().map_or(&[][..], |first| &first[8..16]);
        let mut before = log.get(24..32).map(checksums).unwrap_or_default();
        let mut frames = Vec::new();
        for chunk in chunks.filter(|chunk| chunk.len() == FRAME_HEADER + PAGE) {
            let (header, content) = chunk.split_at(FRAME_HEADER);
            let stored = checksums(&header[16..24]);
            let sum = add_checksum(
                add_checksum(before, &header[..8], is_big_endian),
                content,
                is_big_endian,
            );
            before = stored;
            if &header[8..16] == salts {
                let page = number(&header[..4]);
                let is_commit = number(&header[4..8]) != 0;
                frames.push(WalFrame { page, content, is_valid: sum == stored, is_commit });
            }
        }
        let is_end = |frame: &WalFrame<'_>| frame.is_valid && frame.is_commit;
        let committed = frames.iter().rposition(is_end).map_or(0, |at| at + 1);
        frames.truncate(committed);
        Self { frames }
    }

    /// The pages as the last transaction left them, as far as known.
    pub(super) fn pages(&self) -> HashMap<u32, &'a [u8]> {
        let valid = self.frames.iter().filter(|frame| frame.is_valid && 0 < frame.page);
        valid.map(|frame| (frame.page, frame.content)).collect()
    }

    /// Every frame, the newest first, including damaged ones.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &WalFrame<'a>> {
        self.frames.iter().rev()
    }
}

/// A big-endian number of four bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn checksums(bytes: &[u8]) -> [u32; 2] {
    [number(&bytes[..4]), number(&bytes[4..8])]
}

fn add_checksum(sums: [u32; 2], bytes: &[u8], is_big_endian: bool) -> [u32; 2] {
    let word = |bytes: &[u8]| match is_big_endian {
        true => number(bytes),
        false => number(bytes).swap_bytes(),
    };
    bytes.chunks_exact(8).fold(sums, |[first, second], pair| {
        let first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        [first, second.wrapping_add(word(&pair[4..])).wrapping_add(first)]
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_log_as_sqlite_writes_it_is_sound_and_one_damaged_frame_costs_no_more_than_two() {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(folder.path().join("db")).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x);").unwrap();
        for _ in 0..50 {
            db.execute("INSERT INTO t VALUES (randomblob(900))", []).unwrap();
        }
        let mut bytes = std::fs::read(folder.path().join("db-wal")).unwrap();
        let sound = |bytes: &[u8]| {
            WalFile::read(bytes).frames.iter().filter(|frame| frame.is_valid).count()
        };
        let all = sound(&bytes);
        assert!(all >= 50, "{all}");
        assert_eq!(WalFile::read(&bytes).frames.len(), all);
        bytes[HEADER + 10 * (FRAME_HEADER + PAGE) + 500] ^= 1;
        assert_eq!(sound(&bytes), all - 1);
        bytes[HEADER + 20 * (FRAME_HEADER + PAGE) + 20] ^= 1;
        assert_eq!(sound(&bytes), all - 3);
        bytes.truncate(bytes.len() - 1);
        assert!(sound(&bytes) < all - 3);
    }

    #[test]
    fn what_is_no_log_has_no_frames() {
        for bytes in [&[][..], &[7; 10], &[7; 40], &[0; 9000]] {
            assert_eq!(WalFile::read(bytes).pages().len(), 0);
        }
    }
}
