//! The terminal we stand in: how large it is, and the signals it sends us.

use std::io;
use std::os::fd::AsFd;

use paned_model::Size;
use rustix::termios::{Winsize, tcgetwinsize};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How large the terminal we stand in is, if we stand in one.
pub(super) fn size() -> Option<Size> {
    size_of(&io::stdout()).or_else(|| size_of(&io::stdin())).or_else(|| size_of(&io::stderr()))
}

/// How large a terminal is, if it is one and knows.
pub(super) fn size_of(terminal: &impl AsFd) -> Option<Size> {
    tcgetwinsize(terminal).ok().and_then(fitting)
}

/// The size as a pane can have it; none where the terminal does not know its own.
fn fitting(window: Winsize) -> Option<Size> {
    let fit = |side: u16, least: u16| (0 < side).then(|| side.clamp(least, Size::MAX));
    Some(Size { cols: fit(window.ws_col, 2)?, rows: fit(window.ws_row, 1)? })
}

/// A signal that was sent to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    /// Somebody wants us to end.
    Asked(Asked),
    /// The terminal has another size.
    Resized,
    /// We were stopped, and go on.
    Resumed,
}

/// How somebody asked us to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Interrupt,
    Terminate,
    HangUp,
}

impl Asked {
    /// What a shell says of a program that this ended.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// The signals that were sent to us.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    resize: Signal,
    resume: Signal,
}

impl Signals {
    /// From now on signals do nothing but come here.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn catch() -> io::Result<Self> {
        let resume = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            resize: signal(SignalKind::window_change())?,
            resume: signal(resume)?,
        })
    }

    /// The next signal. May be dropped and called again: none is lost.
    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.recv() => Caught::Asked(Asked::Interrupt),
            _ = self.terminate.recv() => Caught::Asked(Asked::Terminate),
            _ = self.hang_up.recv() => Caught::Asked(Asked::HangUp),
            _ = self.resize.recv() => Caught::Resized,
            _ = self.resume.recv() => Caught::Resumed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_becomes_a_size_that_a_pane_can_have() {
        let fits = |cols, rows| {
            fitting(Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })
        };
        assert_eq!(fits(80, 24), Some(Size { cols: 80, rows: 24 }));
        assert_eq!(fits(1, 5000), Some(Size { cols: 2, rows: 1000 }));
        assert_eq!(fits(0, 24), None);
    }
}
