//! What the system tells of a pane's terminal, beside what its screen shows.

/// The state of a terminal at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalState {
    /// The modes of its line discipline, where they are known.
    pub modes: Option<LineModes>,
    /// Whether a process in the foreground waits for input from the terminal; nothing where the
    /// system does not tell.
    pub reads: Option<bool>,
    /// Whether whole lines were typed that no process has read yet.
    pub has_unread_line: bool,
}

/// The modes of a line discipline that tell a line editor from a program that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineModes {
    /// `ICANON`: the kernel edits lines, and gives them out whole.
    pub canonical: bool,
    /// `ECHO`: the kernel prints what is typed.
    pub echo: bool,
    /// `ISIG`: the kernel makes a signal of Ctrl+C.
    pub signals: bool,
}

impl TerminalState {
    /// Whether the kernel edits lines.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.modes.is_some_and(|modes| modes.canonical)
    }

    /// Whether Ctrl+C interrupts the program and other keys are only input.
    #[must_use]
    pub fn interrupts_by_signal(&self) -> bool {
        self.modes.is_some_and(|modes| modes.canonical && modes.signals)
    }
}
