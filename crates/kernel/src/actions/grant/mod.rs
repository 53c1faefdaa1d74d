//! Actions on grants.

pub(in crate::actions) mod create;
pub(in crate::actions) mod create_code;
pub(in crate::actions) mod list;
pub(in crate::actions) mod revoke;
