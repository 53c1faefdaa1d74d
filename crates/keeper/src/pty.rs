//! Opening a pty and starting a program on it, without forking.

use std::ffi::{CString, NulError};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::{io, ptr};

use paned_model::Size;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionread};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr,
    tcsetattr, tcsetwinsize,
};

use crate::input::echo::EchoMode;

/// A pseudoterminal: our side is an open descriptor, the program's side a path.
#[derive(Debug)]
pub struct Pty {
    /// Our side, from which the program's output is read. Non-blocking.
    pub master: OwnedFd,
    /// The path of the program's side.
    pub slave: CString,
}

impl Pty {
    /// Opens a fresh pty of this size.
    ///
    /// # Errors
    /// When the system has no free pty.
    pub fn open(size: Size) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let slave = ptsname(&master, Vec::new())?;
        resize(&master, size)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        Ok(Self { master, slave })
    }
}

/// Sets the terminal's size; the kernel notifies the program with `SIGWINCH`.
///
/// # Errors
/// When the pty is gone.
pub fn resize(master: &OwnedFd, size: Size) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(master, size)?)
}

/// Sets the terminal up for input that comes from a pipe: it echoes nothing and changes no byte.
/// Only `^D`, which ends the input at the start of a line and passes on what was typed elsewhere,
/// and `^V`, which makes the next byte literal, have a meaning.
///
/// # Errors
/// When the pty is gone.
pub(crate) fn pipe_input(master: &OwnedFd) -> io::Result<()> {
    let mut modes = tcgetattr(master)?;
    modes.input_modes.remove(
        InputModes::BRKINT
            | InputModes::ICRNL
            | InputModes::IGNCR
            | InputModes::INLCR
            | InputModes::INPCK
            | InputModes::ISTRIP
            | InputModes::IXON
            | InputModes::IXOFF
            | InputModes::IXANY
            | InputModes::PARMRK,
    );
    modes.local_modes.remove(LocalModes::ISIG | LocalModes::ECHO | LocalModes::ECHONL);
    modes.local_modes.insert(LocalModes::ICANON | LocalModes::IEXTEN);
    for index in UNUSED_KEYS {
        modes.special_codes[index] = NO_KEY;
    }
    modes.special_codes[SpecialCodeIndex::VEOF] = END_OF_INPUT;
    modes.special_codes[SpecialCodeIndex::VLNEXT] = LITERAL_NEXT;
    Ok(tcsetattr(master, OptionalActions::Now, &modes)?)
}

/// Ends piped input at the start of a line; passes on the bytes before it elsewhere.
pub const END_OF_INPUT: u8 = 0x04;
/// Makes the next byte of piped input literal.
pub const LITERAL_NEXT: u8 = 0x16;

/// Means that no byte is this key.
const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

/// Keys that edit a line or send a signal.
const UNUSED_KEYS: [SpecialCodeIndex; 11] = [
    SpecialCodeIndex::VINTR,
    SpecialCodeIndex::VQUIT,
    SpecialCodeIndex::VERASE,
    SpecialCodeIndex::VKILL,
    SpecialCodeIndex::VSTART,
    SpecialCodeIndex::VSTOP,
    SpecialCodeIndex::VSUSP,
    SpecialCodeIndex::VEOL,
    SpecialCodeIndex::VREPRINT,
    SpecialCodeIndex::VWERASE,
    SpecialCodeIndex::VEOL2,
];

/// The key for which the terminal sends this signal, if there is one.
pub(crate) fn key_for(master: &OwnedFd, signal: Signal) -> Option<u8> {
    let index = match signal {
        Signal::INT => SpecialCodeIndex::VINTR,
        Signal::QUIT => SpecialCodeIndex::VQUIT,
        _ => return None,
    };
    let modes = tcgetattr(master).ok()?;
    let key = modes.special_codes[index];
    // Zero means that there is no such key.
    (modes.local_modes.contains(LocalModes::ISIG) && key != 0).then_some(key)
}

/// Whether the terminal is in canonical mode: it edits lines and delivers only whole ones.
pub(crate) fn edits_lines(master: &OwnedFd) -> bool {
    let modes = tcgetattr(master).map(|terminal| terminal.local_modes);
    modes.is_ok_and(|modes| modes.contains(LocalModes::ICANON))
}

/// The modes of the terminal.
pub(crate) fn modes(master: &OwnedFd) -> Option<Termios> {
    tcgetattr(master).ok()
}

