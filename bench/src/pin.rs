//! Staying on one core.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Doing, Error};

/// The core that is stayed on: not the first, which gets most interrupts.
const CORE: usize = 1;

/// While it lives, this thread and whatever it starts stay on one core.
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    pub(crate) fn to_one_core() -> Result<Self, Error> {
        let before = sched_getaffinity(None).doing("ask for this thread's cores")?;
        let mut one = CpuSet::new();
        let core = (CORE..CpuSet::MAX_CPU).chain([0]).find(|core| before.is_set(*core));
        one.set(core.unwrap_or_default());
        sched_setaffinity(None, &one).doing("stay on one core")?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
    }
}
