//! Any bytes as lines: clean text of a bounded length, cleaning again changes nothing, and neither does cutting them up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_term::lines::{Drawing, clean, split};

fuzz_target!(|input: &[u8]| {
    let Some((most, output)) = input.split_first() else { return };
    let most = usize::from(*most);
    for raw in split(output) {
        let line = clean(raw, most);
        assert!(line.text.chars().count() <= most);
        assert!(!line.text.contains(char::is_control));
        assert_eq!(clean(line.text.as_bytes(), most).text, line.text);
        let mut drawing = Drawing::new(most);
        raw.chunks(most.max(1)).for_each(|piece| drawing.feed(piece));
        assert_eq!(drawing.finish(), line);
        // A line that jumps about beyond 4096 columns may lose what it pulls back, and then says that it is cut. The whole
        // one has more to move, and may be the first to give up.
        let whole = clean(raw, usize::MAX);
        assert!(line.cut || whole.cut || line.text == whole.text);
    }
});
