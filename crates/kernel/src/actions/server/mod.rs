//! Actions on the server.

pub(in crate::actions) mod status;
pub(in crate::actions) mod stop;
pub(in crate::actions) mod upgrade;
