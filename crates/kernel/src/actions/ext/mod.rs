//! Actions on extensions, which the [`crate::extensions::ExtensionHost`] carries out.

pub(in crate::actions) mod info;
pub(in crate::actions) mod install;
pub(in crate::actions) mod list;
pub(in crate::actions) mod logs;
pub(in crate::actions) mod new;
pub(in crate::actions) mod reload;
pub(in crate::actions) mod remove;
pub(in crate::actions) mod set;
