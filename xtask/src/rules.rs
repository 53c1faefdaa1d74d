//! The rules of the repository that the compiler and clippy cannot check. A rule is a function from
//! the tree to findings; a new one is a function in a file here and a line in [`RULES`].

use std::fmt;

use crate::tree::{File, Tree};

mod direction;
mod kernel_modules;
mod names;
mod pure;
mod registries;
mod repository;
mod sentences;
mod shape;
mod sleeps;
mod unsafe_code;
mod whitespace;
mod words;

/// A rule reads the tree and reports what is wrong with it.
type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    direction::arrows_point_one_way,
    kernel_modules::kernel_modules_have_an_order,
    repository::documents_exist,
    repository::lints_hold_everywhere,
    repository::the_map_names_files_that_exist,
    names::names_are_found_once,
    names::types_are_nouns,
    pure::dependencies_stay_pure,
    pure::keepers_have_no_runtime,
    pure::sources_stay_pure,
    registries::hosts_are_not_named,
    registries::locks_name_no_mirror,
    sentences::sentences_are_plain,
    shape::files_are_one_idea,
    shape::modules_say_what_they_are,
    shape::nothing_is_left_to_do,
    sleeps::a_sleep_is_not_a_wait,
    unsafe_code::lives_in_keeper,
    unsafe_code::is_forbidden_elsewhere,
    whitespace::is_clean,
    words::comments_fit_the_page,
    words::comments_name_who_acts,
    words::lets_bind_one_value,
];

/// A violation of a rule, and where it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn at(file: &File, line: usize, message: impl Into<String>) -> Finding {
        Finding::new(&file.path, line, message)
    }

    fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// What every rule finds, in the order of the files.
pub(crate) fn run(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings.dedup();
    findings
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Runs one rule over a small tree. Each finding must begin with the line expected of it.
    #[track_caller]
    pub(super) fn check(rule: Rule, files: &[(&str, &str)], expect: &[&str]) {
        let found: Vec<String> = rule(&Tree::of(files)).iter().map(Finding::to_string).collect();
        let same = found.len() == expect.len()
            && found.iter().zip(expect).all(|(found, expect)| found.starts_with(expect));
        assert!(same, "found {found:#?}\nexpected {expect:#?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_in_the_order_of_files_and_lines() {
        let tree = Tree::of(&[("b.md", "x \nx \n"), ("a.md", "x \n")]);
        let found: Vec<String> = run(&tree)
            .iter()
            .map(Finding::to_string)
            .filter(|finding| finding.contains("space"))
            .map(|finding| finding.split(": ").next().unwrap().to_owned())
            .collect();
        assert_eq!(found, ["a.md:1", "b.md:1", "b.md:2"]);
    }
}
