//! Embeds the Node host, if it was built: `make` builds it with npm, `cargo build` alone does not.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = Path::new(&manifest).join("../../extensions/host");
    let host = folder.join("dist/host.mjs");
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo takes a path that does not exist for one that has changed.
    if let Some(path) = [&host, &folder].into_iter().find(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let text = match host.canonicalize() {
        Ok(host) => format!("Some(include_str!({host:?}))"),
        Err(_) => "None".to_owned(),
    };
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("host.rs"), text)
}
