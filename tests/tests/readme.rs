//! The README's tour works when pasted.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

use paned_e2e::binary;

#[test]
fn the_sixty_seconds_work_when_pasted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let tour = readme.split("## Sixty seconds").nth(1).unwrap();
    let tour = tour.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let (build, tour) = tour.split_once('\n').unwrap();
    assert!(build.starts_with("cargo build --release"), "{build}");
    let folder = binary().parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash").args(["-uc", tour]).env("PATH", path).output().unwrap();
    let (said, complained) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && complained.is_empty(), "{said}\n{complained}");
    for line in ["42", "count 1", "one command", "its own exit code: 3"] {
        assert!(said.lines().any(|found| found.trim_end().ends_with(line)), "{line}: {said}");
    }
    for event in ["pane:created", "pane:killed", "pane:exited"] {
        assert!(said.contains(event), "{event}: {said}");
    }
}
