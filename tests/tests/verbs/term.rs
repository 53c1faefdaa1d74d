//! A terminal for a test: a pty of its own, so that it works while no server runs.

use std::os::fd::OwnedFd;
use std::time::Instant;

use paned_e2e::{Server, WAIT_TIMEOUT, binary, kill9};
use paned_keeper::pty::{self, Pty, PtyProgram};
use paned_model::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{read, write};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::termios::{InputModes, LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};

/// A program in a terminal. Dropping it ends the program.
pub(super) struct Term {
    master: OwnedFd,
    pid: u32,
    /// What was shown and has not been asked for.
    shown: String,
    has_ended: bool,
}

impl Term {
    /// The command line against this server, in a terminal of this size.
    #[track_caller]
    pub(super) fn paned(server: &Server, args: &[&str], size: Size) -> Self {
        let binary = binary().display().to_string();
        let argv: Vec<&str> = [binary.as_str()].into_iter().chain(args.iter().copied()).collect();
        Self::start(server, &argv, size)
    }

    /// A shell script in which `$PANED` is the command line.
    #[track_caller]
    pub(super) fn script(server: &Server, script: &str) -> Self {
        Self::start(server, &["/bin/bash", "--norc", "-c", script], Size::default())
    }

    #[track_caller]
    fn start(server: &Server, argv: &[&str], size: Size) -> Self {
        let pty = Pty::open(size).unwrap();
        let argv: Vec<_> = argv.iter().map(|word| (*word).to_owned()).collect();
        let env = [
            ("PANED_STATE_DIR", server.state().display().to_string()),
            ("HOME", server.state().display().to_string()),
            ("PANED", binary().display().to_string()),
            ("PATH", std::env::var("PATH").unwrap()),
            ("TERM", "xterm-256color".to_owned()),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        let program = PtyProgram { file: &argv[0], argv: &argv, env: &env };
        let pid = pty::start(&pty, program).unwrap();
        Self { master: pty.master, pid, shown: String::new(), has_ended: false }
    }

    /// The program's process.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Types.
    #[track_caller]
    pub(super) fn type_in(&self, text: &str) {
        assert_eq!(write(&self.master, text.as_bytes()), Ok(text.len()));
    }

    pub(super) fn resize(&self, size: Size) {
        pty::resize(&self.master, size).unwrap();
    }

    /// The modes of the terminal that programs change and put back.
    pub(super) fn modes(&self) -> (InputModes, OutputModes, LocalModes) {
        let modes = tcgetattr(&self.master).unwrap();
        (modes.input_modes, modes.output_modes, modes.local_modes)
    }

    /// Sets the modes as a shell does while it reads a line; answers them.
    pub(super) fn set_line_editing(&self) -> (InputModes, OutputModes, LocalModes) {
        let mut modes = tcgetattr(&self.master).unwrap();
        modes.local_modes = LocalModes::ISIG;
        modes.input_modes = InputModes::empty();
        tcsetattr(&self.master, OptionalActions::Now, &modes).unwrap();
        self.modes()
    }

    /// Waits until this is shown; returns what was shown before it. What comes after it is kept for
    /// the next call.
    #[track_caller]
    pub(super) fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            if let Some((before, after)) = self.shown.split_once(text) {
                let (before, after) = (before.to_owned(), after.to_owned());
                self.shown = after;
                return before;
            }
            assert!(Instant::now() < deadline, "no {text:?} in {:?}", self.shown);
            assert!(self.look(), "it ended without {text:?}: {:?}", self.shown);
        }
    }

    /// Takes the next of what is shown; whether there may be more.
    fn look(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let within = Timespec::try_from(WAIT_TIMEOUT).unwrap();
        if poll(&mut fds, Some(&within)).unwrap() == 0 {
            return true;
        }
        let mut bytes = vec![0; 64 << 10];
        match read(&self.master, &mut bytes) {
            Ok(got @ 1..) => self.shown += &String::from_utf8_lossy(&bytes[..got]),
            Ok(_) | Err(_) => return false,
        }
        true
    }

    /// Waits until the program has ended well; returns all that it showed.
    #[track_caller]
    pub(super) fn output(mut self) -> String {
        assert_eq!(self.end(), 0, "{}", self.shown);
        std::mem::take(&mut self.shown)
    }

    /// Waits until the program has ended; answers its exit code.
    #[track_caller]
    pub(super) fn end(&mut self) -> i32 {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while self.look() {
            assert!(Instant::now() < deadline, "it does not end: {:?}", self.shown);
        }
        let pid = Pid::from_raw(i32::try_from(self.pid).unwrap());
        let (_, status) = waitpid(pid, WaitOptions::empty()).unwrap().unwrap();
        self.has_ended = true;
        status.exit_status().unwrap_or(-1)
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        if !self.has_ended {
            kill9(self.pid);
            let _ = waitpid(Pid::from_raw(i32::try_from(self.pid).unwrap()), WaitOptions::empty());
        }
    }
}
