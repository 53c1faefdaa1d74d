//! Where the output of a pane ended when something was last typed into it.

use std::sync::atomic::Ordering;

use paned_backend::Output;

use super::Pane;

impl Pane {
    /// Where its output ended when something was last typed into it; 0 if nothing was.
    pub(crate) fn last_input(&self, output: &dyn Output) -> u64 {
        // The keeper of an adopted pane does not see its input: what we typed is all that is known.
        output.last_input().max(self.adopted_input.load(Ordering::SeqCst)).min(output.end())
    }

    /// Something is about to be typed. A keeper that types it records more exactly where.
    pub(crate) fn mark_input(&self) {
        if self.is_adopted()
            && let Some(output) = self.output()
        {
            self.adopted_input.store(output.end(), Ordering::SeqCst);
        }
    }
}
