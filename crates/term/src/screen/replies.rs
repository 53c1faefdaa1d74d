//! What programs are told when they ask: the emulator's answers, and the colours of xterm on black.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::vte::ansi::{NamedColor, Rgb};

/// How many bytes of replies wait for a program that is not read.
const MAX_REPLIES: usize = 64 << 10;

const FOREGROUND: Rgb = Rgb { r: 0xe5, g: 0xe5, b: 0xe5 };
const BACKGROUND: Rgb = Rgb { r: 0, g: 0, b: 0 };

/// The sixteen named colours.
const NAMED: [(u8, u8, u8); 16] = [
    (0x00, 0x00, 0x00),
    (0xcd, 0x00, 0x00),
    (0x00, 0xcd, 0x00),
    (0xcd, 0xcd, 0x00),
    (0x00, 0x00, 0xee),
    (0xcd, 0x00, 0xcd),
    (0x00, 0xcd, 0xcd),
    (0xe5, 0xe5, 0xe5),
    (0x7f, 0x7f, 0x7f),
    (0xff, 0x00, 0x00),
    (0x00, 0xff, 0x00),
    (0xff, 0xff, 0x00),
    (0x5c, 0x5c, 0xff),
    (0xff, 0x00, 0xff),
    (0x00, 0xff, 0xff),
    (0xff, 0xff, 0xff),
];

/// Where the emulator puts what it wants to say to the program.
#[derive(Clone, Default)]
pub(super) struct Outbox(Arc<Mutex<Vec<u8>>>);

impl Outbox {
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

impl EventListener for Outbox {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            self.put(&text);
        }
    }
}

/// The colour at an index of the emulator's palette, where the program has not set it.
pub(super) fn colour(index: usize) -> Rgb {
    match index {
        0..16 => {
            let (r, g, b) = NAMED[index];
            Rgb { r, g, b }
        }
        16..232 => cube(index - 16),
        232..256 => grey(index - 232),
        index if index == NamedColor::Background as usize => BACKGROUND,
        _ => FOREGROUND,
    }
}

fn cube(index: usize) -> Rgb {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    Rgb { r: STEPS[index / 36], g: STEPS[index / 6 % 6], b: STEPS[index % 6] }
}

fn grey(index: usize) -> Rgb {
    let level = u8::try_from(8 + 10 * index).unwrap_or(u8::MAX);
    Rgb { r: level, g: level, b: level }
}
