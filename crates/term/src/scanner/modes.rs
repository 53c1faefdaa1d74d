//! Tracks the modes that a program has switched, to set them again on a terminal that missed the
//! output.
//!
//! Other state of the terminal is in `settings`; cells are not tracked here.

/// The private modes to track. Synchronized output (2026) is temporary, so it is not among them.
const KNOWN: [u16; 21] = [
    1, 5, 6, 7, 9, 12, 25, 47, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1047,
    1049, 2004,
];

/// On in a fresh terminal.
const ON_AT_FIRST: [u16; 3] = [7, 25, 1007];

/// The modes that a soft reset (DECSTR) resets.
const SOFT_RESET: [u16; 4] = [1, 6, 7, 25];

/// Groups of modes in which only the last one set is in force.
const EXCLUSIVE: [&[u16]; 3] = [&[9, 1000, 1001, 1002, 1003], &[1005, 1006, 1015, 1016], ALTERNATE];

/// The modes that show the alternate screen; resetting any of them leaves it.
const ALTERNATE: &[u16] = &[47, 1047, 1049];

/// How many pushed keyboard modes are kept per screen; beyond that the oldest are dropped.
const MAX_PUSHED: usize = 16;

/// Every mode that differs from a fresh terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrackedModes {
    /// Private modes in the order in which they were last switched, because the last one wins.
    switched: Vec<u16>,
    insert: bool,
    keypad: bool,
    /// Pushed kitty keyboard flags of the primary and of the alternate screen.
    pushed: [Vec<u16>; 2],
}

impl TrackedModes {
    /// `CSI ? mode h` and `CSI ? mode l`.
    pub(super) fn set_private(&mut self, mode: u16, on: bool) {
        if !KNOWN.contains(&mode) {
            return;
        }
        let rivals = EXCLUSIVE.into_iter().find(|group| group.contains(&mode)).unwrap_or_default();
        let replaces = on || ALTERNATE.contains(&mode);
        self.switched.retain(|&other| other != mode && !(replaces && rivals.contains(&other)));
        if on != ON_AT_FIRST.contains(&mode) {
            self.switched.push(mode);
        }
    }

    /// `CSI 4 h` and `CSI 4 l`.
    pub(super) fn set_insert(&mut self, on: bool) {
        self.insert = on;
    }

    /// `ESC =` and `ESC >`.
    pub(super) fn set_keypad(&mut self, on: bool) {
        self.keypad = on;
    }

    /// `CSI > flags u`.
    pub(super) fn push_keyboard(&mut self, flags: u16) {
        let pushed = self.keyboard();
        if pushed.len() == MAX_PUSHED {
            pushed.remove(0);
        }
        pushed.push(flags);
    }

    /// `CSI < count u`.
    pub(super) fn pop_keyboard(&mut self, count: u16) {
        let pushed = self.keyboard();
        pushed.truncate(pushed.len().saturating_sub(count.into()));
    }

    /// `CSI = flags ; how u`: replace, add or remove.
    pub(super) fn set_keyboard(&mut self, flags: u16, how: u16) {
        let old = self.keyboard().pop().unwrap_or(0);
        let new = match how {
            2 => old | flags,
            3 => old & !flags,
            _ => flags,
        };
        self.keyboard().push(new);
    }

    /// `CSI ! p`, which does not affect mouse, paste, keyboard and the active screen.
    pub(super) fn reset_softly(&mut self) {
        self.switched.retain(|mode| !SOFT_RESET.contains(mode));
        self.insert = false;
        self.keypad = false;
    }

    /// The escape bytes that bring a fresh terminal into these modes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let [primary, alternate] = &self.pushed;
        // The keyboard stack belongs to the screen that is shown when it is pushed to.
        write_pushed(primary, out);
        let (screens, others): (Vec<u16>, _) =
            self.switched.iter().partition(|mode| ALTERNATE.contains(mode));
        for mode in screens.into_iter().chain(others) {
            let action = if ON_AT_FIRST.contains(&mode) { 'l' } else { 'h' };
            out.extend(format!("\x1b[?{mode}{action}").bytes());
        }
        write_pushed(alternate, out);
        if self.insert {
            out.extend(b"\x1b[4h");
        }
        if self.keypad {
            out.extend(b"\x1b=");
        }
    }

    fn keyboard(&mut self) -> &mut Vec<u16> {
        let alternate = self.switched.iter().any(|mode| ALTERNATE.contains(mode));
        &mut self.pushed[usize::from(alternate)]
    }
}

fn write_pushed(pushed: &[u16], out: &mut Vec<u8>) {
    for flags in pushed {
        out.extend(format!("\x1b[>{flags}u").bytes());
    }
}
