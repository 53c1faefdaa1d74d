//! Any output of a tmux server: it is read without a panic and gives the same result in any pieces;
//! layouts are parsed and written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_backend::tmux::decode;
use paned_policy::layout::LayoutTree;

fuzz_target!(|input: &[u8]| {
    decode::fuzz(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(layout) = text.parse::<LayoutTree>() {
        assert_eq!(layout.to_string().parse(), Ok(layout));
    }
});
