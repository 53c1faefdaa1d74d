//! The web page in this binary; `build.rs` embeds it from `web/dist`.

#[allow(unused_imports, reason = "a build without the page needs less of it")]
use paned_server::{PageBundle, PageContent, PageFile};

/// The web page; without files where it was not built.
pub(crate) const PAGE: PageBundle = include!(concat!(env!("OUT_DIR"), "/page.rs"));
