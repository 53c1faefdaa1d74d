//! How one program takes a prompt.

/// How one program takes a prompt, and how it is interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The keys that submit what stands in the composer.
    pub submit: Vec<String>,
    /// How long after the text they are pressed, in milliseconds.
    pub delay_ms: u64,
    /// The keys that make a line end in the composer, for a program that does not ask to be told of pastes.
    pub newline: Vec<String>,
    /// The keys that empty the composer; none if that is not known.
    pub clear: Vec<String>,
    /// Texts that need care.
    pub care: Vec<Care>,
    /// How a turn is broken off.
    pub interrupt: Interrupting,
}

/// A text that a program would not take as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Care {
    /// What makes it one.
    pub place: Place,
    /// What is done about it.
    pub how: How,
}

/// Where a text needs care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It begins with this.
    Start(String),
    /// Its last word begins with this.
    LastWord(String),
}

/// What is done about a text that needs care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// This is put before it.
    Before(String),
    /// This is put after it.
    After(String),
    /// It is refused, with this sentence.
    Refuse(String),
}

/// How a turn is broken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupting {
    /// The keys of one press.
    pub keys: Vec<String>,
    /// How many presses it takes.
    pub presses: u32,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            submit: vec!["enter".to_owned()],
            delay_ms: 120,
            newline: Vec::new(),
            clear: Vec::new(),
            care: Vec::new(),
            interrupt: Interrupting { keys: vec!["escape".to_owned()], presses: 1 },
        }
    }
}
