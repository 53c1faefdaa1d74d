//! Our own terminal: its size, and the signals that we get.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::task::Poll;

use paned_model::Size;
use rustix::process::Signal as Kind;
use rustix::termios::{Winsize, tcgetwinsize};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The size of our terminal, if we have one.
pub(crate) fn size() -> Option<Size> {
    size_of(&io::stdout()).or_else(|| size_of(&io::stdin())).or_else(|| size_of(&io::stderr()))
}

/// The size of a terminal, if it is one and reports it.
pub(crate) fn size_of(terminal: &impl AsFd) -> Option<Size> {
    tcgetwinsize(terminal).ok().and_then(to_pane_size)
}

/// The size within the limits of a pane; `None` when the terminal does not report one.
fn to_pane_size(window: Winsize) -> Option<Size> {
    let fit = |side: u16, least: u16| (0 < side).then(|| side.clamp(least, Size::MAX));
    Some(Size { cols: fit(window.ws_col, 2)?, rows: fit(window.ws_row, 1)? })
}

/// A signal that was sent to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaughtSignal {
    /// We are asked to end.
    End(EndSignal),
    /// The terminal has another size.
    Resized,
    /// We are asked to stop (SIGTSTP).
    Stopped,
    /// We were stopped, and are continued.
    Resumed,
}

/// The signal that asks us to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndSignal {
    Interrupt,
    Quit,
    Terminate,
    HangUp,
    /// SIGUSR1 or SIGUSR2, to which programs may give a meaning of their own.
    User(u8),
    /// Another signal, by its number.
    Other(u8),
}

impl EndSignal {
    /// The signal's number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::HangUp => number(Kind::HUP),
            Self::Interrupt => number(Kind::INT),
            Self::Quit => number(Kind::QUIT),
            Self::Terminate => number(Kind::TERM),
            Self::User(number) | Self::Other(number) => number,
        }
    }

    /// The exit code of a shell for a program that this signal ended.
    pub(crate) fn code(self) -> u8 {
        128 + self.number()
    }
}

fn number(signal: Kind) -> u8 {
    u8::try_from(signal.as_raw()).unwrap_or(0)
}

/// Other signals that would end us, except for those of a program's own faults, and those that
/// cannot be caught.
const OTHERS: [Kind; 9] = [
    Kind::ALARM,
    Kind::ABORT,
    Kind::TRAP,
    Kind::SYS,
    Kind::XCPU,
    Kind::XFSZ,
    Kind::VTALARM,
    Kind::PROF,
    Kind::IO,
];

/// The signals that were sent to us.
pub(crate) struct SignalListener {
    all: Vec<(CaughtSignal, Signal)>,
}

impl SignalListener {
    /// Catches signals from now on; they have no other effect.
    ///
    /// # Errors
    /// When a signal handler cannot be installed.
    pub(crate) fn catch() -> io::Result<Self> {
        let ends = [EndSignal::Interrupt, EndSignal::Quit, EndSignal::Terminate, EndSignal::HangUp];
        let users = [Kind::USR1, Kind::USR2].map(number).map(EndSignal::User);
        let others = OTHERS.map(number).map(EndSignal::Other);
        let ends = ends.into_iter().chain(users).chain(others);
        let ends = ends.map(|end| (CaughtSignal::End(end), end.number()));
        let rest = [
            (CaughtSignal::Resized, number(Kind::WINCH)),
            (CaughtSignal::Resumed, number(Kind::CONT)),
        ];
        let all = ends.chain(rest).map(|(caught, number)| {
            signal(SignalKind::from_raw(number.into())).map(|signal| (caught, signal))
        });
        Ok(Self { all: all.collect::<io::Result<_>>()? })
    }

    /// Catches SIGTSTP as well, which otherwise stops us at once.
    ///
    /// # Errors
    /// When a signal handler cannot be installed.
    pub(crate) fn with_stop_signal(mut self) -> io::Result<Self> {
        let stop = signal(SignalKind::from_raw(number(Kind::TSTP).into()))?;
        self.all.push((CaughtSignal::Stopped, stop));
        Ok(self)
    }

    /// Waits for the next signal. Cancel-safe: none is lost.
    pub(crate) async fn next(&mut self) -> CaughtSignal {
        poll_fn(|context| {
            let mut all = self.all.iter_mut();
            let received = all.find_map(|(caught, signal)| {
                signal.poll_recv(context).is_ready().then_some(*caught)
            });
            received.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_becomes_a_size_that_a_pane_can_have() {
        let fits = |cols, rows| {
            to_pane_size(Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })
        };
        assert_eq!(fits(80, 24), Some(Size { cols: 80, rows: 24 }));
        assert_eq!(fits(1, 5000), Some(Size { cols: 2, rows: 1000 }));
        assert_eq!(fits(0, 24), None);
    }
}
