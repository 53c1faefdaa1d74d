//! The picture of the README: a shell in a pane of a real server, in which the story is typed, and
//! which talks to another real server. Both are paned, and paned draws the picture.

mod stage;
mod story;

use std::time::{Duration, Instant};

use paned_model::Size;
use paned_term::Screen;
use paned_term::render::Animation;

/// The terminal in the picture.
const SIZE: Size = Size { cols: 84, rows: 20 };
/// Output within this time is one frame.
const FRAME: Duration = Duration::from_millis(20);
/// A pause shorter than this is between two keys, and shown as [`BETWEEN_KEYS`] at most, so that
/// the picture does not depend on how busy the machine is.
const SHORT_PAUSE: Duration = Duration::from_millis(200);
const BETWEEN_KEYS: Duration = Duration::from_millis(45);
/// Another pause is at most this long.
const LONGEST_PAUSE: Duration = Duration::from_millis(2600);
/// How long the last frame stays.
const LAST: Duration = Duration::from_millis(5000);

/// Plays the story and draws it; the answer is an animated SVG.
#[must_use]
pub fn picture() -> String {
    let stage = stage::Stage::start(SIZE);
    story::play(&stage);
    draw(&stage.recorded())
}

fn draw(printed: &[(Instant, Vec<u8>)]) -> String {
    let mut screen = Screen::new(SIZE);
    let mut animation = Animation::new("paned", SIZE);
    let mut at = Duration::ZERO;
    for (n, (time, bytes)) in printed.iter().enumerate() {
        screen.feed(bytes);
        let Some((next, _)) = printed.get(n + 1) else { break };
        let pause = *next - *time;
        if FRAME <= pause {
            animation.add(at, &screen);
        }
        at += match pause {
            short if short < SHORT_PAUSE => short.min(BETWEEN_KEYS),
            long => long.min(LONGEST_PAUSE),
        };
    }
    animation.add(at, &screen);
    animation.svg(at + LAST)
}
