//! Hides title sequences that screen and tmux support and the emulator does not.

use std::borrow::Cow;

use memchr::memmem;

const ESC: u8 = 0x1b;

/// Rewrites titles in the form of screen and tmux (`ESC k`) to ignored strings (`ESC X`): the
/// emulator would draw them. `escaped` is whether the byte before was an ESC.
///
/// A joined partial character does not begin with ESC, so `escaped` still holds for the byte before
/// it.
pub(super) fn hide_titles<'a>(bytes: Cow<'a, [u8]>, escaped: &mut bool) -> Cow<'a, [u8]> {
    let begins = *escaped && bytes.first() == Some(&b'k');
    if let Some(last) = bytes.last() {
        *escaped = *last == ESC;
    }
    if !begins && memmem::find(&bytes, b"\x1bk").is_none() {
        return bytes;
    }
    let mut bytes = bytes.into_owned();
    if begins {
        bytes[0] = b'X';
    }
    let mut from = 0;
    while let Some(at) = memmem::find(&bytes[from..], b"\x1bk") {
        from += at + 2;
        bytes[from - 1] = b'X';
    }
    bytes.into()
}
