//! Actions on the audit records.

pub(in crate::actions) mod list;
