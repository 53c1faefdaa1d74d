//! The modules of the kernel have an order, so there is no cycle between them.

use std::collections::BTreeMap;

use super::Finding;
use super::names::production;
use crate::source::{is_word, line_at};
use crate::tree::{File, Tree};

const KERNEL: &str = "crates/kernel/src/";

/// The top modules of the kernel. Each may use those before it. What happens to a pane is reported
/// upwards through `panes::PaneObserver`.
const ORDER: &[&str] = &[
    "redact",
    "param_errors",
    "names",
    "cached_json",
    "self_wake",
    "setup",
    "state_folder",
    "background",
    "extensions",
    "budgets",
    "event_names",
    "journal",
    "undo",
    "grants",
    "proof",
    "panes",
    "client",
    "caller",
    "access",
    "permissions",
    "hooks",
    "registry",
    "name_suggestions",
    "approvals",
    "audit",
    "dispatch",
    "activity",
    "read_api",
    "sign_in",
    "dump",
    "seek",
    "agents",
    "tmux_view",
    "notifications",
    "actions",
    "start",
];

/// Methods of the kernel that give access to another module's state.
const ACCESSORS: &[(&str, &str)] = &[
    ("agents", "agents"),
    ("background", "background"),
    ("budgets", "budgets"),
    ("grants", "grants"),
    ("hooks", "hooks"),
    ("journal", "journal"),
    ("panes", "panes"),
    ("sign_in_codes", "sign_in"),
    ("patterns", "panes"),
    ("tmux_views", "tmux_view"),
];

/// A module of the kernel uses only those before it: by path, by a name that `lib.rs` passes on, or
/// by an accessor of the kernel.
pub(super) fn kernel_modules_have_an_order(tree: &Tree) -> Vec<Finding> {
    let files = || production(tree).filter(|file| file.path.starts_with(KERNEL));
    let root = files().find(|file| file.path[KERNEL.len()..] == *"lib.rs");
    let passed_on = root.map(|root| names_passed_on(&root.source.code)).unwrap_or_default();
    let mut findings = Vec::new();
    for file in files().filter(|file| file.path[KERNEL.len()..] != *"lib.rs") {
        let module = module_of(file);
        let Some(place) = place_of(module) else {
            let says = format!("`{module}` has no place in the order of the kernel's modules");
            findings.push(Finding::at(file, 1, says));
            continue;
        };
        for (name, line) in names_used(&file.source.outside_tests()) {
            let other = passed_on.get(&name).unwrap_or(&name);
            if place_of(other).is_some_and(|other| place < other) {
                let says = format!("`{module}` may not use `{other}`, which is above it");
                findings.push(Finding::at(file, line, says));
            }
        }
    }
    findings
}

fn place_of(module: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == module)
}

/// The top module that a file belongs to.
fn module_of(file: &File) -> &str {
    let rest = &file.path[KERNEL.len()..];
    rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs")
}

/// The modules of the types that the root of the crate passes on.
fn names_passed_on(code: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in code.split(';') {
        let Some((_, path)) = statement.rsplit_once("use ") else { continue };
        let Some((module, rest)) = path.split_once("::") else { continue };
        let words = rest.split(|c: char| !is_word(c));
        for name in words.filter(|word| word.starts_with(char::is_uppercase)) {
            names.insert(name.to_owned(), module.trim().to_owned());
        }
    }
    names
}

/// The names that follow `crate::`, and the modules behind accessors, with their lines.
fn names_used(code: &str) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        if code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let line = line_at(code, at);
        names.extend(first_words(&code[at + path.len()..]).into_iter().map(|name| (name, line)));
    }
    for (accessor, module) in ACCESSORS {
        let call = format!(".{accessor}()");
        let calls = code.match_indices(&call);
        names.extend(calls.map(|(at, _)| ((*module).to_owned(), line_at(code, at))));
    }
    names
}

/// The first word of a path, or of each path in braces.
fn first_words(path: &str) -> Vec<String> {
    let word = |text: &str| text.trim_start().chars().take_while(|c| is_word(*c)).collect();
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let mut words = vec![word(group)];
    let mut depth = 0_u32;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => words.push(word(&group[at + 1..])),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let root = "pub use caller::Caller;\nuse agents::{Agents, task::AgentTask};\n";
        let path = format!("{KERNEL}{path}");
        let files = [("crates/kernel/src/lib.rs", root), (path.as_str(), text)];
        let expect: Vec<String> = expect.iter().map(|says| format!("{path}:{says}")).collect();
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        testing::check(kernel_modules_have_an_order, &files, &expect);
    }

    #[test]
    fn a_use_of_a_module_above_is_found_in_every_form() {
        let above = "`panes` may not use `agents`, which is above it";
        check("panes/exit.rs", "use crate::agents;\n", &[&format!("1: {above}")]);
        check("panes/exit.rs", "\nfn f() { crate::agents::g() }\n", &[&format!("2: {above}")]);
        check(
            "panes.rs",
            "use crate::{Kernel, agents::{A, B}, journal};\n",
            &[&format!("1: {above}")],
        );
        check("panes/task.rs", "fn f() { kernel.agents().find() }\n", &[&format!("1: {above}")]);
        check("panes/task.rs", "use crate::AgentTask;\n", &[&format!("1: {above}")]);
        check(
            "panes/task.rs",
            "use crate::{Kernel, Caller};\n",
            &["1: `panes` may not use `caller`"],
        );
    }

    #[test]
    fn what_is_below_or_in_a_test_is_fine() {
        let text = "use crate::panes::{Pane, agents};\nuse crate::{Caller, Kernel};\n\
            #[cfg(test)]\nmod tests {\n    use crate::actions;\n}\n";
        check("agents/task.rs", text, &[]);
        check("journal/tests/mod.rs", "use crate::actions;\n", &[]);
    }

    #[test]
    fn a_module_without_a_place_is_found() {
        check("news.rs", "", &["1: `news` has no place in the order"]);
    }
}
