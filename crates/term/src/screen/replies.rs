//! Replies to programs' queries: the emulator's own, and the colours, which match rendered
//! pictures.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::vte::ansi::{NamedColor, Rgb};

use crate::colours::{BACKGROUND, FOREGROUND, indexed};

/// How many bytes of replies are kept until they are taken; more are dropped.
const MAX_REPLIES: usize = 64 << 10;

/// The emulator's replies to the program.
#[derive(Clone, Default)]
pub(super) struct ReplyBuffer(Arc<Mutex<Vec<u8>>>);

impl ReplyBuffer {
    pub(super) fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn put(&self, text: &str) {
        let mut replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if replies.len() + text.len() <= MAX_REPLIES {
            replies.extend(text.bytes());
        }
    }
}

impl EventListener for ReplyBuffer {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            self.put(&text);
        }
    }
}

/// The default colour at an index of the emulator's palette.
pub(super) fn colour(index: usize) -> Rgb {
    let ours = match index {
        0..256 => indexed(index),
        index if index == NamedColor::Background as usize => BACKGROUND,
        _ => FOREGROUND,
    };
    Rgb { r: ours.0, g: ours.1, b: ours.2 }
}
