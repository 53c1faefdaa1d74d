//! Decodes UTF-8 that arrives in chunks: a character that is split between two chunks is returned
//! when it is complete. Pure.

/// Holds the bytes of an incomplete character.
#[derive(Default)]
pub(super) struct Utf8Decoder {
    tail: Vec<u8>,
}

impl Utf8Decoder {
    /// The rest at the end of the stream; an incomplete character is replaced.
    pub(super) fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.tail).into_owned();
        self.tail.clear();
        text
    }

    /// Drops an incomplete character before a gap. Returns how many bytes it had.
    pub(super) fn reset(&mut self) -> usize {
        self.tail.drain(..).count()
    }

    /// The text of all complete characters; invalid bytes are replaced.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        self.tail.extend_from_slice(bytes);
        let complete = self.tail.len() - incomplete_len(&self.tail);
        let text = String::from_utf8_lossy(&self.tail[..complete]).into_owned();
        self.tail.drain(..complete);
        text
    }
}

/// How many bytes at the end are the start of a character that may still be completed.
fn incomplete_len(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let invalid = last.map_or(&[][..], |chunk| chunk.invalid());
    // An invalid sequence is replaced at once; one that is only cut off at the end may continue.
    let is_open = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
    if is_open { invalid.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&[u8]], expect: &[&str]) {
        let mut decoder = Utf8Decoder::default();
        let texts: Vec<String> = pieces.iter().map(|piece| decoder.feed(piece)).collect();
        assert_eq!(texts, expect);
    }

    #[test]
    fn a_character_that_is_cut_is_told_when_it_is_whole() {
        check(&[b"a\xc3", b"\xa4b"], &["a", "\u{e4}b"]);
        check(&[b"\xf0\x9f", b"\x98", b"\x80"], &["", "", "\u{1f600}"]);
    }

    #[test]
    fn what_comes_after_a_gap_is_not_taken_for_the_rest_of_a_character() {
        let mut decoder = Utf8Decoder::default();
        assert_eq!(decoder.feed(b"a\xc3"), "a");
        assert_eq!(decoder.reset(), 1);
        assert_eq!(decoder.feed(b"b"), "b");
    }

    #[test]
    fn what_is_no_character_is_replaced_and_holds_up_nothing() {
        check(&[b"a\xff", b"b"], &["a\u{fffd}", "b"]);
        check(&[b"\xc3", b"x"], &["", "\u{fffd}x"]);
        let mut decoder = Utf8Decoder::default();
        assert_eq!((decoder.feed(b"a\xc3").as_str(), decoder.finish().as_str()), ("a", "\u{fffd}"));
    }
}
