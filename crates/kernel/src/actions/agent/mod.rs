//! Actions on agents.

pub(in crate::actions) mod answer;
pub(in crate::actions) mod cleanup;
pub(in crate::actions) mod create;
pub(in crate::actions) mod explain;
pub(in crate::actions) mod interrupt;
pub(in crate::actions) mod last;
pub(in crate::actions) mod list;
pub(in crate::actions) mod message;
pub(in crate::actions) mod messages;
pub(in crate::actions) mod profiles;
pub(in crate::actions) mod record;
pub(in crate::actions) mod restart;
pub(in crate::actions) mod set_state;
pub(in crate::actions) mod start;
pub(in crate::actions) mod state;
pub(in crate::actions) mod wait;
