//! Facts about the machine: limits and headroom. Read-only, except for our own limits.

pub(crate) mod headroom;