/// Who echoes what is typed in these modes.
pub(crate) fn echo_mode(modes: Option<&Termios>) -> EchoMode {
    let modes = modes.map_or(LocalModes::empty(), |modes| modes.local_modes);
    match (modes.contains(LocalModes::ECHO), modes.contains(LocalModes::ICANON)) {
        (true, _) => EchoMode::Kernel,
        (false, true) => EchoMode::Off,
        (false, false) => EchoMode::Program,
    }
}

/// Whether the program has input left to read. `FIONREAD` goes to the program's side of the pty:
/// our side does not know.
pub(crate) fn has_unread(master: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let name = ptsname(master, Vec::new());
    let slave = name.and_then(|name| open(name.as_c_str(), flags, Mode::empty()));
    slave.and_then(|slave| ioctl_fionread(&slave)).is_ok_and(|unread| 0 < unread)
}

/// A program to start.
#[derive(Clone, Copy, Debug)]
pub struct PtyProgram<'a> {
    /// Its file.
    pub file: &'a str,
    /// Its arguments, its own name first.
    pub argv: &'a [String],
    /// Its whole environment.
    pub env: &'a [(String, String)],
}

/// Starts a program as the leader of a new session with the pty as its controlling terminal, in the
/// current directory, with default signal handlers and no blocked signals. Answers its process id.
///
/// `posix_spawn` rather than `fork`: it costs the same whatever the size of this process.
///
/// # Errors
/// When the program cannot be run; the error is the one of `exec`.
pub fn start(pty: &Pty, program: PtyProgram<'_>) -> io::Result<u32> {
    let nul = |_: NulError| io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in a text");
    let file = CString::new(program.file).map_err(nul)?;
    let argv = program.argv.iter().map(|text| CString::new(text.as_str()));
    let argv = argv.collect::<Result<Vec<_>, _>>().map_err(nul)?;
    let env = program.env.iter().map(|(name, value)| CString::new(format!("{name}={value}")));
    let env = env.collect::<Result<Vec<_>, _>>().map_err(nul)?;
    let argv = pointers(&argv);
    let env = pointers(&env);
    let attributes = Attributes::fresh_session()?;
    let files = FileActions::stdio_on(&pty.slave)?;
    let mut pid = 0;
    // SAFETY: every pointer is to a value that lives across the call; both lists end with null.
    let error = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            file.as_ptr(),
            &raw const files.0,
            &raw const attributes.0,
            argv.as_ptr(),
            env.as_ptr(),
        )
    };
    check(error)?;
    Ok(pid.unsigned_abs())
}

/// A null-terminated array of pointers, as C expects it.
fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    /// A session of its own, no signal blocked, none ignored.
    fn fresh_session() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: initialises the value, and is called once.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: the call above has initialised it.
        let mut this = Self(unsafe { attributes.assume_init() });
        let flags = SETSID | libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = libc::c_short::try_from(flags).expect("the flags of posix_spawn fit a short");
        let none = signals(false);
        let all = signals(true);
        // SAFETY: both are initialised.
        check(unsafe { libc::posix_spawnattr_setsigmask(&raw mut this.0, &raw const none) })?;
        // SAFETY: both are initialised.
        check(unsafe { libc::posix_spawnattr_setsigdefault(&raw mut this.0, &raw const all) })?;
        // SAFETY: it is initialised.
        check(unsafe { libc::posix_spawnattr_setflags(&raw mut this.0, flags) })?;
        Ok(this)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it is initialised and not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

#[cfg(target_os = "linux")]
const SETSID: libc::c_int = libc::POSIX_SPAWN_SETSID as libc::c_int;
/// In the system's header since 10.15, but not in the bindings.
#[cfg(target_os = "macos")]
const SETSID: libc::c_int = 0x0400;

fn signals(full: bool) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: either call initialises the set.
    unsafe {
        if full {
            libc::sigfillset(set.as_mut_ptr())
        } else {
            libc::sigemptyset(set.as_mut_ptr())
        };
        set.assume_init()
    }
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    /// The terminal as standard input, output and error. Opening it first as the leader of a
    /// session without a terminal makes it the session's controlling one.
    fn stdio_on(slave: &CString) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: initialises the value, and is called once.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: the call above has initialised it.
        let mut this = Self(unsafe { actions.assume_init() });
        let to = &raw mut this.0;
        // SAFETY: initialised; the path is copied by the call.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(to, 0, slave.as_ptr(), libc::O_RDWR, 0)
        })?;
        for copy in [1, 2] {
            // SAFETY: initialised.
            check(unsafe { libc::posix_spawn_file_actions_adddup2(to, 0, copy) })?;
        }
        Ok(this)
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: it is initialised and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// These calls return the error number instead of setting `errno`.
fn check(error: libc::c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
