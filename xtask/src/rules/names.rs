//! Names of types: nouns that say what the type is, and that a search finds once.

use std::collections::BTreeMap;

use super::Finding;
use crate::source::{is_word, line_at};
use crate::tree::{File, Tree};

/// Names that every action, command or task may use for its own.
const PER_MODULE: &[&str] = &["Args", "Error", "Event", "Params", "State", "Task"];

/// How many types may share a name.
const MOST_OF_ONE_NAME: usize = 3;

/// Participles that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "Done", "Drawn", "Found", "Given", "Gone", "Held", "Kept", "Known", "Left", "Lent", "Made",
    "Met", "Said", "Seen", "Sent", "Shown", "Spoken", "Taken", "Told", "Worn",
];

/// Nouns that end in `ed`.
const NOUNS_IN_ED: &[&str] = &["Embed", "Feed", "Need", "Seed", "Shed", "Speed"];

/// A type is no bare participle: `Said` does not tell what was said, `ActionEvent` does.
pub(super) fn types_are_nouns(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in production(tree) {
        for (name, line) in types(file) {
            if is_participle(&name) {
                let says = format!("`{name}` is a participle; name the thing that it is");
                findings.push(Finding::at(file, line, says));
            }
        }
    }
    findings
}

/// At most three types share a name.
pub(super) fn names_are_found_once(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<String, Vec<(&File, usize)>> = BTreeMap::new();
    for file in production(tree) {
        for (name, line) in types(file) {
            places.entry(name).or_default().push((file, line));
        }
    }
    let mut findings = Vec::new();
    for (name, places) in places {
        if places.len() > MOST_OF_ONE_NAME && !PER_MODULE.contains(&name.as_str()) {
            let count = places.len();
            let says = format!("{count} types are called `{name}`; say which one this is");
            findings.extend(places.iter().map(|(file, line)| Finding::at(file, *line, &says)));
        }
    }
    findings
}

/// The sources of the crates; tests and tools may repeat a name.
pub(super) fn production(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.rust().filter(|file| {
        let is_test = file.is_in_tests() || file.name() == "tests.rs";
        file.path.starts_with("crates/") && file.path.contains("/src/") && !is_test
    })
}

/// The types that a file declares, with their lines. `#[cfg(test)]` items do not count.
fn types(file: &File) -> Vec<(String, usize)> {
    let code = file.source.outside_tests();
    let mut found = Vec::new();
    for keyword in ["struct ", "enum ", "trait ", "union "] {
        for (at, _) in code.match_indices(keyword) {
            let is_keyword = !code[..at].chars().next_back().is_some_and(is_word);
            let name: String =
                code[at + keyword.len()..].chars().take_while(|c| is_word(*c)).collect();
            if is_keyword && name.starts_with(char::is_uppercase) {
                found.push((name, line_at(&code, at)));
            }
        }
    }
    found
}

fn is_participle(name: &str) -> bool {
    let is_one_word = !name.chars().skip(1).any(char::is_uppercase);
    let is_regular = name.len() > 3 && name.ends_with("ed") && !NOUNS_IN_ED.contains(&name);
    is_one_word && (is_regular || IRREGULAR.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_participle_is_found() {
        let text = "struct Said;\npub(crate) enum Killed {}\nstruct Feed;\nstruct KilledPane;\n";
        let files = [("crates/a/src/b.rs", text), ("crates/a/src/tests.rs", text)];
        let expect = ["crates/a/src/b.rs:1: `Said` is", "crates/a/src/b.rs:2: `Killed` is"];
        let mut found = types_are_nouns(&Tree::of(&files));
        found.sort();
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert!(found.len() == 2 && found.iter().zip(expect).all(|(f, e)| f.starts_with(e)));
    }

    #[test]
    fn the_fourth_type_of_a_name_is_found() {
        let three: Vec<(String, String)> = ["a", "b", "c"]
            .iter()
            .map(|file| (format!("crates/x/src/{file}.rs"), "struct Reader;\n".to_owned()))
            .collect();
        let mut files: Vec<(&str, &str)> =
            three.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        check(names_are_found_once, &files, &[]);
        files.push(("crates/x/src/d.rs", "enum State {}\ntrait Reader {}\n"));
        let expect = ["crates/x/src/a.rs:1: 4 types", "crates/x/src/b.rs:1", "crates/x/src/c.rs:1"];
        check(names_are_found_once, &files, &[&expect[..], &["crates/x/src/d.rs:2"]].concat());
    }

    #[test]
    fn types_of_tests_and_words_in_comments_do_not_count() {
        let text =
            "// struct Said\n#[cfg(test)]\nmod tests {\n    struct Told;\n}\nlet constructor;\n";
        check(types_are_nouns, &[("crates/a/src/b.rs", text)], &[]);
    }
}
