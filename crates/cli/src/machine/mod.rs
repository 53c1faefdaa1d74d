//! Facts about the machine: limits, headroom, the owner of a port. Read-only, except for our own
//! limits.

pub(crate) mod headroom;
pub(crate) mod port;
