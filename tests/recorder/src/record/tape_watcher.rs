//! Watches a pane's tape: every byte with its time, and every screen that differs from the one
//! before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use paned_keeper::tape::TapeReader;
use paned_model::Size;
use paned_term::Screen;

/// How long between two looks at the tape.
const BETWEEN: Duration = Duration::from_millis(2);

/// A screen as it was from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimedScreen {
    pub(super) at: Instant,
    pub(super) rows: Vec<String>,
    pub(super) title: String,
}

/// What was seen.
pub(crate) struct WatchedTape {
    screen: Screen,
    /// What was printed, with its times.
    pub(crate) printed: Vec<(Instant, Vec<u8>)>,
    /// The screens, each until the next.
    pub(super) shots: Vec<TimedScreen>,
}

/// A thread that watches; it ends when dropped.
pub(crate) struct TapeWatcher {
    pub(crate) seen: Arc<Mutex<WatchedTape>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TapeWatcher {
    pub(crate) fn start(tape: TapeReader, size: Size) -> Self {
        let seen =
            WatchedTape { screen: Screen::new(size), printed: Vec::new(), shots: Vec::new() };
        let (seen, stop) = (Arc::new(Mutex::new(seen)), Arc::new(AtomicBool::new(false)));
        let (memory, end) = (seen.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let mut offset = tape.first();
            loop {
                // Read before the tape, so that nothing that was printed before the stop is missed.
                let is_last = end.load(Ordering::Relaxed);
                while offset < tape.end() {
                    let mut bytes = vec![0; 1 << 16];
                    let got = tape.read(offset, &mut bytes).unwrap().unwrap();
                    bytes.truncate(got);
                    offset += got as u64;
                    memory.lock().unwrap().take(bytes);
                }
                if is_last {
                    return;
                }
                std::thread::sleep(BETWEEN);
            }
        });
        Self { seen, stop, thread: Some(thread) }
    }

    /// The screen now.
    pub(super) fn rows(&self) -> Vec<String> {
        self.seen.lock().unwrap().screen.view().rows
    }

    /// The terminal has another size.
    pub(super) fn resize(&self, size: Size) {
        let mut seen = self.seen.lock().unwrap();
        seen.screen.resize(size);
        seen.snapshot(Instant::now());
    }

    /// Watches to the end of the tape, and no further.
    pub(super) fn finish(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for TapeWatcher {
    fn drop(&mut self) {
        self.finish();
    }
}

impl WatchedTape {
    fn take(&mut self, bytes: Vec<u8>) {
        let now = Instant::now();
        self.screen.feed(&bytes);
        self.printed.push((now, bytes));
        self.snapshot(now);
    }

    fn snapshot(&mut self, at: Instant) {
        let view = self.screen.view();
        let same = |last: &TimedScreen| last.rows == view.rows && last.title == view.title;
        if !self.shots.last().is_some_and(same) {
            self.shots.push(TimedScreen { at, rows: view.rows, title: view.title });
        }
    }
}
