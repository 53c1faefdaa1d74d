//! Whatever a tmux server says: read without a panic, and the same however it is cut; layouts come back as written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_policy::layout::Layout;
use paned_backend::tmux::decode;

fuzz_target!(|input: &[u8]| {
    decode::fuzz(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(layout) = text.parse::<Layout>() {
        assert_eq!(layout.to_string().parse(), Ok(layout));
    }
});
