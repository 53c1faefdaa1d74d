//! Events of sub-agents that an agent reports.

pub(in crate::actions) mod closed;
pub(in crate::actions) mod opened;
