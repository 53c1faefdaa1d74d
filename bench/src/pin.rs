//! Staying on one core.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{hint, thread};

use rustix::process::nice;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Error, IoContext};

/// The lowest priority there is.
const LOWEST: i32 = 19;

/// While it lives, this thread and whatever it starts stay on one core, and the other cores are
/// busy.
///
/// Half of a terminal's work is done by a worker of the system, which moves to an idle core; waking
/// that core costs more than everything else together. Without an idle core the worker stays.
pub(crate) struct Pinned {
    before: CpuSet,
    over: Arc<AtomicBool>,
}

impl Pinned {
    /// Stays on the last core: the first gets most interrupts.
    pub(crate) fn to_one_core() -> Result<Self, Error> {
        let before = sched_getaffinity(None).doing("ask for this thread's cores")?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| before.is_set(*core));
        let ours = cores.next_back().unwrap_or_default();
        let pinned = Self { before, over: Arc::default() };
        for core in cores {
            let over = pinned.over.clone();
            thread::spawn(move || spin(core, &over));
        }
        sched_setaffinity(None, &only(ours)).doing("stay on one core")?;
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = sched_setaffinity(None, &self.before);
    }
}

fn only(core: usize) -> CpuSet {
    let mut one = CpuSet::new();
    one.set(core);
    one
}

/// Keeps a core busy with nothing, at the lowest priority.
fn spin(core: usize, over: &AtomicBool) {
    // On Linux, both calls are about the thread, not the process.
    let lowered = sched_setaffinity(None, &only(core)).and_then(|()| nice(LOWEST));
    while lowered.is_ok() && !over.load(Ordering::Relaxed) {
        hint::spin_loop();
    }
}
