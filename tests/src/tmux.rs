//! tmux servers that a test looks at: the one that panes are shown on, or a user's. Each is reached
//! by its own socket and by nothing else.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use paned_model::Size;
use rustix::net::sockopt::socket_peercred;
use tempfile::TempDir;

use crate::{Server, WAIT_TIMEOUT, gone, kill9};

/// A tmux server. One that a test made is ended with it.
pub struct Tmux {
    socket: PathBuf,
    /// Its own folder, if a test made it.
    folder: Option<TempDir>,
}

/// A pane of tmux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestTmuxPane {
    /// What tmux calls it.
    pub id: String,
    /// The pane of ours that it shows; empty when it shows none.
    pub shows: String,
    /// The session.
    pub session: String,
    /// How large it is.
    pub size: Size,
    /// Whether it has the focus in its window.
    pub active: bool,
    /// Its process.
    pub pid: u32,
    /// Its title.
    pub title: String,
}

const PANE_FORMAT: &str = "#{pane_id}\t#{@paned_pane}\t#{session_name}\t#{pane_width}\t#{pane_height}\t#{pane_active}\t\
                    #{pane_pid}\t#{pane_title}";

impl Tmux {
    /// The server that a server of ours shows panes on, running or not.
    #[must_use]
    pub fn of(server: &Server) -> Self {
        Self { socket: tmux_dir(&server.state()), folder: None }
    }

    /// A user's server, with one session `work` of this size that runs `cat`.
    #[must_use]
    #[track_caller]
    pub fn start_foreign(size: Size) -> Self {
        let folder = TempDir::with_prefix("paned-e2e-tmux-").unwrap();
        let tmux = Self { socket: folder.path().join("sock"), folder: Some(folder) };
        let (cols, rows) = (size.cols.to_string(), size.rows.to_string());
        tmux.run(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "work",
            "-x",
            &cols,
            "-y",
            &rows,
            "cat",
        ]);
        tmux
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The same, as text.
    #[must_use]
    pub fn path(&self) -> &str {
        self.socket.to_str().unwrap()
    }

    /// The process of the server, if it is there.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        listener(&self.socket)
    }

    /// Runs a command, as a user would in a shell. It starts no server but one that was made for
    /// the test.
    #[must_use]
    pub fn try_run(&self, args: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket);
        if self.folder.is_none() {
            command.arg("-N");
        }
        command.args(args).env_remove("TMUX").env_remove("TMUX_PANE").output().unwrap()
    }

    /// Runs a command that must go well; answers what it printed.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> String {
        let output = self.try_run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// The panes that are there, without the one that holds our client; none when no server
    /// answers.
    #[must_use]
    pub fn panes(&self) -> Vec<TestTmuxPane> {
        let output = self.try_run(&["list-panes", "-a", "-F", PANE_FORMAT]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(parse_pane).filter(|tile| tile.session != "_paned").collect()
    }

    /// The tmux pane that shows a pane.
    #[must_use]
    pub fn view(&self, pane: &str) -> Option<TestTmuxPane> {
        self.panes().into_iter().find(|tile| tile.shows == pane)
    }

    /// What a tmux pane shows.
    #[must_use]
    pub fn screen(&self, view: &str) -> String {
        String::from_utf8_lossy(&self.try_run(&["capture-pane", "-p", "-t", view]).stdout)
            .into_owned()
    }

    /// The control client of a server of ours.
    #[must_use]
    pub fn control_client(&self) -> Option<u32> {
        let format = "#{client_control_mode} #{client_pid}";
        let output = self.try_run(&["list-clients", "-F", format]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("1 ")?.parse().ok())
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        if self.folder.is_some() {
            end(&self.socket);
        }
    }
}

/// The socket of our tmux server in a state folder.
pub(crate) fn tmux_dir(state: &Path) -> PathBuf {
    state.join("tmux/tmux.sock")
}

/// Ends the server that listens here, also one that a test has stopped.
pub(crate) fn end(socket: &Path) {
    if let Some(pid) = listener(socket) {
        kill9(pid);
        assert!(gone(pid, WAIT_TIMEOUT) || std::thread::panicking());
    }
}

fn listener(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let pid = socket_peercred(&stream).ok()?.pid.as_raw_nonzero();
    u32::try_from(pid.get()).ok()
}

fn parse_pane(line: &str) -> Option<TestTmuxPane> {
    let mut words = line.splitn(8, '\t').map(str::to_owned);
    let (id, shows, session) = (words.next()?, words.next()?, words.next()?);
    let mut number = || words.next()?.parse::<u32>().ok();
    let (cols, rows, active, pid) = (number()?, number()?, number()?, number()?);
    let size = Size { cols: cols.try_into().ok()?, rows: rows.try_into().ok()? };
    Some(TestTmuxPane { id, shows, session, size, active: active == 1, pid, title: words.next()? })
}
