//! The files of the web page, as the build packed them into the binary.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::GzDecoder;

/// The folder of files that the page loads.
pub(crate) const ASSETS: &str = "/assets/";
/// The page itself, which is served at `/`.
const INDEX: &str = "/index.html";

/// The web page: what is served at `/`, `/assets/` and the paths of its other files.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageBundle {
    /// Its files; none in a build without the page.
    pub files: &'static [PageFile],
}

/// One file of the page.
#[derive(Debug)]
pub struct PageFile {
    /// Its path in the URL, such as `/assets/app-1a2b3c4d.js`.
    pub path: &'static str,
    /// A hash of its content.
    pub hash: &'static str,
    /// Its content, in one form at least.
    pub content: PageContent,
}

/// The content of a file, in the forms that the build has made.
#[derive(Debug)]
pub enum PageContent {
    /// As it is, for a file that compression would not make smaller.
    Plain(&'static [u8]),
    /// Compressed; a client that takes neither gets what gzip restores.
    Compressed {
        /// By gzip.
        gzip: &'static [u8],
        /// By Brotli, if the build has made that.
        brotli: Option<&'static [u8]>,
    },
}

/// How a response is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

impl PageBundle {
    /// The page itself, if the build has it.
    pub(crate) fn index(self) -> Option<&'static PageFile> {
        self.find(INDEX)
    }

    /// The file at this path.
    pub(crate) fn find(self, path: &str) -> Option<&'static PageFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files that are neither the page itself nor assets: a manifest, icons.
    pub(crate) fn root_files(self) -> impl Iterator<Item = &'static PageFile> {
        let is_asset =
            |path: &str| path.strip_prefix(ASSETS).is_some_and(|name| !name.contains('/'));
        self.files.iter().filter(move |file| file.path != INDEX && !is_asset(file.path))
    }
}

impl PageFile {
    /// Whether its name changes with its content, as in `app-1a2b3c4d.js`.
    pub(crate) fn is_hashed(&self) -> bool {
        let name = self.path.strip_prefix(ASSETS).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let fits = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'-';
        // Vite's hashes have eight characters, of which one may be a `-`.
        let at = stem.len().checked_sub(9).filter(|at| 0 < *at);
        at.is_some_and(|at| stem.as_bytes()[at] == b'-' && stem.bytes().skip(at).all(fits))
    }

    /// Its media type, by its extension.
    pub(crate) fn media(&self) -> &'static str {
        match self.path.rsplit('.').next().unwrap_or_default() {
            "html" => "text/html; charset=utf-8",
            "js" | "mjs" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "json" | "map" => "application/json",
            "webmanifest" => "application/manifest+json",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "ico" => "image/x-icon",
            "woff2" => "font/woff2",
            "wasm" => "application/wasm",
            "txt" => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// Its smallest form that a client takes.
    ///
    /// # Errors
    /// If the build has packed something that cannot be restored.
    pub(crate) fn encoded(
        &self,
        accepts: impl Fn(Encoding) -> bool,
    ) -> io::Result<(Encoding, Cow<'static, [u8]>)> {
        match self.content {
            PageContent::Plain(bytes) => Ok((Encoding::Identity, bytes.into())),
            PageContent::Compressed { brotli: Some(bytes), .. } if accepts(Encoding::Brotli) => {
                Ok((Encoding::Brotli, bytes.into()))
            }
            PageContent::Compressed { gzip, .. } if accepts(Encoding::Gzip) => {
                Ok((Encoding::Gzip, gzip.into()))
            }
            PageContent::Compressed { gzip, .. } => {
                let mut plain = Vec::new();
                GzDecoder::new(gzip).read_to_end(&mut plain)?;
                Ok((Encoding::Identity, plain.into()))
            }
        }
    }
}

impl Encoding {
    /// Its name in `Content-Encoding`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &'static str, is_hashed: bool) {
        let file = PageFile { path, hash: "1", content: PageContent::Plain(b"") };
        assert_eq!(file.is_hashed(), is_hashed, "{path}");
    }

    #[test]
    fn only_names_that_change_with_the_content_are_cached_for_good() {
        check("/assets/index-BxK3_a9Z.js", true);
        check("/assets/geist-latin-wght-normal-Dn-OxfDz.woff2", true);
        check("/assets/a-12345678.css", true);
        for path in ["/assets/icon.svg", "/assets/-12345678.js", "/assets/index-1234.js"] {
            check(path, false);
        }
        check("/sw-12345678.js", false);
        check("/index.html", false);
    }
}
