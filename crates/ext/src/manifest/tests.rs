//! What manifests of both kinds say, and the mistakes in them.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

#[track_caller]
fn read(files: &[(&str, &str)]) -> Manifest {
    let dir = folder(files);
    Manifest::read_as(dir.path(), "folder").unwrap().expect("it has a manifest")
}

/// The manifest is refused with a sentence that names the file and holds these words.
#[track_caller]
fn check_refused(files: &[(&str, &str)], expect: &str) {
    let dir = folder(files);
    let refusal = Manifest::read_as(dir.path(), "My Folder").unwrap_err();
    let (file, _) = files[0];
    assert!(refusal.sentence.contains(file), "{refusal}");
    assert!(refusal.sentence.contains(expect), "{refusal}");
    assert!(!refusal.sentence.contains('\n'), "{refusal}");
}

fn scopes(names: &[&str]) -> BTreeSet<Scope> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

#[test]
fn a_program_declares_its_command_and_what_it_wants() {
    let text = "name = 'guard'\nversion = '1.2'\ndescription = \"No\\nspawns\"\n\
        command = ['python3', 'main.py']\nscopes = ['read', 'spawn']\nsubscribe = ['pane:*']\n\
        veto = ['pane:new']\nrequired = true\ntimeoutMs = 200\n";
    let manifest = read(&[("paned.toml", text)]);
    assert_eq!(manifest.name, "guard");
    assert_eq!(manifest.version.as_deref(), Some("1.2"));
    assert_eq!(manifest.description.as_deref(), Some("No spawns"));
    assert_eq!(manifest.program, Program::Command(vec!["python3".into(), "main.py".into()]));
    assert_eq!(manifest.scopes, scopes(&["read", "spawn"]));
    assert_eq!(manifest.subscribe, ["pane:*"]);
    assert_eq!(manifest.veto, ["pane:new"]);
    assert!(manifest.required);
    assert_eq!(manifest.timeout, Some(Duration::from_millis(200)));
}

#[test]
fn a_program_that_asks_for_nothing_may_read() {
    let manifest = read(&[("paned.toml", "name = 'a'\ncommand = ['x']")]);
    assert_eq!(manifest.scopes, scopes(&["read"]));
    assert_eq!(read(&[("paned.toml", "name='a'\ncommand=['x']\nscopes=[]")]).scopes, scopes(&[]));
}

#[test]
fn mistakes_in_paned_toml_are_named() {
    let check = |text: &str, expect: &str| check_refused(&[("paned.toml", text)], expect);
    check("name = 'a'\ncommand = [", "line 2");
    check("name = 'a'\ncommnd = ['x']", "unknown key `commnd`; did you mean `command`?");
    check("name = 'a'\ncommand = ['x']\nzzz = 1", "known keys: name");
    check("command = ['x']", "missing field `name`");
    check("name = 'a'\ncommand = 'x'", "line 2");
    check("name = 'a'\ncommand = []", "`command` is empty");
    check("name = '../a'\ncommand = ['x']", "invalid extension name `../a`");
    check("name = 'pane'\ncommand = ['x']", "reserved");
    check("name = 'a'\ncommand = ['x']\nscopes = ['root']", "invalid scope `root`");
    check("name = 'a'\ncommand = ['x']\nveto = ['a*b']", "`veto`: invalid event pattern");
    check("name = 'a'\ncommand = ['x']\nsubscribe = ['a:b,c:d']", "one pattern per entry");
    check("name = 'a'\ncommand = ['x']\ntimeoutMs = 0", "`timeoutMs`");
    check("name = 'a'\ncommand = ['x']\ntimeoutMs = -1", "`timeoutMs`");
}

#[test]
fn a_poly_package_is_read_without_changes() {
    let package = r#"{ "name": "@me/logger", "version": "0.1.0", "main": "./index.ts",
        "scripts": { "postinstall": "touch /tmp/x" } }"#;
    let dir = folder(&[("package.json", package), ("index.ts", "")]);
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!(manifest.name, "logger");
    assert_eq!(manifest.program, Program::Node(dir.path().join("./index.ts")));
    assert_eq!(manifest.scopes, scopes(&["read", "input", "spawn", "kill"]));
    assert!(!manifest.required);
    assert_eq!(manifest.install_command(), None);
}

