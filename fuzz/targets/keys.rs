//! Any text as a key and as a paste, in any modes: bytes that a terminal could send, or a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_model::Size;
use paned_term::Screen;
use paned_term::keys::{Key, UnencodableKey};
use paned_term::paste::paste;

const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";
/// The longest sequence of a key: modifiers, alternatives and text of the kitty protocol.
const LONGEST: usize = 64;

/// A key is one sequence of a bounded length, or a sentence.
fn check(pressed: Result<Vec<u8>, UnencodableKey>, text: &str) {
    match pressed {
        Ok(bytes) => {
            assert!(!bytes.is_empty() && bytes.len() <= LONGEST, "{text:?}: {bytes:?}");
            let starts = bytes.iter().filter(|byte| **byte == 0x1b).count();
            assert!(starts <= 2, "{text:?} is more than one key: {bytes:?}");
        }
        Err(untypable) => assert!(!untypable.to_string().is_empty()),
    }
}

fuzz_target!(|input: (&[u8], &str, bool)| {
    let (before, text, bracketed) = input;
    let mut screen = Screen::new(Size::default());
    screen.feed(before);
    let modes = screen.view().modes;
    match text.parse::<Key>() {
        Ok(key) => {
            check(key.encode(&modes), text);
            check(key.encode_in_tmux(&modes), text);
        }
        Err(unknown) => assert!(!unknown.to_string().is_empty()),
    }
    if let Ok(bytes) = paste(text, bracketed) {
        let pasted = String::from_utf8(bytes).expect("text stays text");
        let inside = match bracketed {
            true => pasted.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END)),
            false => Some(pasted.as_str()),
        };
        let inside = inside.expect("a bracketed paste is in brackets");
        assert!(!bracketed || !inside.contains(END), "{text:?} ends its own paste");
    }
});
