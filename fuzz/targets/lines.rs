//! Any bytes as lines. The text is clean and of a bounded length. Cleaning it again changes
//! nothing, and feeding it in pieces gives the same line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_term::lines::{IncrementalLine, clean, split};

fuzz_target!(|input: &[u8]| {
    let Some((most, output)) = input.split_first() else { return };
    let most = usize::from(*most);
    for raw in split(output) {
        let line = clean(raw, most);
        assert!(line.text.chars().count() <= most);
        assert!(!line.text.contains(char::is_control));
        assert_eq!(clean(line.text.as_bytes(), most).text, line.text);
        let mut drawing = IncrementalLine::new(most);
        raw.chunks(most.max(1)).for_each(|piece| drawing.feed(piece));
        assert_eq!(drawing.finish(), line);
        // A line that moves the cursor beyond 4096 columns may lose text that it moves back, and is
        // then marked as cut. The line without a limit has more text to move, and may be cut first.
        let whole = clean(raw, usize::MAX);
        assert!(line.cut || whole.cut || line.text == whole.text);
    }
});
