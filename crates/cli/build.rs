//! Links optimised builds for Linux at a fixed address, and embeds the web page.

use std::collections::hash_map::DefaultHasher;
use std::env::var;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    link_at_fixed_address();
    embed_page()
}

/// A position-independent executable has 33,000 pointers that the loader adjusts in 141 pages at
/// each start: 30 % of the time that a short command takes. The price is that the addresses of
/// paned's own code are known; stack, heap and libraries stay at random addresses.
fn link_at_fixed_address() {
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_glibc && !is("OPT_LEVEL", "0") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Writes the files of `web/dist` as a value, if the page was built: `make` builds it with npm,
/// `cargo build` alone does not.
fn embed_page() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let web = Path::new(&manifest).join("../../web");
    let dist = web.join("dist");
    // Cargo takes a path that does not exist for one that has changed.
    if let Some(path) = [&dist, &web].into_iter().find(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut text = "PageBundle { files: &[\n".to_owned();
    if dist.join("index.html").exists() {
        let dist = dist.canonicalize()?;
        for file in files(&dist)? {
            text += &page_file(&dist, &file)?;
        }
    }
    text += "] }";
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("page.rs"), text)
}

/// The files below a folder, in order, without those that belong to another one.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_served = !name.starts_with('.')
            && ![".br", ".gz", ".map"].iter().any(|extension| name.ends_with(extension));
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false if is_served => found.push(path),
            false => {}
        }
    }
    found.sort();
    Ok(found)
}

/// One file as a `PageFile`.
fn page_file(dist: &Path, file: &Path) -> io::Result<String> {
    let relative = file.strip_prefix(dist).map_err(io::Error::other)?;
    let path = format!("/{}", relative.display());
    let fits = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !path.chars().all(fits) {
        return Err(io::Error::other(format!("web/dist{path} has a name that is no plain URL")));
    }
    let mut hash = DefaultHasher::new();
    fs::read(file)?.hash(&mut hash);
    let hash = format!("{:016x}", hash.finish());
    let compressed = |extension: &str| {
        let path = PathBuf::from(format!("{}.{extension}", file.display()));
        path.exists().then(|| format!("include_bytes!({path:?})"))
    };
    let content = match (compressed("gz"), compressed("br")) {
        (Some(gzip), brotli) => {
            let brotli =
                brotli.map_or_else(|| "None".to_owned(), |brotli| format!("Some({brotli})"));
            format!("PageContent::Compressed {{ gzip: {gzip}, brotli: {brotli} }}")
        }
        (None, _) => format!("PageContent::Plain(include_bytes!({file:?}))"),
    };
    let mut text = String::new();
    writeln!(text, "PageFile {{ path: {path:?}, hash: {hash:?}, content: {content} }},")
        .map_err(io::Error::other)?;
    Ok(text)
}
