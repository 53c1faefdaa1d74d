//! New extensions to start from, which work as they are written.

use std::path::PathBuf;

use paned_kernel::extensions::StarterLanguage;

/// The name that the templates have; it is replaced in every file.
const PLACEHOLDER: &str = "my-extension";
const README: &str = include_str!("../../../extensions/templates/README.node.md");

/// The files of a new extension.
pub(crate) struct Starter {
    pub(crate) files: Vec<(PathBuf, String)>,
    /// What runs its test, in its folder.
    pub(crate) test_command: &'static str,
}

impl Starter {
    /// An extension of this name.
    pub(crate) fn new(name: &str, language: StarterLanguage) -> Self {
        let (templates, test_command) = templates(language);
        let main = if language == StarterLanguage::Ts { "index.ts" } else { "index.js" };
        let file = |(path, text): &(&str, &str)| {
            let text = text.replace(PLACEHOLDER, name).replace("MAIN", main_of(path, main));
            (PathBuf::from(path), text)
        };
        Self { files: templates.iter().map(file).collect(), test_command }
    }
}

/// Only the README of Node packages names its main file by a placeholder.
fn main_of<'a>(path: &str, main: &'a str) -> &'a str {
    if path == "README.md" { main } else { "MAIN" }
}

type Template = (&'static str, &'static str);

fn templates(language: StarterLanguage) -> (&'static [Template], &'static str) {
    match language {
        // Node reads TypeScript by itself since 22.18 only.
        StarterLanguage::Ts => (TS, "npm install && node --test"),
        StarterLanguage::Js => (JS, "node --test"),
        StarterLanguage::Python => (PYTHON, "python3 -m unittest"),
    }
}

const TS: &[Template] = &[
    ("package.json", include_str!("../../../extensions/templates/ts/package.json")),
    ("index.ts", include_str!("../../../extensions/templates/ts/index.ts")),
    ("index.test.js", include_str!("../../../extensions/templates/ts/index.test.js")),
    ("README.md", README),
];

const JS: &[Template] = &[
    ("package.json", include_str!("../../../extensions/templates/js/package.json")),
    ("index.js", include_str!("../../../extensions/templates/js/index.js")),
    ("index.test.js", include_str!("../../../extensions/templates/js/index.test.js")),
    ("README.md", README),
];

const PYTHON: &[Template] = &[
    ("paned.toml", include_str!("../../../extensions/templates/python/paned.toml")),
    ("main.py", include_str!("../../../extensions/templates/python/main.py")),
    ("test_main.py", include_str!("../../../extensions/templates/python/test_main.py")),
    ("README.md", include_str!("../../../extensions/templates/python/README.md")),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::Manifest;

    /// Writes a starter and runs its test. Returns what it printed.
    #[track_caller]
    fn check(language: StarterLanguage) -> String {
        let dir = tempfile::tempdir().unwrap();
        let starter = Starter::new("counter", language);
        for (path, text) in &starter.files {
            assert!(!text.contains(PLACEHOLDER) && !text.contains("`MAIN`"), "{path:?}");
            fs::write(dir.path().join(path), text).unwrap();
        }
        let manifest = Manifest::read(dir.path()).unwrap().unwrap();
        assert_eq!(manifest.name, "counter");
        assert_eq!(manifest.scopes.len(), 1);
        let command = starter.test_command.trim_start_matches("npm install && ");
        let words: Vec<_> = command.split(' ').collect();
        let ran = Command::new(words[0]).args(&words[1..]).current_dir(dir.path()).output();
        let ran = ran.unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(ran.status.success(), "{said}");
        said
    }

    #[test]
    fn each_starter_has_a_manifest_and_a_test_that_passes() {
        // Skipped by a Node that needs what `npm install` gets.
        let said = check(StarterLanguage::Ts);
        assert!(said.contains("pass 1") || said.contains("after `npm install`"), "{said}");
        assert!(check(StarterLanguage::Js).contains("pass 1"));
        assert!(check(StarterLanguage::Python).contains("OK"));
    }
}
