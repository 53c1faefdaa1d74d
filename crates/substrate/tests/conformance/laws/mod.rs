//! What holds for every substrate.

pub(crate) mod lives;
pub(crate) mod reading;
pub(crate) mod splitting;
pub(crate) mod typing;
