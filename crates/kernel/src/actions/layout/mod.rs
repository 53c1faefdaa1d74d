//! Actions on the layout of a session.

pub(in crate::actions) mod apply;
pub(in crate::actions) mod get;
pub(in crate::actions) mod hide;
pub(in crate::actions) mod place;
pub(in crate::actions) mod plan;
pub(in crate::actions) mod save;
