//! The programs that run in the panes. They print nothing but lines that can be checked by
//! themselves.

use std::io::{self, BufWriter, Read, Stdout, stdin, stdout};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::line::Printer;
use crate::SeededRng;

/// The word on the command line that makes this binary one of these programs.
pub(super) const WORD: &str = "program";

/// What a program exits with when its terminal is gone.
const HUNG_UP: u8 = 99;

/// A process that ignores the polite signals and has left the session of its pane.
const STUBBORN: &str = "trap '' HUP TERM; exec setsid sleep 1000000";

/// What a pane runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Prints every line that it reads.
    Mirror,
    /// Prints by itself, in bursts.
    Printer,
    /// A mirror with a child in another session that ignores the polite signals.
    Tree,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Printer => "printer",
            Self::Tree => "tree",
        }
    }

    /// Whether it prints what it reads.
    pub(super) fn is_mirror(self) -> bool {
        self != Self::Printer
    }
}

/// Runs `program KIND CODE SEED`: prints until a line `x` comes, then exits with the code.
pub(super) fn run(args: &[String]) -> ExitCode {
    let [kind, code, seed] = args else { return ExitCode::from(2) };
    let (Ok(code), Ok(seed)) = (code.parse::<u8>(), seed.parse::<u64>()) else {
        return ExitCode::from(2);
    };
    let ended = match kind.as_str() {
        "printer" => print(&mut SeededRng::seeded(seed)),
        "tree" => start_stubborn().and_then(|()| mirror()),
        _ => mirror(),
    };
    ExitCode::from(if ended.is_ok() { code } else { HUNG_UP })
}

fn start_stubborn() -> io::Result<()> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", STUBBORN]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Switches the terminal to raw mode, so that the tape holds exactly what is printed, and says that
/// it is ready.
fn open() -> io::Result<Printer<BufWriter<Stdout>>> {
    let mut mode = tcgetattr(stdin())?;
    mode.make_raw();
    tcsetattr(stdin(), OptionalActions::Now, &mode)?;
    let mut printer = Printer::new(BufWriter::with_capacity(1 << 16, stdout()));
    printer.print('r', "ready")?;
    printer.flush()?;
    Ok(printer)
}

fn mirror() -> io::Result<()> {
    let mut printer = open()?;
    let mut input = Input::default();
    loop {
        for line in input.read()? {
            let is_end = line == "x";
            printer.print(if is_end { 'x' } else { 'i' }, &line)?;
            if is_end {
                return printer.flush();
            }
        }
        printer.flush()?;
    }
}

fn print(dice: &mut SeededRng) -> io::Result<()> {
    let mut printer = open()?;
    let mut input = Input::default();
    let filler = "abcdefghij".repeat(20);
    loop {
        // Now and then more than a tape holds.
        let lines = if dice.below(1500) == 0 { 30_000 } else { 1 + dice.below(60) };
        for _ in 0..lines {
            let length = usize::try_from(dice.below(160)).unwrap_or(0);
            printer.print('t', &filler[..length])?;
        }
        printer.flush()?;
        let pause = Duration::from_millis(20 + dice.below(200));
        if is_readable(pause)? && input.read()?.iter().any(|line| line == "x") {
            printer.print('x', "")?;
            return printer.flush();
        }
    }
}

fn is_readable(within: Duration) -> io::Result<bool> {
    let stdin = stdin();
    let within = Timespec::try_from(within).map_err(io::Error::other)?;
    Ok(poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&within))? == 1)
}

/// Lines from the terminal.
#[derive(Default)]
struct Input {
    begun: Vec<u8>,
}

impl Input {
    /// Waits for input; answers the lines that it completes.
    fn read(&mut self) -> io::Result<Vec<String>> {
        let mut bytes = [0; 16384];
        let count = stdin().lock().read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.begun.extend(&bytes[..count]);
        let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let rest = self.begun.split_off(end + 1);
        let whole = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8_lossy(&whole).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }
}