#[test]
fn a_package_may_narrow_its_scopes() {
    let package = r#"{ "name": "a", "main": "a.js",
        "paned": { "scopes": ["read"], "required": true, "timeoutMs": 9 } }"#;
    let manifest = read(&[("package.json", package), ("a.js", "")]);
    assert_eq!(manifest.scopes, scopes(&["read"]));
    assert!(manifest.required);
    assert_eq!(manifest.timeout, Some(Duration::from_millis(9)));
}

#[test]
fn a_package_without_a_usable_name_has_that_of_its_folder() {
    for package in [r#"{"main":"a.js"}"#, r#"{"main":"a.js","name":"My_Ext"}"#] {
        assert_eq!(read(&[("package.json", package), ("a.js", "")]).name, "folder");
    }
    let package = r#"{"main":"a.js","name":"@me/pane"}"#;
    check_refused(&[("package.json", package), ("a.js", "")], "`pane` is reserved");
}

#[test]
fn a_folder_without_a_manifest_or_with_another_kind_of_package_is_none() {
    let package = r#"{ "name": "x", "exports": "./x.js" }"#;
    for files in [vec![], vec![("package.json", package)], vec![("main.py", "")]] {
        assert_eq!(Manifest::read(folder(&files).path()).unwrap(), None);
    }
}

#[test]
fn mistakes_in_package_json_are_named() {
    let check = |package: &str, expect: &str| {
        check_refused(&[("package.json", package), ("a.js", "")], expect);
    };
    check("{", "EOF");
    check("[]", "invalid type");
    check(r#"{"main":"b.js","name":"x"}"#, "`main` is `b.js`: the file does not exist");
    check(r#"{"main":"/etc/passwd","name":"x"}"#, "relative");
    check(r#"{"main":"../../../../etc/passwd","name":"x"}"#, "leads out");
    check(r#"{"main":"a.js","name":"x","paned":{"scope":[]}}"#, "did you mean `scopes`?");
    check(r#"{"main":"a.js","name":"x","paned":{"scopes":["all"]}}"#, "invalid scope `all`");
    check(r#"{"main":"a.js","name":"x","paned":[]}"#, "must be an object");
    check(r#"{"main":"a.js","name":"x","paned":{"required":"yes"}}"#, "`paned`: invalid type");
}

#[test]
fn main_may_lack_its_ending_or_be_a_folder_but_not_a_link_to_the_outside() {
    for (main, file) in [("./src/a", "src/a.ts"), ("src", "src/index.js"), (".", "index.mjs")] {
        let package = format!(r#"{{"main":"{main}","name":"x"}}"#);
        let manifest = read(&[("package.json", &package), (file, "")]);
        let Program::Node(main) = manifest.program else { panic!("a Node package") };
        assert!(main.ends_with(file), "{main:?}");
    }
    let dir = folder(&[("package.json", r#"{"main":"a.js","name":"x"}"#)]);
    symlink("/etc/passwd", dir.path().join("a.js")).unwrap();
    let refusal = Manifest::read(dir.path()).unwrap_err();
    assert!(refusal.sentence.contains("leads out"), "{refusal}");
}

#[test]
fn dependencies_that_are_not_installed_are_missing() {
    let package = r#"{ "name": "x", "main": "a.js", "devDependencies": { "dev": "1" },
        "dependencies": { "zod": "3", "@a/b": "1", "here": "1", "../../etc": "1" } }"#;
    let files = [("package.json", package), ("a.js", ""), ("node_modules/here/package.json", "{}")];
    let manifest = read(&files);
    assert_eq!(manifest.missing, ["zod", "@a/b"]);
    let command = manifest.install_command().unwrap();
    assert!(command.starts_with("cd /"), "{command}");
    assert!(command.ends_with(" && npm install --ignore-scripts --omit=dev"), "{command}");
}

#[test]
fn paned_toml_comes_before_package_json() {
    let toml = ("paned.toml", "name = 'program'\ncommand = ['x']");
    assert_eq!(read(&[toml, ("package.json", r#"{"main":"a.js"}"#)]).name, "program");
}
