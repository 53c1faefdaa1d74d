//! The short way into a terminal: past its keeper, while that has lent it to us.
//!
//! A keeper lends its terminal to a client that is alone with it. Whoever types then writes into the terminal at once, in
//! their own task; the keeper hears how often and how much when it has the terminal back. All else that is typed goes the
//! long way, as a request to the keeper, and gives the terminal back first: so there is one order, for everybody.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_keeper::pen::{MOST, Pen};
use paned_model::frame::Returned;
use tokio::sync::watch;

use crate::{Output, Typed};

/// A short way into a terminal, or none.
#[derive(Clone, Debug, Default)]
pub struct Shortcut(Option<Arc<Way>>);

struct Way {
    output: Arc<dyn Output>,
    /// How often somebody has typed.
    count: Arc<watch::Sender<Option<u64>>>,
    loan: Mutex<Loan>,
}

#[derive(Default)]
struct Loan {
    pen: Option<Pen>,
    is_lent: bool,
    /// What the terminal had no room for. It is not lent any more then, and the keeper is to go on with this.
    rest: Vec<u8>,
    /// Whether the keeper has to hear of it.
    is_due: bool,
}

/// A text that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How that went.
    pub typed: Typed,
    /// Whether the terminal took all of it. The rest goes the long way, before all else that does.
    pub is_whole: bool,
}

impl Shortcut {
    pub(crate) fn new(output: Arc<dyn Output>, count: Arc<watch::Sender<Option<u64>>>) -> Self {
        Self(Some(Arc::new(Way { output, count, loan: Mutex::default() })))
    }

    /// Types a text at once, if the terminal is lent to us and the text is no long one.
    #[must_use]
    pub fn type_in(&self, text: &[u8]) -> Option<Taken> {
        let way = self.0.as_deref()?;
        let mut loan = way.loan();
        if !loan.is_lent || MOST < text.len() {
            return None;
        }
        let written = loan.pen.as_mut()?.write(text, way.output.end());
        let is_whole = written.taken == text.len();
        if !is_whole {
            loan.rest = text[written.taken..].to_vec();
            (loan.is_lent, loan.is_due) = (false, true);
        }
        drop(loan);
        if written.counts {
            way.count.send_modify(|count| *count = count.map(|count| count + 1));
        }
        let typed = Typed { long_line: written.long_line, refereed: true };
        Some(Taken { typed, is_whole })
    }

    /// This is the terminal, for when it is lent to us.
    pub(crate) fn open(&self, terminal: OwnedFd) {
        if let Some(way) = &self.0 {
            way.loan().pen = Some(Pen::new(terminal));
        }
    }

    /// The terminal is lent to us; whether that is of use. From now on others type.
    pub(crate) fn lend(&self, line: u64) -> bool {
        let Some(way) = &self.0 else { return false };
        let mut loan = way.loan();
        let Some(pen) = &mut loan.pen else { return false };
        pen.lent(line);
        loan.is_lent = true;
        true
    }

    /// Gives back what was lent; answers what the keeper is to hear of that.
    pub(crate) fn give_back(&self) -> Option<(Returned, Vec<u8>)> {
        let mut loan = self.0.as_deref()?.loan();
        loan.is_due |= std::mem::take(&mut loan.is_lent);
        loan.settle()
    }

    /// What the keeper is to hear because the terminal had no room.
    pub(crate) fn overdue(&self) -> Option<(Returned, Vec<u8>)> {
        self.0.as_deref()?.loan().settle()
    }

    /// Lets go of the terminal for good: its keeper may be gone, and its program would wait for us.
    pub(crate) fn close(&self) {
        if let Some(way) = &self.0 {
            *way.loan() = Loan::default();
        }
    }
}

impl Way {
    fn loan(&self) -> MutexGuard<'_, Loan> {
        self.loan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Way").field("is_lent", &self.loan().is_lent).finish_non_exhaustive()
    }
}

impl Loan {
    fn settle(&mut self) -> Option<(Returned, Vec<u8>)> {
        let is_due = std::mem::take(&mut self.is_due);
        let returned = self.pen.as_ref().filter(|_| is_due)?.returned();
        Some((returned, std::mem::take(&mut self.rest)))
    }
}
