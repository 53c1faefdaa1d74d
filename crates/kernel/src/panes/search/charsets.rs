//! The character sets that the lines of an output begin in: whether letters are drawn as lines and
//! corners.
//!
//! A charset switch is looked for in the block that a line begins in and in the block before it. So
//! the result does not depend on where a reader starts, and costs next to nothing where no program
//! switches charsets. An older switch is ignored: no program draws that much in one go, and a
//! charset that a binary file has selected by accident does not last.

use std::borrow::Cow;
use std::io;

use paned_backend::Output;
use paned_term::lines::{self, Charsets};

/// The size of such a block: that of a tape's blocks, so that a block is kept whole or not at all.
pub(crate) const BLOCK: u64 = 4096;

/// The offset from which charset switches count for a line that begins at `line`.
pub(crate) fn context_start(line: u64, block: u64) -> u64 {
    (line / block * block).saturating_sub(block)
}

/// The charsets that one line begins in.
pub(crate) fn at(output: &dyn Output, line: u64, block: u64) -> io::Result<Charsets> {
    let bytes = read_before(output, line, line, block)?;
    Ok(Charsets::default().after(&bytes))
}

/// The output that is still kept from a line's context start up to `end`, an offset at the line's
/// start or soon after it.
fn read_before(output: &dyn Output, line: u64, end: u64, block: u64) -> io::Result<Vec<u8>> {
    let mut from = context_start(line, block).max(output.first()).min(end);
    loop {
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        match output.read(from, &mut bytes)? {
            Ok(read) if read == bytes.len() => return Ok(bytes),
            Ok(_) => return Ok(Vec::new()),
            Err(gap) if gap.first < end => from = gap.first,
            Err(_) => return Ok(Vec::new()),
        }
    }
}

/// The charsets of the lines in some bytes, which start at the context start of the first line.
#[derive(Debug)]
pub(crate) struct LineCharsets<'a> {
    bytes: Cow<'a, [u8]>,
    offset: u64,
    block: u64,
    /// Whether nothing in the bytes can switch charsets.
    is_plain: bool,
    /// The last line that was asked for, and the charsets that it begins in.
    cached: Option<(u64, Charsets)>,
}

impl<'a> LineCharsets<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: u64, block: u64) -> Self {
        let is_plain = !lines::may_switch_charset(bytes);
        Self { bytes: bytes.into(), offset, block, is_plain, cached: None }
    }

    /// For lines without charset switches.
    pub(crate) fn plain() -> Self {
        Self { bytes: Cow::default(), offset: 0, block: BLOCK, is_plain: true, cached: None }
    }

    /// For lines that begin in a piece of an output at this offset. Reads the context before it.
    pub(crate) fn of_piece(output: &dyn Output, piece: &[u8], offset: u64) -> io::Result<Self> {
        // Includes two bytes of the piece, so that a sequence across its start is found.
        let overlap = piece.len().min(2);
        let mut bytes = read_before(output, offset, offset + overlap as u64, BLOCK)?;
        if !lines::may_switch_charset(&bytes) && !lines::may_switch_charset(piece) {
            return Ok(Self::plain());
        }
        bytes.truncate(bytes.len().saturating_sub(overlap));
        let offset = offset - bytes.len() as u64;
        bytes.extend_from_slice(piece);
        Ok(Self { bytes: bytes.into(), offset, block: BLOCK, is_plain: false, cached: None })
    }

    /// The charsets of the line that begins at an offset. Cheap for lines in ascending order.
    pub(crate) fn at(&mut self, line: u64) -> Charsets {
        if self.is_plain {
            return Charsets::default();
        }
        let is_near = |cached: &u64| *cached <= line && cached / self.block == line / self.block;
        let near = self.cached.filter(|(cached, _)| is_near(cached));
        let from_context =
            || (context_start(line, self.block).max(self.offset), Charsets::default());
        let (from, sets) = near.unwrap_or_else(from_context);
        let index = |offset: u64| usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
        let sets = sets.after(self.bytes.get(index(from)..index(line)).unwrap_or_default());
        self.cached = Some((line, sets));
        sets
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::panes::text::lines::tests::MemoryOutput;

    fn any_output() -> impl Strategy<Value = Vec<u8>> {
        let part = select(vec![
            &b"q"[..],
            b"\x0e",
            b"\x0f",
            b"\x1b",
            b"(0",
            b"\x1b(0",
            b"\x1b(B",
            b"\x1b)0",
            b"\x1b)B",
            b"\x1b7",
            b"\x1b8",
            b"\n",
            b"\n",
        ]);
        prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn whoever_reads_from_wherever_knows_the_same(
            bytes in any_output(),
            from in 0_u64..60,
            block in select(vec![4, 16, 64]),
        ) {
            let output = MemoryOutput::new(&bytes[..], 0);
            let starts = memchr::memchr_iter(b'\n', &bytes).map(|end| end as u64 + 1);
            let mut starts = std::iter::once(0).chain(starts).skip_while(|start| *start < from);
            let Some(first) = starts.next() else { return Ok(()) };
            let offset = context_start(first, block);
            let mut sets = LineCharsets::new(&bytes[offset as usize..], offset, block);
            for line in std::iter::once(first).chain(starts) {
                prop_assert_eq!(sets.at(line), at(&output, line, block).unwrap(), "at {}", line);
            }
        }
    }

    #[test]
    fn of_what_is_no_longer_kept_nothing_is_known() {
        let output = MemoryOutput::new(b"\x1b(0\n".repeat(5000), 3);
        assert!(!at(&output, 4096, BLOCK).unwrap().is_line_drawing());
        assert!(!at(&output, 3 * BLOCK, BLOCK).unwrap().is_line_drawing());
        assert!(at(&output, 3 * BLOCK + 4, BLOCK).unwrap().is_line_drawing());
    }

    #[test]
    fn a_choice_lasts_for_a_block_and_more() {
        let output = MemoryOutput::new([b"\x1b(0\n".to_vec(), b"q\n".repeat(5000)].concat(), 0);
        for (line, expect) in [(0, false), (4, true), (8190, true), (8192, false)] {
            assert_eq!(at(&output, line, BLOCK).unwrap().is_line_drawing(), expect, "{line}");
        }
    }
}
