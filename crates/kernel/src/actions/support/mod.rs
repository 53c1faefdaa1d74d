//! What several actions share.

pub(in crate::actions) mod agents;
pub(in crate::actions) mod meta;
pub(crate) mod next_run;
pub(in crate::actions) mod param_rules;
pub(in crate::actions) mod recording;
pub(in crate::actions) mod respawn;
pub(in crate::actions) mod visibility;
pub(in crate::actions) mod wait_limit;
