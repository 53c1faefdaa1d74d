//! The terminal it runs in.

use std::io::{self, Write, stdin, stdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::agent::{Agent, State};
use crate::flags::Flags;
use crate::paint;

/// A terminal in raw mode; dropping it gives it back as it was.
pub(crate) struct Terminal {
    before: Termios,
    shown: String,
    wiped: Instant,
    is_alternate: bool,
}

impl Terminal {
    pub(crate) fn open(flags: &Flags) -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        let mut terminal =
            Self { before, shown: String::new(), wiped: Instant::now(), is_alternate: false };
        terminal.put("\u{1b}[?2004h\u{1b}[2J")?;
        if flags.status {
            terminal.put("\u{1b}]7501;?\u{1b}\\\u{1b}[c")?;
        }
        terminal.switch(flags.alt_screen)?;
        Ok(terminal)
    }

    /// Draws, if something is different; with `--redraw` also each second while it works.
    pub(crate) fn draw(&mut self, agent: &Agent, now: Instant) -> io::Result<()> {
        let is_busy = matches!(agent.state, State::Busy { .. });
        if agent.flags.switch_screen {
            self.switch(is_busy)?;
        }
        let size = tcgetwinsize(stdin())?;
        let (cols, rows) = (usize::from(size.ws_col.max(2)), usize::from(size.ws_row.max(2)));
        let picture = paint::paint(agent, cols, rows, now);
        let mut text = "\u{1b}[?2026h\u{1b}[?25l".to_owned();
        for (n, row) in picture.rows.iter().enumerate() {
            text.push_str(&format!("\u{1b}[{};1H\u{1b}[K{row}", n + 1));
        }
        let (row, col) = picture.cursor;
        text.push_str(&format!("\u{1b}[{};{}H\u{1b}[?25h\u{1b}[?2026l", row + 1, col + 1));
        if !agent.flags.no_title {
            text = format!("\u{1b}]2;{}\u{7}{text}", paint::title(agent));
        }
        if agent.reports {
            text = format!("\u{1b}]7501;{}\u{1b}\\{text}", paint::status(agent));
        }
        let stale = agent.flags.redraw && is_busy && Duration::from_secs(1) < now - self.wiped;
        if stale {
            self.wiped = now;
            self.put("\u{1b}[2J")?;
        } else if text == self.shown {
            return Ok(());
        }
        self.put(&text)?;
        self.shown = text;
        Ok(())
    }

    fn switch(&mut self, to_alternate: bool) -> io::Result<()> {
        if self.is_alternate == to_alternate {
            return Ok(());
        }
        self.is_alternate = to_alternate;
        self.shown.clear();
        self.put(if to_alternate { "\u{1b}[?1049h" } else { "\u{1b}[?1049l" })
    }

    /// What was typed, perhaps nothing within this time; `None` when there is no terminal any more.
    pub(crate) fn read(&self, within: Duration) -> io::Result<Option<Vec<u8>>> {
        let (stdin, within) = (stdin(), Timespec::try_from(within).map_err(io::Error::other)?);
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&within)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Some(Vec::new())),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // Not through the buffer of `stdin`: what waits there is not seen by `poll`.
        let mut bytes = [0; 4096];
        let got = rustix::io::read(&stdin, &mut bytes)?;
        Ok((got != 0).then(|| bytes[..got].to_vec()))
    }

    /// Does nothing any more, for ever.
    pub(crate) fn freeze(&self) -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Dies, and leaves everything as it is.
    pub(crate) fn crash(&self) -> ! {
        std::process::exit(101)
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.switch(false);
        let _ = self.put("\u{1b}[?2004l\r\n");
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
