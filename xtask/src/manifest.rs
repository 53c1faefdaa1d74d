//! What a `Cargo.toml` says about one package: its name, what it depends on, and on which line.

use toml::de::{DeTable, DeValue};

use crate::source::line_at;
use crate::tree::File;

/// A package of the workspace.
pub(crate) struct Manifest {
    pub(crate) path: String,
    pub(crate) package: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// Whether lints are set here: those of the workspace, or a table of its own.
    pub(crate) has_lints: bool,
}

/// One line of a table of dependencies.
pub(crate) struct Dependency {
    /// The package, also where it is used under another name.
    pub(crate) package: String,
    pub(crate) kind: Kind,
    pub(crate) line: usize,
}

/// What a dependency is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Program,
    Build,
    Tests,
}

impl Manifest {
    /// None where the file is no manifest or declares no package. A manifest that is not TOML was
    /// refused by cargo before we ran.
    pub(crate) fn parse(file: &File) -> Option<Manifest> {
        if file.name() != "Cargo.toml" {
            return None;
        }
        let document = DeTable::parse(&file.text).ok()?.into_inner();
        let package = table(&document, "package")?.get("name")?.get_ref().as_str()?.to_owned();
        let targets = table(&document, "target").into_iter().flatten();
        let targets = targets.filter_map(|(_, target)| target.get_ref().as_table());
        let dependencies = std::iter::once(&document)
            .chain(targets)
            .flat_map(|within| dependencies_in(within, &file.text))
            .collect();
        let has_lints = document.contains_key("lints");
        Some(Manifest { path: file.path.clone(), package, dependencies, has_lints })
    }

    /// The folder the manifest lies in, from the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.trim_end_matches("Cargo.toml").trim_end_matches('/')
    }

    /// The last part of the folder, which is the crate's short name.
    pub(crate) fn crate_name(&self) -> &str {
        self.folder().rsplit('/').next().unwrap_or_default()
    }
}

fn dependencies_in(within: &DeTable<'_>, text: &str) -> Vec<Dependency> {
    let sections = [
        ("dependencies", Kind::Program),
        ("build-dependencies", Kind::Build),
        ("dev-dependencies", Kind::Tests),
    ];
    let mut found = Vec::new();
    for (section, kind) in sections {
        for (name, value) in table(within, section).into_iter().flatten() {
            let package = renamed(value.get_ref()).unwrap_or(name.get_ref()).to_owned();
            found.push(Dependency { package, kind, line: line_at(text, name.span().start) });
        }
    }
    found
}

/// The package behind `name = { package = "…" }`.
fn renamed<'a>(dependency: &'a DeValue<'_>) -> Option<&'a str> {
    dependency.as_table()?.get("package")?.get_ref().as_str()
}

fn table<'a, 'i>(within: &'a DeTable<'i>, name: &str) -> Option<&'a DeTable<'i>> {
    within.get(name)?.get_ref().as_table()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str, text: &str) -> Option<Manifest> {
        Manifest::parse(&File::new(path, text.to_owned()))
    }

    #[test]
    fn every_table_of_dependencies_is_read() {
        let text = "[package]\nname = 'a'\n[dependencies]\nb.workspace = true\n\
            c = { package = 'd', version = '1' }\n[dev-dependencies.e]\nversion = '1'\n\
            [target.'cfg(unix)'.build-dependencies]\nf = '1'\n";
        let manifest = parse("crates/a/Cargo.toml", text).unwrap();
        let found: Vec<_> =
            manifest.dependencies.iter().map(|it| (it.package.as_str(), it.line)).collect();
        assert_eq!(found, [("b", 4), ("d", 5), ("e", 6), ("f", 9)]);
        assert_eq!((manifest.folder(), manifest.crate_name()), ("crates/a", "a"));
    }

    #[test]
    fn a_workspace_without_a_package_is_not_one() {
        assert!(parse("Cargo.toml", "[workspace]\nmembers = []\n").is_none());
        assert!(parse("clippy.toml", "[package]\nname = 'a'\n").is_none());
    }
}
