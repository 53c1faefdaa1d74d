//! Records real agent programs in real panes, with the truth beside the recording.
//!
//! A recording is three files: `<case>.<cols>x<rows>.cast` (asciicast v2: `o` what the program printed, `i` what was typed,
//! `r` a new size, `m` what else is known), `.states.json` (which state was true from when on, and how that is known) and
//! `.screens.txt` (the screen in each state). States come from the fake model, from the keys that were typed and from the
//! screen having come to rest; nothing here asks paned what state it sees.

mod cases;
mod drive;
mod files;
mod looks;
mod probe;
mod tty;
mod watch;

pub use cases::{cases, record};
pub use looks::quit;
pub use probe::{Verdict, probe};
