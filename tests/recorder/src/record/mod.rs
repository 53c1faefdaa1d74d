//! Records real agent programs in real panes, with the truth beside the recording.
//!
//! A recording is three files: `<case>.<cols>x<rows>.cast` (asciicast v2: `o` what the program
//! printed, `i` what was typed, `r` a new size, `m` what else is known), `.states.json` (which
//! state was true from when on, and how that is known) and `.screens.txt` (the screen in each
//! state). States come from the fake model, from the keys that were typed and from the screen
//! having come to rest; nothing here asks paned what state it sees.

mod cases;
mod files;
mod probe;
mod screen_marks;
mod session;
mod tape_watcher;
mod tty;

pub use cases::{cases, record};
pub use probe::{ProbeResult, probe};
pub(crate) use tape_watcher::TapeWatcher;
