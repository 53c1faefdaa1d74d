//! Actions on sessions.

pub(in crate::actions) mod list;
pub(in crate::actions) mod start;
pub(in crate::actions) mod stop;
