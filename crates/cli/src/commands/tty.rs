//! The terminal we stand in: how large it is, and the signals it sends us.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::task::Poll;

use paned_model::Size;
use rustix::process::Signal as Kind;
use rustix::termios::{Winsize, tcgetwinsize};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How large the terminal we stand in is, if we stand in one.
pub(super) fn size() -> Option<Size> {
    size_of(&io::stdout()).or_else(|| size_of(&io::stdin())).or_else(|| size_of(&io::stderr()))
}

/// How large a terminal is, if it is one and knows.
pub(super) fn size_of(terminal: &impl AsFd) -> Option<Size> {
    tcgetwinsize(terminal).ok().and_then(to_pane_size)
}

/// The size as a pane can have it; none where the terminal does not know its own.
fn to_pane_size(window: Winsize) -> Option<Size> {
    let fit = |side: u16, least: u16| (0 < side).then(|| side.clamp(least, Size::MAX));
    Some(Size { cols: fit(window.ws_col, 2)?, rows: fit(window.ws_row, 1)? })
}

/// A signal that was sent to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaughtSignal {
    /// Somebody wants us to end.
    End(EndSignal),
    /// The terminal has another size.
    Resized,
    /// Somebody wants us to stop for a while.
    Stopped,
    /// We were stopped, and go on.
    Resumed,
}

/// How somebody asked us to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndSignal {
    Interrupt,
    Quit,
    Terminate,
    HangUp,
    /// By a signal that programs may give a meaning of their own.
    User(u8),
    /// By another signal of this number.
    Other(u8),
}

impl EndSignal {
    /// The signal's number.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::HangUp => number(Kind::HUP),
            Self::Interrupt => number(Kind::INT),
            Self::Quit => number(Kind::QUIT),
            Self::Terminate => number(Kind::TERM),
            Self::User(number) | Self::Other(number) => number,
        }
    }

    /// What a shell says of a program that this ended.
    pub(super) fn code(self) -> u8 {
        128 + self.number()
    }
}

fn number(signal: Kind) -> u8 {
    u8::try_from(signal.as_raw()).unwrap_or(0)
}

/// What would end us, but for what a program does to itself, and what nobody can catch.
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
pub(super) struct SignalListener {
    all: Vec<(CaughtSignal, Signal)>,
}

impl SignalListener {
    /// From now on signals do nothing but come here.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn catch() -> io::Result<Self> {
        let asked =
            [EndSignal::Interrupt, EndSignal::Quit, EndSignal::Terminate, EndSignal::HangUp];
        let users = [Kind::USR1, Kind::USR2].map(number).map(EndSignal::User);
        let others = OTHERS.map(number).map(EndSignal::Other);
        let asked = asked.into_iter().chain(users).chain(others);
        let asked = asked.map(|asked| (CaughtSignal::End(asked), asked.number()));
        let rest = [
            (CaughtSignal::Resized, number(Kind::WINCH)),
            (CaughtSignal::Resumed, number(Kind::CONT)),
        ];
        let all = asked.chain(rest).map(|(caught, number)| {
            signal(SignalKind::from_raw(number.into())).map(|signal| (caught, signal))
        });
        Ok(Self { all: all.collect::<io::Result<_>>()? })
    }

    /// The same for the wish that we stop, which otherwise is obeyed at once.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn with_stop_signal(mut self) -> io::Result<Self> {
        let stop = signal(SignalKind::from_raw(number(Kind::TSTP).into()))?;
        self.all.push((CaughtSignal::Stopped, stop));
        Ok(self)
    }

    /// The next signal. May be dropped and called again: none is lost.
    pub(super) async fn next(&mut self) -> CaughtSignal {
        poll_fn(|context| {
            let mut all = self.all.iter_mut();
            let came = all.find_map(|(caught, signal)| {
                signal.poll_recv(context).is_ready().then_some(*caught)
            });
            came.map_or(Poll::Pending, Poll::Ready)
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
