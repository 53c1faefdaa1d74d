//! Actions on notifications, which the [`crate::notifications::Notifier`] carries out.

pub(in crate::actions) mod list;
pub(in crate::actions) mod test;
