//! What the pages list is what there is: links, routes, codes, agents and figures.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use paned_e2e::Server;
use paned_model::Code;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The pages for people: those at the top, and those in `docs/`.
fn pages() -> Vec<PathBuf> {
    let folders = [root(), root().join("docs"), root().join("docs/design")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// The targets of the links in a page, without those in blocks of code.
fn links(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let ends = prose.flat_map(|text| text.split("](").skip(1));
    ends.filter_map(|rest| rest.split(')').next()).collect()
}

/// The anchor that a heading gets, as on the pages of a code host.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Why this link from this page leads nowhere, if it does.
fn broken(from: &Path, link: &str) -> Option<String> {
    if link.starts_with("http") {
        return None;
    }
    let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { from.to_owned() } else { from.parent().unwrap().join(file) };
    let complaint = |what: &str| Some(format!("{}: `{link}`: {what}", from.display()));
    if !target.exists() {
        return complaint("no such file");
    }
    if wanted.is_empty() || target.is_dir() {
        return None;
    }
    let text = fs::read_to_string(&target).unwrap();
    let has = text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == wanted);
    if has { None } else { complaint("no such heading") }
}

/// The cells of every table row of a page, without the marks of code.
fn rows(page: &str) -> Vec<Vec<String>> {
    let lines = page.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.replace(['`', '|'], "").trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

/// The part of a page under a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let begin = format!("\n## {heading}\n");
    page.split(&begin).nth(1).unwrap().split("\n## ").next().unwrap()
}

#[test]
fn every_link_leads_somewhere() {
    let mut complaints = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        complaints.extend(links(&text).into_iter().filter_map(|link| broken(&path, link)));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_page_is_in_the_index() {
    let index = page("docs/README.md");
    for path in pages() {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name != "README.md" && path.parent() == Some(&root().join("docs")) {
            assert!(index.contains(&format!("]({name})")), "docs/README.md does not list {name}");
        }
    }
}

#[test]
fn the_routes_are_those_of_the_server() {
    let server = Server::start();
    let document = server.ask("GET", "/openapi.json").json();
    let mut there = BTreeSet::from(["POST /action/{name}".to_owned()]);
    for (path, methods) in document["paths"].as_object().unwrap() {
        if path.starts_with("/action/") || path.starts_with("/compat/") {
            continue;
        }
        // Files of the page, such as its icons, whose names its bundle gives.
        if path.contains('.') && path != "/openapi.json" {
            continue;
        }
        let methods = methods.as_object().unwrap().keys();
        there.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    let page = page("docs/http.md");
    let listed = rows(section(&page, "Routes"));
    let listed: BTreeSet<String> =
        listed.into_iter().skip(2).map(|mut row| row.remove(0)).collect();
    assert_eq!(listed, there);
}

#[test]
fn the_codes_are_those_of_the_table() {
    let page_of_http = page("docs/http.md");
    // A second table has the statuses that are more exact.
    let errors = section(&page_of_http, "Errors").split("\nWhere HTTP").next().unwrap();
    let listed: Vec<_> = rows(errors)
        .into_iter()
        .skip(2)
        .map(|row| (row[0].clone(), row[1].parse().unwrap(), row[2].parse().unwrap()))
        .collect();
    for code in Code::ALL {
        let expect = (code.as_str().to_owned(), code.http(), u16::from(code.exit()));
        assert!(listed.contains(&expect), "{expect:?} is not in {listed:?}");
    }
    assert_eq!(listed.len(), Code::ALL.len());
    let codes = page("docs/exit-codes.md");
    let codes: Vec<_> = rows(codes.split("\n## ").next().unwrap())
        .into_iter()
        .skip(3)
        .map(|row| (row[1].clone(), row[0].parse::<u8>().unwrap()))
        .collect();
    let expect = Code::ALL.map(|code| (code.as_str().to_owned(), code.exit()));
    let sorted = |codes: &[(String, u8)]| codes.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(sorted(&codes), sorted(&expect));
}

const QUESTIONS: [&str; 5] = ["permission", "plan", "question", "trust", "login"];

/// The kinds of questions that a profile recognises.
fn kinds(profile: &str) -> BTreeSet<String> {
    let lines = profile.lines().filter_map(|line| line.strip_prefix("kind = \""));
    let kinds = lines.map(|line| line.trim_end_matches('"').to_owned());
    kinds.filter(|kind| QUESTIONS.contains(&kind.as_str())).collect()
}

#[test]
fn the_agents_are_those_with_a_profile() {
    let readme = page("README.md");
    let agents = page("docs/agents.md");
    let measured: BTreeMap<String, f64> = rows(section(&agents, "How often it is right"))
        .into_iter()
        .rev()
        .filter_map(|row| Some((row[0].clone(), row.get(1)?.parse().ok()?)))
        .collect();
    let mut listed = BTreeSet::new();
    for row in rows(section(&readme, "Supported agents")).into_iter().skip(2) {
        let names: Vec<&str> = row[1].split_whitespace().collect();
        listed.extend(names.iter().map(|name| (*name).to_owned()));
        let &[name] = names.as_slice() else { continue };
        let known = kinds(&page(&format!("profiles/{name}.toml")));
        let said: BTreeSet<String> = row[2].split(", ").map(str::to_owned).collect();
        assert_eq!(said, known, "{name}");
        let accuracy = format!("{:.1} %", measured[name] * 100.0);
        assert_eq!(row[3], accuracy, "{name}");
    }
    let files = fs::read_dir(root().join("profiles")).unwrap();
    let names = files.map(|entry| entry.unwrap().path());
    let names = names.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let names: BTreeSet<String> =
        names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let general = ["generic", "repl", "shell"].map(str::to_owned);
    let expect: BTreeSet<String> =
        names.into_iter().filter(|name| !general.contains(name)).collect();
    assert_eq!(listed, expect);
}

#[test]
fn the_figures_of_the_readme_were_measured() {
    let measured = page("docs/benchmarks.md");
    let readme = page("README.md");
    let figures = rows(section(&readme, "Speed"));
    assert!(5 < figures.len(), "{figures:?}");
    for row in figures.into_iter().skip(2) {
        let figure = row[1].split(", ").next().unwrap().to_owned();
        assert!(measured.contains(&format!("| {figure} |")), "{figure} is in no row");
    }
}

#[test]
fn the_chart_is_drawn_from_the_table() {
    let drawn = Command::new(root().join("scripts/chart")).output().unwrap();
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let kept = page("docs/images/benchmarks.svg");
    assert!(String::from_utf8(drawn.stdout).unwrap() == kept, "run `make chart`");
}

#[test]
fn the_readme_is_short_and_has_its_picture() {
    assert!(page("README.md").lines().count() <= 130);
    let picture = fs::metadata(root().join("docs/images/demo.svg")).unwrap();
    assert!(picture.len() < 300 * 1024, "{} bytes", picture.len());
}

/// The files of a folder and of those below it, without tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// The texts `noun:word` in the code of the kernel and of extensions: its actions and its events.
fn names_in_the_code() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["crates/kernel/src", "crates/ext/src"] {
        sources(&root().join(folder), &mut files);
    }
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        names.extend(code.split('"').filter(|text| is_name(text)).map(str::to_owned));
    }
    names
}

fn is_name(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    text.split_once(':').is_some_and(|(noun, word)| is_word(noun) && is_word(word))
}

/// The keys of an interface in a file of types.
fn keys(file: &str, interface: &str) -> BTreeSet<String> {
    let text = page(file);
    let (_, body) = text.split_once(&format!("export interface {interface} {{\n")).unwrap();
    let body = body.split("\n}").next().unwrap();
    let keys = body.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
    keys.map(str::to_owned).collect()
}

#[test]
fn the_types_for_extensions_have_every_event_and_no_other() {
    let events = keys("extensions/sdk/src/events.d.ts", "Events");
    let actions = keys("extensions/sdk/src/actions.d.ts", "Actions");
    assert!(40 < events.len() && 50 < actions.len(), "{events:?} {actions:?}");
    let code = names_in_the_code();
    let missing: Vec<_> =
        code.iter().filter(|name| !events.contains(*name) && !actions.contains(*name)).collect();
    assert!(missing.is_empty(), "not in extensions/sdk/src/events.d.ts: {missing:?}");
    let gone: Vec<_> = events.difference(&code).collect();
    assert!(gone.is_empty(), "in extensions/sdk/src/events.d.ts, but never recorded: {gone:?}");
}
