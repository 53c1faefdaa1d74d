//! A person at a real terminal: tmux attached in a pty of its own.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use paned_keeper::pty::{self, Pty, PtyProgram};
use paned_model::Size;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{read, write};
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::{Tmux, WAIT_TIMEOUT, gone, kill9, wait_for};

/// A user who types into tmux and sees what it shows. Dropping it closes the terminal.
pub struct AttachedTmuxClient {
    master: Arc<OwnedFd>,
    pid: u32,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl AttachedTmuxClient {
    /// Attaches to a session, in a terminal of this size.
    #[must_use]
    #[track_caller]
    pub fn attach(tmux: &Tmux, session: &str, size: Size) -> Self {
        let pty = Pty::open(size).unwrap();
        let argv = ["tmux", "-u", "-N", "-S", tmux.path(), "attach-session", "-t", session];
        let argv = argv.map(str::to_owned);
        let path = std::env::var("PATH").unwrap();
        let env = [("PATH", path.as_str()), ("TERM", "xterm-256color"), ("HOME", "/")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let file = path.split(':').map(|folder| format!("{folder}/tmux"));
        let file = file.into_iter().find(|file| std::path::Path::new(file).exists()).unwrap();
        let pid = pty::start(&pty, PtyProgram { file: &file, argv: &argv, env: &env }).unwrap();
        let (master, seen) = (Arc::new(pty.master), Arc::new(Mutex::new(Vec::new())));
        let (eyes, memory) = (master.clone(), seen.clone());
        // The output has to be read, or tmux waits for the terminal.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let mut fds = [PollFd::new(&*eyes, PollFlags::IN)];
                if poll(&mut fds, None).is_err() {
                    return;
                }
                let Ok(got @ 1..) = read(&*eyes, &mut bytes) else { return };
                memory.lock().unwrap().extend_from_slice(&bytes[..got]);
            }
        });
        let person = Self { master, pid, seen };
        // What is typed before tmux has the terminal is lost.
        person.wait_for_text("\u{1b}[?1049h");
        person
    }

    /// Types.
    #[track_caller]
    pub fn types(&self, keys: &str) {
        assert_eq!(write(&self.master, keys.as_bytes()), Ok(keys.len()));
    }

    /// Types, and waits until an answer shows: tmux takes keys that come faster than a user types
    /// for a paste.
    #[track_caller]
    pub fn type_until(&self, keys: &str, answer: &str) {
        self.seen.lock().unwrap().clear();
        self.types(keys);
        self.wait_for_text(answer);
    }

    /// Looks until this shows.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        wait_for(text, || self.has_seen(text).then_some(()));
    }

    fn has_seen(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).contains(text)
    }

    /// Makes the terminal's window larger or smaller.
    pub fn resizes(&self, size: Size) {
        pty::resize(&self.master, size).unwrap();
    }
}

impl Drop for AttachedTmuxClient {
    fn drop(&mut self) {
        kill9(self.pid);
        assert!(gone(self.pid, WAIT_TIMEOUT) || std::thread::panicking());
        let _ = waitpid(Pid::from_raw(i32::try_from(self.pid).unwrap()), WaitOptions::empty());
    }
}
