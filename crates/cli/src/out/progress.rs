//! One line on standard error that says what a command waits for.
//!
//! It appears after a second, counts seconds, and is gone when the wait is over. Where standard
//! error is no terminal, or the output is JSON for a program, nothing is shown.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::termios::tcgetwinsize;

use super::{Out, StyledLine, TextStyle};

/// How long a command may take before the line appears.
const DELAY: Duration = Duration::from_secs(1);

/// A wait in progress. Dropping it removes the line.
pub(crate) struct Progress(Option<RunningProgress>);

struct RunningProgress {
    shared: Arc<Mutex<ProgressLine>>,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What is waited for, and whether the line is on the terminal.
struct ProgressLine {
    what: String,
    is_shown: bool,
}

impl ProgressLine {
    fn remove(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write("\r\x1b[K");
        }
    }
}

impl Progress {
    /// Begins to count. `what` is a clause, as in `waiting for web to exit`; nothing is shown while
    /// it is empty.
    pub(crate) fn start(out: Out, what: &str) -> Self {
        if out.is_json() || !io::stderr().is_terminal() {
            return Self(None);
        }
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::new(Mutex::new(ProgressLine { what: what.to_owned(), is_shown: false }));
        let started = Instant::now();
        let drawn = shared.clone();
        let thread = thread::spawn(move || {
            // The next message is the end: the sender is dropped.
            while stopped.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                let mut progress = lock(&drawn);
                if progress.what.is_empty() {
                    progress.remove();
                    continue;
                }
                progress.is_shown = true;
                let text = line(&progress.what, started.elapsed(), columns());
                let text = StyledLine::new(TextStyle::Faint, &text).render(out.stderr_colour);
                write(&format!("\r{text}\x1b[K"));
            }
            lock(&drawn).remove();
        });
        Self(Some(RunningProgress { shared, stop, thread }))
    }

    /// Prints above the line, which comes back with its next second.
    pub(crate) fn print_above<T>(&self, print: impl FnOnce() -> T) -> T {
        let Some(RunningProgress { shared, .. }) = &self.0 else { return print() };
        let mut progress = lock(shared);
        progress.remove();
        print()
    }

    /// Changes what is waited for.
    pub(crate) fn set(&self, what: String) {
        if let Some(RunningProgress { shared, .. }) = &self.0 {
            lock(shared).what = what;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(RunningProgress { stop, thread, .. }) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

fn lock(line: &Mutex<ProgressLine>) -> MutexGuard<'_, ProgressLine> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The line, cut to a terminal's width: a wrapped line could not be removed.
fn line(what: &str, elapsed: Duration, columns: usize) -> String {
    let time = format!(" ({}s)", elapsed.as_secs());
    let room = columns.saturating_sub(time.len() + 1);
    let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let what = match room < what.chars().count() {
        true => what.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        false => what,
    };
    what + &time
}

fn columns() -> usize {
    let size = tcgetwinsize(io::stderr());
    size.ok().map(|size| size.ws_col.into()).filter(|cols| *cols != 0).unwrap_or(80)
}

/// A terminal that accepts nothing is no reason to fail.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_the_terminal() {
        let at = |columns| line("waiting for web to exit", Duration::from_millis(2900), columns);
        assert_eq!(at(80), "waiting for web to exit (2s)");
        assert_eq!(at(20), "waiting for w… (2s)");
        assert_eq!(line("a\nb", Duration::from_secs(9), 80), "a b (9s)");
    }
}
